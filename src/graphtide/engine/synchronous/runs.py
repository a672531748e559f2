"""A program bound to a graph, and its runs from scratch: kept with every iteration, or not at all.

A run that is to be maintained writes histories and sums with their errors. One that only answers
for the graph's present version has plain sums and keeps nothing: an accumulator is then off by up
to n * 2^-53 of the sum of its n absolute messages, as in any loop by the book.

Everything that is kept lies in `StoredRows`; what an advance needs for itself is made anew for
each one, small, and grows when its kernel asks for more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.code import RECORDED, REFINED, program_code
from graphtide.engine.growing import GrowingArray
from graphtide.engine.inputs import GrowingParameters, edge_arrays, read_block
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.rounds import (
    RoundForm,
    Widths,
    block_of,
    check_fault,
    new_progress,
    plain_form,
    plain_work,
)
from graphtide.engine.synchronous.facts import run_ending
from graphtide.engine.synchronous.rows import StateColumns, row_layout, typed_parameters
from graphtide.kernels.graph.adjacency import Partition, told_by_slabs
from graphtide.kernels.synchronous.histories import (
    COUNT,
    LACKING,
    LINE_WIDTH,
    NOTE_WIDTH,
    OLD_COUNT,
    SIZES,
    WAITING,
    Agenda,
    RoundContext,
    RowHistories,
    Touched,
    copy_pool,
    copy_touched,
    count_rows,
    swap_histories,
)
from graphtide.kernels.synchronous.rounds import (
    GATHERED,
    GOING,
    ITERATION,
    NOBODY,
    PENDING,
    WANTED_PLACES,
    WANTED_ROWS,
    Course,
    empty_words,
)
from graphtide.model.errors import LimitError
from graphtide.model.machine import in_words
from graphtide.plan.programs import VertexProgram

Int32 = NDArray[np.int32]
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

    def _pool(self, rows: int, used: NDArray[np.int64]) -> RowHistories:
        """A pool with half as much room again, which costs nothing until it is written to."""
        room = rows + rows // 2 + _SPARE_ROWS
        real = np.empty(room * sum(self.widths), np.float64)
        return RowHistories(
            line=self._lines.view,
            slack=self._slack.view,
            iteration=np.empty(room, np.int32),
            real=real,
            whole=real.view(np.int64),
            used=used,
        )


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
        sums=empty_words(4 * (widths[1] + 1)),
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


Int64 = NDArray[np.int64]
FILLS, FOLLOWS = 1, 2
_LARGEST_FIRST_ROOM = 16


class RecordedRun:
    """The histories of one version: its run's rows, last iteration, and who moved in each.

    `gathered` is how many edges the last run from scratch looked at, `longest` no less than the
    rows of any history, `places` the room for touched vertices that an advance begins with.
    """

    def __init__(self, stored: StoredRows, counts: Int64) -> None:
        self.stored = stored
        self.counts = counts
        self.reached = 0
        self.gathered = 0
        self.longest = 1
        self.places = FIRST_PLACES


class SynchronousRuns:
    """A program, its parameters and its compiled modules on a graph in memory."""

    def __init__(
        self,
        graph: ResidentGraph,
        program: VertexProgram,
        parameters: tuple[Any, ...],
        iterations: int | None,
        keep: int | None,
    ) -> None:
        self.graph = graph
        self.program = program
        self.code = program_code(program)
        named = typed_parameters(program, parameters)
        self.parameters = GrowingParameters(graph, program, tuple(named.values()))
        self.ending = run_ending(program, named, iterations, keep)
        layout, plain = row_layout(program), row_layout(program, plain=True)
        self.columns = StateColumns(layout, named)
        self.widths = layout.state_width.value(named), layout.sums_width.value(named)
        self._plain_widths = self.widths[0], plain.sums_width.value(named)
        self._fault = np.zeros(3, np.int64)
        edge_arrays(graph, program)

    @cached_property
    def kernels(self) -> Any:
        """The compiled module that runs the program from scratch and keeps every iteration."""
        return self.code.module(RECORDED)

    @cached_property
    def refinement(self) -> Any:
        """The compiled module that corrects what is kept."""
        return self.code.module(REFINED)

    @property
    def context(self) -> RoundContext:
        return RoundContext(self.graph.adjacency, self.read, self._fault)

    @property
    def read(self) -> Int64:
        """What the program reads beside the graph, as it is now."""
        properties = edge_arrays(self.graph, self.program)
        return read_block(properties, self.parameters).words

    def states(self, *, plain: bool) -> Int64:
        """A row a vertex: the states that the program ends with; keeps nothing."""
        self.parameters.resize(self.graph.vertices)
        form = plain_form(self.code, self.context, self._plain_widths, self._partition())
        if not plain:
            form = self.form(self.context)
        form.begin()
        form.run(self.program.name, self.ending, form.course(self.ending, self._most))
        return form.states(self.widths[0])

    def form(self, context: RoundContext) -> RoundForm:
        """What a run that is kept works with."""
        work, step = plain_work(self.code, self.widths, self._partition())
        return RoundForm(self.kernels, context, work, self.graph.vertices * self.widths[0], step)

    def _partition(self) -> Partition:
        return told_by_slabs(self.graph.adjacency)

    @property
    def _most(self) -> int:
        """A list of those who take part in a round is given up after so many edges."""
        return 4 * self.graph.vertices

    def fresh(self) -> RecordedRun:
        """Run from scratch on the version that the graph is at, and keep it."""
        vertices, ending = self.graph.vertices, self.ending
        self.parameters.resize(vertices)
        room = min(ending.kept + 1, _LARGEST_FIRST_ROOM) if ending.bounded else 4
        counts = np.zeros(ending.last + 2, np.int64)
        version = RecordedRun(StoredRows(vertices, room, self.widths), counts)
        form = self.form(self.context)
        form.begin()
        self.kernels.begin_histories(form.context, form.work, version.stored.histories, room)
        course = form.course(ending, self._most, counts)
        self.follow(version, form, course, empty_touched(self.widths, 0), FILLS)
        self.finish(version, form, course)
        version.stored.results.view[:] = form.states(self.widths[0])
        version.longest = int(version.stored.histories.line[:, COUNT].max(initial=1))
        version.stored.sweep(lambda: ())
        return version

    def go_on(self, version: RecordedRun, form: RoundForm, active: int) -> Course:
        """A run that goes on from the last iteration of a version, in which so many changed."""
        course = form.course(self.ending, self._most, version.counts)
        return course._replace(progress=new_progress(version.reached, active))

    def follow(
        self, version: RecordedRun, form: RoundForm, course: Course, touched: Touched, record: int
    ) -> Touched:
        """Run on from where `course` is while rows are kept, and record them."""
        stored, kept, progress = version.stored, self.ending.kept, course.progress
        while progress[PENDING] != NOBODY or (progress[GOING] and progress[ITERATION] < kept):
            last = min(kept, int(progress[ITERATION]) + block_of(form.work))
            block = course._replace(last=last, record=record)
            parts = form.context, form.work, stored.histories, touched, block
            lacking = self.kernels.run_recorded(*parts) == LACKING
            check_fault(self.program.name, self._fault)
            stored.check_memory(self.program.name)
            if lacking:
                stored.make_room(int(progress[WANTED_ROWS]))
                touched = larger_touched(touched, int(progress[WANTED_PLACES]), self.widths)
        version.reached = int(progress[ITERATION])
        return touched

    def finish(self, version: RecordedRun, form: RoundForm, course: Course) -> None:
        form.run(self.program.name, self.ending, course)
        version.reached = int(course.progress[ITERATION])
        version.gathered = max(version.gathered, int(course.progress[GATHERED]))

    def check_fault(self) -> None:
        check_fault(self.program.name, self._fault)
