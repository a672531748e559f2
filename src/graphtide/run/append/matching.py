"""Edges of a stored graph that rows name by their ends, and by properties where rows give these.

The rows of one table give the same columns, so rows that agree in all of them can take each other's
edges: each takes one of its own, the one with the lowest number first. A value that a row leaves
empty is one that is missing in the edge, too.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.delta import EdgeIds, no_edges
from graphtide.store.edge_batches import end_batches
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import deleted_edges
from graphtide.store.tables import edge_table_rows

Int64 = NDArray[np.int64]


class NamedEdges:
    """The edges between some pairs of vertices, by what rows say of them.

    Edges of an undirected graph are named from either end. One pass over the ends of all edges;
    properties are read of the edges that are between a pair.
    """

    def __init__(
        self, stored: StoredGraph, src: Int64, dst: Int64, columns: dict[str, pa.DataType]
    ) -> None:
        numbers = _between(stored, src, dst)
        names = ["_src", "_dst", *columns]
        rows = edge_table_rows(stored, numbers, names)
        values = [
            rows.column(name).to_pylist()
            if name not in columns
            else rows.column(name).cast(columns[name]).to_pylist()
            for name in names
        ]
        self._directed = stored.directed
        self._edges: dict[tuple[Any, ...], deque[int]] = {}
        for number, *key in zip(numbers.tolist(), *values, strict=True):
            self._edges.setdefault(self._comparable(key), deque()).append(number)

    def of(self, row: Sequence[Any]) -> deque[int]:
        """The edges that a row names, ends first, and no other row has taken."""
        return self._edges.get(self._comparable(row), deque())

    def take(self, row: Sequence[Any]) -> int | None:
        """One of them, which is taken from now on; None if there is none."""
        waiting = self.of(row)
        return waiting.popleft() if waiting else None

    def _comparable(self, key: Sequence[Any]) -> tuple[Any, ...]:
        """The same for all that agree: NaN is a missing number."""
        ends = key[:2] if self._directed else sorted(key[:2])
        missing = [isinstance(item, float) and math.isnan(item) for item in key[2:]]
        same = [None if no else item for item, no in zip(key[2:], missing, strict=True)]
        return *ends, *same


def _between(stored: StoredGraph, src: Int64, dst: Int64) -> EdgeIds:
    """The numbers of the edges that are there and go from a `src` to the `dst` beside it, or back
    where the graph is undirected.
    """
    if not stored.directed:
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    named = np.zeros((2, stored.vertices), np.bool_)
    named[0, src], named[1, dst] = True, True
    between: list[EdgeIds] = [no_edges()]
    for first, sources, targets in end_batches(stored):
        near = np.flatnonzero(named[0, sources] & named[1, targets])
        pairs = sources[near].astype(np.int64) << 32 | targets[near]
        between.append(first + near[np.isin(pairs, src << 32 | dst)])
    numbers = np.concatenate(between).astype(stored.number_type)
    return np.setdiff1d(numbers, deleted_edges(stored), assume_unique=True)
