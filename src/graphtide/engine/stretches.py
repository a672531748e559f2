"""Many steps of a plan in one call: what a stretch is made of, and what came of it.

A step of a few edges takes microseconds; called one by one from Python it takes a twentieth of a
millisecond. So steps that are all followed are handed over together, as slices of flat arrays, and
what they changed comes back as one flat array.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Change
from graphtide.kernels.fixpoint_records import ChangeLog
from graphtide.kernels.stretch_records import Stretch, StretchPath, StretchRows

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

MOST_ROWS = 1 << 20
"""A stretch ends when it has changed so many values."""


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
    """A stretch that leads nowhere: following it compiles what follows stretches."""
    nothing = np.empty(0, np.int32)
    return Stretch(nothing, np.zeros(1, np.int64), nothing, np.empty(0, np.bool_))


def followed(rows: StretchRows, steps: int, path: tuple[int, ...]) -> Followed:
    """What the rows of a call say."""
    count = int(rows.bounds[steps])
    parts = (array[:count].copy() for array in (rows.vertex, rows.old, rows.new))
    counts = np.diff(rows.bounds[: steps + 1])
    return Followed(steps, Change(*parts), counts, rows.touched[:steps], rows.cycles[:steps], path)


def undo_logs(path: StretchPath, length: int, stretch: Stretch) -> Iterator[UndoLog]:
    """The path, step by step."""
    for entry in range(length):
        step, (start, stop) = int(path.step[entry]), path.start[entry : entry + 2]
        if stretch.final[step]:
            yield UndoLog(step, None)
        else:
            yield UndoLog(step, ChangeLog(*(array[start:stop].copy() for array in path.undo)))


def step_edges(stretch: Stretch, step: int) -> tuple[Int32, Int32]:
    """The edges that enter and leave at a step of a stretch."""
    first, middle, last = stretch.places[2 * step : 2 * step + 3].tolist()
    return stretch.edges[first:middle], stretch.edges[middle:last]
