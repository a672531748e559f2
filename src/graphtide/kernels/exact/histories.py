"""Histories as linked lists: find, put and take entries, log them and put them back.

Kept true: the entries of a vertex ascend in time, and one that is not in a list of a vertex is in
the list of those given up, or has never been used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.exact.records import (
    DESK_FULL,
    ENTRIES,
    HISTORIES_FULL,
    NOTHING,
    STOPPED,
    VERTICES,
    Desk,
    Histories,
    Log,
)
from graphtide.kernels.jit import bare_kernel, joined_kernel, kernel
from graphtide.kernels.prefetch import NEAR, prefetch

Int32 = NDArray[np.int32]


@joined_kernel
def entry_at(histories: Histories, vertex: int, time: int) -> int:
    """The entry of exactly that iteration, or NOTHING."""
    return entry_behind(histories, vertex, time)[0]


@joined_kernel
def entry_behind(histories: Histories, vertex: int, time: int) -> tuple[int, int]:
    """The entry of exactly that iteration, or NOTHING, and how many are before it."""
    at, passed = histories.head[vertex], 0
    while at != NOTHING and histories.time[at] < time:
        at = histories.following[at]
        passed += 1
    if at != NOTHING and histories.time[at] == time:
        return int(at), passed
    return NOTHING, passed


@joined_kernel
def new_entry(histories: Histories) -> int:
    """An entry that nobody uses, or NOTHING."""
    fresh = histories.free[0]
    if fresh != NOTHING:
        histories.free[0] = histories.following[fresh]
    elif histories.free[1] < len(histories.time):
        fresh = histories.free[1]
        histories.free[1] += 1
    return int(fresh)


@joined_kernel
def put_entry(histories: Histories, vertex: int, time: int, value: Any) -> bool:
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
def take_entry(histories: Histories, vertex: int, time: int) -> None:
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
def log_history(histories: Histories, desk: Desk, vertex: int, now: int) -> bool:
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
def write_entry(histories: Histories, desk: Desk, vertex: int, time: int, value: Any) -> None:
    """Set the entry of a logged vertex; breaks the work off where there is no room."""
    if not put_entry(histories, vertex, time, value):
        desk.counts[STOPPED] = HISTORIES_FULL


@bare_kernel
def line_up_entries(histories: Histories, time: Int32, value: Any, following: Int32) -> None:
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
def roll_back(histories: Histories, log: Log, count: int) -> None:
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
