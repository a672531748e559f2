"""Where kernels of walks keep the names of a program, as text.

In loops, position p is `at_p` and edge e is `edge_e`. What a version shows of a factor is up to
`Versions`. In `initialize` and `update` there is `vertex`, with its state at `at` and its sums at
`sums_at`. An index outside of its array is noted as a fault and read as 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from graphtide.engine.inputs import TupleInputs
from graphtide.engine.synchronous.row_layout import Column, Extent
from graphtide.engine.walks.layout import WalkLayout
from graphtide.engine.write import Places
from graphtide.plan.expressions import (
    BOOL,
    EdgeProperty,
    Expression,
    GlobalRef,
    Joined,
)
from graphtide.plan.programs import AccumulatorKind
from graphtide.plan.walk_facts import WalkFacts
from graphtide.plan.walk_forms import normal_joined
from graphtide.plan.walks import WalkProgram

WAYS = {"out": "OUT_WAY", "in": "IN_WAY", "both": "BOTH_WAYS"}


@dataclass(frozen=True)
class Versions:
    """The version of each question and of each position's degrees, as text; NEW if not said.

    `answers` are questions whose answer is known, or held by a local name. `states` are versions of
    the state of the round before, in what is kept of both runs; None: state is that of a run from
    scratch, in its rows.
    """

    joined: Mapping[Joined, str] = field(default_factory=dict)
    degrees: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[Joined, str] = field(default_factory=dict)
    states: Mapping[str, str] | None = None


class WalkNames:
    """How one program's names are written in loops, and in functions of one vertex."""

    def __init__(self, program: WalkProgram, layout: WalkLayout, facts: WalkFacts) -> None:
        self.layout, self.ordered, self.rounds = layout, facts.ordered, facts.stateful
        self.state = {column.item.name: column for column in layout.state}
        self.sums = {column.item.name: column for column in layout.sums}
        self.globals = {column.item.name: column for column in layout.globals}
        self.values = {column.item.name: column for column in layout.values}
        self.matches = {item.name: at for at, item in enumerate(program.matches)}
        self.report_width = 2 + max((len(item.columns) for item in program.matches), default=0)
        """Words of a reported row: which matches, the sign, and as many columns as any has."""
        self._inputs = TupleInputs(program)
        self._properties = {name: at for at, (name, _) in enumerate(facts.properties)}

    def parameter(self, name: str) -> str:
        """The value of a parameter."""
        return self._inputs.parameter(name)

    def edge_property(self, name: str) -> str:
        """The values of an edge property."""
        return f"properties[{self._properties[name]}]"

    def extent(self, extent: Extent) -> str:
        """A number of words."""
        return extent.source(self.parameter) if extent.times else str(extent.constant)

    def element(self, column: Column, base: str, index: str | None) -> str:
        """Where an element of a column stands, in a row at `base`."""
        offset = self.extent(column.offset)
        place = base if offset == "0" else f"{base} + {offset}"
        if index is None:
            return place
        return f"{place} + {column.words} * within(walking, {index}, {self.length(column)})"

    def length(self, column: Column) -> str:
        """How many elements a column has."""
        size = column.item.size
        if size is None:
            return "1"
        return self.parameter(size) if isinstance(size, str) else str(size)

    @property
    def row_width(self) -> str:
        """The words of a row of state and accumulators, as rounds are kept."""
        layout = self.layout
        return f"({self.extent(layout.state_width)} + {self.extent(layout.sums_width)})"

    def touching(self, target: str) -> str:
        """Have the accumulators of a vertex ready to be changed by a term; its entry."""
        if self.rounds:
            return f"reach(walking, rounds, {target})"
        return f"touch(walking, {target}, {_factor(self.extent(self.layout.sums_width))})"

    def loop_places(self, versions: Versions) -> Places:
        """The places of conditions and values in loops."""

        def state(position: str, name: str, index: str | None) -> str:
            if versions.states is not None:
                upto = versions.states.get(position, "NEW")
                base = f"state_place(rounds, at_{position}, {upto}, {self.row_width})"
                return self._value(self.state[name], "rounds.histories", base, index)
            base = f"at_{position} * {_factor(self.extent(self.layout.state_width))}"
            return self._value(self.state[name], "states", base, index)

        def special(node: Expression, _: Callable[[Expression], str]) -> str | None:
            match node:
                case EdgeProperty(name, _, edge):
                    return f"{self.edge_property(name)}[edge_{edge}]"
                case Joined():
                    return joined_text(normal_joined(node), versions)
                case _:
                    return None

        return Places(
            parameter=self.parameter,
            edge_property=_refuse,
            state=state,
            accumulator=_refuse,
            fact=lambda position, name: _fact(name, f"at_{position}", versions.degrees, position),
            vertex_property=lambda position, name: self._inputs.vertex_property(
                name, f"at_{position}"
            ),
            text=self._inputs.text,
            member=lambda position, name: f"{self.parameter(name)}[at_{position}]",
            assign=_refuse,
            send=_refuse_send,
            special=special,
        )

    def vertex_places(self) -> Places:
        """The places of `initialize` and `update`."""

        def special(node: Expression, write: Callable[[Expression], str]) -> str | None:
            if not isinstance(node, GlobalRef):
                return None
            index = None if node.index is None else write(node.index)
            return self._value(self.values[node.name], "walking.global_values", "0", index)

        return Places(
            parameter=self.parameter,
            edge_property=_refuse,
            state=lambda _, name, index: self._value(self.state[name], "states", "at", index),
            accumulator=self._accumulated,
            fact=lambda _, name: _fact(name, "vertex", {}, ""),
            vertex_property=lambda _, name: self._inputs.vertex_property(name, "vertex"),
            text=self._inputs.text,
            member=lambda _, name: f"{self.parameter(name)}[vertex]",
            assign=lambda name, index: self._word(self.state[name], "states", "at", index),
            send=_refuse_send,
            special=special,
        )

    def _word(self, column: Column, rows: str, base: str, index: str | None) -> str:
        kind = "real" if column.real else "whole"
        return f"{rows}.{kind}[{self.element(column, base, index)}]"

    def _value(self, column: Column, rows: str, base: str, index: str | None) -> str:
        word = self._word(column, rows, base, index)
        return f"({word} != 0)" if column.item.type is BOOL else word

    def _accumulated(self, name: str, index: str | None) -> str:
        column = self.sums[name]
        word = self._word(column, "sums", "sums_at", index)
        match getattr(column.item, "kind", None):
            case AccumulatorKind.OR:
                return f"({word} > 0)"
            case AccumulatorKind.AND:
                return f"({word} == 0)"
            case _:
                return word


def joined_text(atom: Joined, versions: Versions) -> str:
    """The question whether two positions are joined, at the version that it has."""
    if atom in versions.answers:
        return versions.answers[atom]
    upto = versions.joined.get(atom, "NEW")
    return f"joined(walking, at_{atom.source}, at_{atom.target}, {WAYS[atom.way]}, {upto})"


def _fact(name: str, vertex: str, degrees: Mapping[str, str], position: str) -> str:
    upto = degrees.get(position, "NEW")
    match name:
        case "id":
            return f"np.int64({vertex})"
        case "out_degree" | "in_degree":
            return f"{name}(walking, {vertex}, {upto})"
        case _:
            both = (f"{way}_degree(walking, {vertex}, {upto})" for way in ("out", "in"))
            return f"({' + '.join(both)})"


def _factor(text: str) -> str:
    return text if text.isdigit() else f"({text})"


def _refuse(*_: object) -> str:
    raise AssertionError("the language allows this name in another function only")


def _refuse_send(*_: object) -> list[str]:
    raise AssertionError("loops write their sends themselves")
