"""Advances that can be undone, the oldest first, and the memory that they keep.

Whoever bounds them forgets the oldest, one by one. What an advance keeps is counted once, when it
is done: all arrays and objects that lead from it, but nothing of the graph itself.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from itertools import takewhile
from typing import Any

import numpy as np

from graphtide.engine.resident import ResidentGraph


class UndoStack:
    """What it takes to undo each advance; `nbytes` is the memory of all of them."""

    def __init__(self) -> None:
        self._entries: deque[tuple[Any, int]] = deque()
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def last(self) -> Any:
        """What undoes the last advance."""
        return self._entries[-1][0]

    def entries(self, condition: Callable[[Any], bool] = lambda entry: True) -> list[Any]:
        """The last entries that all satisfy a condition, the oldest first."""
        entries = (entry for entry, _ in reversed(self._entries))
        return [*takewhile(condition, entries)][::-1]

    def append(self, entry: Any, nbytes: int | None = None) -> None:
        """Add what undoes an advance; who shares some of it with others says how much it keeps."""
        size = held_bytes(entry) if nbytes is None else nbytes
        self._entries.append((entry, size))
        self.nbytes += size

    def pop(self) -> Any:
        """Take what undoes the last advance."""
        entry, size = self._entries.pop()
        self.nbytes -= size
        return entry

    def forget(self, keep: int = 0) -> None:
        """Keep the last so many; O(1) for each that goes."""
        while len(self._entries) > keep:
            self.nbytes -= self._entries.popleft()[1]


def held_bytes(root: Any) -> int:
    """The memory of an object and of all that it leads to, each once, without the graph.

    An object that says how much it keeps, `nbytes`, is not looked into. Memory that is mapped
    counts for nothing: only the part of it that was written to is there.
    """
    total, waiting, seen = 0, [root], set[int]()
    while waiting:
        item = waiting.pop()
        while isinstance(item, np.ndarray) and isinstance(item.base, np.ndarray):
            item = item.base
        if id(item) in seen or isinstance(item, ResidentGraph | type):
            continue
        seen.add(id(item))
        total += sys.getsizeof(item, 0)
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
