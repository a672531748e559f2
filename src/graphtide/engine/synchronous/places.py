"""Where the synchronous kernels keep the names of a program, as text.

State is read from rows of `states`, accumulators from rows of `sums`. In a function of one vertex
that vertex is `vertex` with its state at `at`; in one of an edge, `source` is (vertex, place of
its state, out-degree, in-degree) and `target` (vertex, place of its state, place of its sums). An
index outside of its array is noted in `context.fault` and read as 0: whoever called the kernel
looks there and refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graphtide.engine.inputs import KernelInputs
from graphtide.engine.synchronous.row_layout import Column, RowLayout
from graphtide.engine.write import Places
from graphtide.plan.expressions import ValueType
from graphtide.plan.programs import AccumulatorKind, VertexProgram

Sender = Callable[[Column, str, str], list[str]]
"""Text that sends a value: the accumulator, where its element stands, the value."""


class Names:
    """How one program's names are written in each kind of function."""

    def __init__(self, program: VertexProgram, layout: RowLayout) -> None:
        self.state = {column.item.name: column for column in layout.state}
        self.sums = {column.item.name: column for column in layout.sums}
        self._inputs = KernelInputs(program)

    def parameter(self, name: str) -> str:
        """The value of a parameter."""
        return self._inputs.parameter(name)

    def element(self, column: Column, base: str, index: str | None) -> str:
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

    def _word(self, column: Column, rows: str, base: str, index: str | None) -> str:
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


def accumulator_kind(column: Column) -> AccumulatorKind:
    """The kind of the accumulator that a column holds."""
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
