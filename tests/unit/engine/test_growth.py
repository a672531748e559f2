"""A growing graph holds what a plain list of edges holds, through appends, flips and undoing."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest

from graphtide.engine.growing import GrowingArray
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.batches import DONE, MISSING, UNKNOWN
from graphtide.model.errors import InputError
from tests.resident_graphs import append, bring_in

Edge = tuple[int, int, float]


@dataclass
class Listed:
    """The same graph as a list of edges and a list of what is live."""

    vertices: int
    edges: list[Edge]
    live: list[bool] = field(default_factory=list)


def numbers(edges: list[int]) -> np.ndarray:
    return np.array(edges, np.int32)


def columns(edges: list[Edge]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    src, dst, weight = zip(*edges, strict=True) if edges else ((), (), ())
    return numbers(list(src)), numbers(list(dst)), np.array(weight, np.float64)


def random_edges(pick: random.Random, vertices: int, count: int) -> list[Edge]:
    return [
        (pick.randrange(vertices), pick.randrange(vertices), float(pick.randrange(3)))
        for _ in range(count)
    ]


def check(graph: ResidentGraph, listed: Listed) -> None:
    live = [at for at, alive in enumerate(listed.live) if alive]
    assert sorted(graph.live_edges().tolist()) == live
    assert (graph.vertices, graph.edges) == (listed.vertices, len(listed.edges))
    src, dst = graph.ends(np.arange(graph.edges, dtype=np.int32))
    weight = graph.properties["weight"]
    assert list(zip(src.tolist(), dst.tolist(), weight.tolist(), strict=True)) == listed.edges
    whole = graph.column("weight", np.int64)[: graph.edges]
    assert whole.tolist() == [int(w) for _, _, w in listed.edges]
    for slabs, end in ((graph.adjacency.out, 0), (graph.adjacency.into, 1)):
        counts = [sum(listed.edges[at][end] == v for at in live) for v in range(listed.vertices)]
        assert slabs.live.tolist() == counts
        assert (slabs.used <= slabs.room).all()


def grow(graph: ResidentGraph, listed: Listed, pick: random.Random) -> None:
    """A batch with vertices and edges that come; each row has an edge of its own."""
    more = pick.choice([0, 0, 1, 3])
    graph.append_vertices(more)
    listed.vertices += more
    gone = [edge for edge, alive in zip(listed.edges, listed.live, strict=True) if alive]
    deleted = pick.sample(gone, pick.randrange(1 + min(4, len(gone))))
    inserted = random_edges(pick, listed.vertices, pick.randrange(6))
    weighed = pick.random() < 0.5
    rows = deleted if weighed else [edge[:2] for edge in deleted]
    ended, delta = bring_in(graph, inserted, rows, ["weight"] if weighed else [])
    assert ended == DONE
    for row, edge in zip(rows, delta.deleted.tolist(), strict=True):
        assert listed.live[edge]
        assert listed.edges[edge][: len(row)] == row
        listed.live[edge] = False
    gone_now = set(delta.deleted.tolist())
    for row, edge in zip(inserted, delta.inserted.tolist(), strict=True):
        known = [
            at
            for at, alive in enumerate(listed.live)
            if not alive and at not in gone_now and listed.edges[at] == row
        ]
        assert edge in known if known else edge == len(listed.edges)
        if not known:
            listed.edges.append(row)
            listed.live.append(True)
        listed.live[edge] = True
    ends = [listed.edges[at][:2] for at in (*delta.inserted.tolist(), *delta.deleted.tolist())]
    assert list(zip(delta.sources.tolist(), delta.targets.tolist(), strict=True)) == ends
    assert not graph._taken.any()


def refuse(graph: ResidentGraph, listed: Listed, pick: random.Random) -> None:
    """What cannot be done as a whole is not done, and says where."""
    row = random_edges(pick, listed.vertices, 1)[0]
    some = random_edges(pick, listed.vertices, 2)
    ended, delta = bring_in(graph, [*some, (0, listed.vertices, 1.0)])
    assert ended == UNKNOWN
    assert delta.targets.tolist()[-1] == -1
    fitting = sum(
        edge == row and live for edge, live in zip(listed.edges, listed.live, strict=True)
    )
    ended, delta = bring_in(graph, some, [row] * (fitting + 1), ["weight"])
    assert ended == MISSING
    assert (delta.deleted == -1).tolist() == [False] * fitting + [True]
    assert not graph._taken.any()


def flip(graph: ResidentGraph, listed: Listed, pick: random.Random) -> None:
    chosen = [at for at in range(len(listed.edges)) if pick.random() < 0.4]
    graph.flip(
        numbers([at for at in chosen if not listed.live[at]]),
        numbers([at for at in chosen if listed.live[at]]),
    )
    for at in chosen:
        listed.live[at] = not listed.live[at]


@pytest.mark.parametrize("seed", range(12))
def test_appending_flipping_and_forgetting_equal_a_list(seed: int) -> None:
    pick = random.Random(f"growth {seed}")
    edges = sorted(random_edges(pick, 5, pick.randrange(8)), key=lambda edge: edge[0])
    src, dst, weight = columns(edges)
    graph = ResidentGraph(5, src, dst, {"weight": weight})
    listed = Listed(5, edges, [True] * len(edges))
    graph.column("weight", np.int64)
    before: list[Listed] = []
    for _ in range(15):
        if before and pick.random() < 0.35:
            was = before.pop()
            now = listed.live + [False] * (len(was.live) - len(listed.live))
            then = was.live + [False] * (len(listed.live) - len(was.live))
            graph.flip(
                numbers([at for at, alive in enumerate(then) if alive and not now[at]]),
                numbers([at for at, alive in enumerate(now) if alive and not then[at]]),
            )
            graph.forget(was.vertices, len(was.edges))
            listed = was
        else:
            before.append(Listed(listed.vertices, list(listed.edges), list(listed.live)))
            grow(graph, listed, pick)
            flip(graph, listed, pick)
        check(graph, listed)
        refuse(graph, listed, pick)
        check(graph, listed)


def test_a_pool_grows_in_proportion_to_its_edges() -> None:
    """Appending one at a time to one vertex moves its slab a logarithmic number of times."""
    graph = ResidentGraph(1, numbers([]), numbers([]))
    for _ in range(1000):
        append(graph, [(0, 0)])
    assert len(graph.adjacency.out.neighbour) <= 4 * 1000


def test_appending_and_forgetting_again_and_again_takes_no_more_room() -> None:
    graph = ResidentGraph(2, numbers([0]), numbers([1]))
    for _ in range(50):
        graph.append_vertices(1)
        graph.flip(numbers([]), append(graph, [(0, 2), (2, 1)]))
        graph.forget(2, 1)
    assert graph._tops.max() <= 8


def test_an_array_grows_by_doubling_and_keeps_its_rows() -> None:
    array = GrowingArray(np.arange(4).reshape(2, 2))
    array.extend(np.array([[9, 9]]))
    assert array.view.tolist() == [[0, 1], [2, 3], [9, 9]]
    array.resize(1)
    assert array.view.tolist() == [[0, 1]]


def test_what_is_already_so_cannot_be_flipped() -> None:
    graph = ResidentGraph(2, numbers([0]), numbers([1]))
    with pytest.raises(InputError, match="already there"):
        graph.flip(numbers([0]), numbers([]))
    with pytest.raises(InputError, match="cannot be deleted"):
        graph.flip(numbers([]), numbers([0, 0]))
    assert graph.live_edges().tolist() == [0]
