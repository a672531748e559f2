"""Runs from scratch as users ask for them: `graph.run(program, workers=, lean=)`.

The parts `lean` and `growth` of `python -m bench cluster`. The graph is one of a catalog. A call
opens what is stored, reads the vertices, looks at the files of the lean graph and maps them, runs,
and returns results by vertex. Figures of a call are all of its processor time but for the less busy
of its threads; figures of a run are what `run.workers()` tells of it, which leaves reading out. One
thread and two take turns, behind the call that makes the lean graph and those that compile.
"""

from __future__ import annotations

import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import graphtide as gt
from bench.figures import Figure
from bench.rmat_blocks import rmat_blocks, scale_of
from bench.stored_graphs import stored_rmat, write_stored
from graphtide import algorithms

LIBRARY: Any = algorithms
FASTER, BYTES = 1.6, 13.0
SCALE, TURNS, GROWTH_TURNS, ROUNDS = 20, 7, 3, 10
GROWTH = (1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000)
"""Edges of RMAT graphs; vertices are a sixteenth of that, or up to twice as many."""


class Took(NamedTuple):
    """Processor time that one waits for, of a call and of the run in it."""

    call: float
    run: float


def lean(quick: bool) -> list[Figure]:
    """Ranks, searches, components and paths by one thread and by two; bytes an edge."""
    scale, turns = (5, 1) if quick else (SCALE, TURNS)
    with stored_rmat(scale) as (graph, src):
        section = f"graph.run on a stored graph, RMAT {scale}: {len(src) / 1e6:.3g}M edges"
        found = _first_call(graph, section)
        for item in _programs(src):
            found += _beside(graph, *item, turns, section)
        return [*found, _in_memory(graph, section)]


def growth(quick: bool) -> list[Figure]:
    """What an edge takes in a round of PageRank, as graphs grow: the constants of the model."""
    figures: list[Figure] = []
    for edges in (200, 1000) if quick else GROWTH:
        with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
            scale = scale_of(edges)
            graph = write_stored(Path(folder), 1 << scale, edges, rmat_blocks(scale, edges))
            program = LIBRARY.PageRank(iterations=ROUNDS)
            both = measured(graph, program, 1 if quick else GROWTH_TURNS)
        for count, took in zip(("one thread", "two threads"), both, strict=True):
            title = f"PageRank, {edges / 1e6:.3g}M edges, {count}"
            each = 1e9 * took.run / ROUNDS / edges
            note = f"{1 << scale:,} vertices"
            section = "graph.run: a round, ns an edge, without reading"
            figures.append(Figure(title, each, "at most", None, "ns", note, section))
    return figures


def measured(graph: gt.CatalogGraph, program: Any, turns: int) -> tuple[Took, Took]:
    """What one waits for with one thread and with two, taking turns."""
    took: dict[int, list[Took]] = {1: [], 2: []}
    for turn in range(turns + 1):
        for count, found in took.items():
            one = waited(graph, program, workers=count, lean=True)
            if turn:
                found.append(one)
    one, two = (Took(*map(_lower_quartile, zip(*found, strict=True))) for found in took.values())
    return one, two


def waited(graph: gt.CatalogGraph, program: Any, **words: Any) -> Took:
    """What one waits for of one call."""
    began = time.process_time()
    run = graph.run(program, **words)
    took = time.process_time() - began
    alone, *shared = run.workers()["processor"].to_pylist()
    busiest = max(shared, default=0.0)
    return Took(took - sum(shared) + busiest, alone + busiest)


def bytes_an_edge(run: gt.GraphRun) -> float:
    """What a run says of the lean graph that it was over."""
    found = re.search(r"([\d.]+) bytes an edge", run.explain())
    assert found is not None
    return float(found[1])


def _lower_quartile(found: Sequence[float]) -> float:
    """Of a few times; the least where there are fewer than four."""
    return min(found) if len(found) < 4 else statistics.quantiles(found, n=4)[0]


def _programs(src: NDArray[np.int32]) -> list[tuple[str, Any, float | None]]:
    hub = int(np.bincount(src).argmax())
    return [
        ("ten rounds of PageRank", LIBRARY.PageRank(iterations=ROUNDS), FASTER),
        ("breadth-first search", LIBRARY.BFS(source=hub), None),
        ("components", LIBRARY.WCC(), None),
        ("shortest paths", LIBRARY.ShortestPaths(source=hub), None),
    ]


def _first_call(graph: gt.CatalogGraph, section: str) -> list[Figure]:
    """The first call makes the lean graph, without properties; the second one adds weights."""
    began, clock = time.process_time(), time.perf_counter()
    run = graph.run(LIBRARY.WCC(), lean=True)
    took, clock = time.process_time() - began, time.perf_counter() - clock
    note = f"{clock:.3g} s by the clock, with compiling if nothing is in the cache"
    told = "both directions, the way between them, and offsets; no properties"
    graph.run(LIBRARY.ShortestPaths(source=0), lean=True)
    size = bytes_an_edge(run)
    return [
        Figure("the call that makes the lean graph", took, "at most", None, "s", note, section),
        Figure("a lean graph", size, "at most", BYTES, "bytes an edge", told, section),
    ]


def _beside(
    graph: gt.CatalogGraph, name: str, program: Any, bar: float | None, turns: int, section: str
) -> list[Figure]:
    one, two = measured(graph, program, turns)
    figures = []
    for what, first, second in (("the call", one.call, two.call), ("the run", one.run, two.run)):
        title = f"{name}, {what}: two threads over one"
        note = f"{1e3 * first:.3g} and {1e3 * second:.3g} ms"
        figures.append(Figure(title, first / second, "at least", bar, "x", note, section))
    return figures


def _in_memory(graph: gt.CatalogGraph, section: str) -> Figure:
    """The same call without a lean graph: the graph is read and put into memory."""
    program = LIBRARY.PageRank(iterations=ROUNDS)
    one, other = (graph.run(program, lean=lean)["rank"] for lean in (True, False))
    if not np.allclose(one, other, rtol=1e-9):
        raise AssertionError("the two forms of the graph give different ranks")
    over, slabs = (waited(graph, program, workers=1, lean=lean) for lean in (True, False))
    note = (
        f"{slabs.call:.3g} and {over.call:.3g} s; of that the run, without reading, "
        f"{1e3 * slabs.run:.3g} and {1e3 * over.run:.3g} ms, by one thread"
    )
    name = "ten rounds of PageRank, the call: lean=False over lean=True"
    return Figure(name, slabs.call / over.call, "at least", None, "x", note, section)
