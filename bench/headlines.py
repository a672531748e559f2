"""The figures of the README, as users get them: `python -m bench headlines`.

Everything goes through `graphtide` alone: a graph in memory, a collection in GVDL, and `run` over
all of its views by sharing and from scratch. What is timed is the whole call of `run`, with the
program compiled: preparing it, the walk along the plan, and keeping the results of every view.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

import numpy as np

import graphtide as gt
from bench import data
from bench.figures import Figure
from bench.runs_graphs import EdgeTable, read_edges, read_grid, weights
from bench.timing import clock, without_collector

DAY = 86_400
SECTION = "as users call it"


def run(*, quick: bool) -> list[Figure]:
    """All figures of this benchmark; quickly on small graphs of the same shape."""
    if not quick:
        return [*_days(5), *_outages(5)]
    with data.stand_ins():
        return [*_days(1), *_outages(1)]


def _days(rounds: int) -> Iterator[Figure]:
    """Everything until each day."""
    table = read_edges("sx-mathoverflow.txt.gz", directed=True)
    if table is None:
        yield _absent("until each day", "sx-mathoverflow.txt.gz")
        return
    day = (table.time - table.time.min()) // DAY
    graph = _graph(table, day=day)
    views = graph.collection("days", f"for d in 0..{int(day.max())} [upto-{{d}}: day <= d]")
    source = int(table.ids[table.sources[0]])
    yield from _compared(views, gt.algorithms.WCC, "components, until each day", 20, rounds)
    paths: Any = gt.algorithms.ShortestPaths
    name = "shortest paths, until each day"
    yield from _compared(views, paths(source=source), name, 40, rounds)
    ranks: Any = gt.algorithms.ConvergedPageRank
    name = "ranks within 1%, until each day"
    yield from _compared(views, ranks(tolerance=0.01), name, 10, rounds, within=0.0202)


def _outages(rounds: int) -> Iterator[Figure]:
    """A power grid without each of its branches."""
    table = read_grid()
    if table is None:
        yield _absent("without each branch", "grid-2869pegase-branch.csv.gz")
        return
    views = _graph(table).collection("outages", gt.without_each("edge"))
    yield from _compared(views, gt.algorithms.WCC, "components, without each branch", 10, rounds)


def _graph(table: EdgeTable, **more: Any) -> gt.Graph:
    ids = table.ids
    src, dst = ids[table.src], ids[table.dst]
    return gt.Graph(src, dst, vertices=ids, weight=weights(table.edges), **more)


def _compared(
    views: Any, program: Any, name: str, bar: float, rounds: int, within: float = 0.0
) -> Iterator[Figure]:
    """How many times faster sharing is than a run of every view from scratch; and equal.

    `within` is how far results of the two may be apart, as a share of them.
    """
    shared = [_took(views, program, "differential") for _ in range(rounds + 1)]
    scratch = [_took(views, program, "scratch") for _ in range(2)]
    took, whole = statistics.median(time for time, _ in shared[1:]), scratch[-1][0]
    note = f"{took:.3g} s shared, {whole:.3g} s from scratch; {len(views):,} views"
    yield Figure(name, whole / took, "at least", bar, "x", note, SECTION)
    differing = _differing(shared[-1][1], scratch[-1][1], within)
    yield Figure(f"{name}: views that differ", differing, "at most", 0, "", section=SECTION)


def _took(views: Any, program: Any, strategy: str) -> tuple[float, gt.Run]:
    with without_collector():
        began = clock()
        found = views.run(program, strategy=strategy)
        return clock() - began, found


def _differing(one: gt.Run, other: gt.Run, within: float) -> int:
    places = np.linspace(0, len(one) - 1, 25).astype(int).tolist()
    return sum(not _equal(one.values(at), other.values(at), within) for at in places)


def _equal(ours: Any, theirs: Any, within: float) -> bool:
    """Bit by bit, or within a share: distances may be infinite, ranks are not."""
    if not within:
        return np.array_equal(ours, theirs)
    return np.allclose(ours, theirs, rtol=within, atol=0)


def _absent(name: str, file: str) -> Figure:
    return Figure(name, None, "at least", 1, "x", data.missing(file), SECTION)
