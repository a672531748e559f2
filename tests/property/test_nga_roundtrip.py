"""Random plans, written as texts of L_NGA and read again; and what `active` means."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphtide.lang.nga import nga, unparse
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from tests.examples import examples
from tests.oracle.programs import run
from tests.property import program_plans as plans
from tests.property.walk_language_plans import GLOBALS, WalkWriter
from tests.unit.nga import listings

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


class Writer(plans.Writer):
    """Without names that change: those that are there are given once, and read no state."""

    named = 0

    def _statement(self, local: plans.Locals, depth: int, loops: int) -> p.Statement:
        found = super()._statement(local, depth, loops)
        if not isinstance(found, p.AssignLocal):
            return found
        if self.function == "traverse":
            return self._effect(local, loops)
        self.named += 1
        kind = found.value.type
        return p.AssignLocal(f"name{self.named}", x.Const(self.pick(plans.NUMBERS[kind]), kind))


@st.composite
def vertex_programs(draw: Any) -> p.VertexProgram:
    base = draw(plans.programs())
    return p.VertexProgram(
        **{
            **vars(base),
            "initialize": (base.initialize[0], *Writer(draw, "initialize").body({})),
            "traverse": (*base.traverse[:5], *Writer(draw, "traverse").body({})),
            "update": (*base.update[:5], *Writer(draw, "update").body({})),
        }
    )


class PlainWalks(WalkWriter):
    """Walks without paths and rows of matches."""

    has_paths = False


@st.composite
def walk_programs(draw: Any) -> w.WalkProgram:
    base = draw(vertex_programs())
    weight = x.EdgeProperty("my weight", x.FLOAT, "e0")
    sent = tuple(
        w.SendAt("v0", item.accumulator, x.Const(1.5, x.FLOAT), item.index)
        if item.accumulator == "least"
        else w.SendAt("v0", item.accumulator, item.value, item.index)
        for item in base.traverse[:5]
    )
    everywhere = (
        w.SendGlobal("all_found", x.Const(1, x.INT)),
        w.SendGlobal("ever", x.Const(True, x.BOOL)),
        w.SendGlobal("heights", weight, x.Const(0, x.INT)),
    )
    first = w.Step("u", p.Direction.OUT, "v0", "e0", (*sent, *everywhere))
    read = p.AssignState("sf", x.GlobalRef("heights", x.FLOAT, x.Const(1, x.INT)))
    return w.WalkProgram(
        name="Walked",
        parameters=base.parameters,
        state=base.state,
        accumulators=base.accumulators,
        globals=GLOBALS,
        matches=(),
        initialize=base.initialize,
        root="u",
        traverse=(first, *PlainWalks(draw).walk()),
        update=(*base.update, read),
        iterations=base.iterations,
        tolerance=base.tolerance,
        documentation=base.documentation,
    )


@given(st.one_of(vertex_programs(), walk_programs()))
@settings(max_examples=examples(40), deadline=None, suppress_health_check=SLOW)
def test_what_unparse_writes_reads_as_the_same_plan(plan: Any) -> None:
    text = unparse(plan)
    again = nga(text).plan
    assert again == plan
    assert unparse(again) == text


# ---- what `active` means: figure 4 of the paper, by hand

Graph = list[tuple[int, int]]
SUPERSTEPS = 30
"""Sums of the ranks of active vertices alone may go up and down for ever."""


def by_figure_4(program: Any, n: int, edges: Graph) -> list[Any]:
    """Initialize all; then active ones traverse, and who was sent to updates, cleared before.

    Where it holds, what a vertex sent when it was last active still counts, and all update.
    """
    state, active = map(list, zip(*(program.start(u) for u in range(n)), strict=True))
    spoken: dict[int, list[tuple[int, Any]]] = {}
    for _ in range(SUPERSTEPS):
        if not any(active):
            break
        if not program.holds:
            spoken.clear()
        for u in range(n):
            if active[u]:
                neighbours = program.neighbours(u, edges)
                spoken[u] = [(v, program.message(state[u], u, edges)) for v in neighbours]
        sent: dict[int, list[Any]] = {}
        for messages in spoken.values():
            for v, message in messages:
                sent.setdefault(v, []).append(message)
        active = [False] * n
        if program.holds:
            sent = {v: sent.get(v, []) for v in range(n)}
        for v, values in sent.items():
            state[v], active[v] = program.update(state[v], values, n)
    return state


class Ranks:
    text, field, values, holds = listings.PAGE_RANK, "rank", {}, True

    def start(self, u: int) -> tuple[float, bool]:
        return 1.0, True

    def neighbours(self, u: int, edges: Graph) -> list[int]:
        return [dst for src, dst in edges if src == u]

    def message(self, rank: float, u: int, edges: Graph) -> float:
        return rank / len(self.neighbours(u, edges))

    def update(self, rank: float, values: list[float], n: int) -> tuple[float, bool]:
        found = 0.15 / n + 0.85 * sum(values)
        moved = abs(found - rank) > 0.001
        return (found if moved else rank), moved


class Components:
    text, field, values, holds = listings.ACTIVE["WCC"], "component", {}, False

    def start(self, u: int) -> tuple[int, bool]:
        return u, True

    def neighbours(self, u: int, edges: Graph) -> list[int]:
        out = [dst for src, dst in edges if src == u]
        return out + [src for src, dst in edges if dst == u]

    def message(self, component: int, u: int, edges: Graph) -> int:
        return component

    def update(self, component: int, values: list[int], n: int) -> tuple[int, bool]:
        return min(component, *values), min(values) < component


class Partly(Components):
    """Only one vertex begins: those that it does not reach are never heard."""

    text = listings.ACTIVE["WCC"].replace(
        "u.active = true;\nTraverse", "u.active = u.id == 3;\nTraverse"
    )

    def start(self, u: int) -> tuple[int, bool]:
        return u, u == 3


class Hops(Ranks):
    text, field, values, holds = listings.ACTIVE["BFS"], "hops", {"source": 0}, False

    def start(self, u: int) -> tuple[float, bool]:
        return (0.0, True) if u == 0 else (float("inf"), False)

    def message(self, hops: float, u: int, edges: Graph) -> float:
        return hops + 1

    def update(self, hops: float, values: list[float], n: int) -> tuple[float, bool]:
        return min(hops, *values), min(values) < hops


class Waves(Ranks):
    """Vertices that change how often they were reached, up to five: no proof helps here."""

    text = """
    Vertex (active, reached: long, found: Accm<long, SUM>)
    Initialize (u): u.active = u.id == 0
    Traverse (u): For v in u.out_nbrs v.found.Accumulate(u.reached + 1)
    Update (u):
      If (u.found > u.reached And u.reached < 5)
        u.reached = u.found;
        u.active = true;
    """
    field, holds = "reached", False

    def start(self, u: int) -> tuple[Any, bool]:
        return 0, u == 0

    def message(self, reached: Any, u: int, edges: Graph) -> Any:
        return reached + 1

    def update(self, reached: Any, values: list[Any], n: int) -> tuple[Any, bool]:
        found = sum(values)
        moved = found > reached and reached < 5
        return (found if moved else reached), moved


@given(
    st.sampled_from([Ranks(), Components(), Partly(), Hops(), Waves()]),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14),
)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=SLOW)
def test_active_vertices_alone_traverse(program: Any, edges: Graph) -> None:
    plan = nga(program.text).plan
    values = program.values | (
        {"V": 6} if plan.parameters[-1:] and plan.parameters[-1].name == "V" else {}
    )
    expected = by_figure_4(program, 6, edges)
    rows = [(src, dst, {}) for src, dst in edges]
    final, _ = run(plan, values, 6, rows, iterations=SUPERSTEPS)
    for one, other in zip(expected, final[program.field], strict=True):
        assert one == other or abs(one - other) < 1e-9
