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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.summaries.records import Int32, Int64, Moves
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.newcomers import values_of
from graphtide.run.collection.reading import numpy_column

_PARTS_AT_HAND = 4


@dataclass(frozen=True)
class PartOfWalk:
    """Moves one after the other whose changes are all in one part of the run."""

    moves: Moves
    vertices: Int32
    old: NDArray[Any]
    new: NDArray[Any]


class Removed(NamedTuple):
    """The vertices that are taken out at each step, with the values that they have there.

    Those of step n are from bounds[n] to bounds[n + 1].
    """

    bounds: Int64
    vertices: Int64
    values: NDArray[Any]


@dataclass(frozen=True)
class Walk:
    """The way from the empty version over all finished views of a run.

    With `there`, vertices that are taken out of a view are gone while it is told of: a view is then
    reached by one more move, which gives each of them a value that stands for nothing (NaN, or a
    number behind those of all vertices, its own), and left by a move back.
    """

    contents: RunContents
    there: bool = False

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
        taken = self._removed(field) if self.there else None
        read = lru_cache(_PARTS_AT_HAND)(lambda part: self._read(part, field, kind, taken))
        for start, stop in _runs(part):
            (bounds, vertices, old, new), away = read(int(part[start]))
            within, gone = steps[start:stop] - first[part[start]], back[start:stop]
            slots = np.where(gone, -1, slot[steps[start:stop]])
            moves = Moves(bounds[within], bounds[within + 1], gone, slots)
            moves = moves if away is None else _with_removals(moves, within, away)
            yield PartOfWalk(moves, vertices, old, new)

    def _slots(self) -> Int64:
        """The position of each step's view among the finished ones, -1 for a stepping stone."""
        contents = self.contents
        slots = np.full(contents.differences.finished, -1, np.int64)
        views = contents.finished_views()
        slots[contents.step_of[views]] = np.arange(len(views))
        return slots

    def _read(self, part: int, field: str, kind: type[Any], taken: Removed | None) -> Any:
        """The differences of a part: where the rows of each step begin, and the rows.

        Behind them those of vertices that are taken out, and where these begin for each step.

        Copied: Arrow's arrays cannot be written to, which would be one more kind of kernel.
        """
        table = self.contents.differences.parts.differences(part, field)
        step = table.column("step").to_numpy()
        first = self.contents.differences.first_steps
        behind = [*first[1:].tolist(), self.contents.differences.finished][part]
        bounds = np.searchsorted(step, np.arange(first[part], behind + 1)).astype(np.int64)
        vertices = np.array(table.column("vertex").to_numpy(), np.int32)
        values = [np.array(numpy_column(table.column(name)), kind) for name in ("old", "new")]
        if taken is None:
            return (bounds, vertices, *values), None
        away = taken.bounds[int(first[part]) : behind + 1]
        rows, away = slice(*away[[0, -1]].tolist()), away - away[0]
        removed, before = taken.vertices[rows], taken.values[rows]
        count = self.contents.count(field)
        nothing: NDArray[Any] = np.full(len(removed), np.nan)
        if kind is np.int64:
            nothing = count + np.arange(len(removed)) - np.repeat(away[:-1], np.diff(away))
        columns = zip(values, (before, nothing), strict=True)
        values = [np.concatenate([one, other.astype(kind)]) for one, other in columns]
        joined = np.concatenate([vertices, removed.astype(np.int32)])
        return (bounds, joined, *values), away + len(vertices)

    def _removed(self, field: str) -> Removed | None:
        """What is taken out at each finished step; None where that is nothing."""
        contents = self.contents
        views = contents.steps.view[: contents.differences.finished].tolist()
        lists = [contents.removed(view) for view in views]
        counts = np.array([len(item) for item in lists], np.int64)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        removed = np.array([vertex for item in lists for vertex in item], np.int64)
        steps = np.repeat(np.arange(len(lists)), counts)
        if not len(removed):
            return None
        return Removed(bounds, removed, values_of(contents, field, steps, removed))


def _with_removals(moves: Moves, steps: Int64, away: Int64) -> Moves:
    """The moves, and two more for each that reaches a view without some vertices: out, and back."""
    none = (moves.slot < 0) | (away[steps] == away[steps + 1])
    at = np.repeat(np.arange(len(steps)), np.where(none, 1, 3))
    turn = np.arange(len(at)) - np.searchsorted(at, at)
    own, out = turn == 0, turn == 1
    return Moves(
        np.where(own, moves.start[at], away[steps[at]]),
        np.where(own, moves.stop[at], away[steps[at] + 1]),
        np.where(own, moves.back[at], ~out),
        np.where(own & ~none[at], -1, np.where(out | own, moves.slot[at], -1)),
    )


def _runs(part: Int64) -> Iterator[tuple[int, int]]:
    """Stretches of moves within one part."""
    cuts = np.flatnonzero(np.diff(part)) + 1
    bounds = [0, *cuts.tolist(), len(part)]
    yield from pairwise(bounds)
