"""Where accumulators and state of a walk program stand, and how kernels read and write them.

A vertex has a row of accumulators and one of state, the whole graph a row of accumulators. A least
or greatest value has how many walks sent it beside it, and is in doubt only when the last of them
leaves. A sum of floats takes three words at a vertex (the sum, its error, and what went through it)
and is exact for the whole graph; a product of the whole graph can take a factor back, one of a
vertex is gathered anew.

All else here is text of kernels. In loops, position p is `at_p` and edge e is `edge_e`; which
version a factor is read at is up to `FactorVersions`. In `initialize` and `update` there is
`vertex`, with its state at `at` and its sums at `sums_at`. An index outside of its array is noted
as a fault and read as 0. There are three ways to send: a run from scratch writes to rows as they
are (`RUN`), a term touches a row before it changes it and may have to take something back (`TERM`),
and a gathering takes anew what one vertex has lost (`GATHER`). `sign` is 1 for a walk that came and
-1 for one that left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from graphtide.engine.inputs import TupleInputs
from graphtide.engine.source import Places
from graphtide.engine.synchronous.rows import Extent, RowColumn, columns_of
from graphtide.kernels.walks.records import EXACT_WORDS
from graphtide.plan.expressions import BOOL, FLOAT, EdgeProperty, Expression, GlobalRef, Joined
from graphtide.plan.programs import Accumulator, AccumulatorKind
from graphtide.plan.walk_explain import WalkFacts
from graphtide.plan.walk_forms import normal_joined
from graphtide.plan.walks import WalkProgram

_KINDS = AccumulatorKind


@dataclass(frozen=True)
class WalkLayout:
    """Columns by what they belong to, and how many words each row takes."""

    sums: tuple[RowColumn, ...]
    state: tuple[RowColumn, ...]
    globals: tuple[RowColumn, ...]
    values: tuple[RowColumn, ...]
    """What the accumulators of the whole graph hold, as values: one word an element."""
    sums_width: Extent
    state_width: Extent
    globals_width: Extent
    values_width: Extent


def walk_layout(program: WalkProgram) -> WalkLayout:
    """Columns in the order in which the program declares them."""
    sums, sums_width = columns_of([(item, _vertex_words(item)) for item in program.accumulators])
    state, state_width = columns_of([(item, 1) for item in program.state])
    whole, globals_width = columns_of([(item, _global_words(item)) for item in program.globals])
    values, values_width = columns_of([(item, 1) for item in program.globals])
    return WalkLayout(
        sums, state, whole, values, sums_width, state_width, globals_width, values_width
    )


def is_gathered(item: Accumulator) -> bool:
    """True where a vertex may have to take its walks anew when it loses one."""
    if item.kind is _KINDS.SUM:
        return item.type is FLOAT
    return item.kind in (_KINDS.MIN, _KINDS.MAX, _KINDS.PRODUCT)


def is_counted(item: Accumulator) -> bool:
    """True where walks are added up as ints, so that a loop may add up before it sends."""
    return item.kind in (_KINDS.COUNT, _KINDS.OR, _KINDS.AND) or (
        item.kind is _KINDS.SUM and item.type is not FLOAT
    )


def is_selected(item: Accumulator) -> bool:
    """True where one of what was sent is kept, with how often it was sent."""
    return item.kind in (_KINDS.MIN, _KINDS.MAX)


def _vertex_words(item: Accumulator) -> int:
    if is_selected(item):
        return 2
    return 3 if item.kind is _KINDS.SUM and item.type is FLOAT else 1


def _global_words(item: Accumulator) -> int:
    match item.kind:
        case _KINDS.SUM if item.type is FLOAT:
            return EXACT_WORDS
        case _KINDS.PRODUCT:
            return 4 if item.type is FLOAT else 3
        case _:
            return 2 if is_selected(item) else 1


WAYS = {"out": "OUT_WAY", "in": "IN_WAY", "both": "BOTH_WAYS"}


@dataclass(frozen=True)
class FactorVersions:
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

    def element(self, column: RowColumn, base: str, index: str | None) -> str:
        """Where an element of a column stands, in a row at `base`."""
        offset = self.extent(column.offset)
        place = base if offset == "0" else f"{base} + {offset}"
        if index is None:
            return place
        return f"{place} + {column.words} * within(walking, {index}, {self.length(column)})"

    def length(self, column: RowColumn) -> str:
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

    def loop_places(self, versions: FactorVersions) -> Places:
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

    def _word(self, column: RowColumn, rows: str, base: str, index: str | None) -> str:
        return f"{rows}.{column.memory}[{self.element(column, base, index)}]"

    def _value(self, column: RowColumn, rows: str, base: str, index: str | None) -> str:
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


def joined_text(atom: Joined, versions: FactorVersions) -> str:
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


class Mode(StrEnum):
    """What a kernel does with what it sends."""

    RUN = "run"
    TERM = "term"
    GATHER = "gather"


def amount_text(item: Accumulator, value: str, mode: Mode) -> str:
    """What a walk adds to an accumulator that counts."""
    match item.kind:
        case _KINDS.OR:
            value = f"(1 if {value} else 0)"
        case _KINDS.AND:
            value = f"(0 if {value} else 1)"
        case _:
            value = f"np.int64({value})"
    return f"sign * {value}" if mode is Mode.TERM else value


def place_of(
    names: WalkNames, column: RowColumn, target: str | None, index: str | None
) -> tuple[str, str]:
    """The rows that have an accumulator of a vertex, or of the whole graph, and its place there."""
    if target is None:
        return "walking.globals", names.element(column, "0", index)
    width = _factor(names.extent(names.layout.sums_width))
    return "sums", names.element(column, f"{target} * {width}", index)


def add_lines(
    names: WalkNames, column: RowColumn, target: str | None, mode: Mode, amount: str
) -> list[str]:
    """Add an amount to a counting accumulator of a vertex, or of the whole graph."""
    rows, place = place_of(names, column, target, None)
    touching = [names.touching(target)] if target is not None and mode is Mode.TERM else []
    return [*touching, f"{rows}.whole[{place}] += {amount}"]


def send_lines(
    names: WalkNames,
    column: RowColumn,
    target: str | None,
    mode: Mode,
    value: str,
    index: str | None,
) -> list[str]:
    """Send a value to an accumulator of a vertex, or of the whole graph."""
    item, is_term = column.item, mode is Mode.TERM
    assert isinstance(item, Accumulator)
    rows, place = place_of(names, column, target, index)
    lines = [f"place = {place}"]
    if target is not None and is_term:
        lines = [f"entry = {names.touching(target)}", *lines]
    word, sign = f"{rows}.{column.memory}[place]", "sign" if is_term else "1"
    match item.kind:
        case _KINDS.SUM if item.type is FLOAT and target is None:
            sending = [f"send_exactly({rows}.whole, place, np.float64({value}), {sign})"]
        case _KINDS.SUM if item.type is FLOAT and is_term:
            sending = [f"send_float(walking, sums.real, place, sign * {value}, entry)"]
        case _KINDS.SUM if item.type is FLOAT:
            sending = [f"gather_float(sums.real, place, {value})"]
        case _KINDS.MIN | _KINDS.MAX:
            sending = _select(item, rows, value, mode, "-1" if target is None else "entry")
        case _KINDS.PRODUCT if target is None:
            arguments = f"place, {_typed(item, value)}, {sign}"
            real = item.type is FLOAT
            what = f"multiply(walking, {rows}" if real else f"multiply_whole({rows}.whole"
            sending = [f"{what}, {arguments})"]
        case _KINDS.PRODUCT:
            sending = [f"{word} *= {_typed(item, value)}"]
            if is_term:
                doubt = ["else:", "    note_doubt(walking, entry)"]
                sending = ["if sign > 0:", *indented(sending), *doubt]
        case _:
            sending = [f"{word} += {amount_text(item, value, mode)}"]
    return [*lines, *sending]


def report_lines(number: int, width: int, values: list[tuple[str, bool]], mode: Mode) -> list[str]:
    """Report a row: which matches, the sign, and its columns."""
    sign = "sign" if mode is Mode.TERM else "1"
    lines = [
        f"row = report(walking, {width})",
        "if row >= 0:",
        f"    walking.reported.whole[row] = {number}",
        f"    walking.reported.whole[row + 1] = {sign}",
    ]
    for at, (value, real) in enumerate(values, 2):
        memory = "real" if real else "whole"
        lines.append(f"    walking.reported.{memory}[row + {at}] = {value}")
    return lines


def clearing(names: WalkNames, column: RowColumn, rows: str, base: str) -> list[str]:
    """Set all elements of a column to those of nothing sent."""
    item = column.item
    assert isinstance(item, Accumulator)
    place = f"{names.element(column, base, None)} + {column.words} * element"
    lines = [f"for element in range({names.length(column)}):"]
    lines += [f"    {rows}.whole[{place} + {word}] = 0" for word in range(min(column.words, 4))]
    if column.words > 4:
        lines += [f"    for word in range({column.words}):"]
        lines += [f"        {rows}.whole[{place} + word] = 0"]
    if item.kind in (_KINDS.PRODUCT, _KINDS.MIN, _KINDS.MAX):
        lines.append(f"    {rows}.{column.memory}[{place}] = {_identity(item)}")
    return lines


def _select(item: Accumulator, rows: str, value: str, mode: Mode, entry: str) -> list[str]:
    """Keep the better value, and count how often it was sent.

    A walk that leaves with the best value is one less of them; only the last one leaves its place
    in doubt, unless nothing better than nothing was sent. One that leaves with a better value than
    is kept is in neither version, and has not come yet.
    """
    better = "<" if item.kind is _KINDS.MIN else ">"
    sent = f"sent_{item.name}"
    word = f"{rows}.{'real' if item.type is FLOAT else 'whole'}[place]"
    count = f"{rows}.whole[place + 1]"
    lines = [f"{sent} = {_typed(item, value)}"]
    taking = [
        f"if {sent} {better} {word}:",
        f"    {word} = {sent}",
        f"    {count} = 1",
        f"elif {sent} == {word}:",
        f"    {count} += 1",
    ]
    if mode is not Mode.TERM:
        return [*lines, *taking]
    losing = [
        f"if {sent} {better} {word}:",
        f"    note_doubt(walking, {entry})",
        f"elif {sent} == {word}:",
        f"    {count} -= 1",
        f"    if {count} <= 0 and {word} != {_identity(item)}:",
        f"        note_doubt(walking, {entry})",
    ]
    return [*lines, "if sign > 0:", *indented(taking), "else:", *indented(losing)]


def _typed(item: Accumulator, value: str) -> str:
    return f"np.{'float64' if item.type is FLOAT else 'int64'}({value})"


def _identity(item: Accumulator) -> str:
    value = item.identity
    if item.type is FLOAT and abs(value) == float("inf"):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def kernel_lines(head: str, body: Sequence[str], decorator: str = "bare_kernel") -> list[str]:
    """A function of a module."""
    return ["", "", f"@{decorator}", f"def {head}:", *indented(body)]


def unless(text: str) -> list[str]:
    """Skip to the next iteration where a condition does not hold."""
    return [f"if not {text}:", "    continue"]


def indented(lines: Sequence[str], times: int = 1) -> list[str]:
    return ["    " * times + line for line in lines]
