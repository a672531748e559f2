"""The operators of a plan: one for each node that keeps state, with the ports and traces it needs.

Traces that an operator reads are there before it is made, since nodes come behind their sources.
How records come to operators is left to `lower`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphtide.engine.dataflow.machine import Machine
from graphtide.engine.dataflow.once import forgetting, tables_of
from graphtide.engine.dataflow.paths import MOST_ROUNDS, Paths
from graphtide.engine.dataflow.programs import Encode
from graphtide.engine.dataflow.schedule import Flow
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.times import MOST_COORDINATES, field_width, shape_of
from graphtide.model.errors import InputError, LimitError
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
)

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
class Installed:
    """What became of a plan: addresses by the number of the node, and the schedule."""

    operators: dict[int, int] = field(default_factory=dict)
    traces: dict[int, int] = field(default_factory=dict)
    ports: dict[int, int] = field(default_factory=dict)
    edges: dict[tuple[int, int, int], int] = field(default_factory=dict)
    watched: dict[int, int] = field(default_factory=dict)
    instructions: list[list[int]] = field(default_factory=list)


class Making:
    """One plan on its way into a machine. `shared` are the traces that imports name."""

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
        self.paths = Paths(plan, field_width(depths), most_rounds)
        self.tables = tables_of(plan) if once and not watch else {}
        self.forgetting = forgetting(plan) if once and not watch else set()
        self.done = Installed()
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
                self.done.ports[number] = self.machine.new_port(len(self.plan.schemas[number]))
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
                self.done.traces[number] = self.shared[node.arrangement]
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
            self.done.ports[number] = fields[layout.OP_PORT] = self.machine.new_port(port)
        if trace:
            self.done.traces[number] = trace
        operator = self.machine.new_operator(kind, self.shape, fields)
        self.done.operators[number] = operator
        return operator

    def _cut(self, number: int) -> None:
        """Consolidate the records of a node where it stands."""
        width = len(self.plan.schemas[number])
        trace = self.machine.new_trace(width, 0)
        self._operator(number, layout.CONSOLIDATE, port=width, trace=trace)

    def _read(self, operator: int, number: int, arrangement: int, side: int) -> None:
        """Make an operator read an arrangement; all of an imported one is news at first."""
        trace = self.done.traces[arrangement]
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
        """Sums that their input alone tells; results are kept where somebody looks them up."""
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


def _sums(node: Reduce) -> list[int]:
    """What LINEAR makes of its sums, as the machine knows it."""
    return [number for kind, tag in node.outputs for number in (_SUMS[kind], tag)]


def _texts(node: Reduce, values: int) -> list[int]:
    """The words of a head, and which words are codes of texts (see `text_ends` of the kernels)."""
    return [min(node.texts), *(1 if word in node.texts else 0 for word in range(values))]
