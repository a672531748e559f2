"""Two threads of ours beside two workers of Differential Dataflow: the part `peers`.

Two questions: components of 2,351 windows that grow by a day, view after view, and breadth-first
search and components from scratch on an RMAT graph. Each of their workers hands over a half of the
edges and sleeps while it has nothing to do. What counts is processor time that one waits for: of
theirs, the busier worker of every batch, all batches together; of ours, who asks and the busier
thread, of `collection.run` and `graph.run`. From scratch, theirs begins with edges in no order in
memory and ours with a stored graph, twice: where the lean graph has to be made, and where it is
there. Of the windows, our graph and its plan are there before. Answers are compared. Where the peer
is not built, a full run builds it.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import data
from bench.cluster_lean import LIBRARY, measured
from bench.cluster_waiting import waiting
from bench.figures import Figure
from bench.peers import AbsentError, differential
from bench.rmat import rmat
from bench.runs_collections import Views, expanding
from bench.runs_graphs import read_edges
from bench.stored_graphs import stored_rmat
from bench.streams import Batch
from graphtide.algorithms import WCC

WINDOWS, WHO = "sx-mathoverflow.txt.gz", "Differential Dataflow"
SCALE, TURNS, LOOKS = 18, 3, 12
NOTHING = np.empty(0, np.int32)


def peers(quick: bool) -> list[Figure]:
    """All figures, or one that says why there are none."""
    try:
        peer = differential.find_peer(build=not quick)
    except AbsentError as why:
        return [Figure(f"{WHO} over ours, two workers", None, "at least", None, "x", str(why))]
    return [*_windows(peer, quick), *_from_scratch(peer, quick)]


def _windows(peer: Any, quick: bool) -> list[Figure]:
    table = read_edges(WINDOWS, directed=True)
    name = "components, every window"
    if table is None:
        why = data.missing(WINDOWS)
        return [Figure(name, None, "at least", None, "x", why)]
    views = expanding(table, "day", 365 if quick else 1)
    first, *batches = _arrivals(views)
    weight = np.ones(table.edges, np.int32)
    arcs = differential.Arcs(table.vertices, table.src, table.dst, weight, first.inserted)
    found = {
        workers: differential.measure(peer, "components", arcs, batches, workers=workers)
        for workers in (1, 2)
    }
    run, ours = _run(views, quick)
    for at in np.linspace(0, len(views) - 1, min(LOOKS, len(views))).astype(int).tolist():
        for outcome in found.values():
            _check(_labels(run.values(at)), outcome.checksums[at], f"window {at}")
    return [_figure(name, found, ours, views.section)]


def _arrivals(views: Views) -> list[Batch]:
    """The edges that come with each view; none ever leaves."""
    before, found = np.zeros(views.graph.edges, np.bool_), []
    for at in range(len(views)):
        now = views.holds(at)
        found.append(Batch(np.flatnonzero(now & ~before).astype(np.int32), NOTHING))
        before = now
    return found


def _run(views: Views, quick: bool) -> tuple[Any, float]:
    """The run by two threads, and the least that one waits for of some."""
    took = []
    for _ in range(1 if quick else TURNS):
        with waiting() as waited:
            run = views.collection.run(WCC, workers=2, progress=False)
        took.append(waited.seconds)
    return run, min(took)


def _from_scratch(peer: Any, quick: bool) -> list[Figure]:
    scale = 6 if quick else SCALE
    src, dst = rmat(scale)
    section = f"RMAT {scale}: {len(src) / 1e6:.3g}M edges"
    hub = int(np.bincount(src).argmax())
    everything = np.arange(len(src), dtype=np.int32)
    arcs = differential.Arcs(1 << scale, src, dst, np.ones(len(src), np.int32), everything)
    figures = []
    with stored_rmat(4) as (small, _):
        for program in (LIBRARY.BFS(source=0), LIBRARY.WCC()):
            small.run(program, lean=True)
    for name, algorithm, program in (
        ("breadth-first search from scratch", "bfs", LIBRARY.BFS(source=hub)),
        ("components from scratch", "components", LIBRARY.WCC()),
    ):
        found = {
            workers: differential.measure(peer, algorithm, arcs, [], hub, workers=workers)
            for workers in (1, 2)
        }
        with stored_rmat(scale) as (graph, _):
            began = time.process_time()
            run = graph.run(program, workers=2, lean=True)
            first = time.process_time() - began
            _, later = measured(graph, program, 1 if quick else TURNS)
        values = run[run.fields[0]]
        for outcome in found.values():
            _check(values if algorithm == "bfs" else _labels(values), outcome.checksums[0], name)
        made = "all threads of the call, which makes the lean graph"
        figures.append(_figure(name, found, first, section, made))
        there = "the call, where the lean graph is there"
        figures.append(_figure(f"{name}, again", found, later.call, section, there))
    return figures


def _figure(
    name: str,
    found: dict[int, differential.Outcome],
    ours: float,
    section: str,
    more: str = "view by view",
) -> Figure:
    one, two = (
        outcome.first_processor_seconds + sum(outcome.batch_processor_seconds)
        for outcome in found.values()
    )
    note = f"{ours:.3g} s, {more}; they {two:.3g} s, and {one:.3g} s by one worker"
    title = f"{name}: {WHO} over ours, two workers each"
    return Figure(title, two / ours, "at least", None, "x", note, section)


def _labels(values: NDArray[Any]) -> NDArray[np.int64]:
    """The least vertex of the component of each vertex, whatever the components are called."""
    _, first, place = np.unique(values, return_index=True, return_inverse=True)
    return first[place].astype(np.int64)


def _check(values: NDArray[Any], theirs: int, where: str) -> None:
    reached = np.flatnonzero(np.isfinite(values))
    if differential.checksum(reached, values[reached].astype(np.int64)) != theirs:
        raise AssertionError(f"{WHO} has another answer: {where}")
