"""The arrays of the synchronous kernels, made and resized.

Everything that is kept lies in `StoredRows`; what an advance needs for itself is made anew for
each one, small, and grows when its kernel asks for more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray
from graphtide.kernels.synchronous.records import (
    ACTIVE,
    EVERYBODY,
    ITERATION,
    LINE_WIDTH,
    NOBODY,
    NOTE_WIDTH,
    OLD_COUNT,
    PENDING,
    PROGRESS,
    SIZES,
    WAITING,
    Agenda,
    Histories,
    Rows,
    Touched,
    Work,
)
from graphtide.kernels.synchronous.row_histories import (
    copy_pool,
    copy_touched,
    count_rows,
    swap_histories,
)
from graphtide.model.errors import LimitError
from graphtide.model.memory import in_words

Int32 = NDArray[np.int32]
Widths = tuple[int, int]
Undo = tuple[Touched, NDArray[np.int64]]
"""What undoes an advance: whom it touched, and (one number) how many rows there were before."""
_SPARE_ROWS = 4096
FIRST_PLACES = 256


class StoredRows:
    """The histories of all vertices and their results: the state after the last iteration."""

    def __init__(self, vertices: int, room: int, widths: Widths) -> None:
        self.widths = widths
        self._lines = GrowingArray(np.empty((vertices, LINE_WIDTH), np.int64))
        self._slack = GrowingArray(np.empty(vertices, np.float64))
        self.results = GrowingArray(np.empty((vertices, widths[0]), np.int64))
        self.histories = self._pool(1 + vertices * room, np.zeros(1, np.int64))
        self._swept = 0
        """How many rows belonged to somebody when that was last counted."""

    @property
    def vertices(self) -> int:
        """How many vertices have a history."""
        return self.results.length

    def resize(self, vertices: int) -> None:
        """More vertices, whose histories are still to be written, or fewer."""
        for array in (self._lines, self._slack, self.results):
            array.resize(vertices)
        self.histories = self.histories._replace(line=self._lines.view, slack=self._slack.view)

    def make_room(self, rows: int) -> None:
        """Have room for so many more rows; copies the pool only to make it larger by a third.

        By a third of its room, not of what is used: who asks for a little more each time would
        have all of it copied each time.
        """
        old = self.histories
        used, width, room = int(old.used[0]), sum(self.widths), len(old.iteration)
        if used + rows <= room:
            return
        self.histories = self._pool(max(used + rows, 4 * room // 3), old.used)
        self.histories.iteration[:used] = old.iteration[:used]
        self.histories.whole[: used * width] = old.whole[: used * width]

    def sweep(self, done: Callable[[], Sequence[Undo]]) -> None:
        """Move all rows together if more than a third of the pool belongs to nobody.

        `done` tells of the advances that can be undone, the oldest first: their rows stay, in the
        order in which they came, so that the pool can shrink to what it was before each. O(rows),
        after as many rows have come.
        """
        old = self.histories
        if 2 * old.used[0] <= 3 * self._swept + _SPARE_ROWS:
            return
        undone = done()
        noted = (touched.note[: int(touched.size[0]), OLD_COUNT] for touched, _ in undone)
        self._swept = count_rows(old) + sum(int(counts.sum()) for counts in noted)
        if 2 * old.used[0] <= 3 * self._swept + _SPARE_ROWS:
            return
        new, width = self._pool(1 + self._swept, old.used), sum(self.widths)
        for touched, _ in reversed(undone):
            swap_histories(old, touched)
        copy_pool(old, new.iteration, new.whole, width)
        for touched, used in undone:
            used[:] = old.used
            copy_touched(old, touched, new.iteration, new.whole, width)
        self.histories = new

    def check_memory(self, name: str) -> None:
        """Refuse a run that would fill the machine with its history."""
        taken = self.rows_bytes()
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if 2 * taken > there:
            raise LimitError(
                f"the history of {name} takes {in_words(taken)} and grows",
                hint="give it fewer iterations or a tolerance, or keep fewer of them: keep=...",
            )

    @property
    def nbytes(self) -> int:
        """What histories and results take, with what is there for undoing and not yet swept out."""
        arrays = self._lines, self._slack, self.results
        return self.rows_bytes() + sum(array.view.nbytes for array in arrays)

    def rows_bytes(self, behind: int = 0) -> int:
        """What the rows of the pool take that lie behind the first so many."""
        return (int(self.histories.used[0]) - behind) * (8 * sum(self.widths) + 4)

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
        mark=np.full(vertices, -1, np.int32),
    )


def empty_progress(done: int = 0, active: int = EVERYBODY) -> NDArray[np.int64]:
    """A run that has done so many iterations; so many vertices changed in the last one."""
    progress = np.zeros(PROGRESS, np.int64)
    progress[ITERATION], progress[ACTIVE], progress[PENDING] = done, active, NOBODY
    return progress


def empty_touched(widths: Widths, places: int = FIRST_PLACES) -> Touched:
    """Nobody touched yet."""
    real = np.empty(places * (widths[1] + 1), np.float64)
    return Touched(
        note=np.empty((places, NOTE_WIDTH), np.int64),
        real=real,
        whole=real.view(np.int64),
        size=np.zeros(1, np.int64),
    )


def larger_touched(touched: Touched, more: int, widths: Widths) -> Touched:
    """Touched vertices with room for so many more; the same record where there is room."""
    used, width = int(touched.size[0]), widths[1] + 1
    if used + more <= len(touched.note):
        return touched
    larger = empty_touched(widths, max(used + more, 2 * len(touched.note)))
    larger.note[:used] = touched.note[:used]
    larger.whole[: used * width] = touched.whole[: used * width]
    return larger._replace(size=touched.size)


def empty_agenda(widths: Widths, deleted: Int32, places: int = FIRST_PLACES) -> Agenda:
    """Nothing to do yet, and the edges that left."""
    return Agenda(
        evaluate=np.empty((2, places), np.int32),
        send=np.empty((2, places), np.int32),
        waiting=np.empty(FIRST_PLACES, np.int64),
        sizes=np.zeros(SIZES, np.int64),
        sums=empty_rows(4 * (widths[1] + 1)),
        deleted=deleted,
        next_out=np.empty(len(deleted), np.int32),
        next_into=np.empty(len(deleted), np.int32),
    )


def larger_agenda(agenda: Agenda, places: int) -> Agenda:
    """An agenda with lists for so many vertices, and room for more to wait."""
    waiting, size = agenda.waiting, int(agenda.sizes[WAITING])
    if 2 * size > len(waiting):
        waiting = np.resize(waiting, 4 * size)
    if places <= agenda.send.shape[1]:
        return agenda._replace(waiting=waiting)
    evaluate, send = _longer_lists(agenda.evaluate, places), _longer_lists(agenda.send, places)
    return agenda._replace(waiting=waiting, evaluate=evaluate, send=send)


def _longer_lists(lists: Int32, places: int) -> Int32:
    longer = np.empty((2, places), np.int32)
    longer[:, : lists.shape[1]] = lists
    return longer


def only_undo(touched: Touched) -> Touched:
    """What is needed of it to put histories back; the rest of its memory is given up."""
    none = np.empty(0, np.float64)
    note = touched.note[: int(touched.size[0])].copy()
    return touched._replace(note=note, real=none, whole=none.view(np.int64))
