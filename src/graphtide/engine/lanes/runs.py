"""A run in lanes, one or several: what it works with, and its iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.synchronous.facts import synchronous_facts
from graphtide.engine.synchronous.runs import SynchronousRuns
from graphtide.kernels.lanes.records import (
    ACTIVE,
    CHANGED,
    ITERATION,
    PLACES,
    LaneContext,
    LaneCourse,
    LaneWork,
)
from graphtide.kernels.synchronous.records import EVERYBODY, Rows
from graphtide.plan.programs import VertexProgram

_BLOCK = 1 << 24
_LINE = 8


def run_lanes(
    runs: SynchronousRuns, kernels: Any, context: LaneContext, work: LaneWork, lanes: int
) -> None:
    """Run a program to its end in so many lanes; the states are then in `work`.

    Kernels run so many iterations at once that a run can be interrupted.
    """
    ending, rounds = runs.ending, max(1, _BLOCK // max(1, len(work.states.real)))
    progress = np.zeros(PLACES, np.int64)
    progress[ACTIVE], progress[CHANGED] = (1 << lanes) - 1, EVERYBODY
    course = LaneCourse(0, ending.settle, ending.patient, progress)
    kernels.begin_lanes(context, work, course)
    while progress[ACTIVE] and progress[ITERATION] < ending.last:
        last = min(ending.last, int(progress[ITERATION]) + rounds)
        kernels.run_lanes(context, work, course._replace(last=last))
    runs.check_limit(int(progress[ITERATION]), resting=not progress[ACTIVE])


def lane_work(program: VertexProgram, vertices: int, lanes: int) -> LaneWork:
    """What a run in so many lanes works with."""
    sums, hoisted = len(program.accumulators), synchronous_facts(program).hoisted
    return LaneWork(
        states=_rows(vertices * len(program.state) * lanes),
        sums=_rows((1 if hoisted else vertices) * sums * lanes),
        parcels=_rows(vertices * sums * lanes if hoisted else 0),
        listed=np.empty(vertices, np.int32),
        changed=np.empty(vertices, np.int32),
        mark=np.empty(vertices, np.int32),
        hearing=np.empty(vertices + 1, np.int32),
    )


def aligned_words(count: int) -> NDArray[np.float64]:
    """So many words, the first at the beginning of a line of the cache. Not to be read yet."""
    room = np.empty(count + _LINE)
    first = -room.ctypes.data // 8 % _LINE
    return room[first : first + count]


def _rows(count: int) -> Rows:
    words = aligned_words(count)
    return Rows(words, words.view(np.int64))
