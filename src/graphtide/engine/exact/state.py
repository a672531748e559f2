"""What exact mode keeps a vertex, and the desk that an advance works at.

The entries of histories are one array of records, so that an entry is one place of memory; kernels
see its fields as arrays. The desk is made once and used by every advance; it grows when one needs
more room.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.kernels.exact import records
from graphtide.kernels.exact.histories import line_up_entries

COUNTERS = 9


class ExactState:
    """Last values and histories of so many vertices."""

    def __init__(self, vertices: int, dtype: Any, room: int) -> None:
        fields = [("value", dtype), ("time", np.int32), ("following", np.int32)]
        self._entries = np.empty(room, np.dtype(fields, align=True))
        self._free = np.array([-1, 0], np.int32)
        self._value = GrowingArray(np.empty(vertices, dtype))
        self._head = GrowingArray(np.full(vertices, -1, np.int32))
        self._stamp = GrowingArray(np.full(vertices, -1, np.int32))
        self._view()

    @property
    def vertices(self) -> int:
        """How many vertices have a history."""
        return self._value.length

    @property
    def value(self) -> NDArray[Any]:
        """The last value of every vertex; a view."""
        return self._value.view

    def fit(self, vertices: int) -> None:
        """Have so many vertices; those that come have no entries, and values yet to be set."""
        before = self.vertices
        for array in (self._value, self._head, self._stamp):
            array.resize(vertices)
        self._head.view[before:] = -1
        self._stamp.view[before:] = -1
        self._view()

    def grow(self, more: int) -> None:
        """Room for so many more entries than there are, and at least for half as many again."""
        room = len(self._entries) + max(more, len(self._entries) // 2)
        larger = np.empty(room, self._entries.dtype)
        larger[: len(self._entries)] = self._entries
        self._entries = larger
        self._view()

    def line_up(self) -> None:
        """Put the entries of each vertex side by side. O(entries); room stays as it is."""
        fresh = np.empty(len(self._entries), self._entries.dtype)
        line_up_entries(self.histories, fresh["time"], fresh["value"], fresh["following"])
        self._entries = fresh
        self._view()

    def _view(self) -> None:
        self.histories = records.Histories(
            head=self._head.view,
            stamp=self._stamp.view,
            time=self._entries["time"],
            value=self._entries["value"],
            following=self._entries["following"],
            free=self._free,
        )


def new_desk(room: int, dtype: Any, mark: NDArray[np.int32]) -> records.Desk:
    """A desk for so many visits, and as many vertices to be logged; `mark` is 0 for all vertices.

    Room that is not used takes no memory: it is never touched.
    """
    return records.Desk(
        visits=records.Visits(*(np.empty(room, np.int32) for _ in range(4))),
        log=records.Log(
            vertex=np.empty(room, np.int32),
            begin=np.zeros(room + 1, np.int32),
            last=np.empty(room, dtype),
            time=np.empty(4 * room, np.int32),
            value=np.empty(4 * room, dtype),
        ),
        changed=records.Changed(
            np.empty(room, np.int32), np.empty(room, np.bool_), np.zeros(room, dtype)
        ),
        times=np.empty(room, np.int32),
        mark=mark,
        counts=np.zeros(COUNTERS, np.int64),
    )


def logged(desk: records.Desk, vertices: int, entries: int) -> records.Log:
    """A copy of what the desk's log holds, to be kept while the desk is used again."""
    return records.Log(
        vertex=desk.log.vertex[:vertices].copy(),
        begin=desk.log.begin[: vertices + 1].copy(),
        last=desk.log.last[:vertices].copy(),
        time=desk.log.time[:entries].copy(),
        value=desk.log.value[:entries].copy(),
    )
