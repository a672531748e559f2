"""Random walk programs of several rounds whose walks read state.

Numbers of state stay quarters within bounds, so that sums of floats are the same in every order and
a comparison of theirs comes out alike in the product and in the oracle.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from tests.property.walk_plans import (
    ACCUMULATORS,
    MATCHES,
    PARAMETERS,
    STATE,
    Bound,
    Writer,
)

_LETTER = {x.INT: "i", x.FLOAT: "f", x.BOOL: "b"}
_FOUR, _HIGH = x.Const(4.0, x.FLOAT), x.Const(50.0, x.FLOAT)


class RoundWriter(Writer):
    """Draws walks that read state often, and updates that may look at the iteration."""

    def leaf(self, kind: x.ValueType, bound: Bound) -> x.Expression:
        if self.pick((True, False)):
            vertex = self.pick(bound.vertices)
            if kind is x.INT and self.pick((False, False, True)):
                return x.StateRef(vertex, "ai", kind, x.Const(self.pick((0, 1)), x.INT))
            return x.StateRef(vertex, "s" + _LETTER[kind], kind)
        return super().leaf(kind, bound)

    def assign(self, value: x.Expression) -> p.Statement:
        if value.type is x.FLOAT:
            return p.AssignState("sf", _quartered(value))
        return super().assign(value)

    def update(self) -> p.Body:
        found = list(super().update())
        form = self.pick(("keep", "keep", "add", "select", "iteration"))
        own = x.StateRef("v", "si", x.INT)
        if form == "add":
            added = x.Binary("+", own, x.AccumulatorRef("count", x.INT))
            found.append(p.AssignState("si", x.Binary("%", added, x.Const(5, x.INT))))
        if form == "select":
            found.append(p.AssignState("sf", _quartered(x.AccumulatorRef("least", x.FLOAT))))
        if form == "iteration":
            sums = x.Binary("+", x.AccumulatorRef("total", x.INT), x.Iteration())
            found.append(p.AssignState("si", x.Binary("%", sums, x.Const(4, x.INT))))
        return tuple(found)


def _quartered(value: x.Expression) -> x.Expression:
    """The value as a multiple of a quarter; a half where it is large, or none at all."""
    whole = x.Call("floor", (x.Binary("*", value, _FOUR),), x.INT)
    quarter = x.Binary("/", x.Call("float", (whole,), x.FLOAT), _FOUR)
    low = x.Compare("<", x.Unary("-", _HIGH), value)
    inside = x.Boolean("and", (low, x.Compare("<", value, _HIGH)))
    return x.Choice(inside, quarter, x.Const(0.5, x.FLOAT))


@st.composite
def round_programs(draw: Any, *, reports: bool = True) -> w.WalkProgram:
    """A program of up to five rounds, at least one of whose walks reads state."""
    writer = RoundWriter(draw, stateful=True, reports=reports)
    traverse = writer.body(Bound(("u",)), 2)
    assume(any(isinstance(item, x.StateRef) for item in w.walk_expressions(traverse)))
    starts = (
        (),
        (p.AssignState("si", x.VertexFact("v", "id")),),
        (p.AssignState("si", x.VertexFact("v", "degree")),),
    )
    return w.WalkProgram(
        name="Rounds",
        parameters=PARAMETERS,
        state=STATE,
        accumulators=ACCUMULATORS,
        globals=tuple(replace(item, name="whole_" + item.name) for item in ACCUMULATORS),
        matches=MATCHES if reports else (),
        initialize=draw(st.sampled_from(starts)),
        root="u",
        traverse=traverse,
        update=writer.update(),
        iterations=draw(st.integers(1, 5)),
    )
