"""Histories of selecting programs as linked lists, and the visits that an advance has to make.

Entries are found, put, taken, logged and put back. Kept true: the entries of a vertex ascend in
time, and one that is not in a list of a vertex is in the list of those given up, or has never been
used.

Iterations that have visits wait in a heap; the visits of one form a linked list. Nothing here
allocates: where the desk is full, the work is broken off for the caller to begin anew with more.

Records are here and not in the generated modules so that all programs share them: to Numba's quick
look at arguments two classes of one shape are the same, and a call with the wrong one of the two
takes the slow way, a quarter of a millisecond instead of a few microseconds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import record_reader
from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.intrinsics import NEAR, prefetch
from graphtide.kernels.jit import bare_kernel, joined_kernel, kernel
from graphtide.kernels.queues import number_pop, number_push

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

NOTHING = -1

VISITS, VERTICES, ENTRIES, CHANGED, TIMES, TOUCHED, PASSED, MOST, STOPPED = range(9)
"""What `Desk.counts` counts: visits lined up, vertices and entries logged, vertices changed at the
current iteration, iterations waiting, edges looked at, entries passed on the way to those that were
looked for, the most of both that may be, and why the work was broken off, which is one of the
following."""

PASSED_AN_EDGE = 24
"""So many entries that are passed count as an edge that is looked at. On a road network, where
components have histories of 44 entries and shortest paths of 22, a repair that counted edges alone
took up to twice a run from scratch before it was broken off. The longest batch there, broken off
and run from scratch, took 1.46 times one with this (1.5 is what it may)."""

GOING, DESK_FULL, HISTORIES_FULL, TOO_MUCH = range(4)

NOW, ITERATIONS, MOST_WORK = range(3)
"""The orders of an advance: its number, the last iteration, and the most edges to look at."""

TIME, FRONTIER, LISTED, WORK = range(4)
"""How far a run from scratch is: the iteration, vertices that have something to say, vertices with
a value that is not kept yet, edges looked at."""


class ValueHistories(NamedTuple):
    """Entries as linked lists in ascending time: 16 bytes an entry, 8 a vertex.

    Time, value and following of an entry lie side by side: three views of one array. `free` are
    the head of the list of entries that were given up, and the first that was never used. The
    entry of iteration 0 is not stored.
    """

    head: Int32
    stamp: Int32
    time: Int32
    value: Any
    following: Int32
    free: Int32


class Rounds(NamedTuple):
    """What a run from scratch works with: values now and next, who is to send, who improved.

    `tail` is the last entry of each vertex, without room where no histories are kept.
    """

    value: Any
    fresh: Any
    frontier: Int32
    listed: Int32
    tail: Int32
    progress: Int64


class VisitLists(NamedTuple):
    """Visits by iteration: `first[t]` heads the list of those at t. Empty between advances."""

    first: Int32


class Visits(NamedTuple):
    """Visits to come: a vertex, and the edge whose event may help it, or NOTHING for a look."""

    vertex: Int32
    edge: Int32
    source: Int32
    following: Int32


class Log(NamedTuple):
    """What vertices were before an advance: their last values, and their entries.

    The entries of number n are those from begin[n] to begin[n + 1].
    """

    vertex: Int32
    begin: Int32
    last: Any
    time: Int32
    value: Any


class Changed(NamedTuple):
    """Vertices whose entry at the current iteration is not what it was, with what it was."""

    vertex: Int32
    had: NDArray[np.bool_]
    value: Any


class HistoryContext(NamedTuple):
    """What the kernels read: the graph, a block of properties and parameters, the end."""

    graph: Adjacency
    read: Int64
    iterations: int


class Desk(NamedTuple):
    """What an advance works with; its counters are cells, so that all of it can be passed on."""

    visits: Visits
    log: Log
    changed: Changed
    times: Int32
    mark: Int32
    counts: Int64


histories_at = record_reader(ValueHistories, strided=("time", "value", "following"))
desk_at = record_reader(Desk)


@joined_kernel
def entry_at(histories: ValueHistories, vertex: int, time: int) -> int:
    """The entry of exactly that iteration, or NOTHING."""
    return entry_behind(histories, vertex, time)[0]


@joined_kernel
def entry_behind(histories: ValueHistories, vertex: int, time: int) -> tuple[int, int]:
    """The entry of exactly that iteration, or NOTHING, and how many are before it."""
    at, passed = histories.head[vertex], 0
    while at != NOTHING and histories.time[at] < time:
        at = histories.following[at]
        passed += 1
    if at != NOTHING and histories.time[at] == time:
        return int(at), passed
    return NOTHING, passed


@joined_kernel
def new_entry(histories: ValueHistories) -> int:
    """An entry that nobody uses, or NOTHING."""
    fresh = histories.free[0]
    if fresh != NOTHING:
        histories.free[0] = histories.following[fresh]
    elif histories.free[1] < len(histories.time):
        fresh = histories.free[1]
        histories.free[1] += 1
    return int(fresh)


@joined_kernel
def put_entry(histories: ValueHistories, vertex: int, time: int, value: Any) -> bool:
    """Set the entry of an iteration; False if there is no room for a new one."""
    before, at = NOTHING, histories.head[vertex]
    while at != NOTHING and histories.time[at] < time:
        before, at = at, histories.following[at]
    if at != NOTHING and histories.time[at] == time:
        histories.value[at] = value
        return True
    fresh = new_entry(histories)
    if fresh == NOTHING:
        return False
    histories.time[fresh] = time
    histories.value[fresh] = value
    histories.following[fresh] = at
    if before == NOTHING:
        histories.head[vertex] = fresh
    else:
        histories.following[before] = fresh
    return True


@joined_kernel
def take_entry(histories: ValueHistories, vertex: int, time: int) -> None:
    """Remove the entry of an iteration, if there is one."""
    before, at = NOTHING, histories.head[vertex]
    while at != NOTHING and histories.time[at] < time:
        before, at = at, histories.following[at]
    if at == NOTHING or histories.time[at] != time:
        return
    if before == NOTHING:
        histories.head[vertex] = histories.following[at]
    else:
        histories.following[before] = histories.following[at]
    histories.following[at] = histories.free[0]
    histories.free[0] = at


@joined_kernel
def log_history(histories: ValueHistories, desk: Desk, vertex: int, now: int) -> bool:
    """Copy a vertex's history into the log, once an advance; False if the log is full."""
    if histories.stamp[vertex] == now:
        return True
    count, entries = desk.counts[VERTICES], desk.counts[ENTRIES]
    full = count + 1 >= len(desk.log.vertex)
    at = histories.head[vertex]
    while at != NOTHING and not full:
        if entries >= len(desk.log.time):
            full = True
            break
        desk.log.time[entries] = histories.time[at]
        desk.log.value[entries] = histories.value[at]
        entries += 1
        at = histories.following[at]
    if full:
        desk.counts[STOPPED] = DESK_FULL
        return False
    histories.stamp[vertex] = now
    desk.log.vertex[count] = vertex
    desk.log.begin[count] = desk.counts[ENTRIES]
    desk.log.begin[count + 1] = entries
    desk.counts[VERTICES] = count + 1
    desk.counts[ENTRIES] = entries
    return True


@joined_kernel
def write_entry(histories: ValueHistories, desk: Desk, vertex: int, time: int, value: Any) -> None:
    """Set the entry of a logged vertex; breaks the work off where there is no room."""
    if not put_entry(histories, vertex, time, value):
        desk.counts[STOPPED] = HISTORIES_FULL


@bare_kernel
def line_up_entries(histories: ValueHistories, time: Int32, value: Any, following: Int32) -> None:
    """Copy the entries to where there is as much room, those of a vertex side by side.

    A run appends entries iteration by iteration, so that those of a vertex are far apart; side by
    side they are one or two places of memory to whoever walks a history.
    """
    count = 0
    for vertex in range(len(histories.head)):
        if vertex + NEAR < len(histories.head):
            prefetch(histories.time, histories.head[vertex + NEAR])
        at = histories.head[vertex]
        if at != NOTHING:
            histories.head[vertex] = count
        while at != NOTHING:
            time[count], value[count] = histories.time[at], histories.value[at]
            at = histories.following[at]
            following[count] = NOTHING if at == NOTHING else count + 1
            count += 1
    histories.free[0], histories.free[1] = NOTHING, count


@kernel
def roll_back(histories: ValueHistories, log: Log, count: int) -> None:
    """Put logged histories back. There is room: what replaced them is freed first."""
    for number in range(count):
        vertex = log.vertex[number]
        at = histories.head[vertex]
        while at != NOTHING:
            following = histories.following[at]
            histories.following[at] = histories.free[0]
            histories.free[0] = at
            at = following
        histories.head[vertex] = NOTHING
    for number in range(count):
        vertex = log.vertex[number]
        histories.stamp[vertex] = NOTHING
        for entry in range(log.begin[number + 1] - 1, log.begin[number] - 1, -1):
            put_entry(histories, vertex, log.time[entry], log.value[entry])


@joined_kernel
def plan_visit(agenda: VisitLists, desk: Desk, vertex: int, time: int, arc: Any) -> None:
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
def note_change(histories: ValueHistories, desk: Desk, vertex: int, time: int, serial: int) -> None:
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
def clear_agenda(agenda: VisitLists, desk: Desk) -> None:
    """Leave nothing behind for the next advance, whether the work was done or broken off."""
    for number in range(desk.counts[VISITS]):
        desk.mark[desk.visits.vertex[number]] = 0
    for place in range(desk.counts[TIMES]):
        agenda.first[desk.times[place]] = NOTHING
