"""How many queries fit a gigabyte at a mean batch below ten milliseconds, by setting.

Pairs are asked, twice as many each time, until memory or time is used up or there are `MOST`; what
is left to the limit is then taken in proportion to what the last ones took. The note says how many
were there.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from functools import partial

import graphtide as gt
from bench.figures import Figure, say
from bench.live_settings import KEPT, SETTINGS, Stream
from bench.timing import seconds_of, without_collector
from graphtide.queries import Histories, Path

BYTES, MILLISECONDS, MOST, BATCHES = 1e9, 10.0, 64, 40


def fit_figures(
    name: str,
    stream: Stream,
    most: int = MOST,
    settings: Mapping[str, Histories | None] | None = None,
) -> list[Figure]:
    """One figure for each setting, and its ratio to the first."""
    chosen = {**SETTINGS, "fixpoints": None} if settings is None else settings
    figures: list[Figure] = []
    for setting, histories in chosen.items():
        say(f"fit: {setting}")
        count, note = fitting(stream, histories, most)
        say(f"{count:g} queries: {note}")
        section = f"queries in 1 GB below 10 ms on {name}"
        figures.append(Figure(setting, count, "at least", None, "queries", note, section))
        first = next((item.measured for item in figures if item.name == KEPT), None)
        if setting != KEPT and first:
            figures.append(
                Figure(
                    f"{setting}, times {KEPT}", count / first, "at least", None, "x", "", section
                )
            )
    return figures


def fitting(stream: Stream, histories: Histories | None, most: int) -> tuple[float, str]:
    """How many pairs fit memory and time, in proportion; and what that was seen at."""
    graph, asked = stream.graph(histories), stream.pairs(most, None)
    empty = _mean_batch(graph, stream)
    count, mean = 0, empty
    while count < most:
        more = asked[count : max(2 * count, 4)]
        for at, query in enumerate(more, count):
            graph.query(str(at), query)
        count += len(more)
        mean = _mean_batch(graph, stream)
        graph.forget()
        if graph.query_bytes > BYTES or mean > MILLISECONDS:
            break
    _check_some(graph, asked[:2], stream)
    by_bytes = BYTES / (graph.query_bytes / count)
    slope = max(mean - empty, 1e-9) / count
    by_time = max(MILLISECONDS - empty, 0) / slope
    note = f"{count} asked: {graph.query_bytes / 1e6:.1f} MB, mean batch {mean:.3f} ms; "
    note += "memory ends first" if by_bytes < by_time else "time ends first"
    return float(int(min(by_bytes, by_time))), note


def _mean_batch(graph: gt.Graph, stream: Stream) -> float:
    """Mean milliseconds of a batch that brings an edge, or takes it out again."""
    times = []
    for at in range(min(BATCHES, len(stream.held))):
        row = [stream.row(at)]
        with without_collector():
            times.append(seconds_of(partial(graph.advance, row)))
            times.append(seconds_of(partial(graph.advance, None, row)))
    return 1e3 * statistics.fmean(times[4:] or times)


def _check_some(graph: gt.Graph, asked: list[Path], stream: Stream) -> None:
    """Compare with a graph that had these edges from the beginning."""
    plain = stream.graph(None)
    for at, query in enumerate(asked):
        wanted = plain.query(str(at), query).value
        assert graph.queries[str(at)].value == wanted, f"query {at} has another answer"
