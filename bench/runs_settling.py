"""Ranks that settle, over windows that grow day by day: shared, and from scratch to the same bound.

Through `graphtide` alone, as users call it: a graph in memory, a collection in GVDL and `run` over
all of its views. Whole calls are timed, the program compiled. Both runs promise the same: every
rank within the tolerance of the true one. A few views are held to that, by a plain loop to 1e-12.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import graphtide as gt
from bench import data, plain
from bench.figures import Figure, say
from bench.runs_graphs import EdgeTable, read_edges
from bench.runs_programs import DAMPING, plain_version
from bench.timing import clock, without_collector

FILE = "sx-mathoverflow.txt.gz"
BARS = {1e-2: 10.0, 1e-4: 4.0, 1e-6: 2.0}
SECTION = "day expanding windows: ranks that settle"
DAY = 86_400
CHECKED = 4
ROUNDS = 3
PLAIN_ROUNDS = 200
"""0.85 to the power of it is 8e-15."""


def settling_ranks(*, quick: bool) -> list[Figure]:
    """How many times faster sharing is at each tolerance, and the largest error of any rank.

    A quick run has a few views and one tolerance, once.
    """
    table = read_edges(FILE, directed=True)
    if table is None:
        return [
            Figure(_name(share), None, "at least", bar, "x", data.missing(FILE), SECTION)
            for share, bar in BARS.items()
        ]
    day = (table.time - table.time.min()) // DAY
    ids = table.ids
    graph = gt.Graph(ids[table.src], ids[table.dst], vertices=ids, day=day)
    last, step = int(day.max()), 400 if quick else 1
    views = graph.collection("days", f"for d in 0..{last} step {step} [upto-{{d}}: day <= d]")
    figures: list[Figure] = []
    for tolerance in list(BARS)[:1] if quick else BARS:
        say(f"ranks within {tolerance:g} over {len(views):,} views")
        figures += _at(views, table, day, tolerance, 1 if quick else ROUNDS)
    return figures


def _at(views: Any, table: EdgeTable, day: Any, tolerance: float, rounds: int) -> Iterator[Figure]:
    program: Any = gt.algorithms.ConvergedPageRank
    bound = program(tolerance=tolerance)
    views.run(bound, strategy="differential")
    took: dict[str, list[float]] = {"differential": [], "scratch": []}
    runs = {}
    for _ in range(rounds):
        for strategy, seconds in took.items():
            with without_collector():
                began = clock()
                runs[strategy] = views.run(bound, strategy=strategy)
                seconds.append(clock() - began)
    shared, scratch = (float(np.median(seconds)) for seconds in took.values())
    note = f"{shared:.3g} s shared, {scratch:.3g} s from scratch; {len(views):,} views"
    yield Figure(
        _name(tolerance), scratch / shared, "at least", BARS[tolerance], "x", note, SECTION
    )
    wrong = max(_largest_error(run, table, day) for run in runs.values())
    name = f"ranks within {tolerance:g}, largest error of a rank"
    yield Figure(name, wrong, "at most", tolerance, "", section=SECTION)


def _largest_error(run: gt.Run, table: EdgeTable, day: Any) -> float:
    """Of a few views, against a plain loop."""
    worst = 0.0
    for view in np.linspace(0, len(run) - 1, CHECKED).astype(int).tolist():
        last = int(run.views[view].removeprefix("upto-"))
        arcs = plain_version(table, np.flatnonzero(day <= last))
        right = plain.page_rank(arcs, DAMPING, PLAIN_ROUNDS)
        worst = max(worst, float(np.max(np.abs(run.values(view) - right) / right)))
    return worst


def _name(tolerance: float) -> str:
    return f"ranks within {tolerance:g}, shared faster than from scratch"
