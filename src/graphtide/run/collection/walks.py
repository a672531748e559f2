"""A walk over all finished views along the plan, as moves that kernels make many of at once.

Views are visited in the order of the plan, whatever the order in which they were given: every step
is gone down once, and back once where a subtree ends. What is told of a view goes to the view's own
position.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.summaries.records import Int32, Int64, Moves
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.reading import numpy_column

_PARTS_AT_HAND = 4


@dataclass(frozen=True)
class PartOfWalk:
    """Moves one after the other whose changes are all in one part of the run."""

    moves: Moves
    vertices: Int32
    old: NDArray[Any]
    new: NDArray[Any]


@dataclass(frozen=True)
class Walk:
    """The way from the empty version over all finished views of a run."""

    contents: RunContents

    @cached_property
    def _moves(self) -> tuple[Int64, NDArray[np.bool_]]:
        """The step of every move, and whether it goes back from it."""
        steps, back, at = [], [], -1
        parents = self.contents.steps.parent[: self.contents.differences.finished].tolist()
        for step, parent in enumerate(parents):
            while at != parent:
                steps.append(at)
                back.append(True)
                at = parents[at]
            steps.append(step)
            back.append(False)
            at = step
        return np.array(steps, np.int64), np.array(back, np.bool_)

    def parts(self, field: str, kind: type[Any]) -> Iterator[PartOfWalk]:
        """All moves in order, with the values of a field; numbers of a type that kernels know."""
        steps, back = self._moves
        if not len(steps):
            return
        first = self.contents.differences.first_steps
        part = np.searchsorted(first, steps, side="right") - 1
        slot = self._slots()
        read = lru_cache(_PARTS_AT_HAND)(lambda part: self._read(part, field, kind))
        for start, stop in _runs(part):
            bounds, vertices, old, new = read(int(part[start]))
            within, gone = steps[start:stop] - first[part[start]], back[start:stop]
            slots = np.where(gone, -1, slot[steps[start:stop]])
            moves = Moves(bounds[within], bounds[within + 1], gone, slots)
            yield PartOfWalk(moves, vertices, old, new)

    def _slots(self) -> Int64:
        """The position of each step's view among the finished ones, -1 for a stepping stone."""
        contents = self.contents
        slots = np.full(contents.differences.finished, -1, np.int64)
        views = contents.finished_views()
        slots[contents.step_of[views]] = np.arange(len(views))
        return slots

    def _read(self, part: int, field: str, kind: type[Any]) -> Any:
        """The differences of a part: where the rows of each step begin, and the rows.

        Copied: Arrow's arrays cannot be written to, which would be one more kind of kernel.
        """
        table = self.contents.differences.parts.differences(part, field)
        step = table.column("step").to_numpy()
        first = self.contents.differences.first_steps
        behind = [*first[1:].tolist(), self.contents.differences.finished][part]
        bounds = np.searchsorted(step, np.arange(first[part], behind + 1)).astype(np.int64)
        vertices = np.array(table.column("vertex").to_numpy(), np.int32)
        values = (np.array(numpy_column(table.column(name)), kind) for name in ("old", "new"))
        return (bounds, vertices, *values)


def _runs(part: Int64) -> Iterator[tuple[int, int]]:
    """Stretches of moves within one part."""
    cuts = np.flatnonzero(np.diff(part)) + 1
    bounds = [0, *cuts.tolist(), len(part)]
    yield from pairwise(bounds)
