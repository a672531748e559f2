"""The two forms that a program's supersteps have: any program, and those that have a form in lanes.

Both keep the same things in the same way: a row of words a vertex, own vertices first and mirrors
behind them, and a list of those that changed. Which form it is changes no result.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.code import LANE_SUPERSTEPS, SUPERSTEPS, ProgramCode
from graphtide.engine.lanes.graph import no_rows
from graphtide.engine.lanes.runs import lane_work
from graphtide.engine.shards.live_edges import empty_slabs
from graphtide.engine.shards.local_graph import Version
from graphtide.engine.synchronous.arrays import Widths, empty_progress, empty_work
from graphtide.engine.synchronous.ending import Ending
from graphtide.engine.synchronous.facts import synchronous_facts
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.adjacency import Adjacency, Slabs
from graphtide.kernels.lanes.records import CHANGED, PLACES, LaneContext, LaneCourse, LaneRows
from graphtide.kernels.lanes.records import ITERATION as LANE_ITERATION
from graphtide.kernels.synchronous.records import ACTIVE, EVERYBODY, ITERATION, Context, Course
from graphtide.plan.given_facts import with_given_facts
from graphtide.plan.programs import VertexProgram

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
_MOVED = 1


class Stepped(NamedTuple):
    """How many own vertices changed and moved (or whether any did), and what went wrong: an index
    outside of an array, as (1, index, length)."""

    active: int
    moves: int
    fault: tuple[int, int, int]


class Inputs(NamedTuple):
    """What a form is made of: the program, whom it runs on, and what it reads beside the graph."""

    code: ProgramCode
    vertices: int
    owned: int
    version: Version
    read: Block
    properties: Block
    ending: Ending

    @property
    def program(self) -> VertexProgram:
        """The program, told the facts of vertices."""
        return with_given_facts(self.code.plan)


class Form(Protocol):
    """Supersteps of one run on one view."""

    rows: Int64
    changed: Int32
    superstep: int

    def begin(self) -> None:
        """The states of superstep 0, of own vertices and mirrors alike."""

    def step(self) -> Stepped:
        """Run the superstep after the last."""

    def count(self, changed: int) -> None:
        """So many vertices of `changed` have changed, mirrors included."""

    def let_gather(self, vertices: Int32) -> None:
        """Have these vertices alone gather in the first superstep, from states of another run."""


def chosen_form(given: Inputs, widths: Widths) -> Form:
    """The form in lanes where a program has it."""
    if given.code.why_not_lanes is None:
        return LaneForm(given)
    return PlainForm(given, widths)


class PlainForm:
    """Any program."""

    def __init__(self, given: Inputs, widths: Widths) -> None:
        program, ending = given.program, given.ending
        self._module = given.code.module(SUPERSTEPS)
        self._owned, self._reach = given.owned, given.version.reach
        self._next_reach = self._reach
        parcels = len(program.accumulators) if synchronous_facts(program).hoisted else 0
        self._work = empty_work(given.vertices, widths, parcels)
        self._fault, self._progress = np.zeros(3, np.int64), empty_progress()
        counts = np.zeros(1, np.int64)
        self._context = Context(given.version.graph, given.read.words, self._fault)
        limits = ending.last, ending.settle, ending.patient
        self._course = Course(*limits, 0, counts, self._progress)
        self.changed: Int32 = self._work.changed
        words = self._work.states.whole[: given.vertices * widths[0]]
        self.rows: Int64 = words.reshape(given.vertices, widths[0])

    @property
    def superstep(self) -> int:
        """The last one that was run."""
        return int(self._progress[ITERATION])

    @superstep.setter
    def superstep(self, number: int) -> None:
        self._progress[ITERATION] = number

    def begin(self) -> None:
        """The states of superstep 0."""
        self._module.begin_states(self._context, self._work)

    def step(self) -> Stepped:
        """Run the superstep after the last."""
        given = self._context, self._next_reach, self._work, self._course
        self._next_reach = self._reach
        self._module.run_superstep(*given, self._owned)
        there, index, length = self._fault.tolist()
        moves = int(self._course.counts[0])
        return Stepped(int(self._progress[ACTIVE]), moves, (there, index, length))

    def count(self, changed: int) -> None:
        """So many vertices have changed."""
        self._progress[ACTIVE] = changed

    def let_gather(self, vertices: Int32) -> None:
        """Have these vertices alone gather in the first superstep."""
        self.changed[: len(vertices)] = vertices
        self.count(len(vertices))
        self._next_reach = _reaching_nobody(len(self.changed))
        self._module.make_all_parcels(self._context, self._work)


class LaneForm:
    """A program without arrays, loops and the like: what it keeps between is in registers."""

    def __init__(self, given: Inputs) -> None:
        program, version = given.program, given.version
        self._module = given.code.module(LANE_SUPERSTEPS)
        self._owned, self._reach = given.owned, version.reach
        self._next_reach = self._reach
        self._work = lane_work(program, given.vertices, 1)
        self._work.mark.fill(0)
        self._work.states.whole.fill(0)
        self._progress = np.zeros(PLACES, np.int64)
        self._progress[CHANGED] = EVERYBODY
        self._course = LaneCourse(
            given.ending.last, given.ending.settle, given.ending.patient, self._progress
        )
        none = np.empty(0, np.int64)
        graph, properties = version.graph, given.properties.words
        self._kept = given.properties
        self._context = LaneContext(
            graph=graph,
            into=_rows(graph.into, properties),
            out=_rows(graph.out, properties),
            in_degree=none,
            out_degree=none,
            read=given.read.words,
            edges=version.edges,
        )
        self.changed: Int32 = self._work.changed
        self.rows: Int64 = self._work.states.whole.reshape(given.vertices, len(program.state))

    @property
    def superstep(self) -> int:
        """The last one that was run."""
        return int(self._progress[LANE_ITERATION])

    @superstep.setter
    def superstep(self, number: int) -> None:
        self._progress[LANE_ITERATION] = number

    def begin(self) -> None:
        """The states of superstep 0."""
        self._module.begin_own_lane(self._context, self._work)

    def step(self) -> Stepped:
        """Run the superstep after the last."""
        given = self._context, self._next_reach, self._work, self._course
        self._next_reach = self._reach
        self._module.run_lane_superstep(*given, self._owned)
        return Stepped(int(self._progress[CHANGED]), int(self._progress[_MOVED]), (0, 0, 0))

    def count(self, changed: int) -> None:
        """So many vertices have changed."""
        self._progress[CHANGED] = changed

    def let_gather(self, vertices: Int32) -> None:
        """Have these vertices alone gather in the first superstep."""
        self.changed[: len(vertices)] = vertices
        self.count(len(vertices))
        self._next_reach = _reaching_nobody(len(self.changed))
        self._module.make_all_lane_parcels(self._context, self._work)


def _reaching_nobody(vertices: int) -> Adjacency:
    """The way to nobody: who is listed as changed then gathers, and has nothing to tell yet."""
    return Adjacency(empty_slabs(vertices, 0), empty_slabs(vertices, 0))


def _rows(slabs: Slabs, properties: Int64) -> LaneRows:
    start = slabs.start.view(np.uint64)
    stop = (slabs.start + slabs.live).view(np.uint64)
    return LaneRows(start, stop, slabs.neighbour, slabs.edge, no_rows().lanes, properties)
