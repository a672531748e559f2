"""Runs of a program in rounds: what its kernels work with, and the driver of one thread.

A program has its rounds in one of two forms: over rows of words, which any program has, or over
lanes, where what it adds up or keeps between is in registers. Both have the same loops
(`templates/phases.py`), the same records and the same states in the end: which form it is changes
no result. Who drives them is one thread here, several threads over a lean graph (`lean.runs`), or
tasks that hold a graph together (`shards.supersteps`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.code import PLAIN, SINGLE, ProgramCode
from graphtide.engine.synchronous.facts import Ending, synchronous_facts
from graphtide.kernels.graph.adjacency import Partition
from graphtide.kernels.synchronous.rounds import (
    CHANGED,
    EVERYBODY,
    GOING,
    HEARING,
    ITERATION,
    NOBODY,
    PENDING,
    PROGRESS,
    RESTLESS,
    Course,
    RoundWork,
    VertexRange,
    Words,
    empty_words,
)
from graphtide.model.errors import InputError

Int64 = NDArray[np.int64]
Widths = tuple[int, int]
"""How many words the state and the accumulators of a vertex have."""

_BLOCK = 1 << 24
"""So many words are updated before a kernel returns, so that a run can be interrupted."""
_LINE = 8
"""Words of a line of the cache: rows of lanes begin at one, and parts write that far apart."""


class RoundForm(NamedTuple):
    """The kernels of a program and what they are given.

    A part has room of its own `step` words behind that of the part before; the first at `room`.
    """

    kernels: Any
    context: Any
    work: RoundWork
    room: int
    step: int

    def begin(self) -> None:
        """The states of iteration 0."""
        everybody = VertexRange(0, len(self.work.changed), True, self.room)
        self.kernels.begin_range(self.context, self.work, everybody)

    def states(self, width: int) -> Int64:
        """The states as rows of so many words; not a copy."""
        vertices = len(self.work.changed)
        states: Int64 = self.work.states.whole[: vertices * width].reshape(vertices, width)
        return states

    def course(self, ending: Ending, most: int, counts: Int64 | None = None) -> Course:
        """A run from the beginning, which may look at `most` edges to list who takes part."""
        counts = np.zeros(ending.last + 2, np.int64) if counts is None else counts
        patience = ending.settle, ending.patient
        return Course(ending.last, *patience, most, self.room, 0, counts, new_progress())

    def run(self, name: str, ending: Ending, course: Course) -> None:
        """Run to the end; refuses an index outside of its array, and a run that goes on and on."""
        self.run_until(name, course, ending.last)
        progress = course.progress
        ending.check_limit(name, int(progress[ITERATION]), resting=not progress[GOING])

    def run_until(self, name: str, course: Course, last: int) -> None:
        """Run up to an iteration, or to the end of every lane."""
        progress = course.progress
        while progress[GOING] and progress[ITERATION] < last:
            end = min(last, int(progress[ITERATION]) + block_of(self.work))
            self.kernels.run_rounds(self.context, self.work, course._replace(last=end))
            check_fault(name, self.context.fault)


def plain_form(
    code: ProgramCode, context: Any, widths: Widths, partition: Partition, parts: int = 1
) -> RoundForm:
    """The form over rows of words; `parts` run side by side."""
    work, step = plain_work(code, widths, partition, parts)
    return RoundForm(code.module(PLAIN), context, work, _told(partition) * widths[0], step)


def plain_work(
    code: ProgramCode, widths: Widths, partition: Partition, parts: int = 1
) -> tuple[RoundWork, int]:
    """What a run over rows of words works with, and how far the room of parts is apart."""
    vertices, step = _told(partition), widths[0] if parts == 1 else max(_LINE, widths[0])
    parcels = len(code.plan.accumulators) if synchronous_facts(code.plan).hoisted else 0
    states = empty_words(vertices * widths[0] + parts * step)
    sums, sent = empty_words(vertices * widths[1]), empty_words(vertices * parcels)
    return _work(partition, states, sums, sent), step


def single_form(code: ProgramCode, context: Any, partition: Partition, parts: int = 1) -> RoundForm:
    """The form over lanes with a number in place of a lane."""
    work, step = lane_work(code, partition, 1, parts)
    return RoundForm(code.module(SINGLE), context, work, 0, step)


def lane_work(
    code: ProgramCode, partition: Partition, lanes: int, parts: int = 1
) -> tuple[RoundWork, int]:
    """What a run in so many lanes works with, and how far the room of parts is apart.

    Where parcels are told, accumulators are used at once, and need no more than room for parts.
    """
    vertices, sums = _told(partition), len(code.plan.accumulators) * lanes
    hoisted, step = synchronous_facts(code.plan).hoisted, max(_LINE, sums)
    states = _aligned(vertices * len(code.plan.state) * lanes)
    parcels = _aligned(vertices * sums if hoisted else 0)
    return _work(
        partition, states, _aligned(parts * step if hoisted else vertices * sums), parcels
    ), step


def _told(partition: Partition) -> int:
    """How many vertices have states: own ones, and mirrors that tell them."""
    return len(partition.out.start)


def _work(partition: Partition, states: Words, sums: Words, parcels: Words) -> RoundWork:
    vertices = _told(partition)
    listed, changed = np.empty(vertices, np.int32), np.empty(vertices, np.int32)
    mark, hearing = np.zeros(vertices, np.int32), np.empty(vertices + 1, np.int32)
    return RoundWork(states, sums, parcels, listed, changed, mark, hearing, partition)


def aligned_words(count: int) -> NDArray[np.float64]:
    """So many words, the first at the beginning of a line of the cache. Not to be read yet."""
    room = np.empty(count + _LINE)
    first = -room.ctypes.data // 8 % _LINE
    return room[first : first + count]


def _aligned(count: int) -> Words:
    words = aligned_words(count)
    return Words(words, words.view(np.int64))


def new_progress(iteration: int = 0, changed: int = EVERYBODY, lanes: int = 1) -> Int64:
    """A run of some lanes at an iteration; so many vertices changed in it."""
    progress = np.zeros(PROGRESS, np.int64)
    progress[ITERATION], progress[CHANGED], progress[GOING] = iteration, changed, (1 << lanes) - 1
    progress[PENDING], progress[HEARING], progress[RESTLESS] = NOBODY, -1, 1
    return progress


def block_of(work: RoundWork) -> int:
    """How many iterations a kernel runs at once."""
    return max(1, _BLOCK // max(1, len(work.states.real)))


def check_fault(name: str, fault: Int64) -> None:
    if fault[0] == 0:
        return
    _, index, length = fault.tolist()
    fault[:] = 0
    raise outside(name, index, length)


def outside(name: str, index: int, length: int) -> InputError:
    return InputError(
        f"{name}: index {index} is outside of an array of {length}",
        hint="check what is used as an index, or give the array another size",
    )
