"""Searches that keep the cost of each entry, packed, without the edges by which walks came.

An entry is known by its item, vertex * states + state. Where few items have a cost they are listed,
4 bytes each beside their costs; otherwise each item has a place, and that of one without a cost
holds the largest number of its type. Costs take a byte, two, or eight, whichever holds them all.

One compiled call tells which searches a batch concerns. One after the other, these are followed
where edges only came, and searched anew where some went. What one such search borrows is granted
before the first of them keeps its values, and for as long as any does (`scratch`): so none of them
is refused for what it only borrows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget, GrantedArray, one_more
from graphtide.engine.queries.fixpoint import (
    Fixpoints,
    dense_arrays,
    dense_bytes,
    fits_arrays,
    item_bytes,
)
from graphtide.engine.queries.searches import Search
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.blocks import WORDS, Block
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.queries.batch import LOOKED, DenseSearch, find_all
from graphtide.kernels.queries.concerns import (
    NO_BYTE,
    NO_SMALL,
    Values,
    improve,
    list_changes,
    mark_values,
    width_for,
    write_costs,
)
from graphtide.model.errors import LimitError

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
        return int(self.items.nbytes + self.costs.nbytes)

    @property
    def is_listed(self) -> bool:
        return len(self.items) == len(self.costs)

    @property
    def width(self) -> int:
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
        place = int(np.searchsorted(self.items, item)) if self.is_listed else item
        if place >= len(self.costs) or (self.is_listed and self.items[place] != item):
            return np.inf
        cost = float(self.costs[place])
        return np.inf if cost == _TYPES[self.width][1] else cost


class CostLayout(NamedTuple):
    """How costs are packed: `listed` or not, so many places, of so many bytes."""

    listed: bool
    places: int
    width: int

    @classmethod
    def smallest(cls, count: int, size: int, width: int) -> CostLayout:
        """The layout of `count` items of `size` that takes the fewest bytes."""
        listed = count * (4 + width) < size * width
        return cls(listed, count if listed else size, width)

    @property
    def nbytes(self) -> int:
        return self.places * (self.width + 4 * self.listed)

    def empty(self) -> Packed:
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
    made, there = CostLayout(True, len(items), width_of(costs)).empty(), costs < np.inf
    made.items[:], made.costs[there] = items, costs[there]
    return made


EntryChanges = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""Vertices, states and values as they were before, infinity where there was none, by vertex."""


class AnswerChanges:
    """Changes by search: items in order, with what they cost before."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._told: dict[int, Packed] = {}

    @property
    def nbytes(self) -> int:
        return sum(change.nbytes for change in self._told.values())

    def numbers(self) -> set[int]:
        return set(self._told)

    def get(self, number: int, states: int) -> EntryChanges | None:
        """What changed of a search whose automaton has so many states."""
        if number not in self._told:
            return None
        items, costs = self._told[number].entries()
        return items // states, items % states, costs

    def tell(self, number: int, change: Packed) -> None:
        """Note what changed of a search, if anything did, in place of an earlier note."""
        if len(change.items):
            self._budget.take(change.nbytes)
            self.forget(number)
            self._told[number] = change

    def add(self, number: int, target: int, before: float) -> None:
        """Note one more target of a search of one state, with what it cost before."""
        vertices, _, values = self.get(number, 1) or (np.empty(0, np.int32),) * 2 + (np.empty(0),)
        at = int(np.searchsorted(vertices, target))
        vertices, values = np.insert(vertices, at, target), np.insert(values, at, before)
        self.tell(number, packed_list(vertices, values))

    def forget(self, number: int) -> None:
        change = self._told.pop(number, None)
        self._budget.give(0 if change is None else change.nbytes)

    def clear(self) -> None:
        for number in list(self._told):
            self.forget(number)


_KINDS: tuple[Any, ...] = (np.int32, np.int32, np.int8, np.int8)
SEARCH, START, WIDTH, MARK = range(4)
_EACH = 2 * WORDS
"""The words of the two arrays of a search."""


class SearchResult(NamedTuple):
    """What a search has reached, in order, in arrays; how many edges it looked at."""

    dense: DenseSearch
    reached: int
    looked: int


class ValueAnswers:
    """The values of all searches that keep them, by slot."""

    def __init__(self, graph: ResidentGraph, fixpoints: Fixpoints, budget: Budget) -> None:
        self._graph, self._fixpoints, self._budget = graph, fixpoints, budget
        self._columns = [GrantedArray(budget, 0, kind) for kind in _KINDS]
        self._arrays = GrantedArray(budget, 0, np.int64)
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        self._searches: dict[int, Search] = {}
        self._packed: dict[int, Packed] = {}
        self._kept = 0
        self._shapes: Counter[tuple[int, int]] = Counter()

    def __contains__(self, number: int) -> bool:
        return number in self._searches

    def __len__(self) -> int:
        return len(self._searches)

    @property
    def nbytes(self) -> int:
        columns = sum(item.room.nbytes for item in (*self._columns, self._arrays))
        return columns + self._kept + self._budget.scratch

    def bytes_of(self, number: int) -> int:
        return self._packed[number].nbytes

    def count(self, number: int) -> int:
        return self._packed[number].filled

    def keep(self, number: int, search: Search) -> int:
        """Keep the values of a search, from scratch; how many edges were looked at."""
        self.hold(search)
        with self.searched(number, search) as found:
            self._write_found(number, search, found)
        return found.looked

    def keep_entries(self, number: int, search: Search, items: Int32, costs: Float64) -> None:
        """Keep values that are given, by item in order."""
        layout = CostLayout.smallest(len(items), self._size(search), width_of(costs))
        packed = self._new(layout, number)
        if layout.listed:
            packed.items[:], packed.costs[:] = items, costs
        else:
            packed.costs[items] = costs
        self._write(number, search, packed)

    def drop(self, number: int) -> None:
        search, slot = self._searches.pop(number), self._slots.pop(number)
        nbytes = self._packed.pop(number).nbytes
        self._kept -= nbytes
        self._budget.give(nbytes)
        self._columns[SEARCH].view[slot] = -1
        self._free.append(slot)
        self._shapes[_shape(search)] -= 1
        self._budget.hold(min(self.borrowed, self._budget.scratch))

    def entries(self, number: int) -> tuple[Int32, Float64]:
        """The entries of a search, items and costs; a copy."""
        return self._packed[number].entries()

    def value(self, number: int, item: int) -> float:
        return self._packed[number].cost(item)

    def concerned(self, delta: Delta) -> tuple[list[int], int]:
        """The searches that a batch concerns; edges looked at."""
        if not self._searches:
            return [], 0
        self.hold()  # The graph may have more vertices.
        view = self._view()
        ends = delta.sources, delta.targets
        words = self._fixpoints.words()
        looked = mark_values(words, view, delta.inserted, delta.deleted, ends)
        return view.search[np.flatnonzero(view.mark)].tolist(), looked

    def again(self, number: int, delta: Delta, most: int) -> tuple[Packed, int]:
        """Follow edges that came; search anew where some went, or more edges would be looked at.

        The entries that changed as they were, and how many edges were looked at.
        """
        search, looked = self._searches[number], 0
        if not len(delta.deleted) and not self._packed[number].is_listed:
            changed, looked = self._improved(number, delta, most)
            if changed is not None:
                return changed, looked
        with self.searched(number, search) as found:
            changed = self._changes(number, found)
            self._write_found(number, search, found)
        return changed, looked + found.looked

    def _improved(self, number: int, delta: Delta, most: int) -> tuple[Packed | None, int]:
        """Lower costs in place by edges that came; None where a search anew is better."""
        packed, search = self._packed[number], self._searches[number]
        batch = delta.inserted, delta.sources, delta.targets
        with dense_arrays(search, self._graph.vertices, self._budget) as dense:
            given = self._fixpoints.words(), self._view(), self._slots[number], dense
            count, looked = improve(*given, batch, most), int(dense.sizes[LOOKED])
            if count < 0:
                return None, looked
            items = np.sort(dense.reached[:count])
            changed = Packed(items, packed.costs[items])
            packed.costs[items] = dense.value[items]
        return changed, looked

    def hold(self, search: Search | None = None) -> None:
        """Have as much granted as any search borrows that keeps its values, or another that will.

        LacksRoomError leaves it as it was.
        """
        most = 0 if search is None else dense_bytes(search, self._graph.vertices)
        self._budget.hold(max(most, self.borrowed))

    @property
    def borrowed(self) -> int:
        """What any of them borrows at most on the graph as it is."""
        each = (states * size for (states, size), count in self._shapes.items() if count)
        return int(self._graph.vertices) * max(each, default=0)

    @contextmanager
    def searched(self, number: int, search: Search) -> Iterator[SearchResult]:
        """All entries of a search from scratch, in arrays."""
        if not fits_arrays(search, self._graph.vertices):
            raise LimitError(
                "a query does not fit its budget, and is too large to be computed anew",
                hint="set a larger budget, or none: graph.set_budget(None)",
            )
        with dense_arrays(search, self._graph.vertices, self._budget) as dense:
            count = find_all(self._fixpoints.words(), dense, number, search.start)
            dense.reached[:count].sort()
            yield SearchResult(dense, count, int(dense.sizes[LOOKED]))

    def _changes(self, number: int, found: SearchResult) -> Packed:
        """The entries that the search found otherwise, as they were."""
        width = self._packed[number].width
        given = self._view(), self._slots[number], found.dense, found.reached
        count = list_changes(*given, _arrays(CostLayout(True, 0, width).empty()))
        changed = CostLayout(True, count, width).empty()
        list_changes(*given, _arrays(changed))
        return changed

    def _write_found(self, number: int, search: Search, found: SearchResult) -> None:
        dense, count = found.dense, found.reached
        layout = CostLayout.smallest(count, self._size(search), width_for(dense, count))
        packed = self._new(layout, number)
        packed.items[:] = dense.reached[: len(packed.items)]
        write_costs(dense, count, packed.costs, layout.listed)
        self._write(number, search, packed)

    def _size(self, search: Search) -> int:
        return self._graph.vertices * search.automaton.states

    def _new(self, layout: CostLayout, number: int) -> Packed:
        """Room for values, granted as far as it is more than what a search has, and a slot.

        What it has goes when this is written; both are there until then, in the scratch.
        """
        if number not in self._slots:
            self._new_slot()
        more = max(0, layout.nbytes - self._nbytes(number))
        self._budget.take(more)
        try:
            return layout.empty()
        except BaseException:
            self._budget.give(more)
            raise

    def _nbytes(self, number: int) -> int:
        return self._packed[number].nbytes if number in self._packed else 0

    def _write(self, number: int, search: Search, packed: Packed) -> None:
        """Store the values of a search in place of earlier ones."""
        if number not in self._slots:
            self._slots[number] = self._free.pop()
            self._shapes[_shape(search)] += 1
        slot, before = self._slots[number], self._nbytes(number)
        self._kept += packed.nbytes - before
        self._budget.give(max(0, before - packed.nbytes))
        self._searches[number], self._packed[number] = search, packed
        width = -packed.width if packed.is_listed else packed.width
        start = search.start * search.automaton.states
        for at, value in {SEARCH: number, START: start, WIDTH: width, MARK: 0}.items():
            self._columns[at].view[slot] = value
        self._arrays.view[_EACH * slot : _EACH * (slot + 1)] = Block(*packed).words

    def _new_slot(self) -> None:
        if not self._free:
            self._arrays.reserve(_EACH * (self._columns[SEARCH].length + 1))
            slot = one_more(self._columns)
            self._arrays.resize(_EACH * (slot + 1))
            self._columns[SEARCH].view[slot] = -1
            self._free.append(slot)

    def _view(self) -> Values:
        """What kernels take, anew after every change."""
        columns: list[Any] = [column.view for column in self._columns]
        return Values(*[*columns, self._arrays.view])


def _arrays(packed: Packed) -> tuple[Int32, NDArray[Any]]:
    return packed.items, packed.costs


def _shape(search: Search) -> tuple[int, int]:
    """What says how much a search borrows: its states, and the bytes of each."""
    return search.automaton.states, item_bytes(search)
