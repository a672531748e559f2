"""Random walk programs along edges whose properties bound one another, as plans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from tests.property.walk_plans import ACCUMULATORS, Bound, Writer, walk_programs

_PROPERTY = {x.INT: "kind", x.FLOAT: "weight"}
_WITHIN = {x.INT: "pi", x.FLOAT: "pf"}


class RangeWriter(Writer):
    """Steps go along edges, most of them out; conditions compare properties of two edges."""

    def step(self, bound: Bound, depth: int) -> w.Step:
        self.names += 1
        vertex, edge = f"p{self.names}", f"e{self.names}"
        inside = Bound((*bound.vertices, vertex), (*bound.edges, edge))
        way = p.Direction(self.pick(("out", "out", "in", "both")))
        body = self.body(inside, depth - 1)
        conditions = [self.closing(bound, vertex)] if len(bound.vertices) > 2 else []
        if bound.edges:
            conditions += [self.bounding(bound, edge) for _ in range(self.pick((1, 1, 2)))]
        if conditions:
            whole = conditions[0]
            if len(conditions) > 1:
                whole = x.Boolean("and", tuple(conditions))
            body = (w.When(whole, body),)
        return w.Step(bound.vertices[-1], way, vertex, edge, body)

    def closing(self, bound: Bound, vertex: str) -> x.Expression:
        ends = x.VertexFact(vertex, "id"), x.VertexFact(self.pick(bound.vertices), "id")
        return x.Compare(self.pick(("==", "==", "!=", "<")), *ends)

    def bounding(self, bound: Bound, edge: str) -> x.Expression:
        """One edge beside another: in order, at most so far apart, or something else altogether."""
        kind = self.pick((x.INT, x.FLOAT))
        new, old = (
            x.EdgeProperty(_PROPERTY[kind], kind, name) for name in (edge, self.pick(bound.edges))
        )
        one = x.Const(1 if kind is x.INT else 1.0, kind)
        within = self.pick((x.ParameterRef(_WITHIN[kind], kind), one, self.leaf(kind, bound)))
        sides: tuple[x.Expression, x.Expression] = self.pick(
            (
                (new, old),
                (new, old),
                (new, x.Binary("+", old, within)),
                (x.Binary("-", new, old), within),
                (x.Binary("-", within, new), x.Unary("-", old)),
                (x.Call("float", (new,), x.FLOAT), x.Call("float", (old,), x.FLOAT)),
                (new, x.Binary("*", old, within)),
            )
        )
        if self.pick((False, True)):
            sides = sides[1], sides[0]
        found: x.Expression = x.Compare(self.pick(("<", "<", "<=", ">", ">=", "==", "!=")), *sides)
        return x.Unary("not", found) if self.pick((False, False, False, True)) else found


@st.composite
def range_programs(draw: Any, *, counts: bool = False) -> w.WalkProgram:
    """A program of up to three steps; one that counts alone where asked to."""
    found = draw(walk_programs(reports=not counts))
    writer = RangeWriter(draw, stateful=False, reports=not counts)
    found = replace(found, traverse=writer.body(Bound(("u",)), 3))
    return counting(found) if counts else found


def counting(program: w.WalkProgram) -> w.WalkProgram:
    """The same walks, each of which adds 1: for numbers that leave all others."""
    one = x.Const(1, x.INT)

    def sends(body: tuple[w.WalkStatement, ...]) -> tuple[w.WalkStatement, ...]:
        found: list[w.WalkStatement] = []
        for statement in body:
            match statement:
                case w.Step():
                    found.append(replace(statement, body=sends(statement.body)))
                case w.When(condition, then, otherwise):
                    found.append(w.When(condition, sends(then), sends(otherwise)))
                case w.SendAt(vertex):
                    found.append(w.SendAt(vertex, "total", one))
                case _:
                    found.append(w.SendGlobal("whole_total", one))
        return tuple(found)

    update = (p.AssignState("si", x.AccumulatorRef(ACCUMULATORS[0].name, x.INT)),)
    return replace(program, traverse=sends(program.traverse), update=update)
