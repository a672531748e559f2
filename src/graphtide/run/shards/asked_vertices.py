"""Vertices that a program names, found by tasks of Spark: the driver reads no ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
import pyarrow as pa

from graphtide.run.collection.stored_vertices import Found, StoredVertices
from graphtide.run.live.given_ids import Ids
from graphtide.run.live.vertex_ids import Int32
from graphtide.store.graph import StoredGraph

AT_ONCE = 1000
"""One job looks for this many ids, which the statistics of the files can narrow."""


class Asked(Protocol):
    """Who finds vertices."""

    def vertices_with_ids(self, stored: StoredGraph, ids: list[int | str]) -> pa.Table:
        """`_vertex`, `_id` and, where there are several labels, `_label` of those that have one."""


class AskedVertices(StoredVertices):
    """The vertices of a stored graph, of which those are known that were asked for."""

    def __init__(self, stored: StoredGraph, asked: Asked) -> None:
        super().__init__(stored, paged=True)
        self._asked = asked
        self._answers: dict[int | str, Found] = {}

    def numbers(self, ids: Ids) -> Int32:
        """The number of each id, -1 where there is none, or where several labels have it."""
        given = (self._as_id(self._parted(item)[1]) for item in ids.tolist())
        self._ask(item.as_py() for item in given if item is not None)
        return super().numbers(ids)

    def _with_id(self, wanted: pa.Scalar) -> Found:
        self._ask([wanted.as_py()])
        return self._answers[wanted.as_py()]

    def _ask(self, ids: Iterable[int | str]) -> None:
        new = [item for item in dict.fromkeys(ids) if item not in self._answers]
        for first in range(0, len(new), AT_ONCE):
            some = new[first : first + AT_ONCE]
            self._take_in(some, self._asked.vertices_with_ids(self.stored, some))

    def _take_in(self, asked: list[int | str], rows: pa.Table) -> None:
        matches: dict[int | str, list[tuple[int, str | None]]] = {item: [] for item in asked}
        labels = rows.column("_label") if self._several else pa.nulls(rows.num_rows)
        columns = rows.column("_id"), rows.column("_vertex"), labels
        for id_, number, label in zip(*(item.to_pylist() for item in columns), strict=True):
            matches[id_].append((number, label))
        for id_, there in matches.items():
            there.sort()
            numbers = np.array([number for number, _ in there], np.int64)
            self._answers[id_] = numbers, [label for _, label in there] if self._several else []
