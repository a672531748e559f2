"""From plan to machine: operators for what keeps state, edges for what does not, a schedule.

Each node that keeps state becomes one operator with its ports and traces. Where it reads records,
the paths to them become edges from the operators that make them; where it reads an arrangement, it
becomes a reader of the trace. On one of several workers, an edge into an operator that keeps keys
sends each row to the worker that has its key, unless every row on that edge is there already.

In a dataflow that runs once, `distinct` keeps a table of records and no times wherever no record is
ever taken away: where all that leads to it maps, filters, joins and concatenates insertions, or
comes from a reduction outside of loops. Negations, weights, reductions in a loop, and variables
that start as a collection take records away. An arrangement in a loop whose readers all join it
with arrangements from outside of all loops forgets what is no longer fresh.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphtide.engine.dataflow.machine import Machine
from graphtide.engine.dataflow.paths import MOST_ROUNDS, LinearPath, LinearPaths
from graphtide.engine.dataflow.programs import (
    Encode,
    doubtful,
    is_plain,
    path_program,
    sums_of,
    sums_program,
)
from graphtide.engine.dataflow.python_operators import LoopPositions
from graphtide.engine.dataflow.schedule import Flow, schedule
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.numbers import MOST_COORDINATES, field_width, shape_of
from graphtide.model.errors import InputError, LimitError
from graphtide.plan import dataflow as nodes
from graphtide.plan.dataflow import (
    Arrange,
    Compute,
    Consolidate,
    DataflowPlan,
    Foreign,
    Import,
    Input,
    Join,
    Node,
    Output,
    Reduce,
    describe,
)
from graphtide.plan.dataflow_expressions import Column

_KEEPING = (
    nodes.Arrange
    | nodes.Compute
    | nodes.Concat
    | nodes.Consolidate
    | nodes.Enter
    | nodes.Filter
    | nodes.Foreign
    | nodes.Input
    | nodes.Join
    | nodes.Leave
    | nodes.Map
    | nodes.Variable
)


def tables_of(plan: nodes.DataflowPlan) -> dict[int, int]:
    """The reductions that may be tables, each with the arrangement that is then not made."""
    readers: dict[int, list[int]] = {}
    for number, node in enumerate(plan.nodes):
        for source in nodes.sources_of(node):
            readers.setdefault(source, []).append(number)
    indexed = {
        source
        for node in plan.nodes
        if isinstance(node, nodes.Join | nodes.Reduce)
        for source in nodes.sources_of(node)
    }
    return {
        number: node.source
        for number, node in enumerate(plan.nodes)
        if isinstance(node, nodes.Reduce)
        and _is_distinct(node)
        and number not in indexed
        and readers[node.source] == [number]
        and node.source not in plan.definitions.values()
        and isinstance(plan.nodes[node.source], nodes.Arrange)
        and _only_come(plan, node.source)
    }


def forgetting(plan: nodes.DataflowPlan) -> set[int]:
    """The arrangements whose readers read fresh batches only."""
    others: dict[int, list[int]] = {}
    timed: set[int] = set()
    for node in plan.nodes:
        if isinstance(node, nodes.Join):
            others.setdefault(node.left, []).append(node.right)
            others.setdefault(node.right, []).append(node.left)
        elif isinstance(node, nodes.Reduce):
            timed.add(node.source)
    return {
        number
        for number, joined in others.items()
        if isinstance(plan.nodes[number], nodes.Arrange)
        and plan.scope_of[number] != 0
        and number not in timed
        and all(plan.scope_of[other] == 0 for other in joined)
    }


def _is_distinct(node: nodes.Reduce) -> bool:
    return node.reducer == "threshold" and node.argument == 1


def _only_come(plan: nodes.DataflowPlan, start: int) -> bool:
    """True where no record of a node is ever taken away."""
    waiting, known = [start], set()
    while waiting:
        number = waiting.pop()
        if number in known:
            continue
        known.add(number)
        node = plan.nodes[number]
        if not _keeps(plan, number, node):
            return False
        if isinstance(node, nodes.Reduce) and not _is_distinct(node):
            continue
        waiting.extend(nodes.sources_of(node))
        if number in plan.definitions:
            waiting.append(plan.definitions[number])
    return True


def _keeps(plan: nodes.DataflowPlan, number: int, node: nodes.Node) -> bool:
    """True where a node takes nothing away as long as nothing is taken from its sources."""
    if isinstance(node, nodes.Variable):
        return node.initial is None and number not in plan.rounds
    if isinstance(node, nodes.Reduce):
        return _is_distinct(node) or plan.scope_of[number] == 0
    return isinstance(node, _KEEPING)


_REDUCERS = {
    "min": layout.FIRST,
    "max": layout.LAST,
    "first": layout.FIRST,
    "last": layout.LAST,
    "sums": layout.LINEAR,
    "threshold": layout.THRESHOLD,
    "function": layout.ASK,
}


_SUMS = {"plain": layout.PLAIN_SUM, "whole": layout.WHOLE_SUM, "float": layout.FLOAT_SUM}


@dataclass
class PlanAddresses:
    """What became of a plan: addresses by the number of the node, and the schedule."""

    operators: dict[int, int] = field(default_factory=dict)
    traces: dict[int, int] = field(default_factory=dict)
    ports: dict[int, int] = field(default_factory=dict)
    edges: dict[tuple[int, int, int], int] = field(default_factory=dict)
    watched: dict[int, int] = field(default_factory=dict)
    instructions: list[list[int]] = field(default_factory=list)


class Lowering:
    """One plan on its way into a machine: its operators, the edges between them, the schedule.

    `shared` are the traces that imports name.
    """

    def __init__(
        self,
        machine: Machine,
        plan: DataflowPlan,
        shared: Mapping[int, int],
        encode: Encode,
        version: int,
        *,
        watch: bool = False,
        most_rounds: int = MOST_ROUNDS,
        once: bool = False,
    ) -> None:
        if plan.depth() > MOST_COORDINATES:
            raise LimitError(
                f"Loops are nested {plan.depth()} deep; {MOST_COORDINATES} is the most",
                hint="take apart what does not need to be one loop within another",
            )
        depths = max(plan.depth(), 1)
        self.machine = machine
        self.plan = plan
        self.shared = shared
        self.encode = encode
        self.version = version
        self.watch = watch
        self.shape = shape_of(depths)
        self.paths = LinearPaths(plan, field_width(depths), most_rounds)
        self.tables = tables_of(plan) if once and not watch else {}
        self.forgetting = forgetting(plan) if once and not watch else set()
        self.addresses = PlanAddresses()
        self._flows: list[Flow] = []
        self._summed = {
            node.source
            for node in plan.nodes
            if isinstance(node, Reduce) and node.reducer == "sums"
        }
        self._exchanged: dict[int, int] = {}

    def _make(self, number: int, node: Node) -> None:
        """Make the operator of a node that keeps state; traces it reads are there already."""
        match node:
            case Input():
                self._operator(number, layout.PASS, port=len(self.plan.schemas[number]))
            case Consolidate():
                self._cut(number)
            case Foreign() | Compute():
                source = self.plan.schemas[node.source]
                self._operator(number, layout.FOREIGN, port=len(source))
            case Output():
                self.addresses.ports[number] = self.machine.new_port(len(self.plan.schemas[number]))
            case Arrange() if number in self.tables.values():
                pass
            case Reduce() if number in self.tables:
                width = len(self.plan.schemas[number])
                operator = self._operator(number, layout.DISTINCT, port=width)
                self.machine.set_field(operator, layout.OP_SEEN, self.machine.new_seen(width))
            case Arrange():
                width = len(self.plan.schemas[number])
                trace = self.machine.new_trace(node.key, width - node.key, node.order == "time")
                if number in self.forgetting:
                    self.machine.set_field(trace, layout.TRACE_FORGETS, 1)
                self._operator(number, layout.ARRANGE, port=width, trace=trace)
            case Import():
                if node.arrangement not in self.shared:
                    raise InputError(
                        f"{self.plan.name} imports from a dataflow that was closed meanwhile",
                        hint="advance it once before you close what it imports from",
                    )
                self.addresses.traces[number] = self.shared[node.arrangement]
                floor = 0 if node.history else self.version
                operator = self._operator(number, layout.IMPORT)
                self._read(operator, number, number, 0)
                self.machine.set_field(operator, layout.OP_FLOOR, floor)
            case Join():
                operator = self._operator(number, layout.JOIN)
                self._read(operator, number, node.left, 0)
                self._read(operator, number, node.right, 1)
            case Reduce() if node.reducer == "sums" and self._is_plain(number):
                self._sum(number, node)
            case Reduce():
                self._reduce(number, node)

    def _operator(self, number: int, kind: int, *, port: int = -1, trace: int = 0) -> int:
        fields = {layout.OP_OUTPUT: trace}
        if port >= 0:
            self.addresses.ports[number] = fields[layout.OP_PORT] = self.machine.new_port(port)
        if trace:
            self.addresses.traces[number] = trace
        operator = self.machine.new_operator(kind, self.shape, fields)
        self.addresses.operators[number] = operator
        return operator

    def _cut(self, number: int) -> None:
        """Consolidate the records of a node where it stands."""
        width = len(self.plan.schemas[number])
        trace = self.machine.new_trace(width, 0)
        self._operator(number, layout.CONSOLIDATE, port=width, trace=trace)

    def _read(self, operator: int, number: int, arrangement: int, side: int) -> None:
        """Make an operator read an arrangement; all of an imported one is news at first."""
        trace = self.addresses.traces[arrangement]
        machine = self.machine
        machine.set_field(operator, layout.OP_LEFT if side == 0 else layout.OP_RIGHT, trace)
        machine.read_trace(operator, trace, side)
        node = self.plan.nodes[arrangement]
        if isinstance(node, Import):
            news = layout.OP_LEFT_NEWS if side == 0 else layout.OP_RIGHT_NEWS
            machine.set_field(operator, news, 2)
            if not node.history:
                machine.set_field(operator, layout.OP_FLOOR, self.version)
        if arrangement != number:
            self._flows.append(Flow(arrangement, number))

    def _reduce(self, number: int, node: Reduce) -> None:
        machine = self.machine
        keys = self.plan.key_of(node.source)
        values = len(self.plan.schemas[number]) - keys
        trace = machine.new_trace(keys, values)
        operator = self._operator(number, layout.REDUCE, port=keys + 2, trace=trace)
        fields = {
            layout.OP_RESULTS: machine.new_port(keys + values),
            layout.OP_REDUCER: _REDUCERS[node.reducer],
            layout.OP_ARGUMENT: node.argument,
            layout.OP_TODO: machine.new_trace(keys, 2, True),
            layout.OP_ARGUMENTS: machine.store([len(node.outputs), *_sums(node)]),
            layout.OP_TEXTS: machine.store(_texts(node, values)) if node.texts else 0,
        }
        for place, value in fields.items():
            machine.set_field(operator, place, value)
        self._read(operator, number, node.source, 0)

    def _is_plain(self, number: int) -> bool:
        """True where times are plain numbers: outside of loops, and on a clock of one."""
        plain = self.machine.field(0, layout.VERSION_SHAPE) == 0
        return plain and self.plan.scope_of[number] == 0

    def _sum(self, number: int, node: Reduce) -> None:
        """Make an operator of sums; results are kept only where somebody looks them up."""
        machine = self.machine
        keys = self.plan.key_of(node.source)
        values = len(self.plan.schemas[number]) - keys
        trace = machine.new_trace(keys, values) if node.indexed else 0
        operator = self._operator(number, layout.SUM, trace=trace)
        fields = {
            layout.OP_RESULTS: machine.new_port(keys + values) if node.indexed else 0,
            layout.OP_ARGUMENT: node.argument,
            layout.OP_ARGUMENTS: machine.store([len(node.outputs), *_sums(node)]),
        }
        for place, value in fields.items():
            machine.set_field(operator, place, value)
        self._read(operator, number, node.source, 0)

    def key_words(self, number: int) -> int | None:
        """The first so many words of a record say which worker has it; None where any may."""
        node = self.plan.nodes[number]
        match node:
            case Arrange() | Import():
                return node.key
            case Join():
                return self.plan.key_of(node.left)
            case Reduce() if number not in self.tables:
                return self.plan.key_of(number)
            case Input() | Foreign() | Compute() | Output():
                return None
        # Distinct records in a table, and what is consolidated, go by the whole record.
        return len(self.plan.schemas[number])

    def install(self) -> PlanAddresses:
        """Make all operators, connect them, and write the schedule."""
        self.paths.cuts |= doubtful(self.plan, self.encode)
        for number, node in enumerate(self.plan.nodes):
            self._make(number, node)
        for number, node in enumerate(self.plan.nodes):
            self._connect(number, node)
        if self.watch:
            # Who watches all nodes needs the paths to all of them.
            for number in range(len(self.plan.nodes)):
                self.paths.paths_to(number)
        # Connecting finds nodes that have to be consolidated; connecting those may find more.
        connected: set[int] = set()
        while self.paths.cuts - connected:
            for number in sorted(self.paths.cuts - connected):
                connected.add(number)
                if number not in self.addresses.operators:
                    self._cut(number)
                self._feed(number, self.addresses.ports[number], self.paths.into_cut(number))
        if self.watch:
            self._watch_all()
        self.addresses.instructions = schedule(
            self.plan, self.addresses.operators, self._flows, self._exchanged
        )
        return self.addresses

    def _connect(self, number: int, node: Node) -> None:
        """Make the edges that bring records to a node with a port."""
        match node:
            case Arrange() if number in self.tables.values():
                pass
            case Reduce() if number in self.tables:
                source = self.plan.nodes[self.tables[number]]
                assert isinstance(source, Arrange)
                self._feed(number, self.addresses.ports[number], self.paths.paths_to(source.source))
            case Consolidate() | Foreign() | Compute() | Output() | Arrange():
                self._feed(number, self.addresses.ports[number], self.paths.paths_to(node.source))

    def _feed(self, number: int, port: int, paths: list[LinearPath]) -> None:
        listed = self._programs(paths, summed=number in self._summed)
        for place, (path, program) in enumerate(listed):
            if path.origin not in self.addresses.operators:
                self._cut(path.origin)
            edge = self._edge(port, path, program) | self._last_round(number, path)
            edge |= self._owners(number, path)
            address = self.machine.add_edge(self.addresses.operators[path.origin], edge)
            self.addresses.edges[path.origin, number, place] = address
            round_of, outermost = self.paths.round_of(path), self.paths.outermost(path)
            self._flows.append(Flow(path.origin, number, round_of, outermost))

    def _programs(
        self, paths: list[LinearPath], *, summed: bool
    ) -> list[tuple[LinearPath, list[int]]]:
        """A program for each path; one for all paths of the same sums where they are summed up."""
        groups: dict[LinearPath, list[LinearPath]] = {}
        for path in paths:
            groups.setdefault((sums_of(path) if summed else None) or path, []).append(path)
        programs = []
        for shared, together in groups.items():
            whole = self._sums_program(together) if shared is not together[0] else None
            if whole is not None:
                programs.append((together[0], whole))
            else:
                programs += [(path, self._program(path)) for path in together]
        return programs

    def _sums_program(self, paths: list[LinearPath]) -> list[int] | None:
        """One program for paths of the same sums; None where it would be too large."""
        schema = self.plan.schemas[paths[0].origin]
        try:
            program = sums_program(paths, schema, self.encode)
        except LimitError:
            return None
        return program if len(paths) <= layout.MOST_SUMS else None

    def _program(self, path: LinearPath) -> list[int]:
        schema = self.plan.schemas[path.origin]
        return path_program(path, schema, self.encode, self.paths.round_limit)

    def _owners(self, number: int, path: LinearPath) -> dict[int, int]:
        """The fields by which an edge sends each row to the worker that owns its key."""
        keys = self.key_words(number)
        if self.machine.workers == 1 or keys is None or self._stays(path, keys):
            return {}
        if number not in self._exchanged:
            operator = self.addresses.operators[number]
            self._exchanged[number] = self.machine.new_outboxes(operator)
        return {layout.EDGE_KEYS: keys, layout.EDGE_OWNERS: self._exchanged[number]}

    def _stays(self, path: LinearPath, keys: int) -> bool:
        """True where a path leaves the key unchanged by which rows were given to their worker."""
        names = [name for name, _ in self.plan.schemas[path.origin]]
        same = [expression for _, expression in path.columns[:keys]]
        return self.key_words(path.origin) == keys and same == [
            Column(name) for name in names[:keys]
        ]

    def _watch_all(self) -> None:
        """Keep the differences of every node in a port of its own, for tests to look at."""
        for number, node in enumerate(self.plan.nodes):
            if isinstance(node, Output):
                continue
            port = self.machine.new_port(len(self.plan.schemas[number]))
            self.addresses.watched[number] = port
            for path in self.paths.paths_to(number):
                edge = self._edge(port, path, self._program(path))
                self.machine.add_edge(self.addresses.operators[path.origin], edge)

    def _edge(self, port: int, path: LinearPath, program: list[int]) -> dict[int, int]:
        return {
            layout.EDGE_PORT: port,
            layout.EDGE_PROGRAM: self.machine.store(program),
            layout.EDGE_SIGN: path.sign,
            layout.EDGE_KEEP: path.keep,
            layout.EDGE_ADD: path.add,
            layout.EDGE_BEYOND: self.paths.beyond,
            layout.EDGE_FAULTS: self._fault_port(path, program),
        }

    def _fault_port(self, path: LinearPath, program: list[int]) -> int:
        """A port for records for which the program has no word; 0 where it has one for all."""
        if program[layout.PROGRAM_FAULT] < 0:
            return 0
        return self.machine.new_port(len(self.plan.schemas[path.origin]))

    def _last_round(self, number: int, path: LinearPath) -> dict[int, int]:
        """The fields by which an edge into a variable drops rows of later rounds."""
        bounds = [self.plan.rounds.get(number), path.last_round]
        known = [bound for bound in bounds if bound is not None]
        if not known:
            return {}
        unit = self.paths.unit(self.plan.scopes[self.plan.scope_of[number]].depth)
        return {
            layout.EDGE_LAST_ROUND: min(known),
            layout.EDGE_ROUND_SHIFT: unit.bit_length() - 1,
            layout.EDGE_ROUND_MASK: (1 << self.paths.width) - 1,
        }

    def shortcut(self, number: int) -> int:
        """The port for what users feed an input: straight to its only reader where that is all."""
        schema = self.plan.schemas[number]
        ends = [key for key in self.addresses.edges if key[0] == number]
        port = self.addresses.ports[number]
        if self.watch or len(ends) != 1 or isinstance(self.plan.nodes[ends[0][1]], Output):
            return port
        source = self.plan.nodes[ends[0][1]]
        if not isinstance(source, Arrange | Consolidate):
            return port
        paths = self.paths.paths_to(source.source)
        # What has no key at all is added up by each worker before one has it.
        keyed = self.machine.workers == 1 or self.key_words(ends[0][1])
        if len(paths) == 1 and is_plain(paths[0], schema) and keyed:
            return self.addresses.ports[ends[0][1]]
        return port


def _sums(node: Reduce) -> list[int]:
    """The codes and tags of the outputs of LINEAR."""
    return [number for kind, tag in node.outputs for number in (_SUMS[kind], tag)]


def _texts(node: Reduce, values: int) -> list[int]:
    """The words of a head, and which words are codes of texts (see `text_ends` of the kernels)."""
    return [min(node.texts), *(1 if word in node.texts else 0 for word in range(values))]


@dataclass
class InstalledDataflow:
    """A dataflow on the host: its plan, its addresses in each machine, and the ports of its inputs.

    `ran` is true once it has taken part in a run: before, even old versions may lack its imports.
    """

    plan: DataflowPlan
    shards: tuple[PlanAddresses, ...]
    feeds: dict[int, int]
    ran: bool = False

    @property
    def addresses(self) -> PlanAddresses:
        """The addresses in the first machine, by which everybody else knows its blocks."""
        return self.shards[0]

    def operator_name(self, worker: int, operator: int) -> str | None:
        """What an operator of a worker's machine does; None for an operator of another dataflow."""
        for number, found in self.shards[worker].operators.items():
            if found == operator:
                return f"#{number} {describe(self.plan, number)}, of dataflow {self.plan.name}"
        return None


def positions_of(plan: DataflowPlan, number: int) -> LoopPositions:
    """How positions are divided where a node stands."""
    depths = max(plan.depth(), 1)
    depth = plan.scopes[plan.scope_of[number]].depth
    return LoopPositions(field_width(depths), depths, depth)


def own_traces(plan: DataflowPlan, addresses: PlanAddresses) -> dict[int, int]:
    """The traces that a plan made itself: not those that it imports."""
    return {
        number: trace
        for number, trace in addresses.traces.items()
        if not isinstance(plan.nodes[number], Import)
    }
