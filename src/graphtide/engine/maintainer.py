"""What every maintainer is: a program on a graph in memory, with its state and its undo stack.

The owner of a graph brings it to its next version and back; maintainers `follow` and `undo`. So one
graph can have any number of them. Alone with a graph, a maintainer's own `advance` and `rollback`
do both. Programs on pairs of vertices have one maintainer from each source, looked at at the
targets; which kind it is is the business of whoever makes them.

Advances that can be undone stand on a stack, the oldest first, with the memory that they keep.
Whoever bounds them forgets the oldest, one by one. What an advance keeps is counted once, when it
is done: all arrays and objects that lead from it, but nothing of the graph itself.

A repair that is broken off has cost its trial, and then a run from scratch. Where that happens
again and again to deltas of about one size, `Experience` says that the next ones are not worth
trying; but one in a while is, less often each time that it fails, since graphs change. Sizes differ
from one another by doubling: what a thousand edges do says nothing of one edge.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Changes, change_between
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import GraphtideError, InputError


class UndoStack:
    """What it takes to undo each advance; `nbytes` is the memory of all of them."""

    def __init__(self) -> None:
        self._entries: deque[tuple[Any, int]] = deque()
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def last(self) -> Any:
        return self._entries[-1][0]

    def entries(self, condition: Callable[[Any], bool] = lambda entry: True) -> list[Any]:
        """The last entries that all satisfy a condition, the oldest first."""
        entries = (entry for entry, _ in reversed(self._entries))
        return [*takewhile(condition, entries)][::-1]

    def append(self, entry: Any, nbytes: int | None = None) -> None:
        """Add what undoes an advance; who shares some of it with others says how much it keeps."""
        if nbytes is None:
            nbytes = getattr(entry, "nbytes", None)
        size = held_bytes(entry) if nbytes is None else nbytes
        self._entries.append((entry, size))
        self.nbytes += size

    def pop(self) -> Any:
        entry, size = self._entries.pop()
        self.nbytes -= size
        return entry

    def forget(self, keep: int = 0) -> None:
        """Keep the last so many; O(1) for each that goes."""
        while len(self._entries) > keep:
            self.nbytes -= self._entries.popleft()[1]


_PLAIN = {int, float, bool, str, type(None)}


def held_bytes(root: Any) -> int:
    """The memory of an object and of all that it leads to, each once, without the graph.

    An object that says how much it keeps, `nbytes`, is not looked into. Memory that is mapped
    counts for nothing: only the part of it that was written to is there.
    """
    total, waiting, seen = 0, [root], set[int]()
    while waiting:
        item = waiting.pop()
        if type(item) in _PLAIN:
            total += sys.getsizeof(item)
            continue
        while isinstance(item, np.ndarray) and isinstance(item.base, np.ndarray):
            item = item.base
        if id(item) in seen or isinstance(item, ResidentGraph | type):
            continue
        seen.add(id(item))
        total += sys.getsizeof(item, 0)
        if isinstance(item, np.ndarray):
            continue
        if isinstance(item, tuple | list):
            waiting += item
        elif isinstance(item, dict):
            waiting += (*item, *item.values())
        elif type(item).__module__.startswith("graphtide."):
            if hasattr(item, "nbytes"):
                total += int(item.nbytes)
            else:
                names = getattr(type(item), "__slots__", None) or vars(item)
                waiting += (getattr(item, name) for name in names)
    return total


FAILURES = 3
"""So many in a row are no accident; two are, where a hub is cut off and comes back."""
LONGEST = 16
"""At least one delta in this many is tried."""
_SIZES = 64


class Experience:
    """How the last trials of deltas of each size ended."""

    __slots__ = ("_failures", "_passed")

    def __init__(self) -> None:
        self._failures = [0] * _SIZES
        self._passed = [0] * _SIZES

    def worth_trying(self, edges: int) -> bool:
        """True if a delta of so many edges should be tried; the caller then calls `learn`."""
        size = edges.bit_length()
        failures = self._failures[size]
        if failures < FAILURES:
            return True
        if self._passed[size] >= min(2 << (failures - FAILURES), LONGEST):
            return True
        self._passed[size] += 1
        return False

    def learn(self, edges: int, *, broken_off: bool) -> None:
        """Note how a trial of a delta of so many edges ended."""
        size = edges.bit_length()
        self._failures[size] = self._failures[size] + 1 if broken_off else 0
        self._passed[size] = 0


Int32 = NDArray[np.int32]


class Maintainer(ABC):
    """The results of a program, current after every `follow` and `undo`."""

    follows_stretches: ClassVar[bool] = False
    """Whether it has `follow_stretch`: many steps of a plan in one call."""

    def __init__(self, graph: ResidentGraph, fields: tuple[str, ...]) -> None:
        self.graph = graph
        self.fields = fields
        self.touched = 0
        """How many edges the last advance looked at."""
        self._done = UndoStack()
        self._alone: list[Delta] = []

    @property
    @abstractmethod
    def kernels(self) -> Any:
        """The compiled module of the program."""

    @abstractmethod
    def values(self, field: str | None = None) -> NDArray[Any]:
        """A state field of every vertex, the first if none is named; not a copy."""

    @abstractmethod
    def start(self) -> None:
        """Run from scratch on the version that the graph is at; forgets what could be undone."""

    def begin_again(self) -> Changes:
        """Start on a version whose vertices have other values; says what that changed.

        It cannot be undone: whoever goes back starts once more.
        """
        before = {name: self.values(name).copy() for name in self.fields}
        self.start()
        return {
            name: change_between(old, self.values(name)[: len(old)]) for name, old in before.items()
        }

    @abstractmethod
    def scratch(self) -> Mapping[str, NDArray[Any]]:
        """The values of the graph's present version by state field, at full speed.

        Keeps nothing for maintenance, needs no `start` and leaves the maintainer's state alone.
        The arrays are the caller's: later calls do not write to them.
        """

    @abstractmethod
    def follow(self, delta: Delta) -> Changes:
        """Follow a graph that has been flipped, and may have got vertices; says what changed.

        New vertices begin with their start value, and changes list only those that moved away from
        it. After a GraphtideError the state is as it was before.
        """

    def undo(self) -> None:
        """Go back by one version; the graph is brought back by its owner."""
        if not self._done:
            raise InputError("there is no advance to roll back")
        self._put_back(self._done.pop())

    @abstractmethod
    def _put_back(self, done: Any) -> None:
        """Undo one advance, by the entry of `_done` that it left."""

    @property
    def undo_bytes(self) -> int:
        return self._done.nbytes

    def forget(self, keep: int = 0) -> None:
        """Give up what could be undone, and its memory, but for the last so many advances."""
        self._done.forget(keep)
        del self._alone[: max(0, len(self._alone) - keep)]

    @abstractmethod
    def verify(self) -> None:
        """Compare with a run from scratch; AssertionError at the first difference."""

    def beside_values(self) -> NDArray[Any] | float:
        """What a tolerance is a share of besides the value itself; 0 but for sums with a floor."""
        return 0.0

    def advance(self, inserted: Int32, deleted: Int32) -> Changes:
        """Flip edges (inside numbers) and follow: for whoever is alone with the graph."""
        delta = self.graph.flip(inserted, deleted)
        try:
            changes = self.follow(delta)
        except GraphtideError:
            self.graph.flip(inserted=deleted, deleted=inserted)
            raise
        self._alone.append(delta)
        return changes

    def rollback(self) -> None:
        self.undo()
        last = self._alone.pop()
        self.graph.flip(inserted=last.deleted, deleted=last.inserted)


Values = Mapping[str, NDArray[Any]]


class PairsMaintainer(Maintainer):
    """A program from the source of every pair; values are of pairs."""

    def __init__(
        self,
        make: Callable[[int], Maintainer],
        pairs: Sequence[tuple[int, int]],
        fields: Sequence[str],
    ) -> None:
        places: dict[int, list[int]] = {}
        for at, (source, _) in enumerate(pairs):
            places.setdefault(source, []).append(at)
        self.parts = [make(source) for source in places]
        super().__init__(self.parts[0].graph, tuple(fields))
        self._count = len(pairs)
        self._places = [np.array(own, np.int64) for own in places.values()]
        self._targets = [np.array([pairs[at][1] for at in own]) for own in places.values()]
        self._values: dict[str, NDArray[Any]] = {}

    @property
    def kernels(self) -> Any:
        return self.parts[0].kernels

    def values(self, field: str | None = None) -> NDArray[Any]:
        return self._values[field or self.fields[0]]

    def start(self) -> None:
        """Run from scratch, from every source. Forgets what could be undone."""
        super().forget()
        for part in self.parts:
            part.start()
        self._values = self._current()

    def scratch(self) -> Values:
        """The results of the version that the graph is at, apart from the state."""
        return self._gathered(part.scratch() for part in self.parts)

    def follow(self, delta: Delta) -> Changes:
        """Follow a graph that has been flipped already, for every source or for none."""
        followed: list[Maintainer] = []
        try:
            for part in self.parts:
                part.follow(delta)
                followed.append(part)
        except BaseException:
            for part in followed:
                part.undo()
            raise
        self.touched = sum(part.touched for part in self.parts)
        before, self._values = self._values, self._current()
        self._done.append(None)
        return {name: change_between(before[name], after) for name, after in self._values.items()}

    def _put_back(self, done: None) -> None:
        for part in self.parts:
            part.undo()
        self._values = self._current()

    @property
    def undo_bytes(self) -> int:
        return sum(part.undo_bytes for part in self.parts)

    def forget(self, keep: int = 0) -> None:
        """Give up what could be undone, and its memory, but for the last so many advances."""
        super().forget(keep)
        for part in self.parts:
            part.forget(keep)

    def verify(self) -> None:
        """Compare with runs from scratch; AssertionError at the first difference."""
        for part in self.parts:
            part.verify()

    def _current(self) -> dict[str, NDArray[Any]]:
        return self._gathered(
            {name: part.values(name) for name in self.fields} for part in self.parts
        )

    def _gathered(self, found: Iterable[Values]) -> dict[str, NDArray[Any]]:
        """The results of the targets, in the order of the pairs. O(pairs)."""
        gathered: dict[str, NDArray[Any]] = {}
        for places, targets, values in zip(self._places, self._targets, found, strict=True):
            for name in self.fields:
                column = values[name]
                if name not in gathered:
                    gathered[name] = np.empty((self._count, *column.shape[1:]), column.dtype)
                gathered[name][places] = column[targets]
        return gathered
