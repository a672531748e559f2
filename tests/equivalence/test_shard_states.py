"""Runs on shards that go on from the end of one on an earlier state: what the naive run gives.

Edges are appended, deleted and changed, and vertices come; every state is put into shards anew, and
every run may have another number of tasks.
"""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from graphtide.engine.graph_data import NoData
from graphtide.engine.shards.following import Before, Following
from graphtide.engine.shards.local_graph import MirrorExchange
from graphtide.engine.shards.supersteps import Supersteps, ways_needed
from graphtide.run.shards.mesh import Sockets
from tests.equivalence.sharded import Sharded, pairs_of_sockets
from tests.equivalence.test_shard_views import PLANS
from tests.equivalence.test_synchronous import parameters_for
from tests.examples import repeats
from tests.oracle.programs import run

pytestmark = pytest.mark.interpreted

ROUNDS = repeats(1)
SEED = os.environ.get("GRAPHTIDE_CAMPAIGN_SEED", "0")
Edge = tuple[int, int, float]


class State:
    """A graph that changes, and the ends of edges that came and went with the last change."""

    def __init__(self, pick: random.Random) -> None:
        self.pick, self.vertices = pick, pick.randrange(2, 12)
        self.edges: list[Edge] = []
        self.gone: list[Edge] = []
        self.come = self._made(pick.randrange(30))
        self.edges += self.come

    def advance(self) -> None:
        """Delete up to most edges, change some, and append others, some with new vertices."""
        pick, share = self.pick, self.pick.choice([0.0, 0.1, 0.4, 0.9])
        self.gone = [edge for edge in self.edges if pick.random() < share]
        stay = list(self.edges)
        for edge in self.gone:
            stay.remove(edge)
        self.vertices += pick.choice([0, 0, 1, 5])
        self.come = self._made(pick.choice([0, 1, 3, 12]))
        # An edge that changes goes, and comes with another weight.
        for edge in [edge for edge in stay if pick.random() < 0.1]:
            stay.remove(edge)
            self.gone.append(edge)
            self.come.append((edge[0], edge[1], self._weight()))
        self.edges = stay + self.come

    def _made(self, count: int) -> list[Edge]:
        ends = [
            (self.pick.randrange(self.vertices), self.pick.randrange(self.vertices))
            for _ in range(count)
        ]
        return [(src, dst, self._weight()) for src, dst in ends]

    def _weight(self) -> float:
        return float(self.pick.choice([0, 0, 1, 2, 5]))


def own_ends(edges: list[Edge], ways: Any, graph: Any) -> np.ndarray:
    """The own vertices of a task that gather along some edges."""
    ends = [edge[1] for edge in edges if "into" in ways] + [
        edge[0] for edge in edges if "out" in ways
    ]
    return np.flatnonzero(np.isin(graph.own, ends)).astype(np.int32)


def follow(
    program: Any, given: tuple[Any, ...], state: State, sizes: tuple[int, int], last: Any
) -> tuple[np.ndarray, dict[str, list[Any]], list[Any]]:
    """One run: states by vertex number, results, and what each task told."""
    src, dst, weight = zip(*state.edges, strict=True) if state.edges else ((), (), ())
    parts = Sharded(state.vertices, sizes[0], src, dst, None, {"weight": np.array(weight, float)})
    connections, ways = pairs_of_sockets(sizes[1]), ways_needed(program)[0]

    def go(task: int) -> tuple[Any, ...]:
        graph, mesh = parts.local(program, sizes[1], task), Sockets(task, connections[task])
        try:
            steps = Supersteps(program, given, graph, MirrorExchange(graph, mesh), NoData())
            following = Following(steps, graph, follows=True, always=True)
            before = None
            if last is not None:
                known = graph.own < len(last)
                lost, gained = (own_ends(edges, ways, graph) for edges in (state.gone, state.come))
                before = Before(last[graph.own[known]], known, lost, gained, bool(state.gone))
            ran = following.run(np.ones(1, np.bool_), before=before)
            return graph.own, following.ended(), steps.values(ran.rows), ran
        finally:
            mesh.close()

    with ThreadPoolExecutor(sizes[1]) as pool:
        found = list(pool.map(go, range(sizes[1])))
    own = np.concatenate([item[0] for item in found])
    rows, values = np.concatenate([item[1] for item in found]), {}
    for name in found[0][2]:
        column = np.concatenate([item[2][name] for item in found])
        values[name] = column[np.argsort(own)].tolist()
    return rows[np.argsort(own)], values, [item[3] for item in found]


@pytest.mark.interpreted
@pytest.mark.parametrize("shards", [1, 2, 3, 7])
@pytest.mark.parametrize("program", PLANS, ids=lambda item: item.name)
def test_a_later_state_follows(program: Any, shards: int) -> None:
    for turn in range(ROUNDS):
        pick = random.Random(f"{SEED} {turn} states {program.name} {shards}")
        state, last = State(pick), None
        named = parameters_for(program, pick, state.vertices)
        for at in range(6):
            tasks = pick.randrange(1, 4)
            last, values, ran = follow(program, tuple(named.values()), state, (shards, tasks), last)
            edges = [(src, dst, {"weight": weight}) for src, dst, weight in state.edges]
            expected, _ = run(program, named, state.vertices, edges)
            assert values == expected, (turn, at, tasks)
            assert [item.followed for item in ran] == [at > 0] * tasks
            state.advance()
