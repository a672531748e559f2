"""The programs that are run over collections, and the plain loops that check them.

Undirected graphs hold every pair once: programs for them go both ways along an edge, written here
as a user would write them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphtide as gt
from bench import plain
from bench.runs_graphs import EdgeTable, Int64
from graphtide.algorithms import BFS, WCC, PageRank, PairDistances, ShortestPaths

COMPONENTS, HOPS, PATHS = "components", "BFS", "shortest paths"
RANKS, PAIRS = "PageRank", "five pairs of shortest paths"
DAMPING, ROUNDS = 0.85, 10
Check = Callable[[plain.PlainGraph], NDArray[Any]]


@gt.program
class HopsBothWays:
    """The number of edges on a shortest way, edges taken both ways."""

    source: gt.Vertex
    hops: float = gt.inf
    best = gt.Min(float)
    direction = "both"

    def initialize(self, v):  # type: ignore[no-untyped-def]
        """Only the source is reached."""
        v.hops = 0.0 if v == self.source else gt.inf

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        """One more edge."""
        v.best(u.hops + 1.0)

    def update(self, v):  # type: ignore[no-untyped-def]
        """Keep the least."""
        v.hops = min(v.hops, v.best)


@gt.program
class PathsBothWays:
    """The least sum of `weight` on a way, edges taken both ways."""

    source: gt.Vertex
    dist: float = gt.inf
    best = gt.Min(float)
    direction = "both"

    def initialize(self, v):  # type: ignore[no-untyped-def]
        """Only the source is reached."""
        v.dist = 0.0 if v == self.source else gt.inf

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        """One more edge."""
        v.best(u.dist + e.weight)

    def update(self, v):  # type: ignore[no-untyped-def]
        """Keep the least."""
        v.dist = min(v.dist, v.best)


@gt.program
class PairsBothWays:
    """The least sum of `weight` on a way between each pair, edges taken both ways."""

    pairs: gt.Pairs
    distance: float = gt.inf
    best = gt.Min(float)
    direction = "both"

    def initialize(self, v):  # type: ignore[no-untyped-def]
        """Only the source is reached."""
        v.distance = 0.0 if v == self.pairs.source else gt.inf

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        """One more edge."""
        v.best(u.distance + e.weight)

    def update(self, v):  # type: ignore[no-untyped-def]
        """Keep the least."""
        v.distance = min(v.distance, v.best)


@gt.program
class RanksBothWays:
    """PageRank, edges taken both ways."""

    damping: float = 0.85
    iterations: int = 10
    rank: float = 1.0
    total = gt.Sum(float)
    direction = "both"

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        """A share of u's rank."""
        v.total(u.rank / u.degree)

    def update(self, v):  # type: ignore[no-untyped-def]
        """What is left, and what came in."""
        v.rank = (1.0 - self.damping) + self.damping * v.total


@dataclass(frozen=True)
class Task:
    """A program of a graph by its title, and the plain loop that checks it.

    `field` is the result that is checked, where the program has several.
    """

    title: str
    program: Any
    check: Check
    field: str | None = None


def tasks(graph: EdgeTable) -> dict[str, Task]:
    """Every program by its title."""
    kinds: tuple[Any, ...] = (
        (BFS, ShortestPaths, PageRank, PairDistances)
        if graph.directed
        else (HopsBothWays, PathsBothWays, RanksBothWays, PairsBothWays)
    )
    hops, paths, ranks, distances = kinds
    components: Any = WCC
    first, pairs = graph.sources[0], graph.pairs
    found = [
        Task(COMPONENTS, components(), plain.flood),
        Task(HOPS, hops(source=first), _hops_from(first)),
        Task(PATHS, paths(source=first), _paths_from(first)),
        Task(RANKS, ranks(), lambda arcs: plain.page_rank(arcs, DAMPING, ROUNDS)),
        Task(PAIRS, distances(pairs=pairs), _paths_between(pairs)),
    ]
    return {task.title: task for task in found}


def plain_version(graph: EdgeTable, edges: Int64) -> plain.PlainGraph:
    """The arcs of some edges, both ways where the graph is not directed."""
    src, dst, weight = graph.src[edges], graph.dst[edges], graph.weight[edges]
    if not graph.directed:
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
        weight = np.concatenate([weight, weight])
    return plain.plain_graph(graph.vertices, src, dst, weight.astype(np.int32))


def _hops_from(source: int) -> Check:
    def check(arcs: plain.PlainGraph) -> NDArray[Any]:
        found = plain.breadth_first(arcs.out, source)
        return np.where(found < 0, np.inf, found)

    return check


def _paths_from(source: int) -> Check:
    return lambda arcs: plain.dijkstra(arcs.out, source)


def _paths_between(pairs: list[tuple[int, int]]) -> Check:
    def check(arcs: plain.PlainGraph) -> NDArray[Any]:
        return np.array([plain.dijkstra(arcs.out, source)[target] for source, target in pairs])

    return check
