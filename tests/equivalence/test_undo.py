"""Rolling back within bounds: what is left to go back to is as it was, and what is forgotten is
refused, for everything that can follow a graph.

The oracle is a list of what users saw at each version. Bounds are tiny, so that advances are
forgotten all the time, and pools of histories are swept as often as they can be.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import graphtide as gt
from graphtide.algorithms import (
    BFS,
    WCC,
    ConvergedPageRank,
    LabelPropagation,
    PageRank,
    PairHops,
    ShortestPaths,
    Triangles,
)
from graphtide.engine.synchronous import maintainer, runs
from graphtide.model.errors import InputError
from tests.examples import repeats
from tests.failures.days import reached_bytes

RULES = """
.decl edge(u: vertex, v: vertex)
.decl reach(u: vertex, v: vertex)
reach(u, v) :- edge(u, v).
reach(u, w) :- reach(u, v), edge(v, w).
.output reach
"""


@gt.program
class Popularity:
    """Reads how many vertices there are, and so begins anew wherever one comes."""

    V: int
    iterations: int = 1
    share: float
    fans = gt.Count()

    def traverse(self, u, e, v):
        v.fans()

    def update(self, v):
        v.share = v.fans / self.V


@gt.program
class FarLabels:
    """Walks that read state: every round is kept."""

    label: int
    found = gt.Min(int)

    def initialize(self, v):
        v.label = v.id

    def traverse(self, u):
        for v in u.out_neighbours:
            for w in v.out_neighbours:
                w.found(u.label)

    def update(self, v):
        v.label = min(v.label, v.found)


Table = Callable[[], Any]
"""What a user sees of something that follows a graph."""


def maintained(program: Any, **knobs: Any) -> Callable[[gt.Graph], Table]:
    def begun(graph: gt.Graph) -> Table:
        live = graph.maintain(program, **knobs)
        return live.table if live.fields else live.matches

    return begun


def asked(graph: gt.Graph) -> Table:
    near = graph.query("near", gt.queries.Hops(0, 3))
    path = graph.query("path", gt.queries.Path(0, 5, weight="weight"))
    return lambda: (near.table(), path.value)


PROGRAMS: dict[str, Callable[[gt.Graph], Table]] = {
    "fixpoint": maintained(WCC),
    "fixpoint of floats": maintained(ShortestPaths(source=0)),
    "exact": maintained(BFS(source=0), mode="exact"),
    "added up": maintained(PageRank(iterations=4)),
    "added up, in part": maintained(PageRank(iterations=5), keep=2),
    "added up, both ways": maintained(LabelPropagation(first=[0], second=[1], iterations=3)),
    "settling": maintained(ConvergedPageRank),
    "walks": maintained(Triangles),
    "rounds of walks": maintained(FarLabels),
    "of size": maintained(Popularity),
    "pairs": maintained(PairHops(pairs=[(0, 1), (2, 3)])),
    "rules": maintained(gt.datalog(RULES)),
    "queries": asked,
    "histories": asked,
}
BOUNDS = [gt.Undo(3, None), gt.Undo(None, 6_000), gt.Undo(0), gt.Undo(None, None)]


class Played:
    """A graph that goes forward and back, and what users have seen of each of its versions."""

    def __init__(self, name: str, undo: gt.Undo, seed: int) -> None:
        self.pick = random.Random(seed)
        edges = [(self.pick.randrange(8), self.pick.randrange(8)) for _ in range(16)]
        self.graph = gt.Graph(
            *zip(*edges, strict=True),
            vertices=8,
            weight=[0.5] * 16,
            undo=undo,
            queries=gt.queries.Histories() if name == "histories" else None,
        )
        self.undo = undo
        self.table = PROGRAMS[name](self.graph)
        self.seen = [self.see()]
        self.refused = 0

    def see(self) -> Any:
        return self.graph.edges(), self.table()

    def advance(self) -> None:
        graph, pick = self.graph, self.pick
        ends = graph.num_vertices + (pick.random() < 0.2)
        come = [(pick.randrange(ends), pick.randrange(ends), 0.5) for _ in range(pick.randrange(3))]
        numbers = graph.edges()["edge"].to_pylist()
        gone = pick.sample(numbers, min(len(numbers), pick.randrange(3)))
        graph.advance(insert=come or None, delete=gone or None)
        self.seen.append(self.see())
        kept = len(graph._versions._done)
        assert self.undo.advances is None or kept <= self.undo.advances
        assert not isinstance(self.undo.bytes, int) or graph._versions.undo_bytes <= self.undo.bytes
        del self.seen[: -kept - 1]

    def rollback(self) -> None:
        if len(self.seen) > 1:
            self.graph.rollback()
            self.seen.pop()
            assert self.see() == self.seen[-1]
            return
        before = self.graph.version
        with pytest.raises(InputError, match=r"there is no advance (left )?to roll back"):
            self.graph.rollback()
        assert self.graph.version == before
        assert self.see() == self.seen[-1]
        self.refused += 1


@pytest.mark.interpreted
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_kept_can_be_rolled_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_SPARE_ROWS", 0)
    for seed in range(repeats(2)):
        played = Played(name, BOUNDS[seed % len(BOUNDS)], seed)
        for _ in range(7):
            for _ in range(played.pick.randrange(1, 6)):
                played.advance()
            for _ in range(played.pick.randrange(4)):
                played.rollback()
        while not played.refused:
            played.rollback()


@pytest.mark.interpreted
def test_whole_old_versions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every advance runs anew, and keeps the version before it as a whole, until that is too
    much. What is counted is what can be reached, but for room that was never written to.
    """
    monkeypatch.setattr(maintainer, "_LEAST_BUDGET", 0)
    pick = random.Random(3)
    ends = [[pick.randrange(40) for _ in range(150)] for _ in range(2)]
    graph = gt.Graph(*ends, vertices=40, undo="200 KB")
    live = graph.maintain(PageRank(iterations=3))
    kept: Any = live._kept.maintainer
    for _ in range(200):
        live.advance(insert=[(pick.randrange(40), pick.randrange(40))])
        assert graph._versions.undo_bytes <= 200_000
    assert len(graph._versions._done) == len(kept._done) > 2
    shared = {id(part) for part in (graph._resident, kept, kept._runs, kept._version)}
    seen = set(shared)
    reached = sum(reached_bytes(at, seen, shared) for at in (graph._versions._done, kept._done))
    pools = [done.before.stored.histories for done in kept._done.entries()]
    row = pools[0].whole.nbytes // len(pools[0].iteration) + 4
    unwritten = sum(row * (len(pool.iteration) - int(pool.used[0])) for pool in pools)
    assert 0.8 * (reached - unwritten) <= graph._versions.undo_bytes <= reached - unwritten
