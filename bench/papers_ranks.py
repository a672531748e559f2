"""Ten rounds of PageRank after single edges, beside Differential Dataflow (GraphBolt, section 5.4).

Differential Dataflow keeps ranks in whole shares, a millionth of what a vertex starts with; our
dataflow `page_rank` computes the same integers, and the two are compared. What users would call is
the program `PageRank`: within 1e-4, and with every digit. One thread each, processor time.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Any

import graphtide as gt
from bench import data
from bench.figures import Figure
from bench.peers import AbsentError, differential
from bench.streams import Batch, Input, Size, batches
from bench.timing import seconds_of, without_collector
from graphtide.algorithms.dataflow import page_rank

SINGLE = Size(1, 0, 20)
ROUNDS = 10


def ranks(given: Input | None, quick: bool) -> Iterator[Figure]:
    """How many times longer Differential Dataflow takes for an edge than each of our ways."""
    section = "ten rounds of PageRank, one edge"
    if given is None:
        missing = data.missing("soc-Epinions1.txt.gz")
        yield Figure("ranks", None, "at least", None, "x", missing, section)
        return
    [group] = batches(given, (SINGLE,))
    try:
        peer = differential.find_peer(build=not quick)
        arcs = differential.Arcs(given.vertices, given.src, given.dst, given.weight, given.loaded)
        theirs = differential.measure(peer, "ranks", arcs, group)
    except AbsentError as reason:
        yield Figure("ranks", None, "at least", None, "x", str(reason), section)
        return
    alone = statistics.median(theirs.batch_processor_seconds[2:])
    ways = {
        "PageRank within 1e-4": lambda: _program(given, group, tolerance=1e-4),
        "PageRank, every digit": lambda: _program(given, group),
        "the dataflow, the same integers": lambda: _dataflow(given, group, theirs.checksums[-1]),
    }
    for name, way in ways.items():
        seconds = _median(way)
        note = f"{seconds * 1e3:.3g} ms, Differential Dataflow {alone * 1e3:.3g} ms; {given.name}"
        yield Figure(name, alone / seconds, "at least", None, "x", note, section)


def _median(way: Callable[[], list[float]]) -> float:
    with without_collector():
        return statistics.median(way()[2:])


def _program(given: Input, group: list[Batch], **options: Any) -> list[float]:
    at = given.loaded
    graph = gt.Graph(given.src[at], given.dst[at], vertices=given.vertices)
    live = graph.maintain(gt.algorithms.PageRank(iterations=ROUNDS), **options)
    rows = [{"src": given.src[one.inserted], "dst": given.dst[one.inserted]} for one in group]
    return [seconds_of(lambda row=row: live.advance(row)) for row in rows]  # type: ignore[misc]


def _dataflow(given: Input, group: list[Batch], checksum: int) -> list[float]:
    """Seconds of every batch; the ranks behind the last one must be those of the checksum."""
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    output = page_rank(edges, ROUNDS).output()
    edges.insert({"src": given.src[given.loaded], "dst": given.dst[given.loaded]})
    flow.advance()
    seconds = []
    for batch in group:
        row = {"src": given.src[batch.inserted], "dst": given.dst[batch.inserted]}
        edges.insert(row)
        seconds.append(seconds_of(flow.advance))
    found = output.columns()
    assert differential.checksum(found["node"], found["rank"]) == checksum, "ranks differ"
    return seconds
