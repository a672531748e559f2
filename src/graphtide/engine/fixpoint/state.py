"""What fixpoint mode keeps a vertex, and what an advance works with.

Parents and levels, the roots of a value, are needed by repairs alone. After a run from scratch that
left them out there are none: whoever repairs next makes them first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.kernels.fixpoint import records

LOGGED_SHARE, LOGGED_AT_LEAST = 4, 1024
"""One vertex in so many has room in the log of an advance, and so many more."""


class Roots(NamedTuple):
    """Parents and levels of all vertices."""

    parent: GrowingArray
    level: GrowingArray


class VertexState:
    """Values, roots, and room to work. `record` is what kernels take; growth makes it anew."""

    def __init__(self, dtype: Any) -> None:
        self._value = GrowingArray(np.empty(0, dtype))
        self._work = {name: _numbers(0) for name in ("stamp", "heap", "place")}
        self._roots = _new_roots(0)
        self.rooted = False
        """Whether parents and levels are those of the values."""
        self.vertices = 0
        self.fit(0)

    @property
    def values(self) -> NDArray[Any]:
        """The value of every vertex; a view."""
        return self._value.view

    @property
    def reached(self) -> records.Reached:
        """Where a run from scratch writes what it finds, roots included."""
        return records.Reached(self.record.value, self.record.parent, self.record.level)

    def fit(self, vertices: int) -> None:
        """Grow or shrink to so many vertices; of new ones only the marks are set."""
        before, self.vertices = self.vertices, vertices
        for array in (self._value, *self._work.values(), *self._roots):
            array.resize(vertices)
        for name in ("stamp", "place"):
            self._work[name].view[before:] = -1
        room = vertices // LOGGED_SHARE + LOGGED_AT_LEAST
        types = np.int32, self._value.dtype, np.int32, np.int32
        self._log = records.ChangeLog(*(np.empty(room, dtype) for dtype in types))
        self._fallen = np.empty(room, np.int32)
        self._view()

    def take_roots(self) -> Roots | None:
        """Hand the roots over to the caller, and have none; None if there were none."""
        if not self.rooted:
            return None
        taken, self._roots, self.rooted = self._roots, _new_roots(self.vertices), False
        self._view()
        return taken

    def put_roots(self, roots: Roots | None) -> None:
        """Take back the roots that `take_roots` handed over, or have none."""
        self.rooted = roots is not None
        if roots is not None:
            self._roots = roots
            self._view()

    def put_back(self, log: records.ChangeLog) -> None:
        """Undo what is logged; every vertex is in the log once."""
        self.record.value[log.vertex] = log.value
        self.record.parent[log.vertex] = log.parent
        self.record.level[log.vertex] = log.level

    def _view(self) -> None:
        self.record = records.FixpointState(
            value=self._value.view,
            parent=self._roots.parent.view,
            level=self._roots.level.view,
            **{name: array.view for name, array in self._work.items()},
            log=self._log,
            fallen=self._fallen,
        )


def _numbers(count: int) -> GrowingArray:
    return GrowingArray(np.empty(count, np.int32))


def _new_roots(vertices: int) -> Roots:
    return Roots(_numbers(vertices), _numbers(vertices))
