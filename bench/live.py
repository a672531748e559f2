"""Queries kept current: `python -m bench live`.

A thousand queries of one kind on one graph, batches of one edge: one that leaves, and then one that
comes back. Times are medians in seconds of the processor; from scratch is what it takes to ask all
queries on the graph as it is. Answers of a sample are compared with the definition at the end.
"""

from __future__ import annotations

import statistics
import sys
import time
from functools import partial

import numpy as np

import graphtide as gt
from bench import data
from bench.figures import Figure
from bench.live_inputs import (
    Labelled,
    Make,
    epinions,
    kinds,
    labelled_at_random,
    rmat_graph,
    social_network,
)
from bench.timing import seconds_of, without_collector

QUERIES, BATCHES, SCALE, SAMPLE = 1_000, 200, 16, 3
MOST_MILLISECONDS, LEAST_TIMES = 0.05, 100


def run(*, quick: bool) -> list[Figure]:
    """All figures of this benchmark; quickly on a small graph of the same shape."""
    if quick:
        small = np.random.default_rng(1).integers(40, size=(2, 120))
        return graph_figures(labelled_at_random("random", *small), 10, 5)
    graphs = {"soc-Epinions1": epinions(), "RMAT": rmat_graph(SCALE), "SNB": social_network()}
    figures: list[Figure] = []
    for name, given in graphs.items():
        if given is None:
            note = data.missing(name)
            figures.append(Figure(f"{name}, all", None, "at most", 1, "ms", note, name))
        else:
            figures += graph_figures(given, QUERIES, BATCHES)
    return figures


def graph_figures(given: Labelled, queries: int, batches: int) -> list[Figure]:
    """Each kind of query on one graph."""
    figures: list[Figure] = []
    for name, make in kinds(given).items():
        print(f"{time.strftime('%H:%M:%S')} {given.name}: {name}", file=sys.stderr, flush=True)
        figures += kind_figures(given, name, make, queries, batches)
    return figures


def kind_figures(
    given: Labelled, name: str, make: Make, queries: int, batches: int
) -> list[Figure]:
    """One kind of query: a batch, from scratch, and what it takes."""
    graph = given.graph()
    edges = np.random.default_rng(6).choice(len(given.src), batches, replace=False).tolist()
    alone, _ = _batches(graph, edges)
    pairs = given.starts(queries).tolist()
    graph.query("0", make(*pairs[0]))  # Compiles.
    with without_collector():
        asking = seconds_of(lambda: _ask(graph, make, pairs))
    scratch = asking * queries / max(queries - 1, 1)
    _batches(graph, edges[:5])
    batch, mean = _batches(graph, edges)
    for query in list(graph.queries.values())[:SAMPLE]:
        query.verify()
    kept = graph._queries()
    title, section = f"{name}, {queries:,} queries", given.name
    note = f"beside the graph's own {1e3 * alone:.3f} ms; mean {1e3 * mean:.3f}"
    batched = 1e3 * max(batch - alone, 0.0)
    times = scratch / batch
    return [
        Figure(f"{title}: a batch", batched, "at most", MOST_MILLISECONDS, "ms", note, section),
        Figure(f"{title}: from scratch", times, "at least", LEAST_TIMES, "batches", "", section),
        Figure(f"{title}: memory", kept.nbytes / 1e6, "at most", None, "MB", "", section),
    ]


def _ask(graph: gt.Graph, make: Make, pairs: list[list[int]]) -> None:
    for at, (start, target) in enumerate(pairs[1:], 1):
        graph.query(str(at), make(start, target))


def _batches(graph: gt.Graph, edges: list[int]) -> tuple[float, float]:
    """Median and mean seconds of a batch that takes an edge out, or brings it back."""
    times = []
    with without_collector():
        for edge in edges:
            times.append(seconds_of(partial(graph.advance, delete=[edge])))
            times.append(seconds_of(partial(graph.advance, insert=[edge])))
    return statistics.median(times), statistics.fmean(times)
