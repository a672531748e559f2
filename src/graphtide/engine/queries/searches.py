"""The searches of all queries: their keys, what kernels know of each, what each costs and saves.

A search that goes leaves its keys behind, which belong to nobody until the rows are swept; then
others may have them. Automata that are equal share one table; a sweep also forgets the tables that
no search needs any more.

A search without its entries is computed anew whenever a batch concerns it. So its state saves how
often that is times how many edges it then looks at; what was long ago counts less. To have a state
again takes a look at all edges that lead to its entries, so a search must have spent as much on
answers before: whatever comes then, no more than twice the least is spent.

A batch is followed by one compiled call for all searches that keep their entries, so that none is
timed alone: its time is shared by the edges that each looked at. A search that is computed anew is
timed alone. What is left belongs to no search.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.queries.budget import Budget, GrantedArray
from graphtide.kernels.queries.records import (
    AGAINST,
    ALONG,
    ANY_STEP,
    FACTS,
    NAMES,
    PLAIN,
    STATES,
    TABLE,
    WAYS,
    Searches,
)
from graphtide.plan.regular_paths import Automaton

UNBOUNDED = float(np.finfo(np.float64).max)
"""No walk that can be told apart from an endless one costs more."""

SWEPT = 4
"""Rows are swept once one entry in this many is of a search that is gone."""

_FEW_GONE = 8
"""They are also swept once more searches have gone than there are, from so many on."""

Codes = tuple[int, ...]


@dataclass(frozen=True)
class Search:
    """A start (by number), the walks that count, and what they may cost.

    `codes` are those of the labels that the automaton names, in its order, in the column `label`;
    `weight` is the column of costs, None where each edge costs 1. Only the cost of `targets` is
    asked for, if there are any, or only whether walks lead there.
    """

    start: int
    automaton: Automaton
    codes: Codes = ()
    label: str | None = None
    weight: str | None = None
    bound: float = UNBOUNDED
    targets: tuple[int, ...] | None = None
    tells_cost: bool = True

    @property
    def is_pairs(self) -> bool:
        """Whether it asks for some targets, by walks of which any may end anywhere."""
        automaton = self.automaton
        return self.targets is not None and automaton.states == len(automaton.accepting) == 1


class SearchTable:
    """The arrays of `Searches`; `view` is what kernels take, anew after every change."""

    def __init__(self, budget: Budget) -> None:
        self._owner = GrantedArray(budget, 0, np.int32)
        self._plain = GrantedArray(budget, 0, np.int8)
        self._goes = GrantedArray(budget, 2, np.int64)
        self._facts = GrantedArray(budget, 0, np.int32)
        self._bound = GrantedArray(budget, 0, np.float64)
        self._entries = GrantedArray(budget, 0, np.int64)
        self._looked = GrantedArray(budget, 0, np.int64)
        self._steps = GrantedArray(budget, 0, np.int16)
        self._codes = GrantedArray(budget, 0, np.int32)
        self._tables: dict[Automaton, int] = {}
        self._names: dict[Codes, int] = {}
        self._unused: list[int] = []
        self._free: list[tuple[int, int]] = []
        self._by_number: dict[int, Search] = {}
        self._gone = 0
        self.dead = 0
        """How many entries are of searches that are gone."""
        self._looked_by_gone = 0

    @property
    def _arrays(self) -> tuple[GrantedArray, ...]:
        by_key, by_search = (self._owner, self._plain), (self._facts, self._bound, self._entries)
        return *by_key, self._goes, *by_search, self._looked, self._steps, self._codes

    @property
    def view(self) -> Searches:
        return Searches(*(array.room for array in self._arrays))

    @property
    def nbytes(self) -> int:
        return sum(array.room.nbytes for array in self._arrays)

    def add(self, search: Search, label: int, weight: int) -> int:
        """A number for a search, whose columns are those; it has no entries yet."""
        automaton = search.automaton
        table, names = self._table_of(automaton), self._names_of(search.codes)
        number = self._unused[-1] if self._unused else self._entries.length
        for array, width in ((self._facts, FACTS), (self._bound, 1), (self._looked, 1)):
            array.resize(max(array.length, (number + 1) * width))
        self._entries.reserve(number + 1)
        base = self._keys_for(automaton.states)
        self._entries.resize(max(self._entries.length, number + 1))
        if self._unused:
            self._unused.pop()
        self._facts.view[number * FACTS : (number + 1) * FACTS] = (
            *(base, automaton.states),
            *(table, automaton.letters.count + 1),
            *(names, len(search.codes), label, weight),
            *(_plain(search), _ways_of_all(automaton)),
        )
        self._count_ways(number, 1)
        self._bound.view[number], self._entries.view[number] = search.bound, 0
        self._looked.view[number] = 0
        self._by_number[number] = search
        self.own(number)
        return number

    def remove(self, number: int) -> None:
        """Forget a search; its entries belong to nobody until the next sweep."""
        self.disown(number)
        self._count_ways(number, -1)
        self._looked_by_gone += int(self._looked.view[number])
        self._looked.view[number] = 0
        self._unused.append(number)
        del self._by_number[number]
        self._gone += 1

    def is_sweep_due(self, total: int) -> bool:
        """Whether enough belongs to nobody; `total` is how many entries belong to somebody."""
        return self.dead * SWEPT > total or self._gone > max(len(self._by_number), _FEW_GONE)

    def _count_ways(self, number: int, more: int) -> None:
        """Note the ways of a search that has come, or gone."""
        ways = int(self._facts.view[number * FACTS + WAYS])
        self._goes.view[0] += more * bool(ways & ALONG)
        self._goes.view[1] += more * bool(ways & AGAINST)

    def disown(self, number: int) -> None:
        self.owner[self._keys(number)] = -1
        self._plain.view[self._keys(number)] = 0
        self.dead += self.entries(number)
        self._entries.view[number] = 0

    def own(self, number: int) -> None:
        """Give a search its keys: at first, or again after a sweep."""
        self.owner[self._keys(number)] = number
        self._plain.view[self._keys(number)] = self._facts.view[number * FACTS + PLAIN]

    def _keys(self, number: int) -> slice:
        base = self.base(number)
        return slice(base, base + self.states(number))

    def states(self, number: int) -> int:
        return int(self._facts.view[number * FACTS + STATES])

    def base(self, number: int) -> int:
        return int(self._facts.view[number * FACTS])

    def entries(self, number: int) -> int:
        return int(self._entries.view[number])

    def share_of_looks(self, number: int) -> float:
        """How much of all edges that searches looked at to follow batches a search looked at."""
        of_all = self._looked_by_gone + int(self._looked.view.sum())
        return float(self._looked.view[number]) / max(of_all, 1)

    @contextmanager
    def looking_elsewhere(self) -> Iterator[None]:
        """Count no edges that are looked at meanwhile: that follows no batch."""
        before = self._looked.view.copy()
        try:
            yield
        finally:
            self._looked.view[:] = before

    @property
    def owner(self) -> NDArray[np.int32]:
        view: NDArray[np.int32] = self._owner.view
        return view

    @property
    def total(self) -> int:
        return int(self._entries.view.sum())

    def with_entries(self) -> list[int]:
        numbers: list[int] = np.flatnonzero(self._entries.view).tolist()
        return numbers

    @property
    def mean(self) -> int:
        entries = self._entries.view
        return self.total // max(int(np.count_nonzero(entries)), 1)

    def swept(self) -> None:
        """Note that all entries have an owner again, so that free keys can be given out."""
        ownerless = np.flatnonzero(np.diff(np.r_[0, self.owner < 0, 0]))
        self._free = list(zip(ownerless[::2].tolist(), ownerless[1::2].tolist(), strict=True))
        self.dead = 0
        if self._gone:
            self._forget_tables()

    def _forget_tables(self) -> None:
        """Write the tables and codes anew that are needed; they take no more room than before."""
        self._tables.clear()
        self._names.clear()
        self._steps.resize(0)
        self._codes.resize(0)
        for number, search in self._by_number.items():
            self._facts.view[number * FACTS + TABLE] = self._table_of(search.automaton)
            self._facts.view[number * FACTS + NAMES] = self._names_of(search.codes)
        self._gone = 0

    def _keys_for(self, states: int) -> int:
        """The first of so many keys side by side."""
        for at, (first, last) in enumerate(self._free):
            if last - first >= states:
                self._free[at] = first + states, last
                return first
        first = self._owner.length
        self._plain.reserve(first + states)
        self._owner.resize(first + states)
        self._plain.resize(first + states)
        return first

    def _table_of(self, automaton: Automaton) -> int:
        if automaton not in self._tables:
            rows = [(*row, _ways(row)) for row in automaton.steps]
            first = self._steps.length
            self._steps.extend(np.array(rows, np.int16).reshape(-1))
            self._tables[automaton] = first
        return self._tables[automaton]

    def _names_of(self, codes: Codes) -> int:
        if codes not in self._names:
            first = self._codes.length
            self._codes.extend(np.array(codes, np.int32))
            self._names[codes] = first
        return self._names[codes]


def _plain(search: Search) -> int:
    """The ways of a search on which every edge costs 1 and leads to its one state, or `ANY_STEP`.

    Then the search has no letters but the two ways, and whatever it reaches goes on alike.
    """
    automaton = search.automaton
    same = automaton.states == 1 and not automaton.letters.labels and search.weight is None
    return _ways(automaton.steps[0]) if same else ANY_STEP


def _ways_of_all(automaton: Automaton) -> int:
    """The ways that any state goes."""
    ways = {_ways(row) for row in automaton.steps}
    return sum(way for way in (ALONG, AGAINST) if any(way & some for some in ways))


def _ways(row: tuple[int, ...]) -> int:
    along = ALONG if max(row[::2]) >= 0 else 0
    return along | (AGAINST if max(row[1::2]) >= 0 else 0)


FADES = 0.99
"""What a batch leaves of what was counted before it."""

BETTER = 2.0
"""A state replaces others only if it saves this many times as much for a byte."""


@dataclass
class SearchRecord:
    """What is known of a search: how many edges it looks at, and what it went through.

    `looks` is how many edges it takes to compute its answer anew, `begins` how many to find all its
    entries, 0 if that was never done: of a pair, many times as many. `since` is the batch after
    which it came, or was last dropped or taken up; `spent` how many edges it has looked at since it
    has no entries.
    """

    search: Search
    since: int
    looks: int = 1
    begins: int = 0
    entries: int = 0
    again: int = 0
    spent: int = 0
    seconds: float = 0.0
    _often: float = 0.0
    _counted: int = 0

    def concern(self, batch: int) -> None:
        self._often = self.often(batch) + 1.0
        self._counted = batch

    def often(self, batch: int) -> float:
        """How many of the last batches concerned it, the latest counting most."""
        return float(self._often * FADES ** (batch - self._counted))

    def worth(self, batch: int, nbytes: int) -> float:
        """How many edges a byte of its state saves."""
        return self.often(batch) * self.looks / max(nbytes, 1)


@dataclass
class BatchTimes:
    """How many batches were `followed`, the `seconds` of all, and those `shared` by looks."""

    followed: int = 0
    seconds: float = 0.0
    shared: float = 0.0
    _since: dict[int, int] = field(default_factory=dict)

    def begin(self, number: int) -> None:
        self._since[number] = self.followed

    def end(self, number: int) -> None:
        self._since.pop(number, None)

    def add(self, seconds: float) -> None:
        """A batch has been followed."""
        self.followed += 1
        self.seconds += seconds

    @property
    def mean(self) -> float:
        return self.seconds / max(self.followed, 1)

    def of(self, number: int, share: float, alone: float = 0.0) -> float:
        """Seconds of a batch since a search came that are its own, in the mean.

        It has a `share` of all looks, and took so many seconds `alone`.
        """
        return (self.shared * share + alone) / max(self.followed - self._since[number], 1)
