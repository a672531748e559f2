"""Programs of the library on a graph in memory, timed over a stream of batches.

Batches go in as users give them: Arrow tables with the users' own ids, which are not the vertices'
numbers, through `live.advance`. Only runs from scratch, which ratios are to, are timed at the
engine, where they are fastest: there is no faster door for users than `maintain`.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import graphtide as gt
from bench.peers.differential import checksum
from bench.streams import Batch, Input
from bench.timing import clock, seconds_of, without_collector
from graphtide.algorithms import BFS, WCC, ShortestPaths
from graphtide.engine.exact.maintainer import ExactMaintainer
from graphtide.engine.fixpoint.maintainer import FixpointMaintainer
from graphtide.engine.resident import ResidentGraph

WARM_UP = 2
MODES = ("fixpoint", "exact")


@dataclass(frozen=True)
class Selecting:
    """A program of the library that selects, and what others call it."""

    program: Any
    title: str
    field: str
    peer: str


PROGRAMS = (
    Selecting(BFS, "BFS", "hops", "bfs"),
    Selecting(ShortestPaths, "shortest paths", "dist", "shortest_paths"),
    Selecting(WCC, "components", "component", "components"),
)


@dataclass(frozen=True)
class Timed:
    """Median seconds of a batch of each size, and checksums: at first, then after each size.

    `differing` is after how many of them a run from scratch finds something else, `longest` the
    longest batch of each size, and `anew` how long the program takes to start with all it keeps.
    """

    seconds: list[float]
    checksums: list[int]
    differing: int = 0
    longest: tuple[float, ...] = ()
    anew: float = 0.0


@dataclass(frozen=True)
class Rows:
    """A batch as users give it; nothing is deleted where `delete` is None."""

    insert: Any
    delete: Any


def users_ids(given: Input) -> NDArray[np.int64]:
    """An id for each vertex, that is not its number."""
    return _ids(given.vertices)


@cache
def _ids(vertices: int) -> NDArray[np.int64]:
    """Made once: batches are hundreds, and a million ids take ten milliseconds."""
    return np.random.default_rng(5).permutation(vertices).astype(np.int64) * 7 + 1000


def arrow_rows(given: Input, arcs: NDArray[np.int32]) -> pa.Table:
    """Arcs as a table with the users' ids."""
    ids, weight = users_ids(given), given.weight[arcs].astype(np.float64)
    return pa.table({"src": ids[given.src[arcs]], "dst": ids[given.dst[arcs]], "weight": weight})


def tuple_rows(given: Input, arcs: NDArray[np.int32]) -> list[tuple[Any, ...]]:
    """The same as a list of tuples."""
    columns = (column.to_pylist() for column in arrow_rows(given, arcs).columns)
    return list(zip(*columns, strict=True))


def as_rows(given: Input, group: list[Batch], form: Any = arrow_rows) -> list[Rows]:
    """Batches as users give them."""
    return [
        Rows(
            form(given, batch.inserted),
            form(given, batch.deleted) if len(batch.deleted) else None,
        )
        for batch in group
    ]


def users_graph(given: Input) -> gt.Graph:
    """The first version of the graph, as a user makes it."""
    frame = arrow_rows(given, given.arcs(given.loaded))
    return gt.Graph.from_frame(frame, vertices=users_ids(given))


def live_of(chosen: Selecting, graph: gt.Graph, given: Input, mode: Any) -> gt.Live:
    """A program of the library, kept current from now on."""
    program = chosen.program
    if program.plan.parameters:
        program = program(source=int(users_ids(given)[given.source]))
    return graph.maintain(program, mode=mode)


def resident_graph(given: Input) -> ResidentGraph:
    """The engine's graph at its first version, with weights as floats."""
    arcs = given.arcs(given.loaded)
    properties = {"weight": given.weight[arcs].astype(np.float64)}
    return ResidentGraph(given.vertices, given.src[arcs], given.dst[arcs], properties)


def maintainer_of(chosen: Selecting, graph: ResidentGraph, mode: str, source: int) -> Any:
    """A maintainer of the program, not started."""
    plan = chosen.program.plan
    parameters = (source,) if plan.parameters else ()
    if mode == "fixpoint":
        return FixpointMaintainer(graph, plan, parameters)
    return ExactMaintainer(graph, plan, parameters)


def time_stream(live: gt.Live, groups: list[list[Rows]], *, restarts: int = 0) -> Timed:
    """Advance by one batch after the other; the first of each size warm up.

    The program is then started anew as often as `restarts` says, to compare batches with that.
    """
    (field,) = live.fields
    maintainer: Any = live._kept.maintainer
    medians, longest, checksums, differing = [], [], [value_checksum(live._kept.values(field))], 0
    for group in groups:
        seconds = timed_batches(live, group)
        medians.append(statistics.median(seconds))
        longest.append(max(seconds))
        checksums.append(value_checksum(live._kept.values(field)))
        (values,) = maintainer.scratch().values()
        differing += value_checksum(values) != checksums[-1]
    starts = [seconds_of(maintainer.start) for _ in range(restarts)]
    anew = statistics.median(starts) if starts else math.nan
    return Timed(medians, checksums, differing, tuple(longest), anew)


def median_batch(live: gt.Live, group: list[Rows]) -> float:
    """Median seconds of an advance, without the first ones, if there are others."""
    return statistics.median(timed_batches(live, group))


def timed_batches(live: gt.Live, group: list[Rows]) -> list[float]:
    """Seconds of each advance, without the first ones, if there are others."""
    seconds = time_batches(live, group)
    return seconds[min(WARM_UP, len(seconds) - 1) :]


def time_batches(live: gt.Live, group: list[Rows]) -> list[float]:
    """Seconds of each advance. What could be undone is given up between them, off the clock."""
    seconds: list[float] = []
    with without_collector():
        for rows in group:
            began = clock()
            live.advance(insert=rows.insert, delete=rows.delete)
            seconds.append(clock() - began)
            live.graph.forget()
    return seconds


def value_checksum(values: NDArray[Any]) -> int:
    """The checksum of (vertex, value) of all that have one."""
    reached = np.flatnonzero(np.isfinite(values))
    return checksum(reached, values[reached])
