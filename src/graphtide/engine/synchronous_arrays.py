"""The arrays of the synchronous kernels, made and resized.

Everything that is kept lies in `StoredRows`; what an advance needs for itself is made anew for
each one, small, and grows in the kernels.
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.kernels.row_histories import copy_pool, count_rows
from graphtide.kernels.synchronous_records import (
    LINE_WIDTH,
    NOTE_WIDTH,
    SIZES,
    Agenda,
    Histories,
    Rows,
    Touched,
    Work,
)
from graphtide.model.errors import LimitError

Int32 = NDArray[np.int32]
Widths = tuple[int, int]
_SPARE_ROWS = 4096
_FIRST_PLACES = 256


class StoredRows:
    """The histories of all vertices and their results: the state after the last iteration."""

    def __init__(self, vertices: int, room: int, widths: Widths) -> None:
        self.widths = widths
        self._lines = GrowingArray(np.empty((vertices, LINE_WIDTH), np.int64))
        self._slack = GrowingArray(np.empty(vertices, np.float64))
        self.results = GrowingArray(np.empty((vertices, widths[0]), np.int64))
        self.histories = self._pool(1 + vertices * room, np.zeros(1, np.int64))

    @property
    def vertices(self) -> int:
        """How many vertices have a history."""
        return self.results.length

    def resize(self, vertices: int) -> None:
        """More vertices, whose histories are still to be written, or fewer."""
        for array in (self._lines, self._slack, self.results):
            array.resize(vertices)
        self.histories = self.histories._replace(line=self._lines.view, slack=self._slack.view)

    def sweep(self) -> None:
        """Move all rows together if more than a third of the pool belongs to nobody. O(rows)."""
        old, rows = self.histories, count_rows(self.histories)
        if 2 * old.used[0] <= 3 * rows + _SPARE_ROWS:
            return
        self.histories = self._pool(1 + rows, old.used)
        new = self.histories
        copy_pool(old, new.iteration, new.whole, sum(self.widths))

    def check_memory(self, name: str) -> None:
        """Refuse a run that would fill the machine with its history."""
        taken = int(self.histories.used[0]) * (8 * sum(self.widths) + 4)
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if 2 * taken > there:
            raise LimitError(
                f"the history of {name} takes {taken >> 20:,} MB and grows",
                hint="give it fewer iterations or a tolerance, or keep fewer of them: keep=...",
            )

    @property
    def bytes(self) -> int:
        """What the histories take, with what is there for undoing and not yet swept out."""
        rows = int(self.histories.used[0]) * (8 * sum(self.widths) + 4)
        return rows + self._lines.view.nbytes + self._slack.view.nbytes

    def _pool(self, rows: int, used: NDArray[np.int64]) -> Histories:
        """A pool with half as much room again, which costs nothing until it is written to."""
        room = rows + rows // 2 + _SPARE_ROWS
        real = np.empty(room * sum(self.widths), np.float64)
        return Histories(
            line=self._lines.view,
            slack=self._slack.view,
            iteration=np.empty(room, np.int32),
            real=real,
            whole=real.view(np.int64),
            used=used,
        )


def empty_rows(words: int) -> Rows:
    """Words to be seen as floats and as ints."""
    real = np.zeros(words, np.float64)
    return Rows(real, real.view(np.int64))


def empty_work(vertices: int, widths: Widths, parcels: int) -> Work:
    """What a run from scratch works with: `parcels` words a vertex for what it tells others."""
    return Work(
        states=empty_rows((vertices + 1) * widths[0]),
        sums=empty_rows(vertices * widths[1]),
        parcels=empty_rows(vertices * parcels),
        listed=np.empty(vertices, np.int32),
        changed=np.empty(vertices, np.int32),
        mark=np.empty(vertices, np.int32),
    )


def empty_touched(widths: Widths, places: int = _FIRST_PLACES) -> Touched:
    """Nobody touched yet."""
    real = np.empty(places * (widths[1] + 1), np.float64)
    return Touched(
        note=np.empty((places, NOTE_WIDTH), np.int64),
        real=real,
        whole=real.view(np.int64),
        size=np.zeros(1, np.int64),
    )


def empty_agenda(widths: Widths, deleted: Int32) -> Agenda:
    """Nothing to do yet, and the edges that left."""
    return Agenda(
        evaluate=np.empty((2, _FIRST_PLACES), np.int32),
        send=np.empty((2, _FIRST_PLACES), np.int32),
        waiting=np.empty(_FIRST_PLACES, np.int64),
        sizes=np.zeros(SIZES, np.int64),
        sums=empty_rows(4 * (widths[1] + 1)),
        deleted=deleted,
        next_out=np.empty(len(deleted), np.int32),
        next_into=np.empty(len(deleted), np.int32),
    )


def only_undo(touched: Touched) -> Touched:
    """What is needed of it to put histories back; the rest of its memory is given up."""
    none = np.empty(0, np.float64)
    note = touched.note[: int(touched.size[0])].copy()
    return touched._replace(note=note, real=none, whole=none.view(np.int64))
