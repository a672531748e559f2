"""Queries kept current: `python -m bench live`, or one part of it with `--part`.

`many`: a thousand queries of one kind on one graph, batches of one edge: one that leaves, and then
one that comes back. Times are medians in seconds of the processor: of the batches that concern no
query, for which none looks at any edge, and of all. From scratch is what it takes to ask all
queries on the graph as it is. Answers of a sample are compared with the definition.

`pairs` and `fit` are about the histories of paper 001: `live_pairs.py` and `live_fit.py`; `budget`
and `landmarks` about what queries keep within a budget: `live_budget.py` and `live_landmarks.py`.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial

import numpy as np

import graphtide as gt
from bench import data, live_fit, live_landmarks, live_pairs
from bench.figures import Figure, say
from bench.live_budget import budget_figures, whole_figures
from bench.live_fit import fit_figures
from bench.live_inputs import (
    Labelled,
    Make,
    epinions,
    kinds,
    labelled_at_random,
    rmat_graph,
    social_network,
)
from bench.live_landmarks import landmark_figures
from bench.live_pairs import pair_figures
from bench.live_settings import Stream
from bench.timing import seconds_of, without_collector
from graphtide.engine.queries.engine import QueryEngine

QUERIES, BATCHES, SCALE, SAMPLE = 1_000, 200, 18, 3
FEW_EDGES = 1_000_000
"""Beyond, one query is compared with the definition, which is a minute of plain Python."""
PARTS = "pairs", "many", "fit", "budget", "landmarks"
MOST_ADDED, LEAST_TIMES = 0.05, 100
"""Milliseconds that queries may add to a batch that concerns none of them; batches that it takes at
least to ask all of them anew."""
_NONE = "a batch that concerns none"
BUDGET = 1 << 30
WHOLE, WHOLE_SCALE, WHOLE_BATCHES = 200, 14, 1_000


def run(*, quick: bool, part: str | None = None) -> list[Figure]:
    """All figures of this benchmark, or of a part; quickly on a small graph of the same shape."""
    figures: list[Figure] = []
    for name in PARTS if part is None else (part,):
        figures += _PARTS[name](quick)
    return figures


def _small() -> Labelled:
    return labelled_at_random("random", *np.random.default_rng(1).integers(40, size=(2, 120)))


def _pairs(quick: bool) -> list[Figure]:
    given = _small() if quick else epinions()
    if given is None:
        return [_skipped("soc-Epinions1", "pairs")]
    held = 5 if quick else live_pairs.BATCHES
    stream = Stream.of(given.src, given.dst, held)
    return pair_figures(given.name, stream, 3 if quick else live_pairs.PAIRS)


def _many(quick: bool) -> list[Figure]:
    if quick:
        return graph_figures(_small(), 10, 5)
    figures: list[Figure] = []
    makers: dict[str, Callable[[], Labelled | None]] = {
        "soc-Epinions1": epinions,
        "RMAT": partial(rmat_graph, SCALE),
        "ldbc-snb-sf0.1": social_network,
    }
    for name, make in makers.items():
        given = make()
        figures += (
            [_skipped(name, "many")] if given is None else graph_figures(given, QUERIES, BATCHES)
        )
    return figures


def _fit(quick: bool) -> list[Figure]:
    given = _small() if quick else rmat_graph(SCALE)
    stream = Stream.of(given.src, given.dst, 5 if quick else live_fit.BATCHES)
    return fit_figures(given.name, stream, 4 if quick else live_fit.MOST)


def _budget(quick: bool) -> list[Figure]:
    if quick:
        return [*budget_figures(_small(), 200_000, 5, 1, {}), *whole_figures(_small(), 20, 10)]
    figures = budget_figures(rmat_graph(SCALE), BUDGET, BATCHES)
    return [*figures, *whole_figures(rmat_graph(WHOLE_SCALE), WHOLE, WHOLE_BATCHES)]


def _landmarks(quick: bool) -> list[Figure]:
    sizes = (10, 5) if quick else (live_landmarks.PAIRS, live_landmarks.BATCHES)
    given = live_landmarks.given_graphs(quick)
    return [figure for item in given for figure in landmark_figures(item, *sizes)]


_PARTS: dict[str, Callable[[bool], list[Figure]]] = {
    "pairs": _pairs,
    "many": _many,
    "fit": _fit,
    "budget": _budget,
    "landmarks": _landmarks,
}


def _skipped(name: str, part: str) -> Figure:
    return Figure(f"{name}, {part}", None, "at most", 1, "ms", data.missing(name), name)


def graph_figures(given: Labelled, queries: int, batches: int) -> list[Figure]:
    """Each kind of query on one graph."""
    figures: list[Figure] = []
    for name, make in kinds(given).items():
        say(f"{given.name}: {name}")
        figures += kind_figures(given, name, make, queries, batches)
    return figures


def kind_figures(
    given: Labelled, name: str, make: Make, queries: int, batches: int
) -> list[Figure]:
    """One kind of query: a batch, from scratch, and what it takes."""
    graph = given.graph()
    edges = np.random.default_rng(6).choice(len(given.src), batches, replace=False).tolist()
    _batches(graph, edges)  # Until the graph alone is as fast as it gets.
    alone = statistics.median(_batches(graph, edges)[0])
    pairs = given.starts(queries).tolist()
    graph.query("0", make(*pairs[0]))  # Compiles.
    with without_collector():
        asking = seconds_of(lambda: _ask(graph, make, pairs))
    scratch = asking * queries / max(queries - 1, 1)
    _batches(graph, edges[:5])
    times, idle = _batches(graph, edges, _engine(graph))
    batch, mean = statistics.median(times), statistics.fmean(times)
    for query in list(graph.queries.values())[: SAMPLE if len(given.src) < FEW_EDGES else 1]:
        query.verify()
    title, section = f"{name}, {queries:,} queries", given.name
    own = f"beside the graph's own {1e3 * alone:.3f} ms"
    few = f"{len(idle)} of {len(times)} batches, {own}"
    note = f"{own}; mean {1e3 * mean:.3f}; the edge that leaves, or comes back"
    anew = scratch / batch
    return [
        Figure(f"{title}: {_NONE}", _added(idle, alone), "at most", MOST_ADDED, "ms", few, section),
        Figure(f"{title}: any batch", _added(times, alone), "at most", None, "ms", note, section),
        Figure(f"{title}: from scratch", anew, "at least", LEAST_TIMES, "batches", "", section),
        Figure(f"{title}: memory", graph.query_bytes / 1e6, "at most", None, "MB", "", section),
    ]


def _ask(graph: gt.Graph, make: Make, pairs: list[list[int]]) -> None:
    for at, (start, target) in enumerate(pairs[1:], 1):
        graph.query(str(at), make(start, target))


def _batches(
    graph: gt.Graph, edges: list[int], engine: QueryEngine | None = None
) -> tuple[list[float], list[float]]:
    """Seconds of each batch that takes an edge out, or brings it back.

    Of all, and of those for which no query looked at any edge. Nothing else is called between
    batches: to list a thousand queries there would empty the caches for the next batch.
    """
    times, idle = [], []
    with without_collector():
        for edge in edges:
            for given in ({"delete": [edge]}, {"insert": [edge]}):
                times.append(seconds_of(partial(graph.advance, **given)))
                if engine is None or not engine.looked:
                    idle.append(times[-1])
    return times, idle


def _engine(graph: gt.Graph) -> QueryEngine:
    """What keeps the queries of a graph."""
    engine = graph._queries().engine
    assert isinstance(engine, QueryEngine)
    return engine


def _added(times: list[float], alone: float) -> float | None:
    """Milliseconds that queries add to a batch, in the median; None where there is none."""
    return 1e3 * max(statistics.median(times) - alone, 0.0) if times else None
