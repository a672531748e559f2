"""Rings of four over sx-mathoverflow, day by day, beside a plain loop that looks for new ones only.

A ring is a cycle of four different vertices along edges of increasing time, all within seven days;
parallel edges make rings of their own. Without that limit there would be too many to enumerate:
3.7 million within thirty days. Each day inserts its edges: ours by columns of users' ids through
`live.advance`, the plain loop by vertex numbers. The two take turns, month by month, and the rings
of every vertex are compared at the end of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import graphtide as gt
from bench import data, plain_rings
from bench.figures import Figure
from bench.maintained import Rows, time_batches
from bench.peers import AbsentError
from bench.runs_collections import DAY
from bench.runs_graphs import EdgeTable, Int64, read_edges
from bench.timing import clock, without_collector

FILE, SECTION = "sx-mathoverflow.txt.gz", "sx-mathoverflow, rings of four, day by day"
NAME = "rings of four within seven days, times a plain loop"
WITHIN, MONTH, BAR = 7 * DAY, 30, 2.0


@dataclass(frozen=True)
class Days:
    """Edges in the order of their times, and where each day begins; the last number is the end."""

    table: EdgeTable
    edges: plain_rings.Edges
    starts: Int64

    def columns(self, start: int, end: int) -> dict[str, Any]:
        """Edges as users give them."""
        ids, edges = self.table.ids, self.edges
        ends = ids[edges.src[start:end]], ids[edges.dst[start:end]]
        return {"src": ends[0], "dst": ends[1], "time": edges.time[start:end]}

    def months(self) -> Iterator[Int64]:
        """The bounds of the days of each month, but for the first day, which is there at first."""
        for first in range(1, len(self.starts) - 1, MONTH):
            yield self.starts[first : first + MONTH + 1]


def ring_figures() -> Iterator[Figure]:
    """Seconds of all days, over those of the plain loop, and whether both found the same."""
    table = read_edges(FILE, directed=True)
    try:
        if table is None:
            raise AbsentError(data.missing(FILE))
        yield from _compared(by_day(table), _program())
    except AbsentError as reason:
        yield Figure(NAME, None, "at most", BAR, "x", str(reason), SECTION)


def by_day(table: EdgeTable) -> Days:
    """Sort edges by time, and find where days begin."""
    order = np.argsort(table.time, kind="stable")
    edges = plain_rings.Edges(table.src[order], table.dst[order], table.time[order])
    day = (edges.time - edges.time[0]) // DAY
    starts = np.flatnonzero(np.diff(day, prepend=-1))
    return Days(table, edges, np.append(starts, len(day)))


def _warm_up(days: Days, program: Any) -> None:
    """Let everybody compile, on the first two days."""
    first, second = (int(start) for start in days.starts[1:3])
    live = gt.Graph(**days.columns(0, first), vertices=days.table.ids).maintain(program)
    live.advance(insert=days.columns(first, second))
    kept = plain_rings.begin(days.table.vertices, days.table.edges)
    plain_rings.arrive(kept, days.edges, 0, first, WITHIN)


def _compared(days: Days, program: Any) -> Iterator[Figure]:
    _warm_up(days, program)
    live = gt.Graph(**days.columns(0, days.starts[1]), vertices=days.table.ids).maintain(program)
    kept = plain_rings.begin(days.table.vertices, days.table.edges)
    rings = plain_rings.arrive(kept, days.edges, 0, days.starts[1], WITHIN)
    ours = plain = 0.0
    differing = 0
    for bounds in days.months():
        pieces = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
        ours += sum(time_batches(live, [Rows(days.columns(*piece), None) for piece in pieces]))
        seconds, closed = _plain(kept, days.edges, pieces)
        plain, rings = plain + seconds, rings + closed
        differing += int((live["rings"] != kept.found).sum())
    count = len(days.starts) - 2
    note = f"{ours:.3g} s over {plain:.3g} s; {count:,} days, {rings:,} rings"
    yield Figure(NAME, ours / plain, "at most", BAR, "x", note, SECTION)
    name = "rings, values that differ from a plain loop"
    yield Figure(name, differing, "at most", 0, "", "at the end of each month", SECTION)


def _plain(
    kept: plain_rings.Arrived, edges: plain_rings.Edges, pieces: list[tuple[int, int]]
) -> tuple[float, int]:
    """Seconds of the plain loop over some days, and the rings that they close."""
    seconds, rings = 0.0, 0
    with without_collector():
        for start, end in pieces:
            began = clock()
            rings += plain_rings.arrive(kept, edges, start, end, WITHIN)
            seconds += clock() - began
    return seconds, rings


def _program() -> Any:
    """The program of users; AbsentError where no walk can be read yet."""
    try:
        from bench.walks_ring_program import Rings
    except gt.GraphtideError as reason:
        raise AbsentError(f"skipped: no walk can be read: {reason.what}") from reason
    program: Any = Rings
    return program(within=WITHIN)
