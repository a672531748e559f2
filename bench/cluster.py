"""Runs by several workers: `python -m bench cluster`.

Other work loads most machines, so that the clock says little of how fast two threads are. What is
compared is processor time: all that a run by one worker takes, with what one has to wait for of a
run by two: the thread that asked for it, which prepares and joins, and the busier of its workers.
Caches and memory that two threads share slow both down, and so are part of it. The clock is told
in the notes. Runs of one and of two take turns; medians.

All of ours is measured through the public interface: `collection.run`, `graph.run`, and what runs
tell of themselves (`workers()`, `supersteps()`, `explain()`).

The part `lean` runs programs from scratch on a stored graph by threads. `growth` tells what an edge
takes as graphs grow, and `billion` runs over a billion edges: both only if they are named. Files of
the latter go where TMPDIR says.

The part `spark` runs views by tasks on a cluster of two processes of this machine, and `shards` a
graph that they hold together; `graphx` has GraphX beside that. Each has a process of its own. A
quick run leaves these three out unless they are named.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench import cluster_billion, cluster_lean, data
from bench.cluster_peers import peers
from bench.cluster_waiting import Waited, waiting
from bench.figures import Figure
from bench.runs_collections import Views, expanding, removals
from bench.runs_graphs import read_edges
from bench.runs_programs import COMPONENTS, PATHS, RANKS, tasks

PARTS = ("threads", "lean", "growth", "spark", "shards", "graphx", "peers", "billion")
SPARK = ("spark", "shards", "graphx")
FASTER, ROUNDS = 1.6, 3
AUTHORS, COMMUNITIES = "com-dblp.txt.gz", "com-dblp-communities.txt.gz"
WINDOWS = "sx-mathoverflow.txt.gz"


def run(*, quick: bool, part: str | None = None) -> list[Figure]:
    """All figures, or those of one part."""
    if quick:
        with data.stand_ins():
            return _figures(quick=True, part=part)
    return _figures(quick=False, part=part)


def _figures(*, quick: bool, part: str | None) -> list[Figure]:
    found: list[Figure] = []
    if part in (None, "threads"):
        found += threads(quick)
    if part in (None, "lean"):
        found += cluster_lean.lean(quick)
    if part == "growth":
        found += cluster_lean.growth(quick)
    if part == "billion":
        found += _billion(quick)
    for name in SPARK:
        if part == name or (part is None and not quick):
            found += _elsewhere(f"bench.cluster_{name}", quick)
    if part in (None, "peers"):
        found += peers(quick)
    return found


def threads(quick: bool) -> list[Figure]:
    """One worker and two: components of removals, ranks and paths of daily windows."""
    figures: list[Figure] = []
    removed, windows = removal_views(quick), window_views(quick)
    for views, title, more in (
        (removed, COMPONENTS, {}),
        (windows, RANKS, {}),
        (windows, PATHS, {"strategy": "scratch"}),
    ):
        name = f"{title}, two threads over one"
        if views is None:
            figures.append(Figure(name, None, "at least", FASTER, "x", data.missing(AUTHORS)))
            continue
        figures.append(_compared(name, views, tasks(views.graph)[title].program, more, quick))
    if removed is not None:
        figures.append(_memory(removed))
    return figures


def removal_views(quick: bool) -> Views | None:
    """Half of ten communities of com-dblp removed, in all 252 ways."""
    table, groups = read_edges(AUTHORS, directed=False), data.find(COMMUNITIES)
    if table is None or groups is None:
        return None
    return removals(table, data.largest_communities(groups, 4 if quick else 10))


def window_views(quick: bool) -> Views | None:
    """2,351 windows of sx-mathoverflow that grow by a day."""
    table = read_edges(WINDOWS, directed=True)
    return None if table is None else expanding(table, "day", 365 if quick else 1)


def _compared(name: str, views: Views, program: Any, more: Any, quick: bool) -> Figure:
    rows: dict[int, list[Waited]] = {1: [], 2: []}

    def once(workers: int) -> Waited:
        with waiting() as waited:
            views.collection.run(program, workers=workers, progress=False, **more)
        return waited

    for turn in range(1 if quick else ROUNDS + 1):
        for workers, found in rows.items():
            took = once(workers)
            if turn or quick:
                found.append(took)
    one, two = (statistics.median(item.seconds for item in found) for found in rows.values())
    clocks = [statistics.median(item.clock for item in found) for found in rows.values()]
    waits = f"{clocks[0]:.3g} and {clocks[1]:.3g} s by the clock"
    note = f"{one:.3g} and {two:.3g} s of processor time, {waits}"
    return Figure(name, one / two, "at least", FASTER, "x", note, views.section)


def _memory(views: Views) -> Figure:
    """What a second worker takes at the peak, its states and results included."""
    program = tasks(views.graph)[COMPONENTS].program

    def run(workers: int) -> object:
        return views.collection.run(program, workers=workers, progress=False)

    peaks = [_peak(partial(run, workers)) for workers in (1, 2)]
    more = (peaks[1] - peaks[0]) / max(1, views.graph.edges)
    note = f"{peaks[0] / 1e6:.0f} and {peaks[1] / 1e6:.0f} MB at the peak, results included"
    return Figure("a second worker", more, "at most", None, "bytes an edge", note, views.section)


def _peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _billion(quick: bool) -> list[Figure]:
    """The figures of a process of its own, which has the memory for itself."""
    edges = cluster_billion.QUICK if quick else cluster_billion.BILLION
    with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
        report = Path(folder) / "figures.json"
        words = [sys.executable, "-m", "bench.cluster_billion", str(report), "--edges", str(edges)]
        subprocess.run(words, check=True)
        return [Figure(**item) for item in json.loads(report.read_text())]


def _elsewhere(module: str, quick: bool) -> list[Figure]:
    """The figures of a process of its own: one process has one Spark."""
    with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
        report = Path(folder) / "figures.json"
        words = [sys.executable, "-m", module, str(report), *["quick"] * quick]
        subprocess.run(words, check=True)
        return [Figure(**item) for item in json.loads(report.read_text())]
