"""The program section of the synchronous templates: a program's functions over rows of words.

State is read from rows of `states`, accumulators from rows of `sums`. In a function of one vertex
that vertex is `vertex` with its state at `at`; in one of an edge, `source` is (vertex, place of
its state, out-degree, in-degree) and `target` (vertex, place of its state, place of its sums). An
index outside of its array is noted in `context.fault` and read as 0: whoever called the kernel
looks there and refuses.

`traverse` is written several times, for the places that kernels keep accumulators in: a row in
memory (`contribute`, `withdraw`), local names in a loop over the edges of one vertex
(`gather_messages`), and what a vertex tells all its neighbours alike (`make_parcel`). Where a loop
over edges sends to a scalar, its words are local names for the length of the loop: `total_NAME`
and, for sums of floats, `low_NAME`, the error of the total.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from graphtide.engine.inputs import KernelInputs
from graphtide.engine.source import Places, program_function, write_body, write_expression
from graphtide.engine.synchronous.facts import synchronous_facts
from graphtide.engine.synchronous.rows import RowColumn, RowLayout, row_layout
from graphtide.plan.expressions import Const, ValueType
from graphtide.plan.programs import Accumulator, AccumulatorKind, StateField, VertexProgram

Sender = Callable[[RowColumn, str, str], list[str]]
"""Text that sends a value: the accumulator, where its element stands, the value."""


class Names:
    """How one program's names are written in each kind of function."""

    def __init__(self, program: VertexProgram, layout: RowLayout) -> None:
        self.state = {column.item.name: column for column in layout.state}
        self.sums = {column.item.name: column for column in layout.sums}
        self._inputs = KernelInputs(program)

    def parameter(self, name: str) -> str:
        return self._inputs.parameter(name)

    def element(self, column: RowColumn, base: str, index: str | None) -> str:
        """Where an element of a column stands, in a row at `base`."""
        place = f"{base} + {column.offset.source(self.parameter)}"
        if index is None:
            return place
        size = column.item.size
        assert size is not None
        length = self.parameter(size) if isinstance(size, str) else str(size)
        return f"{place} + {column.words} * within(context, {index}, {length})"

    def vertex_places(self) -> Places:
        """The places of `initialize` and `update`."""

        def fact(_: str, name: str) -> str:
            return _degree(name, "vertex")

        return Places(
            parameter=self.parameter,
            edge_property=_refuse,
            state=lambda _, name, index: self._value(name, "at", index),
            accumulator=self._accumulated,
            fact=fact,
            vertex_property=lambda _, name: self._inputs.vertex_property(name, "vertex"),
            text=self._inputs.text,
            member=lambda _, name: f"{self.parameter(name)}[vertex]",
            assign=lambda name, index: self._word(self.state[name], "states", "at", index),
            send=_refuse_send,
        )

    def edge_places(self, send: Sender, base: str = "target[2]") -> Places:
        """The places of `traverse` where both ends are given."""

        def end(which: str) -> str:
            return "source" if which == "u" else "target"

        def fact(which: str, name: str) -> str:
            known = {"id": "source[0]", "out_degree": "source[2]", "in_degree": "source[3]"}
            if which == "v":
                return _degree(name, "target[0]")
            return known.get(name, "(source[2] + source[3])")

        def send_to(name: str, index: str | None, value: str) -> list[str]:
            column = self.sums[name]
            return send(column, self.element(column, base, index), value)

        return Places(
            parameter=self.parameter,
            edge_property=lambda name: f"{self._inputs.edge_property(name)}[edge]",
            state=lambda which, name, index: self._value(name, f"{end(which)}[1]", index),
            accumulator=_refuse,
            fact=fact,
            vertex_property=lambda which, name: self._inputs.vertex_property(
                name, f"{end(which)}[0]"
            ),
            text=self._inputs.text,
            member=lambda which, name: f"{self.parameter(name)}[{end(which)}[0]]",
            assign=_refuse,
            send=send_to,
        )

    def gather_places(self, send: Sender) -> Places:
        """The places of `traverse` inside a loop over the edges of `vertex`."""
        inner = self.edge_places(send, base="at")

        def end(which: str) -> str:
            return "source" if which == "u" else "vertex"

        def state(which: str, name: str, index: str | None) -> str:
            return self._value(name, "source_at" if which == "u" else "own_at", index)

        return replace(
            inner,
            state=state,
            fact=lambda which, name: _degree(name, end(which)),
            vertex_property=lambda which, name: self._inputs.vertex_property(name, end(which)),
            member=lambda which, name: f"{self.parameter(name)}[{end(which)}]",
        )

    def _word(self, column: RowColumn, rows: str, base: str, index: str | None) -> str:
        kind = "real" if column.real else "whole"
        return f"{rows}.{kind}[{self.element(column, base, index)}]"

    def _value(self, name: str, base: str, index: str | None) -> str:
        column = self.state[name]
        word = self._word(column, "states", base, index)
        return f"({word} != 0)" if column.item.type is ValueType.BOOL else word

    def _accumulated(self, name: str, index: str | None) -> str:
        column = self.sums[name]
        word, place = self._word(column, "sums", "sums_at", index), "sums_at"
        place = self.element(column, place, index)
        match accumulator_kind(column):
            case AccumulatorKind.OR:
                return f"({word} > 0)"
            case AccumulatorKind.AND:
                return f"({word} == 0)"
            case AccumulatorKind.PRODUCT if column.real:
                return f"product_of_floats(sums, {place})"
            case AccumulatorKind.PRODUCT:
                return f"product_of_ints(sums.whole, {place})"
            case _:
                return word


def accumulator_kind(column: RowColumn) -> AccumulatorKind:
    kind = getattr(column.item, "kind", None)
    assert isinstance(kind, AccumulatorKind)
    return kind


def _degree(name: str, vertex: str) -> str:
    graph = "context.graph"
    match name:
        case "id":
            return f"np.int64({vertex})"
        case "out_degree":
            return f"np.int64({graph}.out.live[{vertex}])"
        case "in_degree":
            return f"np.int64({graph}.into.live[{vertex}])"
        case _:
            return f"(np.int64({graph}.out.live[{vertex}]) + {graph}.into.live[{vertex}])"


def _refuse(*_: object) -> str:
    raise AssertionError("the language allows this name in another function only")


def _refuse_send(*_: object) -> list[str]:
    raise AssertionError("only traverse sends")


OR, AND = AccumulatorKind.OR, AccumulatorKind.AND
MIN, MAX = AccumulatorKind.MIN, AccumulatorKind.MAX
PRODUCT, SUM = AccumulatorKind.PRODUCT, AccumulatorKind.SUM


def is_float_sum(column: RowColumn) -> bool:
    """True for the one accumulator that has an error to keep; a plain sum has none."""
    return column.real and column.words == 2 and accumulator_kind(column) is SUM


def contributing(column: RowColumn, place: str, value: str) -> list[str]:
    """Send to a row in memory, and add up the size of what was sent to sums of floats."""
    name = column.item.name
    message, at = f"message_{name}", f"place_{name}"
    match accumulator_kind(column):
        case AccumulatorKind.SUM if column.real:
            return [f"{message} = {value}", *_adding(place, message), _reach(message)]
        case AccumulatorKind.PRODUCT if column.real:
            return [f"multiply_floats(sums, {place}, {value})"]
        case AccumulatorKind.PRODUCT:
            return [f"multiply_ints(sums.whole, {place}, {value})"]
        case AccumulatorKind.MIN | AccumulatorKind.MAX as kind:
            word = f"sums.{_memory(column)}[{at}]"
            return [
                f"{message} = {value}",
                f"{at} = {place}",
                f"if {message} {_better(kind)} {word}:",
                f"    {word} = {message}",
            ]
        case kind:
            return [f"sums.whole[{place}] += {_counted(kind, value)}"]


def withdrawing(column: RowColumn, place: str, value: str) -> list[str]:
    """Take back what was sent; nothing for kinds that cannot, which are never asked."""
    message = f"message_{column.item.name}"
    match accumulator_kind(column):
        case AccumulatorKind.SUM if column.real:
            return [f"{message} = {value}", *_adding(place, f"-{message}"), _reach(message)]
        case AccumulatorKind.PRODUCT if column.real:
            return [f"divide_floats(sums, {place}, {value})"]
        case AccumulatorKind.PRODUCT:
            return [f"divide_ints(sums.whole, {place}, {value})"]
        case AccumulatorKind.MIN | AccumulatorKind.MAX:
            return ["pass"]
        case kind:
            return [f"sums.whole[{place}] -= {_counted(kind, value)}"]


def merging(column: RowColumn, offset: str) -> list[str]:
    """Put what one row holds into another; `trusted` becomes False where that cannot be."""
    here, there = f"at + {offset}", f"other_at + {offset}"
    match accumulator_kind(column):
        case AccumulatorKind.SUM if column.real:
            merged = f"merge_sum(sums.real, {here}, other.real, {there})"
            return [f"trusted = {merged} and trusted"]
        case AccumulatorKind.PRODUCT if column.real:
            return [f"trusted = merge_floats(sums, {here}, other, {there}) and trusted"]
        case AccumulatorKind.PRODUCT:
            return [f"merge_ints(sums.whole, {here}, other.whole, {there})"]
        case AccumulatorKind.MIN | AccumulatorKind.MAX:
            return ["trusted = False"]
        case _:
            return [f"sums.whole[{here}] += other.whole[{there}]"]


def clearing(column: RowColumn, offset: str) -> list[str]:
    """Set the words of an element to those of nothing sent."""
    place = f"at + {offset}"
    words = [f"sums.whole[{place} + {word}] = 0" for word in range(column.words)]
    item = column.item
    assert isinstance(item, Accumulator)
    if item.kind in (PRODUCT, MIN, MAX):
        words[0] = f"sums.{_memory(column)}[{place}] = {identity_text(item)}"
    return words


def local_names(column: RowColumn) -> bool:
    """True where a loop over edges keeps the words in local names."""
    return column.item.size is None and accumulator_kind(column) is not PRODUCT


def opening(column: RowColumn, place: str) -> list[str]:
    name = column.item.name
    lines = [f"total_{name} = sums.{_memory(column)}[{place}]"]
    return [*lines, f"low_{name} = sums.real[{place} + 1]"] if is_float_sum(column) else lines


def closing(column: RowColumn, place: str) -> list[str]:
    """After it: the error of a sum is rounded into it, unless it is infinite."""
    name = column.item.name
    if not is_float_sum(column):
        return [f"sums.{_memory(column)}[{place}] = total_{name}"]
    return [
        f"raised_{name} = total_{name} + low_{name}",
        f"sums.real[{place}] = total_{name}",
        f"sums.real[{place} + 1] = 0.0",
        f"if math.isfinite(raised_{name}):",
        f"    sums.real[{place}] = raised_{name}",
        f"    sums.real[{place} + 1] = low_{name} - (raised_{name} - total_{name})",
    ]


def gathering(column: RowColumn, place: str, value: str) -> list[str]:
    name = column.item.name
    if not local_names(column):
        if column.real and column.words == 1 and accumulator_kind(column) is SUM:
            return [f"sums.real[{place}] += {value}"]
        lines = contributing(column, place, value)
        return lines[:-1] if is_float_sum(column) else lines
    message, total = f"message_{name}", f"total_{name}"
    match accumulator_kind(column):
        case AccumulatorKind.SUM if is_float_sum(column):
            return [
                f"{message} = {value}",
                f"raised_{name} = {total} + {message}",
                f"part_{name} = raised_{name} - {total}",
                f"low_{name} += ({total} - (raised_{name} - part_{name})) "
                f"+ ({message} - part_{name})",
                f"{total} = raised_{name}",
            ]
        case AccumulatorKind.MIN | AccumulatorKind.MAX as kind:
            lines = [f"{message} = {value}", f"if {message} {_better(kind)} {total}:"]
            return [*lines, f"    {total} = {message}"]
        case kind:
            return [f"{total} += {_counted(kind, value)}"]


def identity_text(item: Accumulator) -> str:
    """What an accumulator holds where nothing was sent."""
    if item.type is ValueType.FLOAT and abs(item.identity) == float("inf"):
        return "np.inf" if item.identity > 0 else "-np.inf"
    return repr(item.identity)


def _adding(place: str, value: str) -> list[str]:
    return [f"add_to_sum(sums.real, {place}, {value})"]


def _reach(message: str) -> str:
    return f"sums.real[target[2] + sums_width(read)] += abs({message})"


def _counted(kind: AccumulatorKind, value: str) -> str:
    """What a value adds: `or` counts what is true, `and` what is not."""
    if kind is OR:
        return f"(1 if {value} else 0)"
    return f"(0 if {value} else 1)" if kind is AND else value


def _better(kind: AccumulatorKind) -> str:
    return "<" if kind is MIN else ">"


def _memory(column: RowColumn) -> str:
    return "real" if column.real else "whole"


_EDGE = "(context, states, source, target, edge, sums)"
_NOTHING = ["    pass"]
_IMPORTS = """\
import math

import numpy as np

from graphtide.kernels.blocks import array_at
from graphtide.kernels.jit import program_kernel
from graphtide.kernels.synchronous.sums import float_moved, within
from graphtide.kernels.synchronous.sums import (
    add_to_sum,
    divide_floats,
    divide_ints,
    merge_floats,
    merge_ints,
    merge_sum,
    multiply_floats,
    multiply_ints,
    product_of_floats,
    product_of_ints,
)

"""


def synchronous_section(program: VertexProgram) -> str:
    """All that the synchronous templates ask of a program."""
    return _IMPORTS + "\n".join(_Section(program).lines())


def plain_section(program: VertexProgram) -> str:
    """What runs from scratch ask of it, with plain sums: nothing can be taken back."""
    return _IMPORTS + "\n".join(_Section(program, plain=True).lines())


class _Section:
    def __init__(self, program: VertexProgram, *, plain: bool = False) -> None:
        self.program = program
        self.plain = plain
        self.layout = row_layout(program, plain=plain)
        self.names = Names(program, self.layout)
        self.facts = synchronous_facts(program)

    def lines(self) -> list[str]:
        running = (
            self._widths,
            self._initial,
            self._update,
            self._clear,
            self._moved,
            self._make_parcel,
            self._gather_parcels,
            self._gather_messages,
        )
        correcting = (self._contribute, self._withdraw, self._merge, self._doubt)
        functions = running if self.plain else running + correcting
        return self.facts.functions() + [line for write in functions for line in write()]

    def _widths(self) -> list[str]:
        """Constants wherever no array has a parameter's size: loops over words are unrolled."""
        lines = []
        for name in ("state_width", "sums_width"):
            extent = getattr(self.layout, name).source(self.names.parameter)
            lines += program_function("np.int64", f"{name}(read)", extent)
        return lines

    def _initial(self) -> list[str]:
        places = self.names.vertex_places()

        def default(column: RowColumn, offset: str) -> list[str]:
            assert isinstance(column.item, StateField)
            value = write_expression(Const(column.item.default, column.item.type), places)
            return [f"states.{_state_memory(column)}[at + {offset}] = {value}"]

        body = self._each(self.layout.state, default) + write_body(self.program.initialize, places)
        return _function("initial_state(context, vertex, states, at)", body)

    def _update(self) -> list[str]:
        body = write_body(self.program.update, self.names.vertex_places())
        head = "update_state(context, vertex, iteration, states, sums, place)"
        return _function(head, ["    at, sums_at = place", *body])

    def _clear(self) -> list[str]:
        body = self._each(self.layout.sums, clearing)
        return _function("clear_sums(context, sums, at)", body)

    def _contribute(self) -> list[str]:
        return _function(f"contribute{_EDGE}", self._traverse(contributing))

    def _withdraw(self) -> list[str]:
        return _function(f"withdraw{_EDGE}", self._traverse(withdrawing))

    def _traverse(self, send: Sender) -> list[str]:
        return write_body(self.program.traverse, self.names.edge_places(send))

    def _merge(self) -> list[str]:
        body = [
            "    trusted = True",
            *self._each(self.layout.sums, merging),
            "    reach = sums_width(read)",
            "    sums.real[at + reach] += other.real[other_at + reach]",
            "    return trusted",
        ]
        return _function("merge_sums(context, sums, at, other, other_at)", body, "np.bool_")

    def _doubt(self) -> list[str]:
        def doubt(_: RowColumn, offset: str) -> list[str]:
            return [f"if abs(sums.real[at + {offset}]) * MOST_SLACK < slack:", "    return True"]

        sums = tuple(column for column in self.layout.sums if is_float_sum(column))
        body = [*self._each(sums, doubt), "    return False"]
        return _function("in_doubt(context, sums, at, slack)", body, "np.bool_")

    def _moved(self) -> list[str]:
        def compare(column: RowColumn, offset: str) -> list[str]:
            words = f"states.{_state_memory(column)}"
            before, after = f"{words}[before + {offset}]", f"{words}[after + {offset}]"
            differs = f"{before} != {after}"
            if column.item.type is ValueType.FLOAT:
                differs = f"float_moved({before}, {after}, tolerance)"
            return [f"if {differs}:", "    return True"]

        body = [*self._each(self.layout.state, compare), "    return False"]
        head = "moved(context, states, before, after, tolerance)"
        return _function(head, body, "np.bool_")

    def _make_parcel(self) -> list[str]:
        """Every accumulator has one word of a parcel: the message to it, or its identity."""
        body = _NOTHING
        if self.facts.hoisted:

            def send(column: RowColumn, _: str, value: str) -> list[str]:
                return [f"{self._parcel(column, 'vertex')} = {value}"]

            body = ["    source, source_at = vertex, vertex * state_width(read)"]
            for column in self.layout.sums:
                assert isinstance(column.item, Accumulator)
                body += _indented(send(column, "", identity_text(column.item)))
            body += write_body(self.program.traverse, self.names.gather_places(send))
        return _function("make_parcel(context, vertex, states, parcels)", body)

    def _gather_parcels(self) -> list[str]:
        inner: list[str] = []
        for column in self.layout.sums:
            place = self.names.element(column, "at", None)
            inner += gathering(column, place, self._parcel(column, "source"))
        body = self._loop(["source = slabs.neighbour[position]", *inner])
        head = "gather_parcels(context, slabs, vertex, parcels, sums, at)"
        return _function(head, body if self.facts.hoisted else _NOTHING)

    def _gather_messages(self) -> list[str]:
        inner = [
            "source = slabs.neighbour[position]",
            "edge = slabs.edge[position]",
            "source_at = source * state_width(read)",
        ]
        places = self.names.gather_places(gathering)
        inner += write_body(self.program.traverse, places, indent=0)
        body = ["    own_at = vertex * state_width(read)", *self._loop(inner)]
        head = "gather_messages(context, slabs, vertex, states, sums, at)"
        return _function(head, body)

    def _loop(self, inner: list[str]) -> list[str]:
        """A loop over the live edges of a vertex, with scalars in local names."""
        kept = [column for column in self.layout.sums if local_names(column)]
        places = {column: self.names.element(column, "at", None) for column in kept}
        lines = [line for column in kept for line in opening(column, places[column])]
        lines += ["begin = slabs.start[vertex]"]
        lines += ["for position in range(begin, begin + slabs.live[vertex]):", *_indented(inner)]
        lines += [line for column in kept for line in closing(column, places[column])]
        return _indented(lines)

    def _parcel(self, column: RowColumn, vertex: str) -> str:
        number = self.layout.sums.index(column)
        return f"parcels.{_state_memory(column)}[{vertex} * {len(self.layout.sums)} + {number}]"

    def _each(
        self, columns: Iterable[RowColumn], write: Callable[[RowColumn, str], list[str]]
    ) -> list[str]:
        """Lines for every element of every column; the offset is that in its half of the row."""
        lines: list[str] = []
        for column in columns:
            offset, size = column.offset.source(self.names.parameter), column.item.size
            if size is None:
                lines += write(column, offset)
                continue
            length = self.names.parameter(size) if isinstance(size, str) else str(size)
            lines += [f"for element in range({length}):"]
            lines += _indented(write(column, f"{offset} + {column.words} * element"))
        return _indented(lines)


def _function(head: str, body: list[str], returns: str = "None") -> list[str]:
    decorator = f"@program_kernel({returns}, joined=False)"
    return ["", "", decorator, f"def {head}:", "    read = context.read", *body]


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def _state_memory(column: RowColumn) -> str:
    return "real" if column.real else "whole"
