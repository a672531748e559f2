"""Programs of the library on a graph in memory, timed over a stream of batches."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers.differential import checksum
from bench.streams import Batch, Input
from bench.timing import clock, without_collector
from graphtide.algorithms import BFS, WCC, ShortestPaths
from graphtide.engine.exact import ExactMaintainer
from graphtide.engine.fixpoint import FixpointMaintainer
from graphtide.engine.resident import ResidentGraph

WARM_UP = 2
PATIENCE = 10.0
"""Seconds that the batches of one size may take together, but for the first, which compiles."""
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

    `differing` is after how many of them a run from scratch finds something else.
    """

    seconds: list[float]
    checksums: list[int]
    differing: int = 0


def resident_graph(given: Input) -> ResidentGraph:
    """The graph at its first version, with weights as floats."""
    properties = {"weight": given.weight.astype(np.float64)}
    graph = ResidentGraph(given.vertices, given.src, given.dst, properties)
    rewind(graph, given)
    return graph


def rewind(graph: ResidentGraph, given: Input) -> None:
    """Bring the graph back to its first version."""
    wanted = np.zeros(graph.edges, np.bool_)
    wanted[graph.numbers[given.arcs(given.loaded)]] = True
    live = graph.are_live(np.arange(graph.edges, dtype=np.int32))
    missing, surplus = np.flatnonzero(wanted & ~live), np.flatnonzero(live & ~wanted)
    graph.flip(missing.astype(np.int32), surplus.astype(np.int32))


def maintainer_of(chosen: Selecting, graph: ResidentGraph, mode: str, source: int) -> Any:
    """A maintainer of the program, not started."""
    plan = chosen.program.plan
    parameters = (source,) if plan.parameters else ()
    if mode == "fixpoint":
        return FixpointMaintainer(graph, plan, parameters)
    return ExactMaintainer(graph, plan, parameters)


def time_stream(maintainer: Any, groups: list[list[Batch]]) -> Timed:
    """Start, then advance by one batch after the other; the first of each size warm up."""
    maintainer.start()
    medians, checksums, differing = [], [value_checksum(maintainer.values())], 0
    for group in groups:
        medians.append(median_batch(maintainer, group))
        checksums.append(value_checksum(maintainer.values()))
        (values,) = maintainer.scratch().values()
        differing += value_checksum(values) != checksums[-1]
    return Timed(medians, checksums, differing)


def median_batch(maintainer: Any, group: list[Batch]) -> float:
    """Median seconds of an advance, without the first ones, if there are others."""
    seconds = time_batches(maintainer, group)
    return statistics.median(seconds[min(WARM_UP, len(seconds) - 1) :])


def time_batches(maintainer: Any, group: list[Batch]) -> list[float]:
    """Seconds of each advance. What could be undone is given up between them, off the clock.

    Where they take too long together, the rest of them is taken at once, from scratch.
    """
    numbers = maintainer.graph.numbers
    seconds: list[float] = []
    with without_collector():
        for batch in group:
            inserted, deleted = numbers[batch.inserted], numbers[batch.deleted]
            if sum(seconds[1:]) > PATIENCE:
                maintainer.graph.flip(inserted, deleted)
                continue
            began = clock()
            maintainer.advance(inserted, deleted)
            seconds.append(clock() - began)
            maintainer.forget()
    if len(seconds) < len(group):
        maintainer.start()
    return seconds


def value_checksum(values: NDArray[Any]) -> int:
    """The checksum of (vertex, value) of all that have one."""
    reached = np.flatnonzero(np.isfinite(values))
    return checksum(reached, values[reached])
