"""Arrays that grow at the end, and slabs made of them.

Growing at least doubles the room, so that appending one at a time costs O(1) each on average.
Kernels see plain arrays: `view` is the part that is in use, and is to be taken anew after every
growth. What lies behind it keeps what it held, so that a slab given up by undoing is used again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.adjacency import Slabs, fill_slabs, move_slabs
from graphtide.model.errors import LimitError

Int32 = NDArray[np.int32]
_MOST_ENTRIES = 2**31 - 1


class GrowingArray:
    """An array of which the first `length` rows are in use."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._room = values
        self.length = len(values)

    @property
    def view(self) -> NDArray[Any]:
        """The rows in use; not a copy."""
        return self._room[: self.length]

    def resize(self, length: int) -> None:
        """More rows (0, or what they held before) or fewer."""
        if length > len(self._room):
            larger = np.zeros((max(length, 2 * len(self._room)), *self._room.shape[1:]), self.dtype)
            larger[: self.length] = self.view
            self._room = larger
        self.length = length

    def extend(self, values: NDArray[Any]) -> None:
        """Append rows."""
        before = self.length
        self.resize(before + len(values))
        self._room[before : self.length] = values

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of an element."""
        return self._room.dtype


class GrowingSlabs:
    """One direction of an adjacency; `view` is what kernels take."""

    def __init__(self, vertices: int, ends: Int32, others: Int32) -> None:
        _check_entries(len(ends))
        room = np.bincount(ends, minlength=vertices)
        start = np.zeros(vertices, np.int64)
        np.cumsum(room[:-1], out=start[1:])
        self._start = GrowingArray(start)
        self._live = GrowingArray(np.zeros(vertices, np.int32))
        self._used = GrowingArray(np.zeros(vertices, np.int32))
        self._room = GrowingArray(room.astype(np.int32))
        self._neighbour = GrowingArray(np.empty(len(ends), np.int32))
        self._edge = GrowingArray(np.empty(len(ends), np.int32))
        self._slot = GrowingArray(np.empty(len(ends), np.int32))
        fill_slabs(self.view, ends, others, 0)

    @property
    def view(self) -> Slabs:
        """The slabs as they are now; of no use after the next growth."""
        return Slabs(
            start=self._start.view,
            live=self._live.view,
            used=self._used.view,
            room=self._room.view,
            neighbour=self._neighbour.view,
            edge=self._edge.view,
            slot=self._slot.view,
        )

    def resize(self, vertices: int, edges: int) -> None:
        """More or fewer vertices and edge numbers; those that go must have no entries left."""
        for array in (self._start, self._live, self._used, self._room):
            array.resize(vertices)
        self._slot.resize(edges)

    def append(self, ends: Int32, others: Int32) -> None:
        """Edges with the next numbers, not live. O(edges, and slabs that had to move)."""
        first = self._slot.length
        self._make_room(ends)
        self._slot.resize(first + len(ends))
        fill_slabs(self.view, ends, others, first)

    def _make_room(self, ends: Int32) -> None:
        vertices, more = np.unique(ends, return_counts=True)
        needed = self._used.view[vertices] + more
        rooms = self._room.view[vertices]
        full = needed > rooms
        vertices = vertices[full]
        larger = np.maximum(2 * rooms[full].astype(np.int64), needed[full])
        end = self._neighbour.length
        starts = end + np.cumsum(larger) - larger
        _check_entries(end + int(larger.sum()))
        for pool in (self._neighbour, self._edge):
            pool.resize(end + int(larger.sum()))
        move_slabs(self.view, vertices, starts, larger)


def _check_entries(count: int) -> None:
    if count > _MOST_ENTRIES:
        raise LimitError(
            f"{count:,} edges are more than one graph in memory can hold",
            hint="leave out edges, or give the graph to several processes in parts",
        )
