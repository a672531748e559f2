"""A program bound to a graph, and its runs from scratch: kept with every iteration, or not at all.

A run that is to be maintained writes histories and sums with their errors. One that only answers
for the graph's present version has plain sums and keeps nothing: an accumulator is then off by up
to n * 2^-53 of the sum of its n absolute messages, as in any loop by the book.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import GrowingParameters, edge_arrays, read_block
from graphtide.engine.code import PLAIN, RECORDED, REFINED, program_code
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.arrays import (
    FIRST_PLACES,
    StoredRows,
    Widths,
    empty_progress,
    empty_touched,
    empty_work,
    larger_touched,
)
from graphtide.engine.synchronous.ending import MOST_ITERATIONS, run_ending
from graphtide.engine.synchronous.facts import synchronous_facts
from graphtide.engine.synchronous.results import Columns, typed_parameters
from graphtide.engine.synchronous.row_layout import row_layout
from graphtide.kernels.synchronous.records import (
    COUNT,
    GATHERED,
    ITERATION,
    LACKING,
    NOBODY,
    PENDING,
    WANTED_PLACES,
    WANTED_ROWS,
    Context,
    Course,
    Touched,
    Work,
)
from graphtide.model.errors import InputError, LimitError
from graphtide.plan.programs import VertexProgram

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
