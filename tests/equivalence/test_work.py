"""Work is counted, not timed: an advance looks at edges near what changed, however large the rest.

The same edits in one of many equal parts of a graph: the edges looked at must be the same in
number whether there are twenty other parts or eighty. And where results change in a few vertices
only, few edges are looked at.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import graphtide as gt
from graphtide.algorithms import (
    BFS,
    WCC,
    ConvergedPersonalisedPageRank,
    PageRank,
    ShortestPaths,
    Triangles,
)
from graphtide.run.live.computation import Mode
from tests.compiled import few_compiled
from tests.equivalence.algorithm_cases import CASES, Case

PART_VERTICES, PART_EDGES = 40, 120
EXACT = [case for case in CASES if case.name in ("BFS", "ShortestPaths", "WCC")]
SETTLING = [case for case in CASES if case.name.startswith("Converged")]
OTHERS = [case for case in CASES if case not in SETTLING]


def parts(copies: int, pick: random.Random) -> tuple[list[int], list[int], list[float]]:
    """Equal parts side by side, part after part."""
    one = [
        (pick.randrange(PART_VERTICES), pick.randrange(PART_VERTICES)) for _ in range(PART_EDGES)
    ]
    weight = [float(pick.randrange(1, 5)) for _ in one]
    src = [part * PART_VERTICES + u for part in range(copies) for u, _ in one]
    dst = [part * PART_VERTICES + v for part in range(copies) for _, v in one]
    return src, dst, weight * copies


def looked_at(case: Case, mode: Mode, copies: int) -> list[int]:
    """How many edges each of a few advances in the first part looks at."""
    pick = random.Random(f"{case.name} {mode}")
    src, dst, weight = parts(copies, pick)
    graph = gt.Graph(src, dst, vertices=copies * PART_VERTICES, weight=weight)
    parameters = case.parameters(pick, PART_VERTICES)
    live = graph.maintain(case.program(**parameters), mode=mode)
    found = []
    for at in range(0, 40, 8):
        new = (pick.randrange(PART_VERTICES), pick.randrange(PART_VERTICES), 2.0)
        live.advance(delete=[at, at + 1], insert=[new])
        found.append(live.touched)
    return found


@pytest.mark.parametrize("case", few_compiled(OTHERS))
def test_the_rest_of_the_graph_costs_nothing(case: Case) -> None:
    assert looked_at(case, "auto", 20) == looked_at(case, "auto", 40)


@pytest.mark.compiled
@pytest.mark.parametrize("case", SETTLING, ids=lambda case: case.name)
def test_nor_does_it_where_ranks_settle(case: Case) -> None:
    """Dozens of iterations in one part are so many that a small graph is rather run anew."""
    assert looked_at(case, "auto", 600) == looked_at(case, "auto", 900)


def test_nor_does_an_edge_that_no_source_reaches() -> None:
    """It leads from a hub of a thousand edges, none of which carries anything."""
    src, dst, _ = parts(3, random.Random("far away"))
    hub = [PART_VERTICES] * 1000
    others = [PART_VERTICES + at % (2 * PART_VERTICES) for at in range(1000)]
    live = gt.Graph([*src, *hub], [*dst, *others]).maintain(
        ConvergedPersonalisedPageRank(sources=[0, 1], tolerance=1e-9)
    )
    live.advance(insert=[(PART_VERTICES, PART_VERTICES + 1)], delete=[len(src) + 1])
    assert (live.touched, len(live.changes())) == (0, 0)


@pytest.mark.parametrize("case", few_compiled(EXACT, ("BFS",)))
def test_nor_does_it_in_exact_mode(case: Case) -> None:
    assert looked_at(case, "exact", 20) == looked_at(case, "exact", 40)


@pytest.mark.parametrize("mode", ["fixpoint", "exact"])
@pytest.mark.parametrize("program", few_compiled([BFS, ShortestPaths], ("BFS",)))
def test_a_leaf_costs_its_edge(program: gt.Program, mode: Mode) -> None:
    """The last vertex of a long path comes and goes."""
    path = np.arange(5000)
    live = gt.Graph(path, path + 1, weight=np.ones(5000)).maintain(program(source=0), mode=mode)
    live.advance(delete=[4999])
    assert live.touched <= 4
    live.advance(insert=[(4999, 5000, 1.0)])
    assert live.touched <= 4


@pytest.mark.interpreted
@pytest.mark.parametrize("mode", ["fixpoint", "exact"])
def test_a_hub_that_loses_one_of_many_supports_is_not_searched(mode: Mode) -> None:
    """A component of a thousand edges round one vertex loses one that others make up for."""
    hub = np.zeros(1000, int)
    others = np.arange(1, 1001)
    ring = gt.Graph([*hub, *others[:-1]], [*others, *others[1:]]).maintain(WCC(), mode=mode)
    ring.advance(delete=[500])
    assert ring.touched <= 20


def test_a_small_change_of_rank_stops_where_tolerance_says() -> None:
    """On a long cycle a change spreads, thins out and dies before it is round."""
    size = 2000
    ids = np.arange(size)
    graph = gt.Graph([*ids, *ids], [*((ids + 1) % size), *((ids + 2) % size)])
    live = graph.maintain(PageRank(iterations=30), tolerance=1e-3)
    live.advance(insert=[(0, 10)])
    assert 0 < live.touched < 0.1 * 30 * 2 * size


def lines_of(work: Callable[[], object]) -> int:
    """How many lines of Python a call goes through: with interpreted kernels, all that it does."""
    lines = 0

    def count(frame: FrameType, event: str, given: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.interpreted
def test_a_hub_makes_an_edge_between_two_others_no_dearer() -> None:
    """Both ends are beside the hub, whose triangles come and go: it has 40 neighbours, or 2,000."""
    found = []
    for neighbours in (40, 2000):
        others, path = np.arange(neighbours), np.arange(20)
        hub = np.full(neighbours, neighbours)
        live = gt.Graph([*others, *path], [*hub, *path + 1]).maintain(Triangles)
        live.advance(insert=[(2, 9)], delete={"src": [4], "dst": [5]})
        edit = {"insert": [(3, 7)], "delete": {"src": [0], "dst": [1]}}
        found.append(lines_of(lambda live=live, edit=edit: live.advance(**edit)))
        live.verify()
    # Tables of pairs differ in who is in whose way; to look at each neighbour takes 1,960 lines.
    assert abs(found[0] - found[1]) < 200, found
