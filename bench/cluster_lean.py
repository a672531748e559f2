"""Runs from scratch over a lean graph, by one thread and by two.

Like other figures of several workers, these are processor time: what one has to wait for, which is
the thread that asks and the busiest of the workers. One and two take turns, in one process; lower
quartiles. A figure beside slabs is what today's graph in memory takes for the same.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.figures import Figure
from bench.rmat import rmat
from graphtide import algorithms
from graphtide.engine.fixpoint.maintainer import FixpointMaintainer
from graphtide.engine.lean.runs import LeanRun
from graphtide.engine.lean.workers import Workers
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.maintainer import SynchronousMaintainer
from graphtide.kernels.graph.compressed import LeanGraph, compress

LIBRARY: Any = algorithms
FASTER, BYTES = 1.6, 13.0
SCALE, TURNS, ROUNDS = 20, 7, 10
GROWTH = (16, 17, 18, 19, 20, 21)
"""RMAT graphs of 1 to 34 million edges."""


def lean(quick: bool) -> list[Figure]:
    """A round of PageRank, searches and components; bytes an edge."""
    scale, turns = (5, 1) if quick else (SCALE, TURNS)
    graph, slabs = _graphs(scale)
    section = f"lean graph, RMAT {scale}: {graph.edges / 1e6:.3g}M edges"
    size = graph.bytes / graph.edges
    note = "both directions, the way between them, and offsets; no properties"
    figures = [Figure("a lean graph", size, "at most", BYTES, "bytes an edge", note, section)]
    for name, program, given, bar in _programs(graph):
        one, two = measured(graph, program, given, turns)
        before = _seconds(_slabs(slabs, program, given), turns)
        note = f"{1e3 * one:.3g} and {1e3 * two:.3g} ms; slabs {1e3 * before:.3g} ms by one thread"
        title = f"{name}, two threads over one"
        figures.append(Figure(title, one / two, "at least", bar, "x", note, section))
    return figures


def growth(quick: bool) -> list[Figure]:
    """What an edge takes in a round of PageRank, as graphs grow: the constants of the model."""
    figures = []
    for scale in (4, 5) if quick else GROWTH:
        src, dst = rmat(scale)
        graph = compress(1 << scale, src, dst)
        program, given = LIBRARY.PageRank.plan, (0.85, ROUNDS)
        each = [
            1e9 * took / ROUNDS / graph.edges
            for took in measured(graph, program, given, 1 if quick else TURNS)
        ]
        for count, found in zip(("one thread", "two threads"), each, strict=True):
            title = f"PageRank, {graph.edges / 1e6:.3g}M edges, {count}"
            section = "lean graph: a round, ns an edge"
            figures.append(Figure(title, found, "at most", None, "ns", "", section))
    return figures


def measured(
    graph: LeanGraph, program: Any, given: tuple[Any, ...], turns: int
) -> tuple[float, float]:
    """What one waits for with one thread and with two, taking turns."""
    took: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(turns + 1):
        for count, found in took.items():
            seconds = waited(graph, program, given, count)
            if turn:
                found.append(seconds)
    one, two = (lower_quartile(found) for found in took.values())
    return one, two


def waited(graph: LeanGraph, program: Any, given: tuple[Any, ...], count: int) -> float:
    """Processor time of the asking thread besides its parts, and of the busiest worker."""
    with Workers(count) as workers:
        run = LeanRun(graph, program, given, settles=True)
        began = time.thread_time()
        run.values(workers)
        asking = time.thread_time() - began - workers.seconds[0]
        return asking + max(workers.seconds)


def lower_quartile(found: list[float]) -> float:
    """Of a few times; the least where there are fewer than four."""
    return min(found) if len(found) < 4 else statistics.quantiles(found, n=4)[0]


def _programs(graph: LeanGraph) -> list[tuple[str, Any, tuple[Any, ...], float | None]]:
    hub = int(np.argmax(np.diff(graph.out.offsets)))
    return [
        ("a round of PageRank", LIBRARY.PageRank.plan, (0.85, ROUNDS), FASTER),
        ("breadth-first search", LIBRARY.BFS.plan, (hub,), None),
        ("components", LIBRARY.WCC.plan, (), None),
        ("shortest paths", LIBRARY.ShortestPaths.plan, (hub,), None),
    ]


def _graphs(scale: int) -> tuple[LeanGraph, ResidentGraph]:
    src, dst = rmat(scale)
    weights = {"weight": np.random.default_rng(1).random(len(src))}
    slabs = ResidentGraph(1 << scale, src, dst, weights)
    return compress(1 << scale, src, dst, weights), slabs


def _slabs(graph: ResidentGraph, program: Any, given: tuple[Any, ...]) -> Callable[[], object]:
    adds_up = program.name == "PageRank"
    made = (SynchronousMaintainer if adds_up else FixpointMaintainer)(graph, program, given)
    return made.scratch


def _seconds(work: Callable[[], object], turns: int) -> float:
    work()
    found = []
    for _ in range(turns):
        began = time.thread_time()
        work()
        found.append(time.thread_time() - began)
    return lower_quartile(found)
