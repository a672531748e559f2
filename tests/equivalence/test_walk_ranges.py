"""Walks whose steps are ranges of ordered rows: against nested loops, whatever comes and goes."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphtide as gt
from graphtide.kernels.walks.versions import FEW
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan import walks as w
from graphtide.plan.walk_explain import walk_facts
from graphtide.plan.walk_orders import order_of_term
from graphtide.plan.walk_terms import terms_of
from tests.equivalence.walk_cases import ONE, OUT, History, infinite_product, rings, triangles
from tests.oracle.machine_numbers import Int
from tests.property.range_plans import range_programs

TRUE = x.Const(True, x.BOOL)
FARTHEST = (2**63 - 1, -(2**63), 2**62, -(2**62), 2**63 - 2)


class Timed(History):
    """Few values, so that many are equal; NaN and infinities; far from 0 where asked to.

    A batch of a history deletes and inserts much, and takes what is old or what is new in turns.
    """

    def __init__(self, program: w.WalkProgram, vertices: int, edges: int, seed: int, far: bool):
        self.far = far
        super().__init__(program, vertices, edges, seed)

    def _row(self, vertices: int) -> tuple[int, int, dict[str, Any]]:
        source, target, values = super()._row(vertices)
        pick = self.random
        if pick.random() < 0.2:
            values["weight"] = pick.choice((math.nan, math.inf, -math.inf, -0.0))
        values["kind"] = Int(
            pick.choice(FARTHEST) if self.far and pick.random() < 0.6 else values["kind"]
        )
        return source, target, values

    def batch(self) -> tuple[list[int], list[int]]:
        dead, live = sorted(set(range(len(self.rows))) - self.live), sorted(self.live)
        for edges in (dead, live):
            self.random.shuffle(edges)
            if self.random.random() < 0.5:
                edges.sort(key=lambda at: self.rows[at][2]["kind"])
        sizes = self.random.choice(((1, 0), (0, 1), (3, 3), (8, 1), (1, 8), (0, 9), (9, 9)))
        return dead[: sizes[0]], live[: sizes[1]]


class Rising(Timed):
    """Values rise from row to row, as times do, and most batches bring the rows that follow."""

    def __init__(self, program: w.WalkProgram, vertices: int, edges: int, seed: int):
        self.made = 0
        super().__init__(program, vertices, edges, seed, far=False)
        there = set(range(edges // 4))
        self.flip(sorted(there - self.live), sorted(self.live - there))

    def _row(self, vertices: int) -> tuple[int, int, dict[str, Any]]:
        source, target, values = super()._row(vertices)
        self.made += 1
        values["kind"] = Int(self.made // 2)
        values["weight"] = self.made / 2
        return source, target, values

    def batch(self) -> tuple[list[int], list[int]]:
        come, gone = super().batch()
        if self.random.random() < 0.8:
            later = range(max(self.live, default=-1) + 1, len(self.rows))
            come = list(later)[: self.random.choice((1, 3, 6))]
        return come, gone[:2]


def follow(
    program: w.WalkProgram, number: int, *, far: bool = False, steps: int = 5, rising: bool = False
) -> None:
    history = Rising(program, 4, 60, number) if rising else Timed(program, 4, 40, number, far)
    maintainer = history.maintainer
    if number % 8:
        maintainer.anew_share = 0
    maintainer.start()
    history.check()
    deltas = []
    for _ in range(steps):
        come, gone = history.batch()
        maintainer.follow(history.flip(come, gone))
        deltas.append((come, gone))
        history.check()
        if history.random.random() < 0.3:
            come, gone = deltas.pop()
            maintainer.undo()
            history.flip(gone, come)
            history.check()
    while deltas:
        come, gone = deltas.pop()
        maintainer.undo()
        history.flip(gone, come)
        history.check()


@pytest.mark.parametrize("number", range(8))
def test_rings_of_three(number: int) -> None:
    program = rings(3)
    assert walk_facts(program).ordered == ("kind",)
    follow(program, number, steps=12)


@pytest.mark.parametrize("number", range(1, 7))
def test_rings_of_three_where_times_rise(number: int) -> None:
    follow(rings(3), number, steps=12, rising=True)


def read_of(edge: str, kind: x.ValueType = x.INT) -> x.Expression:
    return x.EdgeProperty("kind" if kind is x.INT else "weight", kind, edge)


def compared(operator: Any, left: x.Expression, right: x.Expression) -> x.Expression:
    return x.Compare(operator, left, right)


PI = x.ParameterRef("pi", x.INT)
E, F, G = (read_of(name) for name in "efg")
RISING = (compared("<", E, F), compared("<=", F, G))
BY_HAND: dict[str, tuple[x.Expression, ...]] = {
    "at most so far behind": (compared("<=", x.Binary("-", F, E), PI),),
    "before what is added up": (compared(">=", x.Binary("+", E, PI), F), compared("<", E, F)),
    "not before": (x.Unary("not", compared("<", read_of("f", x.FLOAT), read_of("e", x.FLOAT))),),
    "behind": (compared("<", read_of("e", x.FLOAT), read_of("f", x.FLOAT)),),
    "rising, and near": (*RISING, compared("<=", G, x.Binary("+", E, PI))),
    "rising, and not far": (*RISING, compared("<=", x.Binary("-", G, E), PI)),
}


def chain(conditions: tuple[x.Expression, ...]) -> w.WalkProgram:
    """Walks of three steps out, counted at their last vertex and for the whole graph."""
    sends = (w.SendAt("z", "found", ONE), w.SendGlobal("total", ONE))
    body: tuple[w.WalkStatement, ...] = (w.When(x.Boolean("and", (*conditions, TRUE)), sends),)
    for origin, vertex, edge in (("w", "z", "g"), ("v", "w", "f"), ("u", "v", "e")):
        body = (w.Step(origin, OUT, vertex, edge, body),)
    within = (p.Parameter("pi", p.ParameterKind.INT, 2),)
    return replace(triangles(), name="Chain", parameters=within, traverse=body)


@pytest.mark.interpreted
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("number", range(1, 4))
def test_conditions_by_hand(name: str, number: int, far: bool) -> None:
    program = chain(BY_HAND[name])
    assert bool(walk_facts(program).ordered) == (name != "not before")
    with np.errstate(all="ignore"):
        follow(program, number, far=far, steps=4)


@pytest.mark.interpreted
@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("number", range(1, 4))
def test_conditions_by_hand_where_values_rise(name: str, number: int) -> None:
    follow(chain(BY_HAND[name]), number, steps=8, rising=True)


@pytest.mark.interpreted
@given(range_programs(), st.integers(0, 10_000))
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_programs(program: w.WalkProgram, number: int) -> None:
    follow(program, number)
    follow(program, number, rising=True)


@pytest.mark.interpreted
@given(range_programs(counts=True), st.integers(0, 10_000))
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_ints_that_wrap_around(program: w.WalkProgram, number: int) -> None:
    with np.errstate(all="ignore"):
        follow(program, number, far=True)


@pytest.mark.interpreted
def test_products_in_doubt_are_those_of_the_new_version() -> None:
    """What left is still in ordered rows while a product that was infinite is taken anew."""
    kinds = (x.EdgeProperty("kind", x.INT, edge) for edge in ("f", "e"))
    send = w.SendGlobal("product", x.EdgeProperty("weight", x.FLOAT, "e"))
    inner = w.Step("v", OUT, "t", "f", (w.When(x.Compare("<", *kinds), (send,), ()),))
    program = replace(infinite_product(), traverse=(w.Step("u", OUT, "v", "e", (inner,)),))
    assert walk_facts(program).ordered
    for number in range(1, 40):
        with np.errstate(all="ignore"):
            follow(program, number)


@pytest.mark.interpreted
def test_a_far_end_behind_more_edges_than_are_looked_through_is_found() -> None:
    """More later edges than that lead to the first vertex from elsewhere, and one from the third.

    They come before the first edge does, with it, and behind it.
    """
    later = [(3, 0, 10 + at) for at in range(FEW + 5)]
    closing, step, first = (2, 0, 5), (1, 2, 3), (0, 1, 1)
    for batches in (
        ([*later, closing, step], [first]),
        ([step, *later], [closing, first]),
        ([first, step], [closing, *later]),
    ):
        graph = gt.Graph(**columns(batches[0]), vertices=range(4))
        live = graph.maintain(gt.algorithms.Rings(length=3))
        live._kept.maintainer.anew_share = 0
        live.advance(insert=columns(batches[1]))
        assert live["total"] == 1
        live.advance(delete=columns([first]))
        assert live["total"] == 0
        live.rollback()
        assert live["total"] == 1


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", range(6))
def test_numbers_that_undoing_gives_to_other_edges(seed: int) -> None:
    """Rows that are undone were the highest of all, and others with their numbers are not."""
    picked = random.Random(seed)

    def row(latest: int) -> tuple[int, int, int]:
        return picked.randrange(4), picked.randrange(4), picked.randrange(latest)

    there = [row(6) for _ in range(12)]
    live = gt.Graph(**columns(there), vertices=range(4)).maintain(gt.algorithms.Rings(length=3))
    live._kept.maintainer.anew_share = 0
    for _ in range(12):
        live.advance(insert=columns([row(30) for _ in range(picked.randrange(1, 4))]))
        live.rollback()
        assert live["total"] == rings_of_three(there)
        come = [row(9) for _ in range(picked.randrange(1, 4))]
        live.advance(insert=columns(come), delete=columns([there.pop(0)]))
        there += come
        assert live["total"] == rings_of_three(there)


def rings_of_three(rows: list[tuple[int, int, int]]) -> int:
    """Rings of three different vertices along rising times, by looking at every three rows."""
    return sum(
        one[1] == two[0] and two[1] == three[0] and three[1] == one[0]
        for one, two, three in permutations(rows, 3)
        if one[2] < two[2] < three[2] and len({one[0], two[0], three[0]}) == 3
    )


@pytest.mark.interpreted
def test_a_property_that_no_loop_goes_by_has_no_rows() -> None:
    """A degree bounds the weight of the last step, which is looked for by its kind, from two sides:
    whoever knows the degree at once must not look for rows by weight.
    """
    kind = (compared("<", F, G), compared("<", G, x.Binary("+", F, PI)))
    degree = x.Call("float", (x.VertexFact("u", "out_degree"),), x.FLOAT)
    closes = compared("==", x.VertexFact("z", "id"), x.VertexFact("u", "id"))
    program = chain((compared("<", read_of("g", x.FLOAT), degree), *kind, closes))
    assert walk_facts(program).ordered == ("kind",)
    for number in range(1, 4):
        follow(program, number)


def columns(rows: list[tuple[int, int, int]]) -> dict[str, Any]:
    src, dst, time = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return {"src": src, "dst": dst, "time": time.astype(np.float64)}


def test_a_ring_goes_on_only_from_who_is_at_an_end_of_its_closing_step() -> None:
    """Of a ring of four whose changed edge is the first or the last, which closing steps meet."""
    (walk,) = walk_facts(rings(4)).walks
    first, *_, last = terms_of(walk)
    for term in (first, last):
        head, *inner = order_of_term(term.walk, term.factor).levels
        (probe,) = head.probes
        assert inner[-1].hop == probe.hop
        (waiting,) = (level for level in inner if level.awaited == (probe,))
        assert {waiting.position, probe.near} == {probe.hop.origin, probe.hop.vertex}
