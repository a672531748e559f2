"""One advance of a synchronous program: histories corrected, and how to put them back.

Everything that an advance changes in a version is noted here, so that it can be undone: touched
histories, the pool's length, who moved in which iteration, and the vertices that came.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.synchronous.arrays import (
    FIRST_PLACES,
    Undo,
    empty_agenda,
    empty_progress,
    empty_touched,
    larger_agenda,
    larger_touched,
    only_undo,
)
from graphtide.engine.synchronous.runs import FOLLOWS, SynchronousRuns, Version
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.synchronous.records import (
    BUDGET,
    COUNT,
    DEAR,
    LACKING,
    LAST,
    LONGEST,
    LOOKED,
    MORE_PLACES,
    MORE_ROWS,
    NOW,
    PLACE,
    START,
    VERTEX,
    Limits,
    Work,
)
from graphtide.kernels.synchronous.row_histories import (
    ROOM,
    cut_histories,
    put_back,
    settle_results,
)

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class TooDearError(Exception):
    """Correcting comes to more than running anew; nothing has been put back yet."""


class Refining:
    """An advance of one version, in progress or done."""

    def __init__(self, runs: SynchronousRuns, version: Version, tolerance: float) -> None:
        self._runs = runs
        self._version = version
        self._tolerance = tolerance
        self._vertices = version.stored.vertices
        self._used = version.stored.histories.used.copy()
        self._reached, self._longest = version.reached, version.longest
        self._counts = version.counts[: version.reached + 2].copy()
        self._touched = empty_touched(runs.widths, version.places)
        self._furthest = 0
        self.looked = 0

    @property
    def undo(self) -> Undo:
        """What puts the histories back."""
        return self._touched, self._used

    @property
    def nbytes(self) -> int:
        """The memory that the way back takes: rows that came since are of others before."""
        rows = self._version.stored.rows_bytes(int(self._used[0]))
        return rows + self._touched.note.nbytes + self._counts.nbytes

    def add_vertices(self) -> None:
        """Vertices that came since, each with the state of iteration 0."""
        runs, stored, first = self._runs, self._version.stored, self._vertices
        vertices = runs.graph.vertices
        if vertices == first:
            return
        stored.resize(vertices)
        runs.parameters.resize(vertices)
        stored.make_room(vertices - first)
        runs.kernels.add_vertices(runs.context, stored.histories, first)
        runs.check_fault()
        self._take_results()

    def refine(self, delta: Delta, budget: int) -> None:
        """Correct the histories that are kept; TooDearError if that takes too many edges."""
        runs, version = self._runs, self._version
        stored, ends = version.stored, 2 * len(delta.sources)
        if ends > budget:
            raise TooDearError
        newcomers = stored.vertices - self._vertices
        stored.make_room(ends * (version.longest + ROOM) + newcomers * (1 + ROOM))
        self._touched = larger_touched(self._touched, ends + newcomers, runs.widths)
        agenda = empty_agenda(runs.widths, delta.deleted, len(self._touched.note))
        sizes = agenda.sizes
        sizes[LONGEST], sizes[LAST], sizes[BUDGET] = version.longest, self._known(), budget
        limits = self._limits()
        left = LACKING
        while left == LACKING:
            stored.make_room(int(sizes[MORE_ROWS]))
            self._touched = larger_touched(self._touched, int(sizes[MORE_PLACES]), runs.widths)
            agenda = larger_agenda(agenda, len(self._touched.note))
            given = runs.context, stored.histories, self._touched, agenda, delta.inserted, limits
            left = runs.refinement.refine(*given)
        version.longest, self.looked = int(sizes[LONGEST]), int(sizes[LOOKED])
        self._furthest = int(sizes[NOW])
        self._expect_as_many()
        runs.check_fault()
        if left == DEAR:
            raise TooDearError

    def finish(self) -> tuple[Int32, Int64]:
        """Find the end of the run, run what histories do not tell, and take over the results.

        Returns the vertices whose state changed, and what it was.
        """
        ending, version, known = self._runs.ending, self._version, self._known()
        end = self._first_rest(known)
        if end is not None and ending.stopping:
            self._cut(end)
        version.reached = known if end is None else end
        work = None
        if ending.kept < ending.last or (end is None and known < ending.last):
            work = self._run_on(end is None)
        elif end is None:
            self._runs.check_limit(known, resting=False)
        version.counts[version.reached + 1 : self._reached + 2] = 0
        changed, old = self._settle() if work is None else self._settle_all(work)
        self._touched = only_undo(self._touched)
        return changed, old

    def put_back(self) -> None:
        """Have the version as it was; results of changed vertices are left to the caller.

        Once is enough, and a second time changes nothing.
        """
        version = self._version
        put_back(version.stored.histories, self._touched, int(self._used[0]))
        self._touched.size[0] = 0
        version.counts[: max(version.reached, self._furthest) + 2] = 0
        version.counts[: self._reached + 2] = self._counts
        version.reached, version.longest = self._reached, self._longest
        version.stored.resize(self._vertices)
        self._runs.parameters.resize(self._vertices)

    def _expect_as_many(self) -> None:
        """The next advance begins with the room of this one; with half where most was idle."""
        places, used = len(self._touched.note), int(self._touched.size[0])
        self._version.places = max(FIRST_PLACES, places if 4 * used > places else places // 2)

    def _limits(self) -> Limits:
        ending = self._runs.ending
        counts = self._version.counts
        return Limits(self._tolerance, ending.settle, ending.stopping, counts, self._vertices)

    def _known(self) -> int:
        """The last iteration that histories tell of; one that stands still tells of all."""
        ending = self._runs.ending
        return min(ending.kept, self._reached) if ending.stopping else ending.kept

    def _take_results(self) -> None:
        """Results of new vertices, until they are refined: their first rows."""
        stored, first = self._version.stored, self._vertices
        histories, widths = stored.histories, self._runs.widths
        rows = histories.whole[: int(histories.used[0]) * sum(widths)].reshape(-1, sum(widths))
        stored.results.view[first:] = rows[histories.line[first:, START], : widths[0]]

    def _first_rest(self, known: int) -> int | None:
        """The first iteration in which nothing moves, up to the last that is known."""
        if self._runs.ending.patient:
            return None
        counts, before = self._version.counts, min(known, self._reached)
        at = np.flatnonzero(counts[1 : before + 1] == 0)
        if len(at):
            return int(at[0]) + 1
        iteration = before + 1
        while iteration <= known and counts[iteration] != 0:
            iteration += 1
        return iteration if iteration <= known else None

    def _cut(self, end: int) -> None:
        """Drop what lies after the end."""
        stored, runs, vertex = self._version.stored, self._runs, 0
        while True:
            given = stored.histories, self._touched, runs.graph.adjacency, runs.widths
            vertex = cut_histories(*given, (vertex, end))
            if vertex == stored.vertices:
                return
            stored.make_room(int(stored.histories.line[vertex, COUNT]) + ROOM)
            self._touched = larger_touched(self._touched, 1, runs.widths)

    def _run_on(self, goes_on: bool) -> Work:
        """The states of the last iteration that is known, and run on from there."""
        runs, version = self._runs, self._version
        work, reached = runs.work(), version.reached
        active = runs.kernels.load_layer(runs.context, work, version.stored.histories, reached)
        if goes_on:
            progress = empty_progress(reached, active)
            self._touched = runs.follow(version, work, progress, self._touched, FOLLOWS)
            runs.finish(version, work, progress)
        return work

    def _settle(self) -> tuple[Int32, Int64]:
        stored, size = self._version.stored, int(self._touched.size[0])
        rows = np.empty((size + 1, 1 + self._runs.widths[0]), np.int64)
        given = stored.histories, self._touched, stored.results.view, self._runs.widths
        changed = rows[: settle_results(*given, rows)]
        return changed[:, 0].astype(np.int32), changed[:, 1:].copy()

    def _settle_all(self, work: Work) -> tuple[Int32, Int64]:
        stored = self._version.stored
        touched = self._touched.note[: int(self._touched.size[0]), VERTEX]
        stored.histories.line[touched, PLACE] = -1
        states, results = self._runs.states_of(work), stored.results.view
        changed = np.flatnonzero((states != results).any(axis=1)).astype(np.int32)
        old = results[changed]
        results[changed] = states[changed]
        return changed, old
