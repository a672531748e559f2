"""A worker pool: the machines that share one dataflow, each with the keys whose hash is its own.

All machines have the same operators and the same schedule. A run goes step by step: in a step every
machine runs on its own until it wants the others or Python, or has nothing more to do; then all
stand, and the pool sees to what they want. They *exchange* rows before operators that keep keys,
and *agree*, at both ends of a loop, on the least position that anything waits for. Functions of
Python are called between two steps, by the thread that called, machine after machine.

Steps of a small batch are carried out by the calling thread, machine after machine: to hand a step
to another thread takes as long as a small step does. A batch of many rows, or one that has taken a
while, gets a thread for every further machine. Kernels run without the interpreter's lock; what one
thread has written another reads only after a message through a queue. Threads live as long as one
batch, so that memory can be given back whatever happened.

Outside of the pool, blocks are known by their address in the first machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Protocol

import numpy as np

from graphtide.engine.dataflow.lowering import PlanAddresses
from graphtide.engine.dataflow.machine import Int64, Machine, limit_of, stranded
from graphtide.engine.dataflow.records import InputBatch
from graphtide.kernels.dataflow import layout
from graphtide.model.errors import GraphtideError

Ended = tuple[int, int | BaseException]
"""A worker, and how its step ended."""


class WorkerThreads:
    """A thread for every machine but the first."""

    def __init__(self, step: Callable[[int], int], machines: Sequence[Machine]) -> None:
        self._step = step
        self._machines = machines
        self._orders: dict[int, SimpleQueue[bool]] = {}
        self._ended: SimpleQueue[Ended] = SimpleQueue()
        self._threads: list[Thread] = []

    def step(self, workers: Sequence[int]) -> dict[int, int]:
        """Let some machines run on at the same time, and say how each ended.

        Raises the error of the first of them that failed, once all stand.
        """
        for worker in workers:
            if worker != 0:
                self._order(worker)
        outcomes: dict[int, int | BaseException] = {}
        if 0 in workers:
            outcomes[0] = self._step(0)
        while len(outcomes) < len(workers):
            worker, how = self._ended.get()
            outcomes[worker] = how
        for _, how in sorted(outcomes.items()):
            if isinstance(how, BaseException):
                raise how
        return {worker: how for worker, how in outcomes.items() if isinstance(how, int)}

    def end(self) -> None:
        interrupt: KeyboardInterrupt | None = None
        while True:
            try:
                self._stop()
                break
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def _stop(self) -> None:
        self._pause()
        for orders in self._orders.values():
            orders.put(False)
        for thread in self._threads:
            thread.join()

    def _pause(self) -> None:
        for machine in self._machines:
            machine.stopping = True

    def _order(self, worker: int) -> None:
        """Let a thread go on; it is started when it is first needed.

        Wherever an interrupt stops this, a thread that has an order is one that `end` waits for.
        """
        if worker not in self._orders:
            self._orders[worker] = SimpleQueue()
            name = f"dataflow worker {worker}"
            thread = Thread(target=self._help, args=(worker,), name=name, daemon=True)
            thread.start()
            self._threads.append(thread)
        self._orders[worker].put(True)

    def _help(self, worker: int) -> None:
        """The loop of a thread: step after step, until it is told to stop."""
        while self._orders[worker].get():
            try:
                self._ended.put((worker, self._step(worker)))
            except BaseException as error:
                self._pause()
                self._ended.put((worker, error))


MOST_WORKERS = 64
MANY_ROWS = 20_000
"""The pool uses threads from the start for a batch of this many rows."""
PATIENCE = 0.003
"""Seconds after which any other batch gets them: some thirty times what it takes to start one."""


class StepRunner(Protocol):
    """Who carries out steps."""

    def step(self, workers: Sequence[int]) -> dict[int, int]:
        """Let some machines run on, and say how each ended."""

    def end(self) -> None:
        """Stop; no machine runs any more when this is done."""


class WorkerPool:
    """The machines of one host; one alone is fed and run without it."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        self.machines = tuple(machines)
        self._twins: list[dict[int, int]] = [{} for _ in self.machines[1:]]
        self._mail = [False] * len(self.machines)
        self._fed = 0

    def note(self, installed: Sequence[PlanAddresses]) -> None:
        """Note the addresses of a plan in each machine."""
        first = _addresses(installed[0])
        for twins, addresses in zip(self._twins, installed[1:], strict=True):
            twins.update(zip(first, _addresses(addresses), strict=True))

    def forget(self, addresses: Iterable[int]) -> None:
        """Drop what was noted of blocks that have been freed."""
        for twins in self._twins:
            for address in addresses:
                del twins[address]

    def shards(self, address: int) -> Iterator[tuple[Machine, int]]:
        """Each machine with its own address of a block of the first."""
        yield self.machines[0], address
        for machine, twins in zip(self.machines[1:], self._twins, strict=True):
            yield machine, twins[address]

    def twin(self, worker: int, address: int) -> int:
        """The address in one machine of the block that stands at an address in the first."""
        return address if worker == 0 else self._twins[worker - 1][address]

    def feed_owners(self, port: int, rows: Int64, keys: int) -> None:
        """Append each row to a port of the machine that has its key, its first so many words."""
        self._fed += len(rows)
        columns = np.ascontiguousarray(rows.T)
        for machine, its_port in self.shards(port):
            machine.take_later(its_port, columns, keys)

    def send_later(self, operator: int, rows: Int64) -> None:
        """Let an input send rows: an equal part in each machine, since edges know where they go."""
        self._fed += len(rows)
        parts = np.array_split(rows, len(self.machines))
        for (machine, its_own), part in zip(self.shards(operator), parts, strict=True):
            machine.send_later(its_own, InputBatch(part, 0, part[:, -2]))

    def feed(self, port: int, rows: Int64) -> None:
        """Append rows to a port: to each machine an equal part."""
        self._fed += len(rows)
        parts = np.array_split(rows, len(self.machines))
        for (machine, its_port), part in zip(self.shards(port), parts, strict=True):
            machine.feed(its_port, part)

    def has_rows(self, port: int) -> bool:
        if len(self.machines) == 1:
            return bool(self.machines[0].words[port + layout.PORT_COUNT])
        return any(machine.words[at + layout.PORT_COUNT] for machine, at in self.shards(port))

    def take(self, port: int) -> Int64:
        """The rows that wait in a port outside of all loops, of all machines, taken out."""
        if len(self.machines) == 1:
            return self.machines[0].take(port)
        return np.concatenate([machine.take(its_port) for machine, its_port in self.shards(port)])

    def peek(self, port: int) -> Int64:
        """A copy of the rows that wait at the least position of a port, of all machines."""
        return np.concatenate([machine.peek(its_port) for machine, its_port in self.shards(port)])

    def total(self, block: int, field: int) -> int:
        return sum(machine.field(address, field) for machine, address in self.shards(block))

    def set_held(self, trace: int, versions: Sequence[int]) -> None:
        for machine, address in self.shards(trace):
            machine.set_frontier(address + layout.TRACE_SINCE, versions)

    def run(self) -> None:
        """Run until nothing waits anywhere, calling handlers of Python on the way."""
        try:
            self._run_together()
        except (MemoryError, ArithmeticError) as error:
            raise limit_of(error, len(self.machines[0].words) * 8) from error
        for machine in self.machines:
            machine.turn_mail()
            machine.give_back()

    def drop_mail(self) -> None:
        """Forget what machines have posted and others have not taken, and what has been fed."""
        self._mail = [False] * len(self.machines)
        self._fed = 0
        for machine in self.machines if len(self.machines) > 1 else ():
            machine.words[layout.AGREED] = layout.UNKNOWN
            machine.turn_mail()
            machine.turn_mail()

    def end(self) -> None:
        for machine in self.machines:
            machine.end()

    @property
    def held_bytes(self) -> int:
        return sum(machine.held_bytes for machine in self.machines)

    def _run_together(self) -> None:
        many, self._fed = self._fed >= MANY_ROWS, 0
        end = perf_counter() + PATIENCE
        runner: StepRunner = SequentialSteps(self._step)
        for machine in self.machines:
            machine.begin()
        self.machines[0].before_run()
        ended: dict[int, int] = {}
        workers: Sequence[int] = range(len(self.machines))
        try:
            while workers:
                if isinstance(runner, SequentialSteps) and (many or perf_counter() > end):
                    runner = THREADS(self._step, self.machines)
                ended.update(runner.step(workers))
                workers = self._meet(ended)
        finally:
            runner.end()

    def _step(self, worker: int) -> int:
        machine = self.machines[worker]
        machine.take_fed()
        if self._mail[worker]:
            self._mail[worker] = False
            machine.take_mail(other for other in self.machines if other is not machine)
        return machine.step()

    def _meet(self, ended: dict[int, int]) -> Sequence[int]:
        """See to what machines want, now that all stand; who goes on then.

        Those that want Python get it, and come to where the others stand in the next step.
        """
        asking = [worker for worker, how in sorted(ended.items()) if how == layout.WANTS_PYTHON]
        for worker in asking:
            self.machines[worker].answer()
        if asking:
            self.machines[0].before_run()
            return asking
        self._check_together(ended)
        how = ended[0]
        if how == layout.EXCHANGING:
            for machine in self.machines:
                machine.turn_mail()
            self._mail = [True] * len(self.machines)
        elif how == layout.AGREEING:
            least = min(int(machine.words[layout.LEAST]) for machine in self.machines)
            for machine in self.machines:
                machine.words[layout.AGREED] = least
        return () if how == layout.DONE else range(len(self.machines))

    def _check_together(self, ended: dict[int, int]) -> None:
        """Refuse to go on where rows are late, or machines stand at different instructions."""
        if layout.STRANDED in ended.values():
            raise stranded()
        places = {int(machine.words[layout.COUNTER]) for machine in self.machines}
        if len({*ended.values()}) > 1 or len(places) > 1:
            raise GraphtideError(
                "The workers of a dataflow do not stand at the same instruction",
                hint="this is a mistake in Graphtide: please report it with the dataflow",
            )


class SequentialSteps:
    """Carries out steps one after the other, in the thread that asks."""

    def __init__(self, step: Callable[[int], int]) -> None:
        self._step = step

    def step(self, workers: Sequence[int]) -> dict[int, int]:
        return {worker: self._step(worker) for worker in workers}

    def end(self) -> None:
        """Nothing runs between steps."""


THREADS: Callable[[Callable[[int], int], Sequence[Machine]], StepRunner] = WorkerThreads
"""Makes those who carry out the steps of a large batch."""


def _addresses(addresses: PlanAddresses) -> list[int]:
    """The blocks of a plan that others know, in an order that is the same in all machines."""
    return [
        address
        for blocks in (addresses.operators, addresses.traces, addresses.ports, addresses.watched)
        for address in blocks.values()
    ]
