"""Fixpoint maintenance over many steps in one call: flip, repair, note what changed, go on.

The steps are those of a plan, depth first: before each, what lies between the version that was
reached last and the parent of the step is undone. Nothing here decides anything: where a repair
would look at too much, the stretch ends before that step, graph and state being as they were.

The kernel makes no arrays, so that no references are counted at every step: where room is lacking
it returns, is given more, and goes on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.fixpoint import kept_at, repair_at, roll_back
from graphtide.engine.templates.selecting import VALUE
from graphtide.kernels.blocks import places
from graphtide.kernels.fixpoint.records import (
    BEGAN,
    COUNT,
    DEPTH,
    DONE,
    FIRST_NOW,
    LAST,
    LIVE,
    MOST_COUNT,
    MOST_CYCLES,
    UNDOABLE,
    ChangeLog,
    FixpointState,
    Stretch,
    StretchRoom,
    StretchRows,
    room_at,
    stretch_at,
)
from graphtide.kernels.graph.flips import Delta, flip_delta
from graphtide.kernels.intrinsics import cycles
from graphtide.kernels.jit import bare_kernel, joined_kernel

Int64 = NDArray[np.int64]

LEAVING = 16384
"""Edges that are looked at in the time that it takes to break a stretch off and begin another."""

ROOM = places(Stretch)
"""The place of the block where the room for what the steps leave begins, behind the steps."""


@joined_kernel
def step_delta(stretch: Stretch, room: StretchRoom, step: int, back: bool) -> Delta:
    """The edges of a step, or of the way back from it, with room for their ends."""
    first, end = stretch.places[2 * step], stretch.places[2 * step + 2]
    middle = stretch.places[2 * step + 1]
    inserted, deleted = stretch.edges[first:middle], stretch.edges[middle:end]
    if back:
        inserted, deleted = deleted, inserted
    return Delta(inserted, deleted, room.sources[: end - first], room.targets[: end - first])


@joined_kernel
def put_back(state: FixpointState, undo: ChangeLog, first: int, last: int) -> None:
    """Give vertices back what they were before a step."""
    for at in range(first, last):
        vertex = undo.vertex[at]
        state.value[vertex] = undo.value[at]
        state.parent[vertex] = undo.parent[at]
        state.level[vertex] = undo.level[at]


@joined_kernel
def note_rows(state: FixpointState, rows: StretchRows, logged: int, count: int) -> int:
    """Append the vertices whose value changed; returns how many rows there are."""
    log = state.log
    for at in range(logged):
        vertex = log.vertex[at]
        if state.value[vertex] != log.value[at]:
            rows.vertex[count] = vertex
            rows.old[count] = log.value[at]
            rows.new[count] = state.value[vertex]
            count += 1
    return count


@joined_kernel
def keep_undo(log: ChangeLog, undo: ChangeLog, logged: int, first: int) -> int:
    """Append what undoes a step; returns where the next one begins."""
    for at in range(logged):
        undo.vertex[first + at] = log.vertex[at]
        undo.value[first + at] = log.value[at]
        undo.parent[first + at] = log.parent[at]
        undo.level[first + at] = log.level[at]
    return first + logged


@bare_kernel
def follow_stretch(words: Int64, left: Int64, progress: Int64, patience: float) -> bool:
    """Follow the steps of a stretch; True where there is no room for all that one may log.

    `left` names the stretch and the room, `progress` says how far it is. A repair that looks at
    more than `patience` times the live edges is not made.
    """
    state, stretch, room = kept_at(words), stretch_at(left, 0), room_at(left, ROOM, VALUE)
    rows, path, log = room.rows, room.path, state.log
    done, depth, count = progress[DONE], progress[DEPTH], progress[COUNT]
    undoable, live, lacking = progress[UNDOABLE], progress[LIVE], False
    if progress[BEGAN] == 0:
        progress[BEGAN] = progress[LAST] = cycles()
    last, latest = progress[LAST], progress[BEGAN] + progress[MOST_CYCLES]
    while done < len(stretch.parent) and last <= latest and count <= progress[MOST_COUNT]:
        room_left = min(len(rows.vertex) - count, len(path.undo.vertex) - undoable)
        if room_left < len(log.vertex):
            lacking = True
            break
        back = depth > 0 and path.step[depth - 1] != stretch.parent[done]
        delta = step_delta(stretch, room, path.step[depth - 1] if back else done, back)
        if flip_delta(words, delta) >= 0:
            break
        live += len(delta.inserted) - len(delta.deleted)
        if back:
            depth -= 1
            put_back(state, path.undo, path.start[depth], undoable)
            undoable = path.start[depth]
            continue
        most = int(patience * live) + LEAVING
        logged, touched = repair_at(words, delta, progress[FIRST_NOW] + done, most)
        if touched > most:
            roll_back(state, log, logged)
            live -= len(delta.inserted) - len(delta.deleted)
            flip_delta(words, Delta(delta.deleted, delta.inserted, delta.sources, delta.targets))
            break
        count = note_rows(state, rows, logged, count)
        if stretch.final[done]:
            depth, undoable = 0, 0
        else:
            undoable = keep_undo(log, path.undo, logged, undoable)
        path.step[depth] = done
        depth += 1
        path.start[depth] = undoable
        rows.touched[done] = touched
        rows.cycles[done] = cycles() - last
        last += rows.cycles[done]
        done += 1
        rows.bounds[done] = count
    progress[DONE], progress[DEPTH], progress[COUNT] = done, depth, count
    progress[UNDOABLE], progress[LIVE], progress[LAST] = undoable, live, last
    return lacking
