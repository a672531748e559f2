"""Ordered rows beside sorted lists: whatever comes and goes, in any order and in any number."""

from __future__ import annotations

import random

import numba
import numpy as np
import pytest

from graphtide.engine.resident import ResidentGraph
from graphtide.engine.walks import state
from graphtide.engine.walks.code import walk_code
from graphtide.engine.walks.runs import WalkRun
from graphtide.kernels.walks.ordered import MOVED, NEIGHBOUR, SHIFT, TOP, row_bounds
from tests.equivalence.walk_cases import rings

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.skipif(not numba.config.DISABLE_JIT, reason="Python may not call a joined kernel"),
]


class Kept:
    """A graph of a few vertices with rows in the order of `kind`, and lists of what is live."""

    def __init__(self, kinds: list[int], vertices: int = 3) -> None:
        picked = random.Random(len(kinds))
        ends = np.array([picked.randrange(vertices) for _ in range(2 * len(kinds))], np.int32)
        self.src, self.dst = ends[::2].copy(), ends[1::2].copy()
        self.kinds = np.array(kinds, np.int64)
        properties = {"kind": self.kinds}
        self.graph = ResidentGraph(vertices, self.src, self.dst, properties, live=False)
        self.run = WalkRun(self.graph, walk_code(rings(2)), ())
        self.run._fit()
        self.rows = self.run.state.ordered
        self.live: set[int] = set()

    def build(self, live: list[int]) -> None:
        self.flip(live, [])
        self.rows.build()

    def flip(self, come: list[int], gone: list[int]) -> None:
        numbers = self.graph.numbers
        delta = self.graph.flip(numbers[come], numbers[gone])
        self.delta, self.count = delta, len(come)
        self.live.update(come)
        self.live.difference_update(gone)

    def change(self, come: list[int], gone: list[int]) -> None:
        self.flip(come, gone)
        delta, at = self.delta, self.count
        self.rows.enter(delta.inserted, delta.sources[:at], delta.targets[:at])
        self.rows.leave(delta.deleted, delta.sources[at:], delta.targets[at:])

    def check(self) -> None:
        record, numbers = self.rows.record, self.graph.numbers
        for vertex in range(self.graph.vertices):
            for side, near, far in ((0, self.src, self.dst), (1, self.dst, self.src)):
                begin, end = row_bounds(record, 2 * vertex + side)
                words = record.entries[begin:end]
                mine = [(self.kinds[e], numbers[e], far[e]) for e in self.live if near[e] == vertex]
                expected = [(edge, end) for _, edge, end in sorted(mine)]
                found = list(zip(words >> SHIFT, words & NEIGHBOUR, strict=True))
                assert found == expected

    @property
    def moved(self) -> int:
        return int(self.rows.record.pool[MOVED])


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_sorted_whatever_comes_and_goes(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pool that grows; half of the time without what is free, whenever it has to grow."""
    monkeypatch.setattr(state, "_SPARE", 8)
    if seed % 2:
        monkeypatch.setattr(state, "_WASTE", 0)
    picked = random.Random(seed)
    kept = Kept([picked.randrange(12) for _ in range(300)])
    kept.build(picked.sample(range(300), 100))
    kept.check()
    for _ in range(25):
        dead = [edge for edge in range(300) if edge not in kept.live]
        come = picked.sample(dead, picked.randrange(min(len(dead), 60) + 1))
        gone = picked.sample(sorted(kept.live), picked.randrange(min(len(kept.live), 60) + 1))
        kept.change(come, gone)
        kept.check()


def test_a_window_that_moves_on_costs_what_comes_and_goes() -> None:
    kept = Kept(list(range(4000)), vertices=1)
    kept.build(list(range(400)))
    moved = 0
    for first in range(0, 3600, 40):
        kept.change(list(range(first + 400, first + 440)), list(range(first, first + 40)))
        moved += kept.moved
    kept.check()
    assert moved < 3600 * 8
    assert len(kept.rows.record.entries) < 4 * 400 + 2048
    assert kept.rows.record.pool[TOP] <= len(kept.rows.record.entries)


def test_rooms_that_rows_left_serve_others() -> None:
    """Rows grow one behind the other: what a row leaves is large enough for those that follow."""
    kept = Kept(list(range(900)), vertices=9)
    kept.build([])
    by_source = sorted(range(900), key=lambda edge: (kept.src[edge], edge))
    for first in range(0, 900, 7):
        kept.change(by_source[first : first + 7], [])
        if first % 49 == 0:
            kept.check()
    kept.check()
    assert kept.rows.record.pool[TOP] < 2.5 * 2 * 900


def test_many_in_no_order_are_sorted_before_they_come() -> None:
    picked = random.Random(5)
    kinds = [picked.randrange(10**6) for _ in range(3000)]
    kept = Kept(kinds, vertices=1)
    kept.build(list(range(2000)))
    kept.flip(list(range(2000, 3000)), [])
    delta = kept.delta
    kept.rows.enter(delta.inserted, delta.sources, delta.targets)
    kept.check()
    assert kept.moved < 1000 * 200
    kept.flip([], list(range(1000, 2500)))
    delta = kept.delta
    kept.rows.leave(delta.deleted, delta.sources, delta.targets)
    kept.check()
    assert kept.moved < 1500 * 200
