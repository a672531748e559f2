"""A delta is flipped as a whole or not at all, and knows the ends of its edges."""

from __future__ import annotations

import random

import numpy as np
import pytest

from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph import flips
from graphtide.kernels.graph.flips import NEAR_EDGES
from graphtide.model.errors import InputError


def numbers(edges: list[int]) -> np.ndarray:
    return np.array(edges, np.int32)


def state(graph: ResidentGraph, vertices: int) -> list[list[int]]:
    """Live neighbours and edges of every vertex, both ways."""
    found = []
    for slabs in graph.adjacency:
        for vertex in range(vertices):
            start = slabs.start[vertex]
            live = slice(start, start + slabs.live[vertex])
            found.append(sorted(zip(slabs.edge[live], slabs.neighbour[live], strict=True)))
    return found


NEAR_AND_FAR = [
    pytest.param(0, id="near"),
    pytest.param(NEAR_EDGES, id="far", marks=pytest.mark.compiled),
]
"""Making a graph that is too large for the cache takes twenty seconds interpreted."""


def graph_of(ends: list[tuple[int, int]], vertices: int, others: int = 0) -> ResidentGraph:
    """A graph of these edges, all live, and of others at a vertex of their own, all dead."""
    more = [vertices] * others
    src, dst = (np.array([*side, *more], np.int32) for side in zip(*ends, strict=True))
    graph = ResidentGraph(vertices + 1, src, dst)
    graph.flip(numbers([]), np.arange(len(ends), len(src), dtype=np.int32))
    return graph


@pytest.mark.parametrize("others", NEAR_AND_FAR)
@pytest.mark.parametrize("seed", range(10))
def test_many_edges_are_flipped_and_back(seed: int, others: int) -> None:
    """Enough of them that every step asks ahead, where the graph is large enough to ask."""
    pick = random.Random(f"flips {seed}")
    vertices, count = pick.randrange(1, 40), 400
    ends = sorted((pick.randrange(vertices), pick.randrange(vertices)) for _ in range(count))
    src, dst = numbers([one for one, _ in ends]), numbers([other for _, other in ends])
    graph = graph_of(ends, vertices, others)
    before = state(graph, vertices)
    gone = pick.sample(range(count), 250)
    graph.flip(numbers([]), numbers(gone))
    back, more = gone[:120], [at for at in range(count) if at not in gone][:100]
    inserted, deleted = numbers(back), numbers(more)
    delta = graph.flip(inserted, deleted)
    live = sorted(set(range(count)) - set(gone[120:]) - set(more))
    assert sorted(graph.live_edges().tolist()) == live
    assert graph.live == len(live)
    assert delta.sources.tolist() == src[back + more].tolist()
    assert delta.targets.tolist() == dst[back + more].tolist()
    graph.flip(deleted, inserted)
    graph.flip(numbers(gone), numbers([]))
    assert state(graph, vertices) == before


@pytest.mark.parametrize(
    "others",
    [pytest.param(0, id="near"), pytest.param(NEAR_EDGES, id="far", marks=pytest.mark.compiled)],
)
def test_a_window_that_grows_leaves_edges_where_they_stand(others: int) -> None:
    ends = sorted((at % 7, at % 11) for at in range(3000))
    graph = graph_of(ends, 11, others)
    graph.clear()
    out = graph.adjacency.out
    before = out.edge.copy()
    for first in range(0, 3000, 500):
        graph.flip(np.arange(first, first + 500, dtype=np.int32), numbers([]))
    assert np.array_equal(out.edge, before)
    assert sorted(graph.live_edges().tolist()) == list(range(3000))


@pytest.mark.interpreted
def test_what_is_asked_for_ahead_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph counts as far from the caches however small it is."""
    monkeypatch.setattr(flips, "NEAR_EDGES", 0)
    test_a_window_that_grows_leaves_edges_where_they_stand(0)


def test_a_misfit_leaves_everything_as_it_was() -> None:
    graph = ResidentGraph(3, numbers([0, 0, 1]), numbers([1, 2, 2]))
    graph.flip(numbers([]), numbers([2]))
    before = state(graph, 3)
    for inserted, deleted, text in (
        ([2, 0], [1], "edge 0 cannot be inserted"),
        ([2], [0, 2], "edge 2 cannot be deleted"),
        ([2, 2], [], "edge 2 cannot be inserted"),
        ([], [0, 1, 0], "edge 0 cannot be deleted"),
    ):
        with pytest.raises(InputError, match=text):
            graph.flip(numbers(inserted), numbers(deleted))
        assert state(graph, 3) == before
        assert graph.live == 2


@pytest.mark.parametrize("place", [0, 255, 256, 700, 999])
@pytest.mark.parametrize("alive", [True, False])
@pytest.mark.parametrize("others", NEAR_AND_FAR)
def test_a_misfit_behind_whole_batches_takes_all_of_them_back(
    place: int, alive: bool, others: int
) -> None:
    """Edges are flipped in batches: those before the one with the misfit go back too."""
    pick = random.Random(f"{place} {alive}")
    ends = sorted((pick.randrange(30), pick.randrange(30)) for _ in range(2000))
    graph = graph_of(ends, 30, others)
    dead = pick.sample(range(2000), 1000)
    graph.flip(numbers([]), numbers(dead))
    there = [at for at in range(2000) if at not in set(dead)]
    wrong, other = (dead.copy(), there) if alive else (there.copy(), dead)
    wrong[place] = other[0]
    before = state(graph, 30)
    delta = (wrong, other[1:400]) if alive else (other[1:400], wrong)
    with pytest.raises(InputError, match=f"edge {other[0]} cannot be"):
        graph.flip(*map(numbers, delta))
    assert state(graph, 30) == before
    graph.flip(numbers(dead), numbers(there))
    assert graph.live == 1000
