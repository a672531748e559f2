"""The setting of paper 001: few pairs, single insertions, every way of keeping histories, and ours.

Batches are timed one by one in seconds of the processor; memory is all that queries take beside the
graph, without what undoing takes, which the authors' program cannot. In the end every answer is
compared with that of a graph that has had all edges from the beginning.
"""

from __future__ import annotations

import statistics
from functools import partial

import graphtide as gt
from bench.figures import Figure, say
from bench.live_settings import AUTHORS, FASTER, RANDOM, SETTINGS, SMALLER, Stream
from bench.timing import seconds_of, without_collector
from graphtide.queries import Histories, Path

PAIRS, BATCHES = 10, 100
OURS = "our own, fixpoints"


def pair_figures(name: str, stream: Stream, pairs: int = PAIRS) -> list[Figure]:
    """Every setting, where all edges cost the same and where they cost 1 to 10."""
    figures: list[Figure] = []
    for weight, title in ((None, "pairs"), ("km", "weighted pairs")):
        asked = stream.pairs(pairs, weight)
        whole = stream.graph(None, whole=True)
        wanted = _answers(whole, asked)
        for query in list(whole.queries):
            whole.drop_query(query)
        scratch = 1e3 * seconds_of(partial(_answers, whole, asked))
        section, note = f"{title} on {name}", "all queries on the graph as it is, by fixpoints"
        figures.append(Figure("from scratch", scratch, "at most", None, "ms", note, section))
        for setting, histories in {OURS: None, **SETTINGS, **RANDOM}.items():
            say(f"{title}: {setting}")
            figures += _setting_figures(stream, asked, wanted, (section, setting, histories))
    return figures


def _setting_figures(
    stream: Stream,
    asked: list[Path],
    wanted: list[object],
    given: tuple[str, str, Histories | None],
) -> list[Figure]:
    section, setting, histories = given
    graph = stream.graph(histories)
    for at, query in enumerate(asked):
        graph.query(str(at), query)
    times = _insert_all(graph, stream)
    if _values(graph) != wanted:
        raise AssertionError(f"{setting}: other answers than from scratch")
    graph.forget()
    mean, median = statistics.fmean(times), statistics.median(times)
    own = sum(query.nbytes for query in graph.queries.values())
    authors = AUTHORS.get(setting)
    bars = (authors.milliseconds / FASTER, authors.megabytes / SMALLER) if authors else (None, None)
    told = f"; the authors took {authors.milliseconds:g} ms" if authors else ""
    size = f"; the authors took {authors.megabytes:g} MB" if authors else ""
    note = f"median {1e3 * median:.3f}, worst {1e3 * max(times):.2f}{told}"
    return [
        Figure(f"{setting}: a batch", 1e3 * mean, "at most", bars[0], "ms", note, section),
        Figure(
            f"{setting}: memory",
            graph.query_bytes / 1e6,
            "at most",
            bars[1],
            "MB",
            f"of queries alone {own / 1e6:.2f}{size}",
            section,
        ),
    ]


def _insert_all(graph: gt.Graph, stream: Stream) -> list[float]:
    """Seconds of each batch; one edge out, in again and back before them compiles."""
    first = graph.edges().slice(0, 1).to_pylist()[0]
    graph.advance(delete=[first["edge"]])
    graph.advance(insert=[first["edge"]])
    graph.rollback()
    graph.rollback()
    rows = [stream.row(at) for at in range(len(stream.held))]
    with without_collector():
        return [seconds_of(partial(graph.advance, [row])) for row in rows]


def _answers(graph: gt.Graph, asked: list[Path]) -> list[object]:
    for at, query in enumerate(asked):
        graph.query(str(at), query)
    return _values(graph)


def _values(graph: gt.Graph) -> list[object]:
    return [query.value for query in graph.queries.values()]
