"""Maintainers hand their arrays over once: whatever is replaced must be handed over again."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from graphtide.algorithms import BFS, WCC, ShortestPaths, WidestPath
from graphtide.engine.exact.maintainer import ExactMaintainer
from graphtide.engine.fixpoint.maintainer import FixpointMaintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.model.errors import InputError
from graphtide.plan.programs import VertexProgram
from tests.compiled import few_compiled
from tests.oracle.programs import run
from tests.resident_graphs import append

NOTHING = np.empty(0, np.int32)
Edge = tuple[int, int, float]
PROGRAMS = (BFS, ShortestPaths, WCC, WidestPath)
MAINTAINERS = {"fixpoint": FixpointMaintainer, "exact": ExactMaintainer}


def numbers(edges: list[int]) -> np.ndarray:
    return np.array(edges, np.int32)


def small_graph(edges: list[Edge], vertices: int) -> ResidentGraph:
    src, dst = numbers([one for one, _, _ in edges]), numbers([other for _, other, _ in edges])
    return ResidentGraph(vertices, src, dst, {"weight": np.array([w for *_, w in edges])})


def random_edge(pick: random.Random, vertices: int) -> Edge:
    return pick.randrange(vertices), pick.randrange(vertices), float(pick.randrange(1, 9))


class Watched:
    """A maintainer, and the edges it should know of."""

    def __init__(self, mode: str, program: VertexProgram, pick: random.Random) -> None:
        self.pick, self.vertices, self.program = pick, 6, program
        self.edges = sorted((random_edge(pick, 6) for _ in range(10)), key=lambda edge: edge[0])
        self.live = [True] * len(self.edges)
        self.graph = small_graph(self.edges, 6)
        self.parameters = (2,) if program.parameters else ()
        self.maintainer: Any = MAINTAINERS[mode](self.graph, program, self.parameters)
        self.maintainer.start()

    def grow(self) -> None:
        """Edges and vertices that come later."""
        more = self.pick.choice([0, 0, 1, 5])
        self.graph.append_vertices(more)
        self.vertices += more
        added = [random_edge(self.pick, self.vertices) for _ in range(self.pick.randrange(5))]
        there = append(self.graph, added)
        self.graph.flip(NOTHING, there)
        fresh = [row for row, at in zip(added, there, strict=True) if at >= len(self.edges)]
        self.edges += fresh
        self.live += [False] * len(fresh)

    def advance(self) -> None:
        chosen = [at for at in range(len(self.edges)) if self.pick.random() < 0.3]
        self.maintainer.advance(
            numbers([at for at in chosen if not self.live[at]]),
            numbers([at for at in chosen if self.live[at]]),
        )
        for at in chosen:
            self.live[at] = not self.live[at]

    def check(self) -> None:
        live = [edge for edge, there in zip(self.edges, self.live, strict=True) if there]
        names = [item.name for item in self.program.parameters]
        parameters = dict(zip(names, self.parameters, strict=True))
        edges = [(one, other, {"weight": weight}) for one, other, weight in live]
        state = run(self.program, parameters, self.vertices, edges)[0]
        found = self.maintainer.values().tolist()
        assert found == list(state[self.program.state[0].name])


@pytest.mark.parametrize("mode", MAINTAINERS)
@pytest.mark.parametrize("program", few_compiled(PROGRAMS, ("BFS",)))
def test_growth_is_followed_whatever_was_asked_before(mode: str, program: Any) -> None:
    for seed in range(8):
        pick = random.Random(f"handed over {seed}")
        watched = Watched(mode, program.plan, pick)
        for _ in range(8):
            watched.grow()
            if pick.random() < 0.5:
                watched.maintainer.scratch()
            watched.advance()
            watched.check()
            if pick.random() < 0.3:
                watched.maintainer.start()
            watched.advance()
            watched.check()


@pytest.mark.parametrize("mode", MAINTAINERS)
def test_a_misfit_leaves_graph_and_values_as_they_were(mode: str) -> None:
    watched = Watched(mode, BFS.plan, random.Random(1))
    maintainer, graph = watched.maintainer, watched.graph
    maintainer.advance(NOTHING, numbers([4]))
    before = maintainer.values().tolist(), sorted(graph.live_edges().tolist()), graph.live
    graph.append_vertices(2)
    for inserted, deleted in (([3], []), ([], [4]), ([4, 4], [2]), ([], [2, 2])):
        with pytest.raises(InputError, match="cannot be"):
            maintainer.advance(numbers(inserted), numbers(deleted))
        after = maintainer.values().tolist(), sorted(graph.live_edges().tolist()), graph.live
        assert after == before
    maintainer.rollback()
    assert len(maintainer.values()) == 6
    graph.forget(6, graph.edges)
    maintainer.verify()


@pytest.mark.parametrize("mode", MAINTAINERS)
def test_what_changed_is_not_what_undoes_it(mode: str) -> None:
    """Who writes into the arrays of a change harms nothing but them."""
    path = np.arange(5, dtype=np.int32)
    graph = ResidentGraph(6, path, path + 1)
    maintainer: Any = MAINTAINERS[mode](graph, BFS.plan, (0,))
    maintainer.start()
    (change,) = maintainer.advance(NOTHING, numbers([2])).values()
    assert sorted(change.vertices.tolist()) == [3, 4, 5]
    change.vertices[:], change.old[:], change.new[:] = 0, 7.0, 7.0
    maintainer.rollback()
    assert maintainer.values().tolist() == [0, 1, 2, 3, 4, 5]
    assert graph.live == 5


def test_a_log_that_is_full_means_a_run_from_scratch() -> None:
    """A change of more vertices than are logged is found by running anew, and undone like any."""
    path = np.arange(9000, dtype=np.int32)
    graph = ResidentGraph(9001, path, path + 1)
    maintainer = FixpointMaintainer(graph, BFS.plan, (0,))
    maintainer.patience = 1000.0
    maintainer.start()
    (change,) = maintainer.advance(NOTHING, numbers([10])).values()
    assert len(change) == 8990
    assert maintainer.touched > 1000 * 8999
    maintainer.verify()
    (back,) = maintainer.advance(numbers([10]), NOTHING).values()
    assert sorted(back.vertices.tolist()) == list(range(11, 9001))
    maintainer.verify()
    maintainer.rollback()
    maintainer.rollback()
    assert maintainer.values().tolist() == list(range(9001))
