"""Which vertices an exact advance still has to visit, by iteration, and what changed at one.

Iterations that have visits wait in a heap; the visits of one form a linked list. Nothing here
allocates: where the desk is full, the work is broken off for the caller to begin anew with more.
"""

from __future__ import annotations

from typing import Any

from graphtide.kernels.exact.histories import entry_at
from graphtide.kernels.exact.records import (
    CHANGED,
    DESK_FULL,
    MOST,
    NOTHING,
    PASSED,
    PASSED_AN_EDGE,
    STOPPED,
    TIMES,
    TOUCHED,
    VISITS,
    Agenda,
    Desk,
    Histories,
)
from graphtide.kernels.heap import number_pop, number_push
from graphtide.kernels.jit import joined_kernel


@joined_kernel
def plan_visit(agenda: Agenda, desk: Desk, vertex: int, time: int, arc: Any) -> None:
    """Line up a visit; `arc` is (source, edge), with edge NOTHING for a look at all in-edges."""
    count = desk.counts[VISITS]
    if count >= len(desk.visits.vertex):
        desk.counts[STOPPED] = DESK_FULL
        return
    desk.visits.vertex[count] = vertex
    desk.visits.source[count] = arc[0]
    desk.visits.edge[count] = arc[1]
    desk.visits.following[count] = agenda.first[time]
    if agenda.first[time] == NOTHING:
        push_time(desk, time)
    agenda.first[time] = count
    desk.counts[VISITS] = count + 1


@joined_kernel
def push_time(desk: Desk, time: int) -> None:
    """Put an iteration into the heap of those that have visits. It has room for one a visit."""
    desk.counts[TIMES] = number_push(desk.times, desk.counts[TIMES], time)


@joined_kernel
def pop_time(desk: Desk) -> int:
    """Take the earliest iteration out of the heap."""
    earliest = desk.times[0]
    desk.counts[TIMES] = number_pop(desk.times, desk.counts[TIMES])
    return int(earliest)


@joined_kernel
def note_change(histories: Histories, desk: Desk, vertex: int, time: int, serial: int) -> None:
    """Keep what a vertex's entry at the current iteration was, the first time it is touched."""
    if desk.mark[vertex] == serial:
        return
    desk.mark[vertex] = serial
    count = desk.counts[CHANGED]
    if count >= len(desk.changed.vertex):
        desk.counts[STOPPED] = DESK_FULL
        return
    at = entry_at(histories, vertex, time)
    desk.changed.vertex[count] = vertex
    desk.changed.had[count] = at != NOTHING
    if at != NOTHING:
        desk.changed.value[count] = histories.value[at]
    desk.counts[CHANGED] = count + 1


@joined_kernel
def is_too_much(desk: Desk) -> bool:
    """True where so many edges and entries were looked at that a run from scratch is cheaper."""
    counts = desk.counts
    return bool(counts[TOUCHED] + counts[PASSED] // PASSED_AN_EDGE > counts[MOST])


@joined_kernel
def clear_agenda(agenda: Agenda, desk: Desk) -> None:
    """Leave nothing behind for the next advance, whether the work was done or broken off."""
    for number in range(desk.counts[VISITS]):
        desk.mark[desk.visits.vertex[number]] = 0
    for place in range(desk.counts[TIMES]):
        agenda.first[desk.times[place]] = NOTHING
