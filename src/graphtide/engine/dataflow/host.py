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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphtide.engine.dataflow.columns import Texts
from graphtide.engine.dataflow.lowering import (
    InstalledDataflow,
    Lowering,
    PlanAddresses,
    own_traces,
    positions_of,
)
from graphtide.engine.dataflow.machine import (
    DEFAULT_FUEL,
    DEFAULT_MEMORY,
    Handler,
    Int64,
    Machine,
    limit_of,
)
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
from graphtide.engine.dataflow.worker_pool import WorkerPool
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.distinct import drop_seen
from graphtide.kernels.dataflow.traces import drop_trace, remove_reader
from graphtide.model.errors import GraphtideError, InputError, LimitError
from graphtide.plan.dataflow import Compute, DataflowPlan, Foreign, Import, Input, Reduce


def handler_of(
    machine: Machine, plan: DataflowPlan, number: int, functions: Sequence[Function], texts: Texts
) -> Handler | None:
    """The function that carries out a node of a plan; None for nodes that machines carry out."""
    node, made = plan.nodes[number], plan.schemas[number]
    if isinstance(node, Compute):
        return compute_handler(machine, node, plan.schemas[node.source], texts)
    if isinstance(node, Foreign):
        schemas = plan.schemas[node.source], made
        function, positions = functions[node.function], positions_of(plan, number)
        return foreign_handler(machine, node, function, schemas, texts, positions)
    if isinstance(node, Reduce) and node.reducer == "function":
        key, source = plan.key_of(node.source), plan.schemas[node.source]
        parts = source[:key], source[key:], made[key:]
        return reduce_handler(machine, functions[node.argument], parts, texts)
    return None


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
class Host:
    """The machines with their settings, the dataflows on them, and the inputs that wait."""

    coordinates: int = 1
    memory: int = DEFAULT_MEMORY
    effort: int = 4
    fuel: int = DEFAULT_FUEL
    most_rounds: int = MOST_ROUNDS
    watch: bool = False
    """Whether the differences of every node are kept in ports of their own, for tests."""
    once: bool = False
    workers: int = 1
    texts: Texts = field(default_factory=Texts)

    def __post_init__(self) -> None:
        self.pool = WorkerPool(
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
        self.machine = self.pool.machines[0]
        # An update takes twenty microseconds: one worker runs its machine without the pool.
        self._runner: Machine | WorkerPool = self.machine if self.workers == 1 else self.pool
        self.dataflows: list[InstalledDataflow] = []
        self.shared: set[int] = set()
        self.frontier: list[int] = [0]
        self.since: list[int] = [0]
        self.held: dict[int, list[int]] = {}
        self._fresh = self._fresh_history = False
        self._labelled = 0
        self._inputs: dict[int, int] = {}
        """The operators of inputs that send what is fed to them, by port."""
        self._keys: dict[int, int] = {}
        """Words of the keys that decide which worker has what is fed to a port."""
        self.failed: str | None = None
        self._restorable = False
        self._waiting = WaitingInputs(self.machine.field(0, layout.VERSION_SHAPE))
        self._lasting: list[tuple[int, InputBatch]] = []

    def install(self, plan: DataflowPlan, functions: Sequence[Function]) -> InstalledDataflow:
        """Make a plan part of the machine; it takes part from the next batch on."""
        lowerings = [
            self._lowering(worker, machine, plan)
            for worker, machine in enumerate(self.pool.machines)
        ]
        installed = self._installed(lowerings)
        feeds = {
            number: lowerings[0].shortcut(number)
            for number, node in enumerate(plan.nodes)
            if isinstance(node, Input)
        }
        self.pool.note(installed)
        for machine, addresses in zip(self.pool.machines, installed, strict=True):
            for number, operator in addresses.operators.items():
                handler = handler_of(machine, plan, number, functions, self.texts)
                if handler is not None:
                    machine.handlers[operator] = handler
        if any(isinstance(node, Reduce) and node.texts for node in plan.nodes):
            self.machine.before_run = self._set_labels
        dataflow = InstalledDataflow(plan, tuple(installed), feeds)
        self.dataflows.append(dataflow)
        if not self.watch:
            ports, operators = dataflow.addresses.ports, dataflow.addresses.operators
            direct = {port: operators[n] for n, port in feeds.items() if port == ports[n]}
            self._inputs.update(direct)
            self._note_keys(lowerings[0], feeds.values())
        imports = [node for node in plan.nodes if isinstance(node, Import)]
        self._fresh |= bool(imports)
        self._fresh_history |= any(node.history for node in imports)
        self._reschedule()
        return dataflow

    def _note_keys(self, lowering: Lowering, ports: Iterable[int]) -> None:
        """Note by which words of a row workers share what users feed straight to an index."""
        numbers = {port: number for number, port in lowering.addresses.ports.items()}
        for port in ports:
            if self.workers > 1 and port not in self._inputs:
                self._keys[port] = lowering.key_words(numbers[port]) or 0

    def _installed(self, lowerings: Sequence[Lowering]) -> list[PlanAddresses]:
        """What a plan becomes in each machine; nothing is left of one that cannot be installed."""
        try:
            return [lowering.install() for lowering in lowerings]
        except BaseException as error:
            for lowering in lowerings:
                addresses = lowering.addresses
                traces = own_traces(lowering.plan, addresses).values()
                remove(
                    lowering.machine, addresses.operators.values(), addresses.ports.values(), traces
                )
            if isinstance(error, MemoryError):
                raise limit_of(error, len(self.machine.words) * 8) from error
            raise

    def _lowering(self, worker: int, machine: Machine, plan: DataflowPlan) -> Lowering:
        return Lowering(
            machine,
            plan,
            {trace: self.pool.twin(worker, trace) for trace in self.shared},
            self.texts.code,
            self.frontier[0] if self.coordinates == 1 else 0,
            watch=self.watch,
            most_rounds=self.most_rounds,
            once=self.once,
        )

    def share(self, trace: int) -> int:
        self.shared.add(trace)
        return trace

    def hold(self, trace: int, version: int) -> None:
        """Keep the versions from one on apart in a trace, until it is let go."""
        self.held.setdefault(trace, []).append(version)
        self.pool.set_held(trace, self.held[trace])

    def let_go(self, trace: int, version: int) -> None:
        self.held[trace].remove(version)
        self.pool.set_held(trace, self.held[trace])

    def uninstall(self, dataflow: InstalledDataflow) -> None:
        """Free all that a dataflow made; what it imported stays with its owner."""
        own = set(own_traces(dataflow.plan, dataflow.addresses).values())
        users = [
            other.plan.name
            for other in self.dataflows
            if other is not dataflow and own & set(other.addresses.traces.values())
        ]
        if users:
            raise InputError(
                f"{dataflow.plan.name} cannot be closed: {', '.join(users)} imports from it",
                hint="close that one first",
            )
        self.dataflows.remove(dataflow)
        self._reschedule()
        ports_here = _ports(dataflow.addresses)
        self._waiting.forget(ports_here)
        self._lasting = [item for item in self._lasting if item[0] not in ports_here]
        self.shared -= own
        for port in ports_here:
            self._inputs.pop(port, None)
            self._keys.pop(port, None)
        for trace in own & set(self.held):
            self.pool.set_held(trace, [])
            del self.held[trace]
        for worker, machine in enumerate(self.pool.machines):
            addresses = dataflow.shards[worker]
            traces = {self.pool.twin(worker, trace) for trace in own}
            remove(machine, addresses.operators.values(), _ports(addresses), traces)
        self.pool.forget({*dataflow.addresses.operators.values(), *ports_here, *own})

    def _set_labels(self) -> None:
        """Hand the labels of texts to the machine where texts have come."""
        if len(self.texts) != self._labelled:
            labels = self.texts.labels()
            for machine in self.pool.machines:
                machine.set_labels(labels)
            self._labelled = len(self.texts)

    def _reschedule(self) -> None:
        for worker, machine in enumerate(self.pool.machines):
            shards = [dataflow.shards[worker] for dataflow in self.dataflows]
            machine.set_schedule(
                placed([item for addresses in shards for item in addresses.instructions])
            )

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
        if self.once and any(dataflow.ran for dataflow in self.dataflows):
            raise InputError(
                "This dataflow runs once, and has run", hint="make it anew, or without `once`"
            )
        # An interrupt may come at any line: until all is noted, the host counts as failed.
        self.failed = "it was interrupted"
        try:
            self._begin_batch(frontier)
            self._runner.run()
            self._raise_fault(frontier)
        except BaseException as error:
            self._note_failure(error)
            raise
        self._lasting.clear()
        self._fresh = self._fresh_history = False
        self.frontier = frontier
        for dataflow in self.dataflows:
            dataflow.ran = True
        self.failed = None

    def _raise_fault(self, frontier: Sequence[int]) -> None:
        """Raise an error where a version that is closed now has a record without a word."""
        operator = find_fault(self.pool, self.dataflows, frontier)
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
        plain = self.coordinates == 1 and not self.once and not self.watch
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
            restore(self.pool, self.dataflows, self.frontier[0])
        except (MemoryError, ArithmeticError):
            return
        for port, batch in self._lasting:
            self._waiting.put(port, batch)
        self.failed = None

    def _failed_at(self) -> str | None:
        """The operator that met a number which is too large, where one did."""
        for worker, machine in enumerate(self.pool.machines):
            for dataflow in self.dataflows:
                if where := dataflow.operator_name(worker, machine.failed_at):
                    return where
        return None

    def end(self) -> None:
        """Give all memory back to the system at once; the host is of no more use."""
        self.failed = self.failed or "it was closed"
        self._waiting.clear()
        self.pool.end()

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
        for machine in self.pool.machines:
            machine.words[layout.ONE_VERSION] = only
            machine.set_frontier(layout.SINCE, since)

    def _feed_closed(self, frontier: list[int]) -> set[int]:
        """Feed what waits for versions that are closed now, and return these versions."""
        due, versions = self._waiting.take(frontier)
        for port, batch in due:
            if self.workers > 1:
                self._feed_pool(port, batch.rows())
            elif port in self._inputs:
                self.machine.send_later(self._inputs[port], batch)
            else:
                self.machine.feed(port, batch.rows())
        return versions

    def _feed_pool(self, port: int, rows: Int64) -> None:
        """Hand rows to the workers that have their keys, or to all in equal parts."""
        if port in self._keys:
            self.pool.feed_owners(port, rows, self._keys[port])
        elif port in self._inputs:
            self.pool.send_later(self._inputs[port], rows)
        else:
            self.pool.feed(port, rows)


def _ports(addresses: PlanAddresses) -> set[int]:
    return {*addresses.ports.values(), *addresses.watched.values()}
