"""A graph in memory: live-prefix adjacency and edge properties, growing as edges arrive.

All edges ever seen keep their number; a version is which of them are live. Edges given at the
start are numbered by source inside, so that a scan of out-edges reads their properties in
sequence; `numbers` leads from the caller's edge numbers to these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.adjacency import (
    Adjacency,
    Slabs,
    fill_slabs,
    first_misplaced,
    flip_edges,
    revive_all,
)
from graphtide.model.errors import InputError, LimitError

Int32 = NDArray[np.int32]
_MOST_ENTRIES = 2**31 - 1


class ResidentGraph:
    """Vertices 0 to `vertices` - 1 and edges by number, with both directions at hand."""

    def __init__(
        self,
        vertices: int,
        src: Int32,
        dst: Int32,
        properties: Mapping[str, NDArray[Any]] | None = None,
        *,
        live: bool = True,
    ) -> None:
        order = np.argsort(src, kind="stable")
        self.vertices = vertices
        self.numbers = _inverse(order)
        self.properties = {
            name: np.ascontiguousarray(values[order]) for name, values in (properties or {}).items()
        }
        sorted_src, sorted_dst = src[order], dst[order]
        self.adjacency = Adjacency(
            _slabs(vertices, sorted_src, sorted_dst), _slabs(vertices, sorted_dst, sorted_src)
        )
        if live:
            revive_all(self.adjacency.out)
            revive_all(self.adjacency.into)

    @property
    def edges(self) -> int:
        """How many edges are known, live or not."""
        return len(self.adjacency.out.slot)

    def flip(self, inserted: Int32, deleted: Int32) -> None:
        """Bring edges (inside numbers) in and out. O(1) an edge; refuses what is already so."""
        for edges, alive in ((deleted, False), (inserted, True)):
            self._check(edges, alive)
        flip_edges(self.adjacency, deleted, False)
        flip_edges(self.adjacency, inserted, True)

    def _check(self, edges: Int32, alive: bool) -> None:
        if len(np.unique(edges)) != len(edges):
            raise InputError("an edge is listed twice in one delta")
        at = first_misplaced(self.adjacency, edges, alive)
        if at >= 0:
            state = "already there" if alive else "not there"
            raise InputError(
                f"edge {int(edges[at])} cannot be {'inserted' if alive else 'deleted'}: "
                f"it is {state}"
            )


def _inverse(order: NDArray[np.int64]) -> Int32:
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return numbers


def _slabs(vertices: int, ends: Int32, others: Int32) -> Slabs:
    if len(ends) > _MOST_ENTRIES:
        raise LimitError(f"{len(ends):,} edges are more than one graph in memory can hold")
    room = np.bincount(ends, minlength=vertices)
    start = np.concatenate([[0], np.cumsum(room)[:-1]]).astype(np.int64)
    slabs = Slabs(
        start=start,
        live=np.zeros(vertices, np.int32),
        used=np.zeros(vertices, np.int32),
        room=room.astype(np.int32),
        neighbour=np.empty(len(ends), np.int32),
        edge=np.empty(len(ends), np.int32),
        slot=np.empty(len(ends), np.int32),
    )
    fill_slabs(slabs, ends, others, 0)
    return slabs
