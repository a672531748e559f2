"""Rows matched with the edges of a graph in memory.

By their ends, and by properties where rows have them. Two equal rows mean two parallel edges, so
every row gets an edge of its own. No index of edges is kept: a row costs a look through the
shorter of the two slabs that could hold it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.resident import ResidentGraph
from graphtide.run.live.edge_rows import ColumnNames, EdgeRows
from graphtide.run.live.vertex_ids import Int32, VertexIds


@dataclass(frozen=True)
class KnownEdges:
    """What rows are matched with: a graph, the ids of its vertices, the names of its columns."""

    resident: ResidentGraph
    ids: VertexIds
    names: ColumnNames
    simple: bool

    def text(self, edge: int) -> str:
        """An edge (inside number) as its row."""
        edges = np.array([edge], np.int32)
        ends = [self.ids[int(end[0])] for end in self.resident.ends(edges)]
        values = [column[edge].item() for column in self.resident.properties.values()]
        return f"({', '.join(map(repr, [*ends, *values]))})"


def matched_edges(
    known: KnownEdges, rows: EdgeRows, ends: tuple[Int32, Int32], *, alive: bool
) -> Int32:
    """For each row an edge of its own that is live (or known and not live), -1 where none is."""
    src, dst = ends
    count = known.resident.vertices
    there = np.flatnonzero((src < count) & (dst < count))
    bounds, found = known.resident.between(src[there], dst[there], alive)
    matched = np.full(len(rows), -1, np.int32)
    if not len(found):
        return matched
    row = np.repeat(there, np.diff(bounds))
    equal = np.ones(len(found), np.bool_)
    for name, column in rows.properties.items():
        equal &= _same(known.resident.properties[name][found], column[row])
    row, found = row[equal], found[equal]
    _assign(rows, ends, (row, found), matched)
    return matched


def _assign(
    rows: EdgeRows, ends: tuple[Int32, Int32], candidates: tuple[Any, Any], matched: Int32
) -> None:
    """Equal rows have the same candidates: the second takes the second, and so on."""
    taken: dict[Any, int] = {}
    row, found = candidates
    first = np.searchsorted(row, np.arange(len(rows) + 1))
    for at in np.unique(row).tolist():
        values = [column[at].item() for column in rows.properties.values()]
        # NaN does not equal itself: None stands for it.
        key = (int(ends[0][at]), int(ends[1][at]), *(v if v == v else None for v in values))
        place = taken.get(key, 0)
        taken[key] = place + 1
        if first[at] + place < first[at + 1]:
            matched[at] = found[first[at] + place]


def _same(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Equal, or both missing."""
    equal = np.asarray(one == other)
    if one.dtype.kind == "f":
        equal |= np.isnan(one) & np.isnan(other)
    return equal
