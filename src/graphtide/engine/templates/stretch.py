"""Fixpoint maintenance over many steps in one call: flip, repair, note what changed, go on.

The steps are those of a plan, depth first: before each, what lies between the version that was
reached last and the parent of the step is undone. Nothing here decides anything: where a repair
would look at too much, the stretch ends before that step, graph and state being as they were.

A step that the next one is not below is gone back from at once: it gets no state of its own, only
its values are found (`peeking`), and its edges are put back by moving the borders.

The kernel makes no arrays, so that no references are counted at every step: where room is lacking
it returns, is given more, and goes on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.carrying import peek_below
from graphtide.engine.templates.fixpoint import roll_back
from graphtide.engine.templates.fixpoint_call import context_at, repair_at, state_at
from graphtide.engine.templates.peeking import peek
from graphtide.engine.templates.selecting import CARRIES, VALUE
from graphtide.kernels.blocks import array_at
from graphtide.kernels.clock import cycles
from graphtide.kernels.fixpoint_records import ChangeLog
from graphtide.kernels.flips import Delta, flip_at, take_back_at
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.stretch_records import (
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
    Stretch,
    StretchPath,
    StretchRoom,
    StretchRows,
)

Int64 = NDArray[np.int64]

LEAVING = 16384
"""Edges that are looked at in the time that it takes to break a stretch off and begin another."""

PEEKED = 2
"""So many are looked at where nobody goes on from a step, in the time of one where one does."""


@joined_kernel
def stretch_at(left: Int64) -> Stretch:
    """The steps that are to be followed."""
    return Stretch(
        edges=array_at(left, 0, np.int32),
        places=array_at(left, 1, np.int64),
        parent=array_at(left, 2, np.int32),
        final=array_at(left, 3, np.bool_),
    )


@joined_kernel
def room_at(left: Int64) -> StretchRoom:
    """The room for what they leave, which comes behind them."""
    rows = StretchRows(
        array_at(left, 4, np.int32),
        array_at(left, 5, VALUE),
        array_at(left, 6, VALUE),
        array_at(left, 7, np.int64),
        array_at(left, 8, np.int64),
        array_at(left, 9, np.int64),
    )
    undo = ChangeLog(
        array_at(left, 12, np.int32),
        array_at(left, 13, VALUE),
        array_at(left, 14, np.int32),
        array_at(left, 15, np.int32),
    )
    path = StretchPath(array_at(left, 10, np.int64), array_at(left, 11, np.int64), undo)
    return StretchRoom(rows, path, array_at(left, 16, np.int32), array_at(left, 17, np.int32))


@inner_kernel
def peek_at(words: Int64, delta: Delta, now: int, most: int) -> tuple[int, int]:
    """`peek` of what a block names."""
    context, state = context_at(words), state_at(words)
    if CARRIES and len(delta.deleted) == 1 and len(delta.inserted) == 0:
        return peek_below(context, state, delta, now, most)
    return peek(context, state, delta, now, most)


@bare_kernel
def follow_stretch(words: Int64, left: Int64, progress: Int64, patience: float) -> bool:
    """Follow the steps of a stretch; True where there is no room for all that one may log.

    `left` names the stretch and the room, `progress` says how far it is. A repair that looks at
    more than `patience` times the live edges is not made.
    """
    state, stretch, room = state_at(words), stretch_at(left), room_at(left)
    rows, path, log = room.rows, room.path, state.log
    undo, steps, now = path.undo, len(stretch.parent), progress[FIRST_NOW]
    done, depth, count = progress[DONE], progress[DEPTH], progress[COUNT]
    undoable, live = progress[UNDOABLE], progress[LIVE]
    lacking = False
    if progress[BEGAN] == 0:
        progress[BEGAN] = progress[LAST] = cycles()
    last, latest = progress[LAST], progress[BEGAN] + progress[MOST_CYCLES]
    while done < steps and last <= latest and count <= progress[MOST_COUNT]:
        if min(len(rows.vertex) - count, len(undo.vertex) - undoable) < len(log.vertex):
            lacking = True
            break
        back = depth > 0 and path.step[depth - 1] != stretch.parent[done]
        step = path.step[depth - 1] if back else done
        first, middle, end = (
            stretch.places[2 * step],
            stretch.places[2 * step + 1],
            stretch.places[2 * step + 2],
        )
        inserted, deleted = stretch.edges[first:middle], stretch.edges[middle:end]
        if back:
            inserted, deleted = deleted, inserted
        delta = Delta(inserted, deleted, room.sources[: end - first], room.targets[: end - first])
        if flip_at(words, delta) >= 0:
            break
        live += len(inserted) - len(deleted)
        if back:
            depth -= 1
            for at in range(path.start[depth], undoable):
                vertex = undo.vertex[at]
                state.value[vertex] = undo.value[at]
                state.parent[vertex] = undo.parent[at]
                state.level[vertex] = undo.level[at]
            undoable = path.start[depth]
            continue
        most = int(patience * live) + LEAVING
        if done + 1 < steps and stretch.parent[done + 1] != done:
            most *= PEEKED
            logged, touched = peek_at(words, delta, now + done, most)
            before = count
            for at in range(logged - 1, -1, -1):
                vertex = log.vertex[at]
                state.parent[vertex] = log.parent[at]
                state.level[vertex] = log.level[at]
                if state.value[vertex] != log.value[at]:
                    rows.vertex[count] = vertex
                    rows.old[count] = log.value[at]
                    rows.new[count] = state.value[vertex]
                    state.value[vertex] = log.value[at]
                    count += 1
            take_back_at(words, delta)
            live -= len(inserted) - len(deleted)
            if touched > most:
                count = before
                break
            rows.touched[done] = touched
            ended = cycles()
            rows.cycles[done] = ended - last
            last = ended
            done += 1
            rows.bounds[done] = count
            continue
        logged, touched = repair_at(words, delta, now + done, most)
        if touched > most:
            roll_back(state, log, logged)
            live -= len(inserted) - len(deleted)
            flip_at(words, Delta(deleted, inserted, delta.sources, delta.targets))
            break
        for at in range(logged):
            vertex = log.vertex[at]
            if state.value[vertex] != log.value[at]:
                rows.vertex[count] = vertex
                rows.old[count] = log.value[at]
                rows.new[count] = state.value[vertex]
                count += 1
        if stretch.final[done]:
            depth, undoable = 0, 0
        else:
            for at in range(logged):
                undo.vertex[undoable + at] = log.vertex[at]
                undo.value[undoable + at] = log.value[at]
                undo.parent[undoable + at] = log.parent[at]
                undo.level[undoable + at] = log.level[at]
            undoable += logged
        path.step[depth] = done
        depth += 1
        path.start[depth] = undoable
        rows.touched[done] = touched
        ended = cycles()
        rows.cycles[done] = ended - last
        last = ended
        done += 1
        rows.bounds[done] = count
    progress[DONE], progress[DEPTH], progress[COUNT] = done, depth, count
    progress[UNDOABLE], progress[LIVE], progress[LAST] = undoable, live, last
    return lacking
