"""SciPy, igraph, NetworKit and Raphtory over all windows, as their users would write it.

What cannot be compared answers nothing: igraph and Raphtory hand on what sinks hold, others not.
"""

from __future__ import annotations

import importlib
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers import AbsentError

Answer = NDArray[np.float64]
DAMPING = 0.85
NOT_COMPARABLE = np.empty(0)
LIMIT = 20.0


def scipy_components(windows: Any) -> Answer:
    """connected_components of a matrix a view."""
    library, sparse = _import("scipy.sparse.csgraph"), _import("scipy.sparse")
    return np.array(
        [
            library.connected_components(_matrix(sparse, windows, src, dst), connection="weak")[0]
            for src, dst in _edges(windows)
        ],
        np.float64,
    )


def scipy_ranks(windows: Any, rounds: int) -> Answer:
    """Products of a matrix a view with vectors."""
    sparse, found = _import("scipy.sparse"), []
    vertices = windows.graph.vertices
    for src, dst in _edges(windows):
        matrix = _matrix(sparse, windows, dst, src)
        degree = np.maximum(np.bincount(src, minlength=vertices), 1)
        rank = np.ones(vertices)
        for _ in range(rounds):
            rank = (1.0 - DAMPING) + DAMPING * (matrix @ (rank / degree))
        found.append(float((rank * rank).sum()))
    return np.array(found)


def igraph_components(windows: Any) -> Answer:
    """connected_components of a graph a view."""
    library = _import("igraph")
    return np.array(
        [
            len(_igraph(library, windows, src, dst).connected_components(mode="weak"))
            for src, dst in _edges(windows)
        ],
        np.float64,
    )


def igraph_ranks(windows: Any) -> Answer:
    """pagerank of a graph a view, until it has converged."""
    library = _import("igraph")
    for src, dst in _edges(windows):
        _igraph(library, windows, src, dst).pagerank(damping=DAMPING)
    return NOT_COMPARABLE


def networkit_components(windows: Any) -> Answer:
    """ConnectedComponents of a graph a view."""
    library, found = _import("networkit"), []
    for src, dst in _edges(windows):
        made = _networkit(library, windows, src, dst)
        # It does not hold on to the graph: without a name of its own the graph would be gone.
        algorithm = library.components.ConnectedComponents(made)
        algorithm.run()
        found.append(algorithm.numberOfComponents())
    return np.array(found, np.float64)


def networkit_dynamic(windows: Any) -> Answer:
    """DynConnectedComponents: one graph, edges in and out from view to view.

    Its graphs have no parallel edges here: an edge is there while any of its copies is. After
    LIMIT seconds it is broken off; its time is then a bound, and nothing is compared.
    """
    library, graph = _import("networkit"), windows.graph
    library.setNumberOfThreads(1)
    made = library.Graph(graph.vertices)
    kind = library.dynamics.GraphEvent
    algorithm = library.components.DynConnectedComponents(made)
    algorithm.run()
    copies: dict[tuple[int, int], int] = {}
    pairs = list(zip(graph.src.tolist(), graph.dst.tolist(), strict=True))
    found, first, last, began = [], 0, 0, time.process_time()
    for start, stop in zip(windows.starts.tolist(), windows.stops.tolist(), strict=True):
        for one, other in pairs[last:stop]:
            pair = (min(one, other), max(one, other))
            copies[pair] = copies.get(pair, 0) + 1
            if copies[pair] == 1:
                made.addEdge(*pair)
                algorithm.update(kind(kind.EDGE_ADDITION, *pair, 1.0))
        for one, other in pairs[first:start]:
            pair = (min(one, other), max(one, other))
            copies[pair] -= 1
            if copies[pair] == 0:
                made.removeEdge(*pair)
                algorithm.update(kind(kind.EDGE_REMOVAL, *pair, 1.0))
        first, last = start, stop
        if time.process_time() - began > LIMIT:
            return NOT_COMPARABLE
        found.append(algorithm.numberOfComponents())
    return np.array(found, np.float64)


def networkit_ranks(windows: Any, rounds: int) -> Answer:
    """PageRank of a graph a view, so many rounds."""
    library = _import("networkit")
    for src, dst in _edges(windows):
        made = _networkit(library, windows, src, dst, directed=True)
        ranks = library.centrality.PageRank(made, DAMPING, 1e-300)
        ranks.maxIterations = rounds
        ranks.run()
        ranks.scores()
    return NOT_COMPARABLE


def raphtory_components(windows: Any) -> Answer:
    """weakly_connected_components of windows of one graph. Vertices without edges are not there."""
    graph, library = _raphtory(windows)
    found = []
    for start, stop in zip(windows.starts.tolist(), windows.stops.tolist(), strict=True):
        view = graph.window(start, stop)
        labels = library.algorithms.weakly_connected_components(view)
        groups = {_label(value) for _, value in labels.items()}
        found.append(len(groups) + windows.graph.vertices - view.count_nodes())
    return np.array(found, np.float64)


def raphtory_ranks(windows: Any, rounds: int) -> Answer:
    """pagerank of windows of one graph, so many rounds; parallel edges count once."""
    graph, library = _raphtory(windows)
    for start, stop in zip(windows.starts.tolist(), windows.stops.tolist(), strict=True):
        library.algorithms.pagerank(graph.window(start, stop), iter_count=rounds)
    return NOT_COMPARABLE


_LOADED: dict[int, Any] = {}


def _raphtory(windows: Any) -> tuple[Any, Any]:
    """One graph for all; loading it is part of the time of the first question."""
    library = _import("raphtory")
    key = id(windows.graph)
    if key not in _LOADED:
        made = library.Graph()
        ends = zip(windows.graph.src.tolist(), windows.graph.dst.tolist(), strict=True)
        for at, (one, other) in enumerate(ends):
            made.add_edge(at, one, other)
        _LOADED[key] = made
    return _LOADED[key], library


def _label(value: Any) -> Any:
    """A label that can be told apart."""
    return value if isinstance(value, int) else str(value)


def _edges(windows: Any) -> Any:
    graph = windows.graph
    for start, stop in zip(windows.starts, windows.stops, strict=True):
        yield graph.src[start:stop], graph.dst[start:stop]


def _matrix(sparse: Any, windows: Any, src: Any, dst: Any) -> Any:
    vertices = windows.graph.vertices
    return sparse.csr_matrix((np.ones(len(src)), (src, dst)), shape=(vertices, vertices))


def _igraph(library: Any, windows: Any, src: Any, dst: Any) -> Any:
    edges = np.stack([src, dst], axis=1)
    return library.Graph(n=windows.graph.vertices, edges=edges, directed=True)


def _networkit(library: Any, windows: Any, src: Any, dst: Any, *, directed: bool = False) -> Any:
    library.setNumberOfThreads(1)
    ends = src.astype(np.uint64), dst.astype(np.uint64)
    return library.GraphFromCoo(ends, n=windows.graph.vertices, directed=directed)


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as reason:
        package = name.partition(".")[0]
        raise AbsentError(
            f"skipped: {package} is not installed (pip install graphtide[bench])"
        ) from reason
