"""The maintainer of any vertex program, every iteration kept: sums, products, arrays, anything.

It keeps the history of every vertex, state and accumulators, as rows that are stored only where
they change. An advance (`Refining`) corrects them iteration by iteration, in proportion to what
changes; where that comes to more than running anew, it runs anew. Everything that an advance
changes in a version is noted, so that it can be undone: touched histories, the pool's length, who
moved in which iteration, and the vertices that came. Two knobs:

- `tolerance`: a state that would move by no more than this share of itself stays, and nothing is
  sent on. The result of a linear program with positive messages, such as PageRank, is then
  within (1 - tolerance) ** -iterations - 1 of the true one, relatively, after any number of
  advances.
- `keep`: rows are kept up to this iteration only, and every advance computes the iterations after
  it again, which costs up to a run of them from scratch.

With neither, every iteration equals that of a run from scratch. Ints and truth values do exactly.
Sums and products of floats are kept with twice the digits, and evaluated anew before corrections
could reach the last one: an accumulator is off by at most one unit in the last place, plus
n * n * 2^-104 of the sum of its n absolute messages. A run by the book, which rounds at every
addition, is off by up to n * 2^-53 of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Changes, first_difference
from graphtide.engine.lanes.runs import LaneGroups, lane_groups, scratch_states
from graphtide.engine.maintainer import Experience, Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.rounds import RoundForm
from graphtide.engine.synchronous.rows import field_changes
from graphtide.engine.synchronous.runs import (
    FIRST_PLACES,
    FOLLOWS,
    RecordedRun,
    SynchronousRuns,
    Undo,
    empty_agenda,
    empty_touched,
    larger_agenda,
    larger_touched,
    only_undo,
)
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.synchronous.histories import (
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
    ROOM,
    START,
    VERTEX,
    Limits,
    cut_histories,
    put_back,
    settle_results,
)
from graphtide.model.errors import GraphtideError, InputError
from graphtide.plan.programs import VertexProgram

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class TooDearError(Exception):
    """Correcting comes to more than running anew; nothing has been put back yet."""


class Refining:
    """An advance of one version, in progress or done."""

    def __init__(self, runs: SynchronousRuns, version: RecordedRun, tolerance: float) -> None:
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
        form = None
        if ending.kept < ending.last or (end is None and known < ending.last):
            form = self._run_on(end is None)
        elif end is None:
            ending.check_limit(self._runs.program.name, known, resting=False)
        version.counts[version.reached + 1 : self._reached + 2] = 0
        changed, old = self._settle() if form is None else self._settle_all(form)
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
        stored, runs, vertex = self._version.stored, self._runs, 0
        while True:
            given = stored.histories, self._touched, runs.graph.adjacency, runs.widths
            vertex = cut_histories(*given, (vertex, end))
            if vertex == stored.vertices:
                return
            stored.make_room(int(stored.histories.line[vertex, COUNT]) + ROOM)
            self._touched = larger_touched(self._touched, 1, runs.widths)

    def _run_on(self, goes_on: bool) -> RoundForm:
        """The states of the last iteration that is known, and run on from there."""
        runs, version = self._runs, self._version
        form, histories = runs.form(runs.context), version.stored.histories
        active = runs.kernels.load_layer(form.context, form.work, histories, version.reached)
        if goes_on:
            course = runs.go_on(version, form, active)
            self._touched = runs.follow(version, form, course, self._touched, FOLLOWS)
            runs.finish(version, form, course)
        return form

    def _settle(self) -> tuple[Int32, Int64]:
        stored, size = self._version.stored, int(self._touched.size[0])
        rows = np.empty((size + 1, 1 + self._runs.widths[0]), np.int64)
        given = stored.histories, self._touched, stored.results.view, self._runs.widths
        changed = rows[: settle_results(*given, rows)]
        return changed[:, 0].astype(np.int32), changed[:, 1:].copy()

    def _settle_all(self, form: RoundForm) -> tuple[Int32, Int64]:
        stored = self._version.stored
        touched = self._touched.note[: int(self._touched.size[0]), VERTEX]
        stored.histories.line[touched, PLACE] = -1
        states, results = form.states(self._runs.widths[0]), stored.results.view
        changed = np.flatnonzero((states != results).any(axis=1)).astype(np.int32)
        old = results[changed]
        results[changed] = states[changed]
        return changed, old


_ROUNDING = 1e-9
_SHARE, _LEAST_BUDGET = 128, 1024
"""An advance looks at no more than this part of the edges that a run from scratch looks at, or at
this many: an edge costs it some 30 times as much, as measured on graphs of a million edges."""


@dataclass(frozen=True)
class _Done:
    """An advance that can be rolled back: how to undo it, and what it changed.

    `refining` is None where the version before it was put aside as a whole.
    """

    before: RecordedRun
    refining: Refining | None
    changed: Int32
    old: Int64


class SynchronousMaintainer(Maintainer):
    """A program on a graph in memory, with the history of every vertex.

    `touched` is the number of edges that the last advance looked at, `budget` how many it may
    before it runs anew; None leaves that to the size of a run from scratch.
    """

    def __init__(
        self,
        graph: ResidentGraph,
        program: VertexProgram,
        parameters: tuple[Any, ...],
        *,
        iterations: int | None = None,
        tolerance: float = 0.0,
        keep: int | None = None,
    ) -> None:
        if not 0 <= tolerance < float("inf"):
            raise InputError(f"the tolerance cannot be {tolerance}", hint="give 0 or more")
        super().__init__(graph, tuple(item.name for item in program.state))
        self.program = program
        self.tolerance = tolerance
        self.budget: int | None = None
        self._runs = SynchronousRuns(graph, program, parameters, iterations, keep)
        self._experience = Experience()

    @property
    def kernels(self) -> Any:
        """The compiled module that runs the program and keeps every iteration."""
        return self._runs.kernels

    @property
    def reached(self) -> int:
        """The last iteration of the run of this version."""
        return self._version.reached

    @property
    def share(self) -> float:
        """By which share of itself a result may be off for the tolerance."""
        if self.tolerance == 0.0:
            return 0.0
        return (1 - self.tolerance) ** -self.reached - 1 if self.tolerance < 1 else float("inf")

    def values(self, field: str | None = None) -> NDArray[Any]:
        """A state field of every vertex, a row a vertex where it is an array."""
        results = self._version.stored.results.view
        return self._runs.columns.values(results, field or self.fields[0])

    def history(self, field: str) -> list[NDArray[Any]]:
        """A state field after every iteration whose rows are kept, iteration 0 included."""
        runs, form, iterations = self._runs, self._runs.form(self._runs.context), []
        histories = self._version.stored.histories
        for iteration in range(min(self.reached, runs.ending.kept) + 1):
            self.kernels.load_layer(form.context, form.work, histories, iteration)
            iterations.append(runs.columns.values(form.states(runs.widths[0]).copy(), field))
        return iterations

    def start(self) -> None:
        """Run from scratch on the version that the graph is at. Forgets what could be undone."""
        super().forget()
        self._version = self._runs.fresh()

    def scratch(self) -> dict[str, NDArray[Any]]:
        """The values of the graph's present version by state field, at full speed.

        Keeps nothing and leaves the maintainer's state alone. Sums of floats are plain here.
        """
        states, columns = scratch_states(self._runs), self._runs.columns
        return {
            name: np.ascontiguousarray(columns.values(states, name)) for name in columns.names()
        }

    @cached_property
    def lanes(self) -> LaneGroups | None:
        """Runs from scratch on several versions at once; None where the program has no such."""
        return lane_groups(self._runs)

    def follow(self, delta: Delta) -> Changes:
        """Bring all histories up to date with a graph that has been flipped already.

        Vertices that the graph has got since are not reported where they keep the state that they
        have without edges. After an error everything is as it was. Where batches of about this
        size came out too dear again and again, correcting is not tried, unless a budget is given.
        """
        refining, edges = Refining(self._runs, self._version, self.tolerance), len(delta.sources)
        worth_trying = self.budget is not None or self._experience.worth_trying(edges)
        try:
            refining.add_vertices()
            if not worth_trying:
                return self._run_anew(refining)
            try:
                refining.refine(delta, self._budget())
                changed, old = refining.finish()
            except TooDearError:
                self._experience.learn(edges, broken_off=True)
                return self._run_anew(refining)
            self._experience.learn(edges, broken_off=False)
        except GraphtideError:
            refining.put_back()
            raise
        self.touched = refining.looked
        self._keep(_Done(self._version, refining, changed, old))
        return self._changes(changed, old)

    def _keep(self, done: _Done) -> None:
        """Keep what undoes an advance; a version that is corrected is not its own."""
        kept = done.before.stored if done.refining is None else done.refining
        self._done.append(done, kept.nbytes + done.changed.nbytes + done.old.nbytes)

    def _put_back(self, done: _Done) -> None:
        self._version = done.before
        if done.refining is not None:
            self._version.stored.results.view[done.changed] = done.old
            done.refining.put_back()
        self._runs.parameters.resize(self._version.stored.vertices)

    def forget(self, keep: int = 0) -> None:
        """Give up what could be undone, and its memory, but for the last so many advances."""
        super().forget(keep)
        self._version.stored.sweep(
            lambda: [
                done.refining.undo
                for done in self._done.entries(
                    lambda done: done.refining is not None and done.before is self._version
                )
            ]
        )

    def verify(self) -> None:
        """Compare with a run from scratch beside it; an error at the first difference.

        Floats may differ by rounding, and by what the tolerance lets them.
        """
        columns, other = self._runs.columns, self._runs.states(plain=False)
        values = {name: self.values(name) for name in columns.names()}
        expected = {name: columns.values(other, name) for name in values}
        difference = first_difference(values, expected, self.share + _ROUNDING)
        if difference is not None:
            name, at = difference
            raise AssertionError(
                f"vertex {at} has {name} = {values[name][at]}, from scratch {expected[name][at]}"
            )

    def _budget(self) -> int:
        if self.budget is not None:
            return self.budget
        return max(_LEAST_BUDGET, self._version.gathered // _SHARE)

    def _run_anew(self, refining: Refining) -> Changes:
        """A run from scratch instead; the version before is put aside as it was."""
        old = self._version.stored.results.view.copy()
        refining.put_back()
        fresh = self._runs.fresh()
        results = fresh.stored.results.view
        changed = np.flatnonzero((results != old).any(axis=1)).astype(np.int32)
        self.touched = refining.looked + fresh.gathered
        self._keep(_Done(self._version, None, changed, old[changed]))
        self._version = fresh
        return self._changes(changed, old[changed])

    def _changes(self, changed: Int32, old: Int64) -> Changes:
        results = self._version.stored.results.view
        return field_changes(self._runs.columns, changed, old, results[changed])
