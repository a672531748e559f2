"""Random walk programs, well typed by construction, as plans."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import strategies as st

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from tests.property import program_plans as plans

GLOBALS = (
    p.Accumulator("all_found", p.AccumulatorKind.SUM, x.INT),
    p.Accumulator("ever", p.AccumulatorKind.OR, x.BOOL),
    p.Accumulator("heights", p.AccumulatorKind.MAX, x.FLOAT, plans.SIZE),
)
MATCHES = (
    w.Matches("rows", (("one", "vertex"), ("height", x.FLOAT)), 10),
    w.Matches("chains", (("part", "vertex"), ("late", x.BOOL)), "pi", (("part", "pi"),)),
)
Walk = tuple[w.WalkStatement, ...]


class WalkWriter(plans.Writer):
    """Draws the body of `traverse`: loops, conditions and sends."""

    has_paths = True
    """Whether there are paths and rows of matches, too."""

    def __init__(self, draw: Any) -> None:
        super().__init__(draw, "traverse")
        self.vertices: tuple[str, ...] = ("u",)
        self.edges: tuple[str, ...] = ()
        self.paths: tuple[tuple[str, bool], ...] = ()
        self.named = 0

    def _own(self, kind: x.ValueType) -> list[x.Expression]:
        found: list[x.Expression] = [
            x.EdgeProperty(plans._PROPERTY[kind], kind, edge) for edge in self.edges
        ]
        if kind is x.BOOL:
            one, other = self.pick(self.vertices), self.pick(self.vertices)
            found.append(x.Joined(one, other, self.pick(("out", "in", "both"))))
            found += [x.Distinct((one, x.PathItems(name, "vertices", 1))) for name, _ in self.paths]
        for name, edges in self.paths:
            found.append(self._along(kind, name, edges))
        return found

    def _along(self, kind: x.ValueType, path: str, edges: bool) -> x.Expression:
        fold = self.pick(("all", "any") if kind is x.BOOL else ("sum", "min", "max"))
        over = self.pick(("vertices", "edges") if edges else ("vertices",))
        names = self._names(1 if fold in ("min", "max") else 2)
        value: x.Expression = x.StateRef(names[-1], "s" + plans._LETTER[kind], kind)
        if over == "edges":
            value = x.EdgeProperty(plans._PROPERTY[kind], kind, names[0])
        every = len(names) == 2 and self.draw(st.booleans())
        return x.OverPath(cast(Any, fold), names, self._items(path, over), value, every)

    def _items(self, path: str, over: Any) -> x.PathItems:
        return x.PathItems(path, over, *self.pick(((None, None), (1, None), (None, -1))))

    def fresh(self, letter: str) -> str:
        self.named += 1
        return f"{letter}{self.named}"

    def walk(self, depth: int = 3, loops: int = 0) -> Walk:
        return tuple(self.walk_statement(depth, loops) for _ in range(self.draw(st.integers(1, 2))))

    def walk_statement(self, depth: int, loops: int) -> w.WalkStatement:
        forms = ("step", "step", "path" if self.has_paths else "step", "when", "for", "send")
        forms += ("along",) if self.paths else ()
        match self.pick(forms) if depth else "send":
            case "step":
                return self._step(depth, loops)
            case "path":
                return self._path(depth, loops)
            case "when":
                condition = self.expression(x.BOOL, self._turns(loops), 1)
                then = self.walk(depth - 1, loops)
                return w.When(condition, then, self.pick(((), self.walk(depth - 1, loops))))
            case "for":
                variable = f"k{loops}"
                start, stop = self.pick(((0, 2), (1, 3), (0, "pi"), ("pi", 3)))
                return w.ForEach(variable, start, stop, self.walk(depth - 1, loops + 1))
            case "along":
                return self._loop_along(depth, loops)
            case _:
                return self._send(loops)

    def _turns(self, loops: int) -> plans.Locals:
        return {f"k{at}": x.INT for at in range(loops)}

    def _step(self, depth: int, loops: int) -> w.WalkStatement:
        origin, way = self.pick(self.vertices), self.pick(p.Direction)
        vertex = self.fresh("v")
        edge = self.fresh("e") if self.draw(st.booleans()) else None
        before = self.vertices, self.edges
        self.vertices += (vertex,)
        self.edges += () if edge is None else (edge,)
        body = self.walk(depth - 1, loops)
        self.vertices, self.edges = before
        return w.Step(origin, way, vertex, edge, body)

    def _path(self, depth: int, loops: int) -> w.WalkStatement:
        origin, way = self.pick(self.vertices), self.pick(p.Direction)
        vertex, path, edges = self.fresh("v"), self.fresh("p"), self.draw(st.booleans())
        before = self.vertices, self.edges, self.paths
        self.vertices += (vertex, f"{path}.vertices[1]", f"{path}.vertices[-2]")
        self.edges += (f"{path}.edges[0]", f"{path}.edges[-1]") if edges else ()
        self.paths += ((path, edges),)
        body = self.walk(depth - 1, loops)
        self.vertices, self.edges, self.paths = before
        return w.Paths(origin, way, vertex, path, edges, self.pick((2, "pi")), body)

    def _loop_along(self, depth: int, loops: int) -> w.WalkStatement:
        path, edges = self.pick(self.paths)
        over = self.pick(("vertices", "edges") if edges else ("vertices",))
        names = self._names(self.pick((1, 2)))
        every = len(names) == 2 and self.draw(st.booleans())
        before = self.vertices, self.edges
        if over == "vertices":
            self.vertices += names
        else:
            self.edges += names
        body = self.walk(depth - 1, loops)
        self.vertices, self.edges = before
        return w.Along(names, self._items(path, over), body, every)

    def _names(self, count: int) -> tuple[str, ...]:
        return tuple(self.fresh("x") for _ in range(count))

    def _send(self, loops: int) -> w.WalkStatement:
        local = self._turns(loops)
        if self.paths and self.draw(st.integers(0, 3)) == 0:
            name = self.fresh("x")
            items = x.PathItems(self.paths[-1][0], "vertices", 1)
            part = x.OverPath("each", (name,), items, x.VertexFact(name, "id"))
            return w.Report("chains", (part, self.expression(x.BOOL, local, 1)))
        if self.has_paths and self.draw(st.integers(0, 4)) == 0:
            vertex = x.VertexFact(self.pick(self.vertices), "id")
            return w.Report("rows", (vertex, self.expression(x.FLOAT, local, 1)))
        everywhere = self.draw(st.integers(0, 2)) == 0
        item = self.pick(GLOBALS if everywhere else plans.ACCUMULATORS)
        index = x.Const(self.pick(range(plans.SIZE)), x.INT) if item.size else None
        value = self.expression(item.type, local, 1)
        if item.kind is p.AccumulatorKind.COUNT:
            value = x.Const(1, x.INT)
        if everywhere:
            return w.SendGlobal(item.name, value, index)
        return w.SendAt(self.pick(self.vertices), item.name, value, index)


@st.composite
def walk_programs(draw: Any) -> w.WalkProgram:
    """A whole program in which everything that is declared is also used."""
    base = draw(plans.programs())
    sent: Walk = tuple(
        w.SendAt("u", item.accumulator, item.value, item.index)
        for item in base.traverse[:5]
        if isinstance(item, p.Send) and item.accumulator != "least"
    )
    weight = x.EdgeProperty("weight", x.FLOAT, "e0")
    row = w.Report("rows", (x.VertexFact("v0", "id"), weight))
    part = x.OverPath("each", ("x0",), x.PathItems("p0", "vertices", 1), x.VertexFact("x0", "id"))
    first: Walk = (
        *sent,
        w.Step(
            "u",
            p.Direction.OUT,
            "v0",
            "e0",
            (
                w.SendAt("v0", "least", weight),
                row,
                w.SendGlobal("all_found", x.Const(1, x.INT)),
                w.SendGlobal("ever", x.Const(True, x.BOOL)),
                w.SendGlobal("heights", weight, x.Const(0, x.INT)),
            ),
        ),
        w.Paths(
            "u",
            p.Direction.BOTH,
            "w0",
            "p0",
            False,
            "pi",
            (w.Report("chains", (part, x.Const(True, x.BOOL))),),
        ),
    )
    return w.WalkProgram(
        name="Walked",
        parameters=base.parameters,
        state=base.state,
        accumulators=base.accumulators,
        globals=GLOBALS,
        matches=MATCHES,
        initialize=base.initialize,
        root="u",
        traverse=(*first, *WalkWriter(draw).walk()),
        update=(
            *base.update,
            p.AssignState("sf", x.GlobalRef("heights", x.FLOAT, x.Const(1, x.INT))),
            p.AssignState("si", x.GlobalRef("all_found", x.INT)),
        ),
        iterations=base.iterations,
        tolerance=base.tolerance,
        documentation=base.documentation,
    )
