"""The bound of `tolerance`: for which programs it is claimed, and that it holds for these."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.model.errors import InputError
from graphtide.plan.program_analysis import tolerance_bound
from graphtide.plan.program_values import BoundProgram
from tests.examples import repeats
from tests.oracle import algorithms as oracle

library = gt.algorithms


@gt.program
class Weighted:
    factor: float = 0.5
    score: float = 1.0
    total = gt.Sum(float)
    iterations = 4

    def traverse(self, u, e, v):
        sent = u.score * e.weight
        v.total(sent / 2.0 if e.weight > 3.0 else sent)

    def update(self, v):
        v.score = self.factor * v.total + max(v.score, 1.0)


@gt.program
class Signed:
    x: float = 1.0
    total = gt.Sum(float)
    iterations = 4

    def traverse(self, u, e, v):
        v.total(u.x)

    def update(self, v):
        v.x = v.total - 3.0


@gt.program
class Squared:
    x: float = 1.0
    total = gt.Sum(float)
    iterations = 4

    def traverse(self, u, e, v):
        v.total(u.x * u.x)

    def update(self, v):
        v.x = v.total


@gt.program
class Deciding:
    x: float = 1.0
    total = gt.Sum(float)
    iterations = 4

    def traverse(self, u, e, v):
        if u.x > 2.0:
            v.total(u.x)

    def update(self, v):
        v.x = 1.0 + v.total


@gt.program
class Renamed:
    x: float = 1.0
    total = gt.Sum(float)
    iterations = 4

    def traverse(self, u, e, v):
        if u.id > 2:  # noqa: SIM108 (a name that two ways assign)
            sent = u.x
        else:
            sent = -u.x
        v.total(sent)

    def update(self, v):
        v.x = 1.0 + v.total


HAVE: list[tuple[BoundProgram, str]] = [
    (library.PageRank(), ""),
    (library.PageRank(damping=1.0), ""),
    (library.PersonalisedPageRank(sources=[0]), ""),
    (Weighted(), " where e.weight >= 0"),
]
LACK: list[tuple[BoundProgram, str]] = [
    (library.PageRank(damping=1.5), "-0.5 may be negative"),
    (library.ConvergedPageRank(), "another round"),
    (library.BeliefPropagation(first=[0], second=[1]), "may be negative"),
    (library.CoTrainingEM(positive=[0], negative=[1]), "depends on a state"),
    (library.CollaborativeFiltering(), "in proportion"),
    (Weighted(factor=-1.0), "may be negative"),
    (Signed(), "v.total - 3.0 is not in proportion"),
    (Squared(), "u.x * u.x is not in proportion"),
    (Deciding(), "u.x > 2.0 depends on a state"),
    (Renamed(), "sent is not in proportion"),
]


@pytest.mark.parametrize(("program", "where"), HAVE, ids=str)
def test_programs_that_have_the_bound(program: BoundProgram, where: str) -> None:
    found = tolerance_bound(program)
    assert found.reason is None
    assert str(found).endswith(f"of those from scratch{where}")


@pytest.mark.parametrize(("program", "why"), LACK, ids=str)
def test_programs_that_lack_it(program: BoundProgram, why: str) -> None:
    assert why in (tolerance_bound(program).reason or "")


def off_by(program: BoundProgram, tolerance: float, seed: int) -> float:
    """The largest share that a result was ever off by, beside one without tolerance."""
    chosen = np.random.default_rng(seed)
    count, edges = 400, 600
    ends = chosen.integers(0, count, (2, edges))
    weight = chosen.random(edges)
    graph = gt.Graph(*ends, vertices=count, weight=weight)
    near, true = graph.maintain(program, tolerance=tolerance), graph.maintain(program)
    worst = 0.0
    for _ in range(10 * repeats(2)):
        row: tuple[Any, ...] = (*chosen.integers(0, count, 2).tolist(), float(chosen.random()))
        gone = int(chosen.choice(graph.edges()["edge"].to_numpy()))
        graph.advance(insert=[row], delete=[gone])
        name = near.fields[0]
        off = np.abs(near[name] - true[name])
        scale = np.where(off > 0, np.abs(true[name]), 1.0)
        worst = max(worst, float((off / np.maximum(scale, 1e-300)).max()))
    near.verify()
    return worst


@pytest.mark.interpreted
@pytest.mark.parametrize("program", [library.PageRank(iterations=5), Weighted()], ids=str)
def test_results_stay_within_the_bound(program: BoundProgram) -> None:
    tolerance = 0.05
    assert program.iterations is not None
    worst = off_by(program, tolerance, seed=7)
    assert 0 < worst <= (1 - tolerance) ** -program.iterations - 1 + 1e-12


@pytest.mark.interpreted
def test_what_has_no_bound_is_not_held_to_one() -> None:
    graph = gt.Graph([0, 1, 2], [1, 2, 0])
    beliefs = library.BeliefPropagation(first=[0], second=[1])
    with pytest.raises(InputError, match="cannot be verified: no bound is known"):
        graph.maintain(beliefs, tolerance=1e-3).verify()
    live = graph.maintain(beliefs)
    live.verify()
    assert "tolerance: no bound is known" in live.explain()
    edges = [(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)]
    found = oracle.belief_propagation(3, edges, [0], [1], 0.7, 2.0, 10)
    assert np.allclose(live["odds"], found["odds"])
