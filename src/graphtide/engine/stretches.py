"""Stretches: many steps of a plan, handed to a kernel in one call, and what it made of them.

A step of a few edges takes microseconds; called one by one from Python it takes a twentieth of a
millisecond. So steps that are all followed are handed over together, as slices of flat arrays, and
what they changed comes back as one flat array.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change
from graphtide.kernels.blocks import Block
from graphtide.kernels.fixpoint.records import (
    COUNT,
    DEPTH,
    DONE,
    MOST_COUNT,
    UNDOABLE,
    ChangeLog,
    Stretch,
    StretchPath,
    StretchRoom,
    StretchRows,
)
from graphtide.kernels.graph.flips import Delta

Int64 = NDArray[np.int64]

MOST_ROWS = 1 << 20
"""A stretch ends when it has changed this many values."""


ROWS_A_STEP = 8
"""A stretch begins with room for this many changes a step; most need no more."""


class Patience(NamedTuple):
    """How long a stretch may go on, in counts of the processor's clock."""

    cycles: int = 1 << 62
    rows: int = MOST_ROWS


@dataclass(frozen=True)
class Followed:
    """The steps that a stretch has made: the first `steps` of those it was given.

    `changes` holds those of all of them, `counts` how many of each step, `cycles` what each took.
    `path` are the steps between the start of the stretch and where it ended.
    """

    steps: int
    changes: Change
    counts: Int64
    touched: Int64
    cycles: Int64
    path: tuple[int, ...]


class UndoLog(NamedTuple):
    """A step of the path and what undoes it; None where nobody goes back from it."""

    step: int
    log: ChangeLog | None


def no_steps() -> Stretch:
    """A stretch without steps; following it compiles the kernel."""
    nothing = np.empty(0, np.int32)
    return Stretch(nothing, np.zeros(1, np.int64), nothing, np.empty(0, np.bool_))


class StretchWalk:
    """A stretch on its way: what its kernel is given, and the room for what it leaves.

    `logs` is the most that a step may log, and the type of values. Memory that is not written to
    costs nothing: there is always room for that much, so that the kernel asks once a step.
    """

    def __init__(self, stretch: Stretch, logs: tuple[int, Any]) -> None:
        self.stretch = stretch
        self.progress = np.zeros(MOST_COUNT + 1, np.int64)
        self._logs = logs
        steps, (least, dtype) = len(stretch.parent), logs
        vertex, old, new = _columns((np.int32, dtype, dtype), least + ROWS_A_STEP * steps)
        bounds, touched, cycles = (np.zeros(steps + more, np.int64) for more in (1, 0, 0))
        rows = StretchRows(vertex, old, new, bounds, touched, cycles)
        undo = ChangeLog(*_columns((np.int32, dtype, np.int32, np.int32), least))
        path = StretchPath(np.zeros(steps + 1, np.int64), np.zeros(steps + 2, np.int64), undo)
        widest = int(np.diff(stretch.places[::2]).max(initial=0))
        self.room = StretchRoom(rows, path, *_columns((np.int32, np.int32), widest))

    @property
    def steps(self) -> int:
        return int(self.progress[DONE])

    def go(self, kernel: Any, words: Int64, patience: float) -> None:
        """Follow the stretch; `words` names the state."""
        while kernel(words, Block(self.stretch, self.room).words, self.progress, patience):
            self._make_room()

    def _make_room(self) -> None:
        """Room for another step and twice what there is, where that is lacking."""
        least, (rows, path, *ends) = self._logs[0], self.room
        count, undoable = self.progress[[COUNT, UNDOABLE]].tolist()
        if len(rows.vertex) - count < least:
            names = ("vertex", "old", "new")
            longer = {name: _longer(getattr(rows, name), count, least) for name in names}
            rows = rows._replace(**longer)
        if len(path.undo.vertex) - undoable < least:
            undo = ChangeLog(*(_longer(part, undoable, least) for part in path.undo))
            path = path._replace(undo=undo)
        self.room = StretchRoom(rows, path, *ends)

    def followed(self, path: tuple[int, ...]) -> Followed:
        """The steps that were followed and their changes, copied from the arrays of the kernel."""
        rows, steps = self.room.rows, self.steps
        count = int(rows.bounds[steps])
        parts = (array[:count].copy() for array in (rows.vertex, rows.old, rows.new))
        each = np.diff(rows.bounds[: steps + 1]), rows.touched[:steps], rows.cycles[:steps]
        return Followed(steps, Change(*parts), *each, path)

    def undo_logs(self) -> Iterator[UndoLog]:
        path = self.room.path
        for entry in range(int(self.progress[DEPTH])):
            step, (start, stop) = int(path.step[entry]), path.start[entry : entry + 2]
            log = None
            if not self.stretch.final[step]:
                log = ChangeLog(*(array[start:stop].copy() for array in path.undo))
            yield UndoLog(step, log)


def _columns(types: tuple[Any, ...], length: int) -> Iterator[NDArray[Any]]:
    return (np.empty(length, dtype) for dtype in types)


def _longer(array: NDArray[Any], used: int, least: int) -> NDArray[Any]:
    longer = np.empty(2 * used + least, array.dtype)
    longer[:used] = array[:used]
    return longer


def step_delta(stretch: Stretch, step: int) -> Delta:
    """The edges that enter and leave at a step of a stretch; their ends are left out."""
    first, middle, last = stretch.places[2 * step : 2 * step + 3].tolist()
    inserted, deleted = stretch.edges[first:middle], stretch.edges[middle:last]
    return Delta(inserted, deleted, inserted[:0], deleted[:0])
