"""The history of every vertex: rows of words, one for each iteration in which they change.

A row is the state of a vertex after an iteration, followed by what it had accumulated in it. All
rows of a vertex lie together in a pool, in order of iteration, and start with iteration 0; the
row as of iteration i is the last one whose iteration is not after i. Row 0 of the pool belongs to
no vertex: it is where the next row is being made.

The rows of a version are never overwritten. Who wants to change the history of a vertex touches
it first: a copy with more room, at the end of the pool, becomes its history, and what it was is
noted in `Touched`. So the old history can be read beside the new one, undoing is putting back
where it lay, and the pool shrinks to what it was. What nobody can go back to is swept out by
`copy_pool`.

Kernels that take rows from the pool expect that `with_rows` has made room for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.jit import kernel, lean_kernel
from graphtide.kernels.synchronous_records import (
    CAPACITY,
    COUNT,
    FLAGS,
    FRESH_INTO,
    FRESH_OUT,
    GONE_INTO,
    GONE_OUT,
    IN_DEGREE,
    OLD_CAPACITY,
    OLD_COUNT,
    OLD_START,
    OUT_DEGREE,
    PLACE,
    START,
    TICKET,
    VERTEX,
    Histories,
    Int32,
    Int64,
    Touched,
)

ROOM = 4
"""Rows that a touched history can grow by before it moves."""


@kernel
def longer(array: Any, used: int, length: int) -> Any:
    """A copy of the part in use with more room at the end."""
    found = np.empty(length, array.dtype)
    found[:used] = array[:used]
    return found


@lean_kernel
def lacks_rows(histories: Histories, rows: int) -> bool:
    """True if the pool has no room for so many more rows; cheaper to ask than `with_rows`."""
    return bool(histories.used[0] + rows > len(histories.iteration))


@kernel
def with_rows(histories: Histories, rows: int, width: int) -> Histories:
    """The histories with room for so many more rows; copies the pool only to double it."""
    used = histories.used[0]
    if used + rows <= len(histories.iteration):
        return histories
    room = max(used + rows, 2 * len(histories.iteration))
    real = longer(histories.real, used * width, room * width)
    return Histories(
        histories.line,
        histories.slack,
        longer(histories.iteration, used, room),
        real,
        real.view(np.int64),
        histories.used,
    )


@kernel
def with_places(touched: Touched, more: int, width: int) -> Touched:
    """The same with room for so many more vertices."""
    used = touched.size[0]
    if used + more <= len(touched.note):
        return touched
    room = max(used + more, 2 * len(touched.note))
    note = np.empty((room, touched.note.shape[1]), np.int64)
    note[:used] = touched.note[:used]
    real = longer(touched.real, used * width, room * width)
    return Touched(note, real, real.view(np.int64), touched.size)


@lean_kernel
def row_as_of(histories: Histories, start: int, count: int, iteration: int) -> int:
    """The row of a history that holds in an iteration. O(1) where values change all the time."""
    at = start + min(iteration, count - 1)
    while histories.iteration[at] > iteration:
        at -= 1
    return at


@lean_kernel
def current_row(histories: Histories, vertex: int, iteration: int) -> int:
    """The row of a vertex that holds in an iteration, in the history as it is now."""
    return row_as_of(
        histories, histories.line[vertex, START], histories.line[vertex, COUNT], iteration
    )


@lean_kernel
def iteration_after(histories: Histories, at: int, end: int) -> int:
    """The iteration of the row behind one, or -1; `end` is the end of that history."""
    return int(histories.iteration[at + 1]) if at + 1 < end else -1


@lean_kernel
def same_words(whole: Int64, one: int, other: int, width: int) -> bool:
    """True if two runs of words are the same to the bit."""
    same = True
    for step in range(width):
        same = same and whole[one + step] == whole[other + step]
    return same


@lean_kernel
def move_history(histories: Histories, vertex: int, room: int, width: int) -> None:
    """Copy a vertex's rows to the end of the pool, where they can grow."""
    start, count = histories.line[vertex, START], histories.line[vertex, COUNT]
    place = histories.used[0]
    histories.used[0] += room
    for step in range(count):
        histories.iteration[place + step] = histories.iteration[start + step]
    source, target = start * width, place * width
    for step in range(count * width):
        histories.whole[target + step] = histories.whole[source + step]
    histories.line[vertex, START] = place
    histories.line[vertex, CAPACITY] = room


@lean_kernel
def touch(histories: Histories, touched: Touched, vertex: int, graph: Any, width: int) -> int:
    """Where the vertex stands in `touched`; at the first call its history is set apart."""
    if histories.line[vertex, PLACE] >= 0:
        return int(histories.line[vertex, PLACE])
    place = int(touched.size[0])
    touched.size[0] += 1
    histories.line[vertex, PLACE] = place
    touched.note[place, VERTEX] = vertex
    touched.note[place, OLD_START] = histories.line[vertex, START]
    touched.note[place, OLD_COUNT] = histories.line[vertex, COUNT]
    touched.note[place, OLD_CAPACITY] = histories.line[vertex, CAPACITY]
    touched.note[place, OUT_DEGREE] = graph.out.live[vertex]
    touched.note[place, IN_DEGREE] = graph.into.live[vertex]
    touched.note[place, FRESH_OUT] = 0
    touched.note[place, FRESH_INTO] = 0
    touched.note[place, GONE_OUT] = -1
    touched.note[place, GONE_INTO] = -1
    touched.note[place, TICKET] = -1
    touched.note[place, FLAGS] = 0
    move_history(histories, vertex, histories.line[vertex, COUNT] + ROOM, width)
    return place


@lean_kernel
def put_row(histories: Histories, vertex: int, iteration: int, width: int) -> None:
    """Make row 0 of the pool the row of a vertex that has been touched, for one iteration.

    Nothing is stored where the row before says the same; a row that says no more goes.
    """
    before = current_row(histories, vertex, iteration - 1)
    at, end = before + 1, histories.line[vertex, START] + histories.line[vertex, COUNT]
    there = at < end and histories.iteration[at] == iteration
    if same_words(histories.whole, 0, before * width, width):
        if there:
            shift_rows(histories, at + 1, end, -1, width)
            histories.line[vertex, COUNT] -= 1
        return
    if not there:
        if histories.line[vertex, COUNT] == histories.line[vertex, CAPACITY]:
            at -= histories.line[vertex, START]
            move_history(histories, vertex, 2 * histories.line[vertex, CAPACITY], width)
            at += histories.line[vertex, START]
            end = histories.line[vertex, START] + histories.line[vertex, COUNT]
        shift_rows(histories, at, end, 1, width)
        histories.line[vertex, COUNT] += 1
        histories.iteration[at] = iteration
    for step in range(width):
        histories.whole[at * width + step] = histories.whole[step]


@lean_kernel
def shift_rows(histories: Histories, first: int, end: int, by: int, width: int) -> None:
    """Move the rows from `first` to `end` by one place, up or down."""
    for step in range(end - first):
        row = end - 1 - step if by > 0 else first + step
        histories.iteration[row + by] = histories.iteration[row]
        for word in range(width):
            histories.whole[(row + by) * width + word] = histories.whole[row * width + word]


@lean_kernel
def put_back(histories: Histories, touched: Touched, used: int) -> None:
    """Give all touched vertices the histories they had, and the pool the rows it had."""
    for place in range(touched.size[0]):
        vertex = touched.note[place, VERTEX]
        histories.line[vertex, START] = touched.note[place, OLD_START]
        histories.line[vertex, COUNT] = touched.note[place, OLD_COUNT]
        histories.line[vertex, CAPACITY] = touched.note[place, OLD_CAPACITY]
        histories.line[vertex, PLACE] = -1
    histories.used[0] = used


@kernel
def settle_results(
    histories: Histories, touched: Touched, results: Any, widths: tuple[int, int], old: Any
) -> Int32:
    """End of an advance: the last rows of touched vertices become results.

    Returns the vertices whose result changed; `old` gets what theirs were, in the same order.
    """
    state_width, width = widths[0], widths[0] + widths[1]
    found = np.empty(touched.size[0], np.int32)
    size = 0
    for place in range(touched.size[0]):
        vertex = touched.note[place, VERTEX]
        histories.line[vertex, PLACE] = -1
        last = (histories.line[vertex, START] + histories.line[vertex, COUNT] - 1) * width
        changed = False
        for step in range(state_width):
            old[size, step] = results[vertex, step]
            results[vertex, step] = histories.whole[last + step]
            changed = changed or old[size, step] != results[vertex, step]
        if changed:
            found[size] = vertex
            size += 1
    return found[:size]


@kernel
def cut_histories(
    histories: Histories, touched: Touched, last: int, graph: Any, widths: tuple[int, int]
) -> tuple[Histories, Touched]:
    """Drop all rows after an iteration: a run that ended sooner. O(vertices)."""
    width = widths[0] + widths[1]
    for vertex in range(len(histories.line)):
        count = histories.line[vertex, COUNT]
        if histories.iteration[histories.line[vertex, START] + count - 1] <= last:
            continue
        histories = with_rows(histories, count + ROOM, width)
        touched = with_places(touched, 1, widths[1] + 1)
        touch(histories, touched, vertex, graph, width)
        row = row_as_of(histories, histories.line[vertex, START], count, last)
        histories.line[vertex, COUNT] = row - histories.line[vertex, START] + 1
    return histories, touched


@lean_kernel
def count_rows(histories: Histories) -> int:
    """How many rows are the history of some vertex. O(vertices)."""
    total = 0
    for vertex in range(len(histories.line)):
        total += histories.line[vertex, COUNT]
    return total


@lean_kernel
def copy_pool(histories: Histories, iteration: Int32, whole: Int64, width: int) -> None:
    """Move every history into a new pool, without the rows that belong to nobody. O(rows)."""
    place = 1
    for vertex in range(len(histories.line)):
        start, count = histories.line[vertex, START], histories.line[vertex, COUNT]
        for step in range(count):
            iteration[place + step] = histories.iteration[start + step]
        target, source = place * width, start * width
        for step in range(count * width):
            whole[target + step] = histories.whole[source + step]
        histories.line[vertex, START] = place
        histories.line[vertex, CAPACITY] = count
        place += count
    histories.used[0] = place
