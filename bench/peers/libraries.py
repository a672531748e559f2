"""SciPy's csgraph, igraph and NetworKit from scratch on the same arcs, one thread each.

Each library's own graph is made before the clock runs, and of its functions for the same question
the fastest is asked. `answer` turns what it says into our values, where it says as much.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers import AbsentError
from bench.plain import PlainGraph, Rows

Values = NDArray[Any]
BFS, SHORTEST_PATHS, COMPONENTS = "BFS", "shortest paths", "components"
LIBRARIES = ("SciPy", "igraph", "NetworKit")


@dataclass(frozen=True)
class Question:
    """What to ask a library, and how to read its answer."""

    ask: Callable[[], Any]
    answer: Callable[[Any], Values]


def questions(library: str, graph: PlainGraph, source: int) -> dict[str, Question]:
    """The questions by program; AbsentError if the library is not installed."""
    makers = {"SciPy": _scipy, "igraph": _igraph, "NetworKit": _networkit}
    return makers[library](graph.out, source)


def networkit_page_rank(graph: PlainGraph, damping: float, iterations: int) -> Question:
    """So many rounds of NetworKit's PageRank; its scores are shares of 1."""
    library = _import("networkit")
    made = _networkit_graph(library, graph.out, weighted=False)

    def ask() -> Any:
        ranks = library.centrality.PageRank(made, damping, 1e-300)
        ranks.maxIterations = iterations
        ranks.run()
        return ranks

    def answer(ranks: Any) -> Values:
        if ranks.numberOfIterations() != iterations:
            raise AbsentError(f"skipped: NetworKit ran {ranks.numberOfIterations()} rounds")
        return np.array(ranks.scores())

    return Question(ask, answer)


def clustering_question(library: str, src: Values, dst: Values, vertices: int) -> Question:
    """Each vertex's local clustering coefficient; every pair of neighbours is given once."""
    if library == "igraph":
        return _igraph_clustering(_import("igraph"), src, dst, vertices)
    return _networkit_clustering(_import("networkit"), src, dst, vertices)


def least_members(labels: Values) -> Values:
    """The least vertex of each vertex's group, of any names for the groups."""
    _, first, group = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(first[group])


def _scipy(out: Rows, source: int) -> dict[str, Question]:
    library, sparse = _import("scipy.sparse.csgraph"), _import("scipy.sparse")
    vertices = len(out.start) - 1
    matrix = sparse.csr_matrix(
        (out.weight, out.neighbour, out.start.astype(np.int32)), shape=(vertices, vertices)
    )

    def reached_in_order(found: Any) -> Values:
        order, before = found
        hops = np.full(vertices, np.inf)
        hops[source] = 0.0
        for vertex in order[1:].tolist():
            hops[vertex] = hops[before[vertex]] + 1
        return hops

    return {
        BFS: Question(lambda: library.breadth_first_order(matrix, source), reached_in_order),
        SHORTEST_PATHS: Question(lambda: library.dijkstra(matrix, indices=source), np.asarray),
        COMPONENTS: Question(
            lambda: library.connected_components(matrix, connection="weak"),
            lambda found: least_members(found[1]),
        ),
    }


def _igraph(out: Rows, source: int) -> dict[str, Question]:
    library = _import("igraph")
    vertices = len(out.start) - 1
    graph = library.Graph(n=vertices, edges=np.stack(_ends(out), axis=1), directed=True)
    graph.es["weight"] = out.weight.tolist()

    def by_layers(found: Any) -> Values:
        order, starts, _ = found
        hops = np.full(vertices, np.inf)
        for layer, (start, end) in enumerate(itertools.pairwise(starts)):
            hops[order[start:end]] = layer
        return hops

    return {
        BFS: Question(lambda: graph.bfs(source), by_layers),
        SHORTEST_PATHS: Question(
            lambda: graph.distances(source=[source], weights="weight"),
            lambda found: np.array(found[0]),
        ),
        COMPONENTS: Question(
            lambda: graph.connected_components(mode="weak"),
            lambda found: least_members(np.array(found.membership)),
        ),
    }


def _networkit(out: Rows, source: int) -> dict[str, Question]:
    library = _import("networkit")
    plain, weighted = (_networkit_graph(library, out, weighted=some) for some in (False, True))

    def run(algorithm: Any) -> Any:
        algorithm.run()
        return algorithm

    def distances(found: Any) -> Values:
        values = np.array(found.getDistances())
        return np.where(values >= np.finfo(np.float64).max, np.inf, values)

    def groups(found: Any) -> Values:
        labels = np.empty(len(out.start) - 1, np.int64)
        for label, members in enumerate(found.getComponents()):
            labels[members] = label
        return least_members(labels)

    return {
        BFS: Question(
            lambda: run(library.distance.BFS(plain, source, storePaths=False)), distances
        ),
        SHORTEST_PATHS: Question(
            lambda: run(library.distance.Dijkstra(weighted, source, storePaths=False)), distances
        ),
        COMPONENTS: Question(
            lambda: run(library.components.WeaklyConnectedComponents(plain)), groups
        ),
    }


def _igraph_clustering(library: Any, src: Values, dst: Values, vertices: int) -> Question:
    graph = library.Graph(n=vertices, edges=np.stack([src, dst], axis=1), directed=False)
    return Question(lambda: graph.transitivity_local_undirected(mode="zero"), np.array)


def _networkit_clustering(library: Any, src: Values, dst: Values, vertices: int) -> Question:
    """By its faster way (`turbo`), and as its users get it: the scores come as a list."""
    library.setNumberOfThreads(1)
    ends = src.astype(np.uint64), dst.astype(np.uint64)
    graph = library.GraphFromCoo(ends, n=vertices, weighted=False, directed=False)

    def ask() -> Any:
        found = library.centrality.LocalClusteringCoefficient(graph, True)
        found.run()
        return found.scores()

    return Question(ask, np.array)


def _networkit_graph(library: Any, out: Rows, *, weighted: bool) -> Any:
    library.setNumberOfThreads(1)
    src, dst = (end.astype(np.uint64) for end in _ends(out))
    arcs = (out.weight, (src, dst)) if weighted else (src, dst)
    return library.GraphFromCoo(arcs, n=len(out.start) - 1, weighted=weighted, directed=True)


def _ends(out: Rows) -> tuple[Values, Values]:
    sources = np.arange(len(out.start) - 1, dtype=np.int32)
    return np.repeat(sources, np.diff(out.start)), out.neighbour


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as reason:
        package = name.partition(".")[0]
        raise AbsentError(
            f"skipped: {package} is not installed (pip install graphtide[bench])"
        ) from reason
