"""Fixpoint maintenance over many steps in one call: flip, repair, note what changed, go on.

The steps are those of a plan, depth first: before each, what lies between the version that was
reached last and the parent of the step is undone. Nothing here decides anything: where a repair
would look at too much, the stretch ends before that step, graph and state being as they were.

A step costs its flips, its repair and its rows; about a microsecond beside. One long kernel of
kernels that there are anyway: helpers of its own took as long to compile as all of the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.fixpoint import repair, roll_back
from graphtide.engine.templates.fixpoint_call import context_at, state_at
from graphtide.kernels.clock import cycles
from graphtide.kernels.fixpoint_records import ChangeLog
from graphtide.kernels.flips import Delta, flip_delta
from graphtide.kernels.jit import kernel
from graphtide.kernels.stretch_records import Stretch, StretchLimits, StretchPath, StretchRows

Int64 = NDArray[np.int64]

LEAVING = 16384
"""Edges that are looked at in the time that it takes to break a stretch off and begin another."""


@kernel
def empty_log(value: Any) -> ChangeLog:
    """A log for values of this type, with a little room."""
    numbers = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.int32)
    return ChangeLog(numbers[0], np.empty(1024, value.dtype), numbers[1], numbers[2])


@kernel
def with_room(log: ChangeLog, room: int) -> ChangeLog:
    """The log itself if it has so much room, or a copy with at least twice as much as before."""
    had = len(log.vertex)
    if room <= had:
        return log
    room = max(room, 2 * had)
    larger = ChangeLog(
        np.empty(room, log.vertex.dtype),
        np.empty(room, log.value.dtype),
        np.empty(room, log.parent.dtype),
        np.empty(room, log.level.dtype),
    )
    for at in range(had):
        larger.vertex[at] = log.vertex[at]
        larger.value[at] = log.value[at]
        larger.parent[at] = log.parent[at]
        larger.level[at] = log.level[at]
    return larger


@kernel
def follow_stretch(
    words: Int64, stretch: Stretch, now: int, limits: StretchLimits
) -> tuple[StretchRows, StretchPath, int, int, int]:
    """Follow the steps of a stretch as far as its limits allow.

    Returns the rows, the path to where it stands, its length, how many steps were made, and how
    many edges are live. Repairs are stamped from `now` on.
    """
    context, state = context_at(words), state_at(words)
    steps = len(stretch.parent)
    widest = 0
    for step in range(steps):
        widest = max(widest, stretch.places[2 * step + 2] - stretch.places[2 * step])
    sources, targets = np.empty(widest, np.int32), np.empty(widest, np.int32)
    path_step, path_start = np.zeros(steps + 1, np.int64), np.zeros(steps + 2, np.int64)
    bounds, passed = np.zeros(steps + 1, np.int64), np.zeros(steps, np.int64)
    looked = np.zeros(steps, np.int64)
    log, undo, changed = state.log, empty_log(state.value), empty_log(state.value)
    new = np.empty(1024, state.value.dtype)
    depth, undoable, count, done, live = 0, 0, 0, 0, limits.live
    began = cycles()
    last = began
    while done < steps and last - began <= limits.cycles and count <= limits.rows:
        back = depth > 0 and path_step[depth - 1] != stretch.parent[done]
        step = path_step[depth - 1] if back else done
        first, middle, end = stretch.places[2 * step : 2 * step + 3]
        inserted, deleted = stretch.edges[first:middle], stretch.edges[middle:end]
        if back:
            inserted, deleted = deleted, inserted
        delta = Delta(inserted, deleted, sources[: end - first], targets[: end - first])
        if flip_delta(context.graph, delta) >= 0:
            break
        live += len(inserted) - len(deleted)
        if back:
            depth -= 1
            for at in range(path_start[depth], undoable):
                vertex = undo.vertex[at]
                state.value[vertex] = undo.value[at]
                state.parent[vertex] = undo.parent[at]
                state.level[vertex] = undo.level[at]
            undoable = path_start[depth]
            continue
        most = int(limits.patience * live) + LEAVING
        logged, touched = repair(context, state, delta, now + done, most)
        if touched > most:
            roll_back(state, log, logged)
            live -= len(inserted) - len(deleted)
            flip_delta(context.graph, Delta(deleted, inserted, delta.sources, delta.targets))
            break
        changed = with_room(changed, count + logged)
        if len(new) < len(changed.vertex):
            longer = np.empty(len(changed.vertex), new.dtype)
            for at in range(count):  # An assignment of slices takes two seconds to compile.
                longer[at] = new[at]
            new = longer
        for at in range(logged):
            vertex = log.vertex[at]
            if state.value[vertex] != log.value[at]:
                changed.vertex[count] = vertex
                changed.value[count] = log.value[at]
                new[count] = state.value[vertex]
                count += 1
        if stretch.final[done]:
            depth, undoable = 0, 0
        else:
            undo = with_room(undo, undoable + logged)
            for at in range(logged):
                undo.vertex[undoable + at] = log.vertex[at]
                undo.value[undoable + at] = log.value[at]
                undo.parent[undoable + at] = log.parent[at]
                undo.level[undoable + at] = log.level[at]
            undoable += logged
        path_step[depth] = done
        depth += 1
        path_start[depth] = undoable
        looked[done] = touched
        ended = cycles()
        passed[done] = ended - last
        last = ended
        done += 1
        bounds[done] = count
    rows = StretchRows(changed.vertex, changed.value, new, bounds, looked, passed)
    return rows, StretchPath(path_step, path_start, undo), depth, done, live
