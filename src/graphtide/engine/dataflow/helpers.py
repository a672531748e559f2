"""Helpers: threads that carry out the steps of a crew at the same time, one a machine.

The thread that called carries out the steps of the first machine itself, and waits for the helpers
after each step: it alone sees to what machines want, calls functions of Python's, and hears an
interrupt. Kernels run without the interpreter's lock, and what one thread has written another one
reads only after a message through a queue. Helpers live as long as one batch; nobody is left when
`end` is done, whatever happened, so that memory can be given back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Thread

from graphtide.engine.dataflow.machine import Machine

Ended = tuple[int, int | BaseException]
"""A worker, and how its step ended."""


class Helpers:
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
        """Stop at the next pause, and wait for that; an interrupt meanwhile is told afterwards."""
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
        """Let every machine that runs stop at its next pause."""
        for machine in self._machines:
            machine.stopping = True

    def _order(self, worker: int) -> None:
        """Tell a helper to go on; it is made when it is first needed.

        Wherever an interrupt stops this, a helper that has an order is one that `end` waits for.
        """
        if worker not in self._orders:
            self._orders[worker] = SimpleQueue()
            name = f"dataflow worker {worker}"
            thread = Thread(target=self._help, args=(worker,), name=name, daemon=True)
            thread.start()
            self._threads.append(thread)
        self._orders[worker].put(True)

    def _help(self, worker: int) -> None:
        """What a helper does: step after step, until it is told to stop."""
        while self._orders[worker].get():
            try:
                self._ended.put((worker, self._step(worker)))
            except BaseException as error:
                self._pause()
                self._ended.put((worker, error))
