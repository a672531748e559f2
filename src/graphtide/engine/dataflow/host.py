"""The host: the machines, the dataflows installed on them, and how versions are closed.

A plan becomes the same operators in every machine. Dataflows share arrangements by the address of
their trace in the first machine; whoever holds one keeps its versions from being merged.

What users insert waits until its version is *closed*; closing feeds all of it to the machines as
one physical batch, however many versions that is, and runs them until nothing waits. After that the
closed versions are final, operators need no version before the last of them, and traces may be
compacted up to there, as far as handles let them. Versions are machine words here: plain numbers,
or several coordinates in one word.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphtide.engine.dataflow.checking import Checker, versions_of
from graphtide.engine.dataflow.lowering import (
    InstalledDataflow,
    Lowering,
    PlanAddresses,
    own_traces,
    rounds_of,
)
from graphtide.engine.dataflow.machine import DEFAULT_FUEL, DEFAULT_MEMORY, Int64, Machine, limit_of
from graphtide.engine.dataflow.paths import MOST_ROUNDS
from graphtide.engine.dataflow.python_operators import (
    Function,
    compute_handler,
    foreign_handler,
    reduce_handler,
)
from graphtide.engine.dataflow.records import InputBatch, WaitingInputs
from graphtide.engine.dataflow.recovery import find_fault, restore
from graphtide.engine.dataflow.schedule import placed
from graphtide.engine.dataflow.texts import Texts
from graphtide.engine.dataflow.worker_pool import WorkerPool
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.distinct import drop_seen
from graphtide.kernels.dataflow.traces import drop_trace, remove_reader
from graphtide.model.errors import GraphtideError, InputError, LimitError
from graphtide.plan.dataflow import Compute, DataflowPlan, Foreign, Import, Input, Reduce


def set_handlers(
    machine: Machine,
    plan: DataflowPlan,
    done: PlanAddresses,
    functions: Sequence[Function],
    texts: Texts,
) -> None:
    """Let Python carry out what is its own in a plan that has been installed."""
    for number, node in enumerate(plan.nodes):
        made = plan.schemas[number]
        if isinstance(node, Compute):
            source = plan.schemas[node.source]
            machine.handlers[done.operators[number]] = compute_handler(machine, node, source, texts)
        elif isinstance(node, Foreign):
            machine.handlers[done.operators[number]] = foreign_handler(
                machine,
                node,
                functions[node.function],
                (plan.schemas[node.source], made),
                texts,
                rounds_of(plan, number),
            )
        elif isinstance(node, Reduce) and node.reducer == "function":
            key = plan.key_of(node.source)
            source = plan.schemas[node.source]
            machine.handlers[done.operators[number]] = reduce_handler(
                machine,
                functions[node.argument],
                (source[:key], source[key:], made[key:]),
                texts,
            )


def remove(
    machine: Machine, operators: Iterable[int], ports: Iterable[int], traces: Iterable[int]
) -> None:
    """Free operators with their edges, ports and traces; none of them may be scheduled."""
    for operator in operators:
        _remove_operator(machine, operator)
    for port in ports:
        machine.drop_port(port)
    for trace in traces:
        drop_trace(machine.words, trace)


def _remove_operator(machine: Machine, operator: int) -> None:
    for side in (layout.OP_LEFT, layout.OP_RIGHT):
        trace = machine.field(operator, side)
        if trace:
            remove_reader(machine.words, trace, operator)
    for edge in machine.edges(operator):
        machine.release(machine.field(edge, layout.EDGE_PROGRAM))
        if machine.field(edge, layout.EDGE_FAULTS):
            machine.drop_port(machine.field(edge, layout.EDGE_FAULTS))
        machine.release(edge)
    if machine.field(operator, layout.OP_RESULTS):
        machine.drop_port(machine.field(operator, layout.OP_RESULTS))
    if machine.field(operator, layout.OP_TODO):
        drop_trace(machine.words, machine.field(operator, layout.OP_TODO))
    machine.release(machine.field(operator, layout.OP_ARGUMENTS))
    machine.release(machine.field(operator, layout.OP_TEXTS))
    if machine.field(operator, layout.OP_SEEN):
        drop_seen(machine.words, machine.field(operator, layout.OP_SEEN))
    _remove_outboxes(machine, operator)
    machine.handlers.pop(operator, None)
    machine.release(operator)


def _remove_outboxes(machine: Machine, operator: int) -> None:
    table = machine.field(operator, layout.OP_OUTBOXES)
    if table:
        for port in machine.words[table : table + machine.workers].tolist():
            if port != machine.field(operator, layout.OP_PORT):
                machine.drop_port(port)
        machine.release(table)


@dataclass
class HostBase(ABC):
    """Settings of the machines, and who dwells there."""

    coordinates: int = 1
    memory: int = DEFAULT_MEMORY
    effort: int = 4
    fuel: int = DEFAULT_FUEL
    most_rounds: int = MOST_ROUNDS
    debug: bool = False
    once: bool = False
    workers: int = 1
    texts: Texts = field(default_factory=Texts)

    def __post_init__(self) -> None:
        self.crew = WorkerPool(
            [
                Machine(
                    memory=self.memory // self.workers,
                    version_coordinates=self.coordinates,
                    effort=self.effort,
                    fuel=self.fuel,
                    workers=self.workers,
                    worker=worker,
                )
                for worker in range(self.workers)
            ]
        )
        self.machine = self.crew.machines[0]
        # An update takes twenty microseconds: one worker is asked itself, and not by way of a crew.
        self._runner: Machine | WorkerPool = self.machine if self.workers == 1 else self.crew
        self.dwellers: list[InstalledDataflow] = []
        self.shared: set[int] = set()
        self.frontier: list[int] = [0]
        self.since: list[int] = [0]
        self.held: dict[int, list[int]] = {}
        self._fresh = self._fresh_history = False
        self._labelled = 0
        self._checkers: dict[int, Checker] = {}
        self._inputs: dict[int, int] = {}
        """The operators of inputs that send what is fed to them, by port."""
        self._keys: dict[int, int] = {}
        """Words of the keys that decide which worker has what is fed to a port."""

    def install(self, plan: DataflowPlan, functions: Sequence[Function]) -> InstalledDataflow:
        """Make a plan part of the machine; it takes part from the next batch on."""
        lowerings = [
            self._lowering(worker, machine, plan)
            for worker, machine in enumerate(self.crew.machines)
        ]
        installed = self._installed(lowerings)
        feeds = {
            number: lowerings[0].shortcut(number)
            for number, node in enumerate(plan.nodes)
            if isinstance(node, Input)
        }
        self.crew.note(installed)
        for machine, done in zip(self.crew.machines, installed, strict=True):
            set_handlers(machine, plan, done, functions, self.texts)
        if any(isinstance(node, Reduce) and node.texts for node in plan.nodes):
            self.machine.before_run = self._set_labels
        dweller = InstalledDataflow(plan, tuple(installed), feeds)
        self.dwellers.append(dweller)
        if not self.debug:
            ports, operators = dweller.installed.ports, dweller.installed.operators
            direct = {port: operators[n] for n, port in feeds.items() if port == ports[n]}
            self._inputs.update(direct)
            self._note_keys(lowerings[0], feeds.values())
        if self.debug:
            self._checkers[id(dweller)] = Checker(
                self.crew, self.texts, dweller, functions, self.owner_of
            )
        imports = [node for node in plan.nodes if isinstance(node, Import)]
        self._fresh |= bool(imports)
        self._fresh_history |= any(node.history for node in imports)
        self._reschedule()
        return dweller

    def _note_keys(self, lowering: Lowering, ports: Iterable[int]) -> None:
        """Note by which words of a row workers share what users feed straight to an index."""
        numbers = {port: number for number, port in lowering.done.ports.items()}
        for port in ports:
            if self.workers > 1 and port not in self._inputs:
                self._keys[port] = lowering.key_words(numbers[port]) or 0

    def _installed(self, lowerings: Sequence[Lowering]) -> list[PlanAddresses]:
        """What a plan becomes in each machine; nothing is left of one that cannot be installed."""
        try:
            return [lowering.install() for lowering in lowerings]
        except BaseException as error:
            for lowering in lowerings:
                done = lowering.done
                traces = own_traces(lowering.plan, done).values()
                remove(lowering.machine, done.operators.values(), done.ports.values(), traces)
            if isinstance(error, MemoryError):
                raise limit_of(error, len(self.machine.words) * 8) from error
            raise

    def _lowering(self, worker: int, machine: Machine, plan: DataflowPlan) -> Lowering:
        """A plan on its way into the machine of one worker."""
        return Lowering(
            machine,
            plan,
            {trace: self.crew.twin(worker, trace) for trace in self.shared},
            self.texts.code,
            self.frontier[0] if self.coordinates == 1 else 0,
            watch=self.debug,
            most_rounds=self.most_rounds,
            once=self.once,
        )

    def share(self, trace: int) -> int:
        """A number under which other dataflows can import a trace."""
        self.shared.add(trace)
        return trace

    def hold(self, trace: int, version: int) -> None:
        """Keep the versions from one on apart in a trace, until it is let go."""
        self.held.setdefault(trace, []).append(version)
        self.crew.set_held(trace, self.held[trace])

    def let_go(self, trace: int, version: int) -> None:
        """Undo one hold."""
        self.held[trace].remove(version)
        self.crew.set_held(trace, self.held[trace])

    def uninstall(self, dweller: InstalledDataflow) -> None:
        """Free all that a dataflow made; what it imported stays with its owner."""
        own = set(own_traces(dweller.plan, dweller.installed).values())
        users = [
            other.plan.name
            for other in self.dwellers
            if other is not dweller and own & set(other.installed.traces.values())
        ]
        if users:
            raise InputError(
                f"{dweller.plan.name} cannot be closed: {', '.join(users)} imports from it",
                hint="close that one first",
            )
        self.dwellers.remove(dweller)
        self._checkers.pop(id(dweller), None)
        self._reschedule()
        done = dweller.installed
        ports = {*done.ports.values(), *done.watched.values()}
        self._forget_fed(ports)
        self.shared -= own
        for port in ports:
            self._inputs.pop(port, None)
            self._keys.pop(port, None)
        for trace in own & set(self.held):
            self.crew.set_held(trace, [])
            del self.held[trace]
        for worker, machine in enumerate(self.crew.machines):
            done = dweller.shards[worker]
            ports = {*done.ports.values(), *done.watched.values()}
            traces = {self.crew.twin(worker, trace) for trace in own}
            remove(machine, done.operators.values(), ports, traces)
        done = dweller.installed
        self.crew.forget({*done.operators.values(), *done.ports.values(), *own})
        self.crew.forget(done.watched.values())

    def owner_of(self, trace: int) -> tuple[Checker, int]:
        """The checker of the dataflow that made a trace, and the node that it belongs to there."""
        for dweller in self.dwellers:
            for number, trace_there in dweller.installed.traces.items():
                if trace_there == trace and not isinstance(dweller.plan.nodes[number], Import):
                    return self._checkers[id(dweller)], number
        raise AssertionError("an import has an owner")

    def _set_labels(self) -> None:
        """Hand the labels of texts to the machine where texts have come."""
        if len(self.texts) != self._labelled:
            labels = self.texts.labels()
            for machine in self.crew.machines:
                machine.set_labels(labels)
            self._labelled = len(self.texts)

    def _shape(self) -> int:
        """How the words of versions are divided."""
        return int(self.machine.words[layout.VERSION_SHAPE])

    @abstractmethod
    def _forget_fed(self, ports: set[int]) -> None:
        """Drop what waits for ports that are no more."""

    def _reschedule(self) -> None:
        for worker, machine in enumerate(self.crew.machines):
            shards = [dweller.shards[worker] for dweller in self.dwellers]
            machine.set_schedule(placed([item for done in shards for item in done.instructions]))


@dataclass
class Host(HostBase):
    """See the module."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.failed: str | None = None
        self._restorable = False
        self._waiting = WaitingInputs(self._shape())
        self._lasting: list[tuple[int, InputBatch]] = []

    def feed(self, port: int, batch: InputBatch) -> None:
        """Let a batch wait until its versions are closed."""
        self._waiting.put(port, batch)
        if batch.lasting:
            self._lasting.append((port, batch))

    def close(self, frontier: list[int]) -> None:
        """Close all versions that are not at or after the new frontier, as one batch.

        Where that fails, the host is of no more use until it is restored.
        """
        if self.failed:
            raise InputError(
                "This dataflow stopped in the middle of a batch and cannot go on",
                where=self.failed,
                hint="make it anew; outputs can be read as of the last version that was closed",
            )
        if self.once and any(dweller.ran for dweller in self.dwellers):
            raise InputError(
                "This dataflow runs once, and has run", hint="make it anew, or without `once`"
            )
        before = self.frontier
        # An interrupt may come at any line: until all is noted, the host counts as failed.
        self.failed = "it was interrupted"
        try:
            self._begin_batch(frontier)
            self._runner.run()
            self._tell_fault(frontier)
        except BaseException as error:
            self._note_failure(error)
            raise
        self._lasting.clear()
        self._fresh = self._fresh_history = False
        self.frontier = frontier
        for dweller in self.dwellers:
            dweller.ran = True
        self.failed = None
        if self._checkers:
            self._check(before, frontier)

    def _tell_fault(self, frontier: Sequence[int]) -> None:
        """Raise an error where a version that is closed now has a record without a word."""
        operator = find_fault(self.crew, self.dwellers, frontier)
        if operator is not None:
            self.machine.failed_at = operator
            raise limit_of(ArithmeticError("a value is beyond its word"), 0)

    def _note_failure(self, error: BaseException) -> None:
        """Note why a batch failed, and whether machines can be brought back to before it."""
        if isinstance(error, LimitError):
            error.where = error.where or self._failed_at()
        self.failed = str(error) or self.failed
        # Where memory was full, a merge may have lost what it had in hand.
        lost = type(error) is GraphtideError or isinstance(error.__cause__, MemoryError)
        plain = self.coordinates == 1 and not self.once and not self.debug
        self._restorable = plain and not lost

    def restore(self, frontier: list[int]) -> None:
        """Go back to where a batch began that failed to come to a frontier, if that can be done.

        What was fed for it is gone, but for what is lasting.
        """
        if not self.failed or not self._restorable:
            return
        self._restorable = False
        self._waiting.take(frontier)
        try:
            restore(self.crew, self.dwellers, self.frontier[0])
        except (MemoryError, ArithmeticError):
            return
        for port, batch in self._lasting:
            self._waiting.put(port, batch)
        self.failed = None

    def _forget_fed(self, ports: set[int]) -> None:
        self._waiting.forget(ports)
        self._lasting = [item for item in self._lasting if item[0] not in ports]

    def _failed_at(self) -> str | None:
        """The operator that met a number which is too large, where one did."""
        for worker, machine in enumerate(self.crew.machines):
            for dweller in self.dwellers:
                if where := dweller.told(worker, machine.failed_at):
                    return where
        return None

    def _check(self, before: list[int], frontier: list[int]) -> None:
        """Compare what was computed for the versions between two frontiers with plain Python."""
        checkers = list(self._checkers.values())
        due = versions_of(checkers, self._shape(), before, frontier)
        for checker in checkers:
            checker.check(due)

    def end(self) -> None:
        """Give all memory back to the system at once; the host is of no more use."""
        self.failed = self.failed or "it was closed"
        self._waiting.clear()
        self._checkers.clear()
        self.crew.end()

    def _begin_batch(self, frontier: list[int]) -> None:
        """Feed the machines what waits for versions that are closed now, and tell them of these.

        Where that fails, rows wait nowhere any more: the batch must not be taken for one without.
        """
        try:
            self._set_versions(self._feed_closed(frontier))
        except MemoryError as error:
            raise limit_of(error, len(self.machine.words) * 8) from error

    def _set_versions(self, versions: set[int]) -> None:
        """Tell the machines which versions a batch closes, and from where on they stay apart."""
        one = len(versions) == 1 and self.coordinates == 1 and not self._fresh
        only = versions.pop() if one else -1
        lower = self.frontier[0] if self.coordinates == 1 else 0
        # One version before the batch stays apart: users may still read it.
        self.since = [max(lower - 1, 0)] if self.coordinates == 1 else self.frontier
        # A history that is imported in this batch is gone through from its beginning: whoever looks
        # at one of its versions must not find rows of a trace that were moved behind it meanwhile.
        since = [0] if self._fresh_history else self.since
        for machine in self.crew.machines:
            machine.words[layout.ONE_VERSION] = only
            machine.set_frontier(layout.SINCE, since)

    def _feed_closed(self, frontier: list[int]) -> set[int]:
        """Feed what waits for versions that are closed now; those versions."""
        due, versions = self._waiting.take(frontier)
        for checker in self._checkers.values():
            checker.begin([(port, batch.rows()) for port, batch in due])
        for port, batch in due:
            if self.workers > 1:
                self._feed_crew(port, batch.rows())
            elif port in self._inputs:
                self.machine.send_later(self._inputs[port], batch)
            else:
                self.machine.feed(port, batch.rows())
        return versions

    def _feed_crew(self, port: int, rows: Int64) -> None:
        """Hand rows to the workers that have their keys, or to all in equal parts."""
        if port in self._keys:
            self.crew.feed_owners(port, rows, self._keys[port])
        elif port in self._inputs:
            self.crew.send_later(self._inputs[port], rows)
        else:
            self.crew.feed(port, rows)
