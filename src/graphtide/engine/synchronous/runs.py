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

from graphtide.engine.code import PLAIN, RECORDED, REFINED, program_code
from graphtide.engine.growing import GrowingArray
from graphtide.engine.inputs import GrowingParameters, edge_arrays, read_block
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.facts import MOST_ITERATIONS, run_ending, synchronous_facts
from graphtide.engine.synchronous.rows import Columns, row_layout, typed_parameters
from graphtide.kernels.synchronous.histories import (
    ACTIVE,
    COUNT,
    EVERYBODY,
    GATHERED,
    ITERATION,
    LACKING,
    LINE_WIDTH,
    NOBODY,
    NOTE_WIDTH,
    OLD_COUNT,
    PENDING,
    PROGRESS,
    SIZES,
    WAITING,
    WANTED_PLACES,
    WANTED_ROWS,
    Agenda,
    Context,
    Course,
    Histories,
    Rows,
    Touched,
    Work,
    copy_pool,
    copy_touched,
    count_rows,
    swap_histories,
)
from graphtide.model.errors import InputError, LimitError
from graphtide.model.machine import in_words
from graphtide.plan.programs import VertexProgram

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


Int64 = NDArray[np.int64]
FILLS, FOLLOWS = 1, 2
_LARGEST_FIRST_ROOM = 16
_BLOCK = 1 << 24


class Version:
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
        self.columns = Columns(layout, named)
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
    def context(self) -> Context:
        """What kernels read, as it is now."""
        return Context(self.graph.adjacency, self.read, self._fault)

    @property
    def read(self) -> Int64:
        """What the program reads beside the graph, as it is now."""
        properties = edge_arrays(self.graph, self.program)
        return read_block(properties, self.parameters).words

    def states(self, *, plain: bool) -> Int64:
        """A row a vertex: the states that the program ends with; keeps nothing."""
        self.parameters.resize(self.graph.vertices)
        module, widths = (
            (self.code.module(PLAIN), self._plain_widths) if plain else (self.kernels, self.widths)
        )
        work, context = self._work(widths), self.context
        progress = empty_progress()
        counts = np.zeros(self.ending.last + 2, np.int64)
        module.begin_states(context, work)
        done = 0
        while self._goes_on(counts, done, self.ending.last):
            course = self._course(self._block_end(done, self.ending.last), 0, counts, progress)
            module.run_rounds(context, work, course)
            done = int(progress[ITERATION])
            self.check_fault()
        self._check_end(counts, done)
        return self.states_of(work)

    def work(self) -> Work:
        """What a run that is kept works with."""
        return self._work(self.widths)

    def states_of(self, work: Work) -> Int64:
        """The rows of states in it; not a copy."""
        vertices, width = len(work.changed), self.widths[0]
        states: Int64 = work.states.whole[: vertices * width].reshape(vertices, width)
        return states

    def fresh(self) -> Version:
        """Run from scratch on the version that the graph is at, and keep it."""
        vertices, ending = self.graph.vertices, self.ending
        self.parameters.resize(vertices)
        room = min(ending.kept + 1, _LARGEST_FIRST_ROOM) if ending.bounded else 4
        counts = np.zeros(ending.last + 2, np.int64)
        version = Version(StoredRows(vertices, room, self.widths), counts)
        work = self.work()
        self.kernels.begin_states(self.context, work)
        self.kernels.begin_histories(self.context, work, version.stored.histories, room)
        progress = empty_progress()
        self.follow(version, work, progress, empty_touched(self.widths, 0), FILLS)
        self.finish(version, work, progress)
        version.stored.results.view[:] = self.states_of(work)
        version.longest = int(version.stored.histories.line[:, COUNT].max(initial=1))
        version.stored.sweep(lambda: ())
        return version

    def follow(
        self, version: Version, work: Work, progress: Int64, touched: Touched, record: int
    ) -> Touched:
        """Run on from where `progress` is while rows are kept, and record them."""
        stored, kept, counts = version.stored, self.ending.kept, version.counts
        while progress[PENDING] != NOBODY or self._goes_on(counts, int(progress[ITERATION]), kept):
            last = self._block_end(int(progress[ITERATION]), kept)
            course = self._course(last, record, counts, progress)
            given = self.context, work, stored.histories, touched, course
            lacking = self.kernels.run_recorded(*given) == LACKING
            self.check_fault()
            stored.check_memory(self.program.name)
            if lacking:
                stored.make_room(int(progress[WANTED_ROWS]))
                touched = larger_touched(touched, int(progress[WANTED_PLACES]), self.widths)
        version.reached = int(progress[ITERATION])
        return touched

    def finish(self, version: Version, work: Work, progress: Int64) -> None:
        """Run on to the end without keeping anything."""
        while self._goes_on(version.counts, int(progress[ITERATION]), self.ending.last):
            last = self._block_end(int(progress[ITERATION]), self.ending.last)
            course = self._course(last, 0, version.counts, progress)
            self.kernels.run_rounds(self.context, work, course)
            self.check_fault()
        version.reached = int(progress[ITERATION])
        version.gathered = max(version.gathered, int(progress[GATHERED]))
        self._check_end(version.counts, version.reached)

    def check_fault(self) -> None:
        """Refuse what a kernel found: an index outside of its array."""
        if self._fault[0] == 0:
            return
        _, index, length = self._fault.tolist()
        self._fault[:] = 0
        raise InputError(
            f"{self.program.name}: index {index} is outside of an array of {length}",
            hint="check what is used as an index, or give the array another size",
        )

    def _work(self, widths: Widths) -> Work:
        hoisted = synchronous_facts(self.program).hoisted
        parcels = len(self.program.accumulators) if hoisted else 0
        return empty_work(self.graph.vertices, widths, parcels)

    def _course(self, last: int, record: int, counts: Int64, progress: Int64) -> Course:
        return Course(last, self.ending.settle, self.ending.patient, record, counts, progress)

    def _block_end(self, done: int, last: int) -> int:
        """Kernels run so many iterations at once that a run can be interrupted."""
        return min(last, done + max(1, _BLOCK // max(1, self.graph.vertices)))

    def _goes_on(self, counts: Int64, done: int, last: int) -> bool:
        return done < last and (done == 0 or not self.rests(counts, done))

    def rests(self, counts: Int64, iteration: int) -> bool:
        """True where a run ends because nothing moves."""
        return not self.ending.patient and bool(counts[iteration] == 0)

    def _check_end(self, counts: Int64, reached: int) -> None:
        self.check_limit(reached, resting=reached > 0 and self.rests(counts, reached))

    def check_limit(self, reached: int, *, resting: bool) -> None:
        """Refuse a run until nothing changes that goes on and on."""
        if not self.ending.bounded and reached == MOST_ITERATIONS and not resting:
            raise LimitError(
                f"{self.program.name} still changes after {MOST_ITERATIONS:,} iterations",
                hint="give it a number of iterations, or a tolerance",
            )
