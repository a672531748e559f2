"""Rows that walks report: what an advance tells of them, where a limit cuts, and numbers that are
none.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt

pytestmark = pytest.mark.interpreted


@gt.program
class Chains:
    """Ways of two edges, the first few of them."""

    most: int
    chains = gt.Matches(one=gt.Vertex, other=gt.Vertex, limit="most")

    def traverse(self, u):  # type: ignore[no-untyped-def]
        for v in u.out_neighbours:
            for w in v.out_neighbours:
                self.chains(u, w)


@gt.program
class CountedChains:
    """The same, each beside the number of vertices."""

    V: int
    chains = gt.Matches(one=gt.Vertex, vertices=int)

    def traverse(self, u):  # type: ignore[no-untyped-def]
        for v in u.out_neighbours:
            for _w in v.out_neighbours:
                self.chains(u, self.V)


@gt.program
class Ratios:
    """A number a way of two edges, which is none where the second takes no time."""

    ratios = gt.Matches(one=gt.Vertex, ratio=float)

    def traverse(self, u):  # type: ignore[no-untyped-def]
        for v, e in u.out_edges:
            for _w, f in v.out_edges:
                self.ratios(u, e.time / f.time)


def shown(live: Any) -> Counter[tuple[Any, ...]]:
    return counted(live.matches())


def counted(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in table.to_pylist())


def walked(seed: int, most: int, count: int) -> tuple[gt.Graph, Any, random.Random]:
    pick = random.Random(seed)
    edges = [(pick.randrange(6), pick.randrange(6)) for _ in range(count)]
    graph = gt.Graph(*zip(*edges, strict=True), vertices=range(6))
    return graph, graph.maintain(Chains(most=most)), pick


@pytest.mark.parametrize("most", [0, 1, 7, 1000])
@pytest.mark.parametrize("anew", [False, True])
def test_changes_are_those_of_the_rows_that_are_shown(most: int, anew: bool) -> None:
    graph, live, pick = walked(most, most, 14)
    live._kept.maintainer.anew_share = 10**6 if anew else 0
    for _ in range(12):
        before, edges = shown(live), graph.edges().num_rows
        gone = pick.sample(range(edges), 2)
        come = [(pick.randrange(6), pick.randrange(6)) for _ in range(2)]
        ids = graph.edges().take(gone).select(["src", "dst"]).to_pylist()
        changes = live.advance(insert=come, delete=[(row["src"], row["dst"]) for row in ids])
        after = shown(live)
        assert counted(changes.appeared()) == after - before
        assert counted(changes.disappeared()) == before - after


def test_changes_that_are_held_tell_of_their_own_advance() -> None:
    graph, live, _ = walked(3, 2, 14)
    live._kept.maintainer.anew_share = 0
    before = shown(live)
    changes = live.advance(insert=[(0, 0)])
    after = shown(live)
    live.advance(delete=[(0, 0)])
    assert counted(changes.appeared()) == after - before != Counter()
    assert counted(changes.disappeared()) == before - after
    changes = live.advance(insert=[(0, 0)])
    graph.rollback()
    assert counted(changes.appeared()) == after - before


def test_rows_change_where_vertices_come_to_a_program_that_counts_them() -> None:
    live = gt.Graph([0, 1], [1, 2]).maintain(CountedChains)
    changes = live.advance(insert=[(2, 3)])
    assert counted(changes.disappeared()) == Counter({(0, 3): 1})
    assert counted(changes.appeared()) == Counter({(0, 4): 1, (1, 4): 1})
    assert live.advance(delete=[(2, 3)]).disappeared().to_pylist() == [{"one": 1, "vertices": 4}]


def test_rows_that_hold_no_number_come_and_leave() -> None:
    times = [0.0, 0.0, 1.0, 2.0, 0.0, 3.0, 4.0, 5.0, 6.0]
    graph = gt.Graph(range(9), [*range(1, 9), 0], time=times)
    live = graph.maintain(Ratios)
    ratios = live.matches()["ratio"].to_pylist()
    assert [value for value in ratios if value == value][:3] == [0.0, 0.5, np.inf]
    assert (len(ratios), sum(value != value for value in ratios)) == (9, 1)
    changes = live.advance(delete=[(0, 1, 0.0)])
    assert changes.disappeared()["one"].to_pylist() == [0, 8]
    assert (live.matches()["one"].to_pylist(), live.match_count()) == (list(range(1, 8)), 7)
    live.verify()
    changes = live.advance(insert=[(0, 1, 0.0)])
    assert changes.appeared()["one"].to_pylist() == [0, 8]
    live.verify()
    live._kept.maintainer.anew_share = 10**6
    assert live.advance(insert=[(8, 8, 7.0)]).appeared().num_rows == 3
    live.verify()


def test_rows_that_hold_no_number_in_a_run(tmp_path: Path) -> None:
    graph = gt.Graph(range(4), [1, 2, 3, 0], time=[0.0, 0.0, 0.0, 1.0])
    views = {"all": [0, 1, 2, 3], "fewer": [0, 1], "none": [0], "again": [0, 1, 3]}
    for strategy in ("differential", "scratch"):
        run = graph.run(Ratios, views, strategy=strategy, verify=1)  # type: ignore[arg-type]
        counts = [run.matches(view)["one"].to_pylist() for view in views]
        assert counts == [[0, 1, 2, 3], [0], [], [0, 3]]


def test_arrow_columns_of_truth_values_without_chunks() -> None:
    graph = gt.Graph([1, 2], [2, 1], fine=pa.array([True, False]))
    graph.advance(insert={"src": [1], "dst": [2], "fine": pa.array([False])})
    assert graph.edges()["fine"].to_pylist() == [True, False, False]
