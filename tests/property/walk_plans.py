"""Random walk programs, well typed by construction, as plans.

Loops are at most three deep and may branch. Conditions are any boolean formula over ids, degrees,
properties of edges and vertices, texts, sets and joined positions; a program reads state in its
walks only where asked to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w

SIZE = 2
KINDS = p.AccumulatorKind
PARAMETERS = (
    p.Parameter("here", p.ParameterKind.VERTEX),
    p.Parameter("among", p.ParameterKind.VERTICES),
    p.Parameter("pi", p.ParameterKind.INT, 2),
    p.Parameter("pf", p.ParameterKind.FLOAT, 0.5),
)
STATE = (
    p.StateField("si", x.INT, 1),
    p.StateField("sf", x.FLOAT, 0.5),
    p.StateField("sb", x.BOOL, False),
    p.StateField("ai", x.INT, 0, SIZE),
)
ACCUMULATORS = (
    p.Accumulator("total", KINDS.SUM, x.INT),
    p.Accumulator("weight", KINDS.SUM, x.FLOAT),
    p.Accumulator("count", KINDS.COUNT, x.INT),
    p.Accumulator("least", KINDS.MIN, x.FLOAT),
    p.Accumulator("most", KINDS.MAX, x.INT),
    p.Accumulator("any", KINDS.OR, x.BOOL),
    p.Accumulator("all", KINDS.AND, x.BOOL),
    p.Accumulator("times", KINDS.PRODUCT, x.INT),
    p.Accumulator("scaled", KINDS.PRODUCT, x.FLOAT),
    p.Accumulator("parts", KINDS.SUM, x.INT, SIZE),
    p.Accumulator("lows", KINDS.MIN, x.INT, SIZE),
)
MATCHES = (w.Matches("rows", (("u", "vertex"), ("n", x.INT))),)
NUMBERS: dict[x.ValueType, list[Any]] = {
    x.INT: [-1, 0, 1, 2, 3],
    x.FLOAT: [-2.0, 0.0, 0.25, 1.0, 3.0],
    x.BOOL: [False, True],
}
_PROPERTY = {x.INT: "kind", x.FLOAT: "weight", x.BOOL: "open"}
_OWN = {x.INT: "age", x.FLOAT: "size", x.BOOL: "shut"}
_LETTER = {x.INT: "i", x.FLOAT: "f", x.BOOL: "b"}


@dataclass(frozen=True)
class Bound:
    """What a statement of `traverse` may name."""

    vertices: tuple[str, ...]
    edges: tuple[str, ...] = ()


class Writer:
    """Draws the functions of one program."""

    def __init__(self, draw: Any, *, stateful: bool, reports: bool) -> None:
        self.draw, self.stateful, self.reports = draw, stateful, reports
        self.names = 0

    def pick(self, items: Any) -> Any:
        return self.draw(st.sampled_from(list(items)))

    def leaf(self, kind: x.ValueType, bound: Bound) -> x.Expression:
        vertex = self.pick(bound.vertices)
        found: list[x.Expression] = [x.Const(self.pick(NUMBERS[kind]), kind)]
        found += [x.EdgeProperty(_PROPERTY[kind], kind, edge) for edge in bound.edges]
        found.append(x.VertexProperty(vertex, _OWN[kind], kind))
        if self.stateful:
            found.append(x.StateRef(vertex, "s" + _LETTER[kind], kind))
        if kind is x.INT:
            fact = self.pick(("id", "id", "out_degree", "in_degree", "degree"))
            found += [x.VertexFact(vertex, fact), x.ParameterRef("pi", kind)]
        if kind is x.FLOAT:
            found.append(x.ParameterRef("pf", kind))
        if kind is x.BOOL:
            found += [x.Member(vertex, "among"), self.joined(bound), self.joined(bound)]
            found.append(self.texts(bound))
        return self.pick(found)

    def texts(self, bound: Bound) -> x.Expression:
        city = x.VertexProperty(self.pick(bound.vertices), "city", x.TEXT)
        other = x.VertexProperty(self.pick(bound.vertices), "city", x.TEXT)
        compared = self.pick((other, x.Text("oslo"), x.Text("nowhere")))
        return x.Compare(self.pick(("==", "!=")), city, compared)

    def joined(self, bound: Bound) -> x.Joined:
        ends = self.pick(bound.vertices), self.pick(bound.vertices)
        return x.Joined(*ends, self.pick(("out", "in", "both", "both")))

    def value(self, kind: x.ValueType, bound: Bound, depth: int = 1) -> x.Expression:
        if not depth or self.pick((True, False)):
            return self.leaf(kind, bound)
        if kind is x.BOOL:
            return self.condition(bound, depth - 1)
        if self.pick((False, False, True)):
            condition = self.condition(bound, depth - 1)
            return x.Choice(condition, self.leaf(kind, bound), self.leaf(kind, bound))
        parts = self.value(kind, bound, depth - 1), self.leaf(kind, bound)
        return x.Binary(self.pick(("+", "-", "*")), *parts)

    def condition(self, bound: Bound, depth: int = 2) -> x.Expression:
        form = self.pick(("order", "order", "joined", "joined", "not", "formula", "compare"))
        if form == "order" or (not depth and form in ("not", "formula")):
            ends = (x.VertexFact(self.pick(bound.vertices), "id") for _ in range(2))
            return x.Compare(self.pick(("<", "<", ">", "!=", "==", "<=")), *ends)
        if form == "joined":
            return self.joined(bound)
        if form == "not":
            return x.Unary("not", self.condition(bound, depth - 1))
        if form == "formula":
            terms = tuple(self.condition(bound, depth - 1) for _ in range(2))
            return x.Boolean(self.pick(("and", "or")), terms)
        kind = self.pick((x.INT, x.FLOAT))
        sides = self.value(kind, bound, 0), self.value(kind, bound, 0)
        return x.Compare(self.pick(("<", "<=", "==", "!=")), *sides)

    def body(self, bound: Bound, depth: int) -> tuple[w.WalkStatement, ...]:
        count = self.pick((1, 1, 2)) if depth else self.pick((1, 2))
        return tuple(self.statement(bound, depth) for _ in range(count))

    def statement(self, bound: Bound, depth: int) -> w.WalkStatement:
        forms = ["send"]
        if len(bound.vertices) == 1:
            forms = ["step"]
        elif depth:
            forms += ["step", "step", "when", "when"]
        match self.pick(forms):
            case "step":
                return self.step(bound, depth)
            case "when":
                then = self.body(bound, depth - 1)
                otherwise = self.body(bound, depth - 1) if self.pick((False, False, True)) else ()
                return w.When(self.condition(bound), then, otherwise)
            case _:
                return self.send(bound)

    def step(self, bound: Bound, depth: int) -> w.Step:
        self.names += 1
        vertex, edge = f"p{self.names}", f"e{self.names}"
        by_edge = self.pick((False, False, True))
        inside = Bound((*bound.vertices, vertex), (*bound.edges, edge) if by_edge else bound.edges)
        origin, way = self.pick(bound.vertices), p.Direction(self.pick(("out", "in", "both")))
        body = self.body(inside, depth - 1)
        if self.pick((True, False)):
            body = (w.When(self.condition(inside), body),)
        return w.Step(origin, way, vertex, edge if by_edge else None, body)

    def send(self, bound: Bound) -> w.WalkStatement:
        if self.reports and self.pick((True, False, False)):
            vertex = x.VertexFact(self.pick(bound.vertices), "id")
            return w.Report("rows", (vertex, self.value(x.INT, bound)))
        item = self.pick(ACCUMULATORS)
        value = self.value(item.type, bound)
        if item.kind is KINDS.COUNT:
            value = x.Const(1, x.INT)
        index = None
        if item.size is not None:
            index = x.Const(self.pick((0, 1)), x.INT)
        if self.pick((False, False, True)):
            return w.SendGlobal("whole_" + item.name, value, index)
        return w.SendAt(self.pick(bound.vertices), item.name, value, index)

    def update(self) -> p.Body:
        """Every accumulator reaches a field in one way or another; runs end soon."""
        accumulated = [
            x.AccumulatorRef(item.name, item.type, x.Const(1, x.INT) if item.size else None)
            for item in self.draw(st.lists(st.sampled_from(ACCUMULATORS), min_size=1, max_size=4))
        ]
        if self.pick((False, False, True)):
            item = self.pick([one for one in ACCUMULATORS if one.size is None])
            accumulated.append(x.GlobalRef("whole_" + item.name, item.type))  # type: ignore[arg-type]
        found: list[p.Statement] = [self.assign(value) for value in accumulated]
        if self.pick((False, False, True)):
            facts = x.VertexFact("v", self.pick(("degree", "out_degree", "id")))
            found.append(p.AssignState("ai", facts, x.Const(0, x.INT)))
        return tuple(found)

    def assign(self, value: x.Expression) -> p.Statement:
        match value.type:
            case x.INT:
                kept = x.Binary("%", value, x.Const(7, x.INT))
                return (
                    p.AssignState("si", kept)
                    if self.pick((True, False))
                    else p.AssignState("ai", kept, x.Const(self.pick((0, 1)), x.INT))
                )
            case x.FLOAT:
                return p.AssignState("sf", value)
            case _:
                return p.AssignState("sb", value)


@st.composite
def walk_programs(draw: Any, *, stateful: bool = False, reports: bool = True) -> w.WalkProgram:
    """A program with accumulators of every kind, at vertices and of the whole graph."""
    writer = Writer(draw, stateful=stateful, reports=reports)
    traverse = writer.body(Bound(("u",)), 3)
    initialize: p.Body = ()
    if draw(st.booleans()):
        initialize = (p.AssignState("si", x.VertexFact("v", "id")),)
    iterations = draw(st.sampled_from((1, 2, 3))) if stateful else draw(st.sampled_from((None, 1)))
    return w.WalkProgram(
        name="Random",
        parameters=PARAMETERS,
        state=STATE,
        accumulators=ACCUMULATORS,
        globals=tuple(replace(item, name="whole_" + item.name) for item in ACCUMULATORS),
        matches=MATCHES if reports else (),
        initialize=initialize,
        root="u",
        traverse=traverse,
        update=writer.update(),
        iterations=iterations,
    )
