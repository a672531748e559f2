"""What every maintainer is: a program on a graph in memory, with its state.

The owner of a graph brings it to its next version and back; maintainers `follow` and `undo`. So one
graph can have any number of them. Alone with a graph, a maintainer's own `advance` and `rollback`
do both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Changes, change_between
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.undo_stack import UndoStack
from graphtide.kernels.graph.flips import Delta
from graphtide.model.errors import GraphtideError, InputError

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
        """The memory of what could be undone."""
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
        """Undo the last advance of this maintainer, graph included."""
        self.undo()
        last = self._alone.pop()
        self.graph.flip(inserted=last.deleted, deleted=last.inserted)
