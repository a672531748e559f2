"""Searches that keep the cost of each entry, without the edges by which walks came.

Six bytes an entry instead of eight and what rows leave free; where costs are no small whole
numbers, twelve instead of fourteen. One compiled call tells which of them a batch concerns; these
are searched anew.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget, GrantedArray, one_more
from graphtide.engine.queries.fixpoint import Fixpoints
from graphtide.engine.queries.searches import Search
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.queries.values import Values, mark_values

Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]

_KINDS: tuple[Any, ...] = (np.int32, np.int32, np.int64, np.int32, np.int8)
SEARCH, START, FIRST, LENGTH, MARK = range(5)
_SMALL = np.iinfo(np.uint16).max


class Entries(NamedTuple):
    """Items in order (vertex * states + state), and what each costs."""

    items: Int32
    values: NDArray[Any]


Find = Callable[[int, Search], AbstractContextManager[tuple[Entries, int]]]
"""All entries of a search from scratch, and how many edges that looked at; granted meanwhile."""


class ValueTable:
    """Searches whose values are of one type."""

    def __init__(self, budget: Budget, dtype: Any) -> None:
        self._budget = budget
        self._columns = [GrantedArray(budget, 0, kind) for kind in _KINDS]
        self._items = GrantedArray(budget, 0, np.int32)
        self._values = GrantedArray(budget, 0, dtype)
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        self._wasted = 0

    def __contains__(self, number: int) -> bool:
        return number in self._slots

    @property
    def nbytes(self) -> int:
        """All memory that they take."""
        return sum(item.room.nbytes for item in (*self._columns, self._items, self._values))

    @property
    def width(self) -> int:
        """The bytes of an entry."""
        return self._items.dtype.itemsize + self._values.dtype.itemsize

    def length(self, number: int) -> int:
        """How many entries a search has."""
        return int(self._columns[LENGTH].view[self._slots[number]])

    def entries(self, number: int) -> Entries:
        """Those of a search; not a copy."""
        slot = self._slots[number]
        first, length = (int(self._columns[at].view[slot]) for at in (FIRST, LENGTH))
        return Entries(*(part.view[first : first + length] for part in (self._items, self._values)))

    def write(self, number: int, start: int, entries: Entries) -> None:
        """Keep the entries of a search, in place of what it kept; LacksRoomError leaves that."""
        slot = self._slots[number] if number in self._slots else self._new_slot()
        columns, length = self._columns, len(entries.items)
        before = int(columns[LENGTH].view[slot]) if number in self._slots else 0
        first = int(columns[FIRST].view[slot])
        if length > before:
            first = self._items.length
            self._items.reserve(first + length)
            self._values.resize(first + length)
            self._items.resize(first + length)
        self._wasted += before if length > before else before - length
        for kept, given in zip((self._items, self._values), entries, strict=True):
            kept.view[first : first + length] = given
        if number not in self._slots:
            self._free.remove(slot)
            self._slots[number] = slot
        written = {SEARCH: number, START: start, FIRST: first, LENGTH: length, MARK: 0}
        for at, value in written.items():
            columns[at].view[slot] = value
        self._close_up()

    def drop(self, number: int) -> None:
        """Keep nothing of a search any more."""
        slot = self._slots.pop(number)
        self._wasted += int(self._columns[LENGTH].view[slot])
        self._columns[SEARCH].view[slot] = -1
        self._columns[LENGTH].view[slot] = 0
        self._free.append(slot)
        self._close_up()

    def concerned(self, words: NDArray[np.int64], delta: Delta) -> tuple[list[int], int]:
        """The searches that a batch concerns; edges looked at."""
        if not self._slots:
            return [], 0
        parts = *self._columns, self._items, self._values
        arrays: list[Any] = [part.view for part in parts]
        view = Values(*arrays)
        ends = delta.sources, delta.targets
        looked = mark_values(words, view, delta.inserted, delta.deleted, ends)
        return view.search[np.flatnonzero(view.mark)].tolist(), looked

    def _new_slot(self) -> int:
        if not self._free:
            slot = one_more(self._columns)
            self._columns[SEARCH].view[slot] = -1
            self._free.append(slot)
        return self._free[-1]

    def _close_up(self) -> None:
        """Move entries together where a fourth of the room is of no use, and give that back."""
        if 4 * self._wasted <= self._items.length:
            return
        columns, end = self._columns, 0
        slots = sorted(self._slots.values(), key=lambda slot: int(columns[FIRST].view[slot]))
        for slot in slots:
            first, length = int(columns[FIRST].view[slot]), int(columns[LENGTH].view[slot])
            for kept in (self._items, self._values):
                kept.view[end : end + length] = kept.view[first : first + length]
            columns[FIRST].view[slot] = end
            end += length
        self._wasted = 0
        for kept in (self._items, self._values):
            kept.cut(end)


class ValueAnswers:
    """The values of all searches that keep them, small whole numbers in two bytes."""

    def __init__(self, fixpoints: Fixpoints, budget: Budget, find: Find) -> None:
        self._fixpoints, self._budget, self._find = fixpoints, budget, find
        self._tables = ValueTable(budget, np.uint16), ValueTable(budget, np.float64)
        self._searches: dict[int, Search] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._searches

    def __len__(self) -> int:
        return len(self._searches)

    @property
    def nbytes(self) -> int:
        """All memory that they take."""
        return sum(table.nbytes for table in self._tables)

    def bytes_of(self, number: int) -> int:
        """What the values of a search take."""
        table = self._table(number)
        return table.width * table.length(number)

    def count(self, number: int) -> int:
        """How many entries a search has."""
        return self._table(number).length(number)

    def keep(self, number: int, search: Search, entries: Entries | None = None) -> int:
        """Keep the values of a search, as they are given or else from scratch; edges looked at."""
        looked = 0
        if entries is not None:
            self._write(number, search, entries)
        else:
            with self._find(number, search) as (searched, looked):
                self._write(number, search, searched)
        self._searches[number] = search
        return looked

    def drop(self, number: int) -> None:
        """Keep the values of a search no more."""
        self._table(number).drop(number)
        del self._searches[number]

    def entries(self, number: int) -> Entries:
        """The entries of a search, with costs as numbers with fractions; a copy."""
        items, values = self._table(number).entries(number)
        return Entries(items.copy(), values.astype(np.float64))

    def value(self, number: int, item: int) -> float:
        """The cost of one entry; infinity where there is none."""
        items, values = self._table(number).entries(number)
        at = int(np.searchsorted(items, item))
        return float(values[at]) if at < len(items) and items[at] == item else np.inf

    def concerned(self, delta: Delta) -> tuple[list[int], int]:
        """The searches that a batch concerns; edges looked at."""
        if not self._searches:
            return [], 0
        words = self._fixpoints.words()
        parts = [table.concerned(words, delta) for table in self._tables]
        return [number for numbers, _ in parts for number in numbers], sum(p[1] for p in parts)

    def again(self, number: int) -> tuple[Entries, int]:
        """Search anew; the entries that changed as they were, and how many edges were looked at."""
        search = self._searches[number]
        with self._find(number, search) as (searched, looked):
            kept = self._table(number).entries(number)
            with self._budget.lent(40 * (len(kept.items) + len(searched.items))):
                changed = _differing(kept, searched)
                self._write(number, search, searched)
        return changed, looked

    def _write(self, number: int, search: Search, entries: Entries) -> None:
        values = entries.values
        small = bool(((values <= _SMALL) & (values == np.floor(values))).all())
        table, other = self._tables if small else self._tables[::-1]
        table.write(number, search.start * search.automaton.states, entries)
        if number in other:
            other.drop(number)

    def _table(self, number: int) -> ValueTable:
        return self._tables[number not in self._tables[0]]


def _differing(old: Entries, new: Entries) -> Entries:
    """The entries that are not the same in both, with their old costs, infinity without one."""
    items = np.union1d(old.items, new.items).astype(np.int32)
    costs = []
    for entries in (old, new):
        cost = np.full(len(items), np.inf)
        cost[np.searchsorted(items, entries.items)] = entries.values
        costs.append(cost)
    differ = costs[0] != costs[1]
    return Entries(items[differ], costs[0][differ])
