"""A delta is flipped as a whole or not at all, and knows the ends of its edges."""

from __future__ import annotations

import random

import numpy as np
import pytest

from graphtide.engine.resident import ResidentGraph
from graphtide.model.errors import InputError


def numbers(edges: list[int]) -> np.ndarray:
    return np.array(edges, np.int32)


def state(graph: ResidentGraph) -> list[list[int]]:
    """Live neighbours and edges of every vertex, both ways."""
    found = []
    for slabs in graph.adjacency:
        for vertex in range(graph.vertices):
            start = slabs.start[vertex]
            live = slice(start, start + slabs.live[vertex])
            found.append(sorted(zip(slabs.edge[live], slabs.neighbour[live], strict=True)))
    return found


@pytest.mark.parametrize("seed", range(10))
def test_many_edges_are_flipped_and_back(seed: int) -> None:
    """Enough of them that every step asks ahead."""
    pick = random.Random(f"flips {seed}")
    vertices, count = pick.randrange(1, 40), 400
    ends = sorted((pick.randrange(vertices), pick.randrange(vertices)) for _ in range(count))
    src, dst = numbers([one for one, _ in ends]), numbers([other for _, other in ends])
    graph = ResidentGraph(vertices, src, dst)
    before = state(graph)
    gone = pick.sample(range(count), 250)
    graph.flip(numbers([]), numbers(gone))
    back, more = gone[:120], [at for at in range(count) if at not in gone][:100]
    inserted, deleted = numbers(back), numbers(more)
    graph.flip(inserted, deleted)
    live = sorted(set(range(count)) - set(gone[120:]) - set(more))
    assert sorted(graph.live_edges().tolist()) == live
    assert graph.live == len(live)
    delta = graph.delta(inserted, deleted)
    assert delta.sources.tolist() == src[back + more].tolist()
    assert delta.targets.tolist() == dst[back + more].tolist()
    fresh = graph.delta(inserted.copy(), deleted.copy())
    assert fresh.sources.tolist() == delta.sources.tolist()
    graph.flip(deleted, inserted)
    graph.flip(numbers(gone), numbers([]))
    assert state(graph) == before


def test_a_misfit_leaves_everything_as_it_was() -> None:
    graph = ResidentGraph(3, numbers([0, 0, 1]), numbers([1, 2, 2]))
    graph.flip(numbers([]), numbers([2]))
    before = state(graph)
    for inserted, deleted, text in (
        ([2, 0], [1], "edge 0 cannot be inserted"),
        ([2], [0, 2], "edge 2 cannot be deleted"),
        ([2, 2], [], "edge 2 cannot be inserted"),
        ([], [0, 1, 0], "edge 0 cannot be deleted"),
    ):
        with pytest.raises(InputError, match=text):
            graph.flip(numbers(inserted), numbers(deleted))
        assert state(graph) == before
        assert graph.live == 2


@pytest.mark.parametrize("place", [0, 255, 256, 700, 999])
@pytest.mark.parametrize("alive", [True, False])
def test_a_misfit_behind_whole_batches_takes_all_of_them_back(place: int, alive: bool) -> None:
    """Edges are flipped in batches: those before the one with the misfit go back too."""
    pick = random.Random(f"{place} {alive}")
    ends = sorted((pick.randrange(30), pick.randrange(30)) for _ in range(2000))
    graph = ResidentGraph(
        30, numbers([one for one, _ in ends]), numbers([other for _, other in ends])
    )
    dead = pick.sample(range(2000), 1000)
    graph.flip(numbers([]), numbers(dead))
    there = [at for at in range(2000) if at not in set(dead)]
    wrong, other = (dead.copy(), there) if alive else (there.copy(), dead)
    wrong[place] = other[0]
    before = state(graph)
    delta = (wrong, other[1:400]) if alive else (other[1:400], wrong)
    with pytest.raises(InputError, match=f"edge {other[0]} cannot be"):
        graph.flip(*map(numbers, delta))
    assert state(graph) == before
    graph.flip(numbers(dead), numbers(there))
    assert graph.live == 1000
