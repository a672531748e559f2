"""The costs of entries in as few bytes as hold them, without the edges by which walks came.

An entry is known by its item, vertex * states + state. Where few items have a cost they are listed,
4 bytes each beside their costs; otherwise each item has a place, and that of one without a cost
holds the largest number of its type. Costs take a byte, two, or eight, whichever holds them all: a
search that reaches most vertices in some hops keeps one byte for each vertex.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.queries.values import NO_BYTE, NO_SMALL

Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]

_TYPES: dict[int, tuple[Any, float]] = {
    1: (np.uint8, NO_BYTE),
    2: (np.uint16, NO_SMALL),
    8: (np.float64, np.inf),
}
_NO_ITEMS = np.empty(0, np.int32)


class Packed(NamedTuple):
    """Costs by item; `items` is empty where each has its place in `costs`, unless both are."""

    items: Int32
    costs: NDArray[Any]

    @property
    def nbytes(self) -> int:
        """The memory that they take."""
        return int(self.items.nbytes + self.costs.nbytes)

    @property
    def is_listed(self) -> bool:
        """Whether items are listed."""
        return len(self.items) == len(self.costs)

    @property
    def width(self) -> int:
        """The bytes of a cost."""
        return int(self.costs.dtype.itemsize)

    @property
    def filled(self) -> int:
        """How many items have a cost."""
        return int(np.count_nonzero(self.costs != _TYPES[self.width][1]))

    def entries(self) -> tuple[Int32, Float64]:
        """All items that have a place in order, and their costs, infinity for none; copies."""
        none = _TYPES[self.width][1]
        if self.is_listed:
            costs = self.costs.astype(np.float64)
            costs[self.costs == none] = np.inf
            return self.items.copy(), costs
        items = np.flatnonzero(self.costs != none)
        return items.astype(np.int32), self.costs[items].astype(np.float64)

    def cost(self, item: int) -> float:
        """The cost of an item; infinity where it has none."""
        place = int(np.searchsorted(self.items, item)) if self.is_listed else item
        if place >= len(self.costs) or (self.is_listed and self.items[place] != item):
            return np.inf
        cost = float(self.costs[place])
        return np.inf if cost == _TYPES[self.width][1] else cost


class Layout(NamedTuple):
    """How costs are packed: `listed` or not, so many places, of so many bytes."""

    listed: bool
    places: int
    width: int

    @classmethod
    def smallest(cls, count: int, size: int, width: int) -> Layout:
        """That of `count` items of `size` which takes the fewest bytes."""
        listed = count * (4 + width) < size * width
        return cls(listed, count if listed else size, width)

    @property
    def nbytes(self) -> int:
        """The memory that they take."""
        return self.places * (self.width + 4 * self.listed)

    def empty(self) -> Packed:
        """Places without costs."""
        kind, none = _TYPES[self.width]
        items = np.empty(self.places, np.int32) if self.listed else _NO_ITEMS
        return Packed(items, np.full(self.places, none, kind))


def width_of(costs: Float64) -> int:
    """The fewest bytes that hold each cost, or none."""
    costs = costs[costs < np.inf]
    if (costs >= NO_SMALL).any() or (costs != np.floor(costs)).any():
        return 8
    return 2 if (costs >= NO_BYTE).any() else 1


def packed_list(items: Int32, costs: Float64) -> Packed:
    """Items in order, listed with their costs, of which some may be none."""
    made, there = Layout(True, len(items), width_of(costs)).empty(), costs < np.inf
    made.items[:], made.costs[there] = items, costs[there]
    return made
