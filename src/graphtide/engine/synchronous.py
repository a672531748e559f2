"""The maintainer of any vertex program, every iteration kept: sums, products, arrays, anything.

It keeps the history of every vertex, state and accumulators, as rows that are stored only where
they change. An advance corrects them iteration by iteration (`templates.refinement`), in
proportion to what changes. Two knobs:

- `tolerance`: a state that would move by no more than this share of itself stays, and nothing is
  sent on. The result of a linear program with positive messages, such as PageRank, is then
  within (1 + tolerance) ** iterations - 1 of the true one, relatively, after any number of
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

from graphtide.engine.binding import GrowingParameters, edge_arrays
from graphtide.engine.changes import Change
from graphtide.engine.generate import generated_module, generated_source
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.row_layout import row_layout
from graphtide.engine.sections_synchronous import synchronous_section
from graphtide.engine.synchronous_arrays import (
    StoredRows,
    empty_agenda,
    empty_touched,
    empty_work,
    only_undo,
)
from graphtide.engine.synchronous_ending import MOST_ITERATIONS, run_ending
from graphtide.engine.synchronous_results import (
    Columns,
    field_changes,
    first_difference,
    typed_parameters,
)
from graphtide.kernels.row_histories import cut_histories, put_back, settle_results
from graphtide.kernels.synchronous_records import (
    COUNT,
    LAST,
    LONGEST,
    LOOKED,
    PLACE,
    START,
    VERTEX,
    Context,
    Course,
    Limits,
    Touched,
)
from graphtide.model.errors import GraphtideError, InputError, LimitError
from graphtide.plan.programs import VertexProgram

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
_FILLS, _FOLLOWS = 1, 2
_LARGEST_FIRST_ROOM = 16
_BLOCK = 1 << 24


@dataclass(frozen=True)
class _Before:
    """What an advance started from."""

    vertices: int
    used: int
    reached: int
    counts: Int64


@dataclass(frozen=True)
class _Done:
    """An advance that can be rolled back."""

    before: _Before
    touched: Touched
    changed: Int32
    old: Int64
    inserted: Int32
    deleted: Int32


class SynchronousMaintainer:
    """A program on a graph in memory, with the history of every vertex.

    `reached` is the last iteration of the run of this version, `touched` the number of edges that
    the last advance looked at.
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
        self.graph = graph
        self.program = program
        self.tolerance = tolerance
        named = typed_parameters(program, parameters)
        self._parameters = GrowingParameters(program, tuple(named.values()), graph.vertices)
        self._ending = run_ending(program, named, iterations, keep)
        layout = row_layout(program)
        self._columns = Columns(layout, named)
        self._widths = layout.state_width.value(named), layout.sums_width.value(named)
        self._counts = np.zeros(self._ending.last + 2, np.int64)
        self._fault = np.zeros(3, np.int64)
        self._done: list[_Done] = []
        self._longest = 1
        edge_arrays(graph, program)
        self.reached = 0
        self.touched = 0

    @cached_property
    def kernels(self) -> Any:
        """The compiled module that runs the program from scratch."""
        return self._module("synchronous")

    @cached_property
    def _refinement(self) -> Any:
        return self._module("refinement")

    def _module(self, template: str) -> Any:
        source = generated_source(synchronous_section(self.program), template)
        return generated_module(source, f"{self.program.name}_{template}")

    def values(self, field: str) -> NDArray[Any]:
        """A state field of every vertex, a row a vertex where it is an array."""
        return self._columns.values(self._stored.results.view, field)

    def history(self, field: str) -> list[NDArray[Any]]:
        """A state field after every iteration whose rows are kept, iteration 0 included."""
        kernels, work = self.kernels, self._work()
        found = []
        for iteration in range(min(self.reached, self._ending.kept) + 1):
            kernels.load_layer(self._context, work, self._stored.histories, iteration)
            found.append(self._columns.values(self._states(work).copy(), field))
        return found

    @property
    def bytes(self) -> int:
        """What the histories take, undone versions included."""
        return self._stored.bytes

    def start(self) -> None:
        """Run from scratch on the version that the graph is at. Forgets what could be undone."""
        vertices, kept = self.graph.vertices, self._ending.kept
        self._done.clear()
        self._touched = empty_touched(self._widths, places=0)
        self._parameters.resize(vertices)
        self._counts[:] = 0
        room = min(kept + 1, _LARGEST_FIRST_ROOM) if self._ending.bounded else 4
        self._stored = StoredRows(vertices, room, self._widths)
        work = self._work()
        self.kernels.begin_states(self._context, work)
        self.kernels.begin_histories(self._context, work, self._stored.histories, room)
        self.reached, active = self._run(work, 0, kept, -1, _FILLS)
        self.reached, _ = self._run(work, self.reached, self._ending.last, active, 0)
        self._check_end()
        self._stored.results.view[:] = self._states(work)
        self._longest = int(self._stored.histories.line[:, COUNT].max(initial=1))
        self._stored.sweep()

    def advance(self, inserted: Int32, deleted: Int32) -> dict[str, Change]:
        """Flip edges (inside numbers) and bring all histories up to date."""
        self.graph.flip(inserted, deleted)
        try:
            return self.repair(inserted, deleted)
        except GraphtideError:
            self.graph.flip(inserted=deleted, deleted=inserted)
            raise

    def repair(self, inserted: Int32, deleted: Int32) -> dict[str, Change]:
        """Bring all histories up to date with a graph that has been flipped already.

        Vertices that the graph has got since are not reported where they keep the state that they
        have without edges. After an error everything is as it was.
        """
        before = _Before(
            self._stored.vertices,
            int(self._stored.histories.used[0]),
            self.reached,
            self._counts[: self.reached + 2].copy(),
        )
        self._touched = empty_touched(self._widths)
        try:
            self._add_vertices(before.vertices)
            self._refine(inserted, deleted)
            work = self._finish(before.reached)
        except GraphtideError:
            self._put_back(before, self._touched)
            raise
        changed, old = self._settle(work)
        undo = only_undo(self._touched)
        self._done.append(_Done(before, undo, changed, old, inserted, deleted))
        return field_changes(self._columns, changed, old, self._stored.results.view[changed])

    def rollback(self) -> None:
        """Undo the last advance that has not been undone, graph included."""
        last = self.restore()
        self.graph.flip(inserted=last.deleted, deleted=last.inserted)

    def restore(self) -> _Done:
        """Undo the last repair; flipping the graph back is left to the caller."""
        if not self._done:
            raise InputError("there is no advance to roll back")
        last = self._done.pop()
        self._stored.results.view[last.changed] = last.old
        self._put_back(last.before, last.touched)
        return last

    def forget(self) -> None:
        """Give up what could be undone, and its memory."""
        self._done.clear()
        self._stored.sweep()

    def verify(self) -> None:
        """Compare with a run from scratch beside it; an error at the first difference.

        Floats may differ by rounding, and by what the tolerance lets them.
        """
        other = SynchronousMaintainer(
            self.graph,
            self.program,
            self._parameters.view,
            iterations=self._ending.last if self._ending.bounded else None,
            keep=0,
        )
        other.start()
        share = (1 + self.tolerance) ** self.reached - 1
        rows = self._stored.results.view, other._stored.results.view
        found = first_difference(self._columns, *rows, share)
        if found is not None:
            raise AssertionError(found)

    @property
    def _context(self) -> Context:
        properties = edge_arrays(self.graph, self.program)
        return Context(self.graph.adjacency, properties, self._parameters.view, self._fault)

    def _work(self) -> Any:
        parcels = len(self.program.accumulators) if self.kernels.HOISTED else 0
        return empty_work(self.graph.vertices, self._widths, parcels)

    def _states(self, work: Any) -> Int64:
        vertices, width = self.graph.vertices, self._widths[0]
        found: Int64 = work.states.whole[: vertices * width].reshape(vertices, width)
        return found

    def _run(self, work: Any, done: int, last: int, active: int, record: int) -> tuple[int, int]:
        """Iterations after `done`, in blocks that can be interrupted and checked between."""
        block = max(1, _BLOCK // max(1, self.graph.vertices))
        while done < last and not (done > 0 and self._rests(done)):
            course = self._course(done + 1, min(last, done + block), active, record)
            stored = self._stored
            stored.histories, self._touched, done, active = self.kernels.run_iterations(
                self._context, work, stored.histories, self._touched, course
            )
            self._check_fault()
            stored.check_memory(self.program.name)
        return done, active

    def _course(self, first: int, last: int, active: int, record: int) -> Any:
        ending = self._ending
        return Course(first, last, active, ending.settle, ending.patient, record, self._counts)

    def _rests(self, iteration: int) -> bool:
        """True where a run ends because nothing moves."""
        return not self._ending.patient and bool(self._counts[iteration] == 0)

    def _known(self, reached: int) -> int:
        """The last iteration that histories tell of; one that stands still tells of all."""
        ending = self._ending
        return min(ending.kept, reached) if ending.stopping else ending.kept

    def _add_vertices(self, before: int) -> None:
        """Histories for vertices that came since, as they are without edges."""
        stored, vertices = self._stored, self.graph.vertices
        if vertices == before:
            return
        stored.resize(vertices)
        self._parameters.resize(vertices)
        course = self._course(1, self._known(self.reached), -1, 0)
        stored.histories = self.kernels.add_vertices(
            self._context, stored.histories, before, course
        )
        self._check_fault()
        histories, width = stored.histories, sum(self._widths)
        last = histories.line[before:, START] + histories.line[before:, COUNT] - 1
        rows = histories.whole[: int(histories.used[0]) * width].reshape(-1, width)
        stored.results.view[before:] = rows[last, : self._widths[0]]
        self._longest = max(self._longest, int(histories.line[before:, COUNT].max()))

    def _refine(self, inserted: Int32, deleted: Int32) -> None:
        """Correct the histories that are kept."""
        agenda, ending, stored = empty_agenda(self._widths, deleted), self._ending, self._stored
        agenda.sizes[LONGEST], agenda.sizes[LAST] = self._longest, self._known(self.reached)
        limits = Limits(self.tolerance, ending.settle, ending.stopping, self._counts)
        stored.histories, self._touched = self._refinement.refine(
            self._context, stored.histories, self._touched, agenda, inserted, limits
        )
        self._longest, self.touched = int(agenda.sizes[LONGEST]), int(agenda.sizes[LOOKED])
        self._check_fault()

    def _finish(self, before: int) -> Any:
        """Find the end of the run, and run what histories do not tell.

        Returns what it worked with; None where the last rows of the histories are the results.
        """
        ending, stored = self._ending, self._stored
        known = self._known(before)
        end = self._first_rest(known, before)
        work, hybrid = None, ending.kept < ending.last
        if end is not None and ending.stopping:
            stored.histories, self._touched = cut_histories(
                stored.histories, self._touched, end, self.graph.adjacency, self._widths
            )
        self.reached = known if end is None else end
        if hybrid or (end is None and known < ending.last):
            work = self._work()
            active = self.kernels.load_layer(self._context, work, stored.histories, self.reached)
            if end is None:
                self.reached, active = self._run(work, known, ending.kept, active, _FOLLOWS)
                self.reached, _ = self._run(work, self.reached, ending.last, active, 0)
        self._counts[self.reached + 1 : before + 2] = 0
        self._check_end()
        return work

    def _first_rest(self, known: int, before: int) -> int | None:
        """The first iteration in which nothing moves, up to the last that is known."""
        if self._ending.patient:
            return None
        at = np.flatnonzero(self._counts[1 : min(known, before) + 1] == 0)
        if len(at):
            return int(at[0]) + 1
        iteration = min(known, before) + 1
        while iteration <= known and self._counts[iteration] != 0:
            iteration += 1
        return iteration if iteration <= known else None

    def _settle(self, work: Any) -> tuple[Int32, Int64]:
        """Take over the results; the vertices whose state changed, and what it was."""
        stored, size = self._stored, int(self._touched.size[0])
        results = stored.results.view
        if work is None:
            old = np.empty((size + 1, self._widths[0]), np.int64)
            changed = settle_results(stored.histories, self._touched, results, self._widths, old)
            return changed, old[: len(changed)].copy()
        stored.histories.line[self._touched.note[:size, VERTEX], PLACE] = -1
        states = self._states(work)
        changed = np.flatnonzero((states != results).any(axis=1)).astype(np.int32)
        old = results[changed]
        results[changed] = states[changed]
        return changed, old

    def _put_back(self, before: _Before, touched: Touched) -> None:
        put_back(self._stored.histories, touched, before.used)
        self._counts[: self.reached + 2] = 0
        self._counts[: before.reached + 2] = before.counts
        self.reached = before.reached
        self._stored.resize(before.vertices)
        self._parameters.resize(before.vertices)

    def _check_fault(self) -> None:
        fault, index, length = self._fault.tolist()
        self._fault[:] = 0
        if fault:
            raise InputError(
                f"{self.program.name}: index {index} is outside of an array of {length}",
                hint="check what is used as an index, or give the array another size",
            )

    def _check_end(self) -> None:
        endless = not self._ending.bounded and self.reached == MOST_ITERATIONS
        if endless and not self._rests(self.reached):
            raise LimitError(
                f"{self.program.name} still changes after {MOST_ITERATIONS:,} iterations",
                hint="give it a number of iterations, or a tolerance",
            )
