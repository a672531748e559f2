"""The history of every vertex in a synchronous run: rows of words, and the agenda of an advance.

A row is the state of a vertex after an iteration, followed by what it had accumulated in it. Rows
are stored where they change. All rows of a vertex lie together in a pool, in order of iteration,
and start with iteration 0; the row as of iteration i is the last one whose iteration is not after
i. Row 0 of the pool belongs to no vertex: it is where the next row is being made.

The rows of a version are never overwritten. Who wants to change the history of a vertex touches
it first: a copy with more room, at the end of the pool, becomes its history, and what it was is
noted in `Touched`. So the old history can be read beside the new one, undoing is putting back
where it lay, and the pool shrinks to what it was. What nobody can go back to is swept out by
`copy_pool`. Kernels that take rows from the pool expect that there is room for them: who calls them
asks `lacks_rows` before, and leaves it to Python to make more.

The agenda says what is to be done in which iteration, for vertices by their place in `Touched`: two
lists an iteration, whose changed messages are to be sent, and who is to be evaluated. What is for
the iteration at hand or the next one stands in plain lists, which take turns; what is for later
waits in a heap. So an iteration in which nothing happens costs nothing.

Records are here and not in the generated modules so that all programs share them: a call with
records of another class of the same shape takes Numba's slow way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.queues import number_pop, number_push
from graphtide.kernels.synchronous.rounds import Words

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

START, COUNT, CAPACITY, PLACE, LINE_WIDTH = 0, 1, 2, 3, 4
"""A line of `RowHistories.line`: first row, rows, rows there is room for, place among the touched
(or -1); and how long a line is."""

VERTEX, FLAGS, TICKET, OLD_START, OLD_COUNT, OLD_CAPACITY = 0, 1, 2, 3, 4, 5
OUT_DEGREE, IN_DEGREE, FRESH_OUT, FRESH_INTO, GONE_OUT, GONE_INTO, NOTE_WIDTH = (
    6, 7, 8, 9, 10, 11, 12,
)  # fmt: skip
"""A line of `Touched.note`: the vertex, flags, the last iteration it was put on the agenda for,
where its history lay, its degrees before the advance, how many of its live edges came with it,
where lists of those that left begin; and how long a line is."""

EVALUATE, SEND, WAITING, LOOKED, LONGEST, LAST = 0, 2, 4, 5, 6, 7
NOW, SENT, EVALUATED, MORE_ROWS, MORE_PLACES, BUDGET, SIZES = 8, 9, 10, 11, 12, 13, 14
"""Places in `Agenda.sizes`: two lists, two lists, the heap, edges looked at, the longest history
ever seen, the last iteration that counts. Then how far an advance is: the iteration, how many of
its lists are done, and what room it lacks. Then how many edges it may look at, and how many places
there are."""

DONE, LACKING, DEAR = 0, 1, 2
"""How a kernel left off: finished; it has to be called again with more room; too much work."""


class RoundContext(NamedTuple):
    """What a program's functions read: the graph, a block of edge properties and parameters.

    `fault` says what went wrong, if anything did.
    """

    graph: Adjacency
    read: Int64
    fault: Int64


class RowHistories(NamedTuple):
    """`line` has a line a vertex; `used[0]` rows of the pool are taken.

    `slack` adds up the numbers that passed through a vertex's sums of floats: they bound the
    error of its corrections.
    """

    line: Int64
    slack: Float64
    iteration: Int32
    real: Float64
    whole: Int64
    used: Int64


class Touched(NamedTuple):
    """Vertices that an advance touched, a line of `note` each; `size[0]` of them.

    A vertex's row of `real` is what its accumulators differ by from before.
    """

    note: Int64
    real: Float64
    whole: Int64
    size: Int64


class Agenda(NamedTuple):
    """Lists by iteration; `deleted` are the edges that left, in lists by either end.

    `sums` has four rows of accumulators to work with.
    """

    evaluate: Int32
    send: Int32
    waiting: Int64
    sizes: Int64
    sums: Words
    deleted: Int32
    next_out: Int32
    next_into: Int32


class Limits(NamedTuple):
    """How a maintained run ends and what it ignores.

    `counts` are the vertices that move by more than `settle` in each iteration. If `stopping`,
    the run ends in the first iteration where none does. `newcomer` is the first vertex that the
    version before did not have.
    """

    tolerance: float
    settle: float
    stopping: bool
    counts: Int64
    newcomer: int


Cut = tuple[int, int]
ROOM = 4
"""Rows that a touched history can grow by before it moves."""


@inner_kernel
def lacks_rows(histories: RowHistories, rows: int) -> bool:
    """True if the pool has no room for so many more rows."""
    return bool(histories.used[0] + rows > len(histories.iteration))


@joined_kernel
def row_as_of(histories: RowHistories, start: int, count: int, iteration: int) -> int:
    """The row of a history that holds in an iteration. O(1) where values change all the time."""
    at = start + min(iteration, count - 1)
    while histories.iteration[at] > iteration:
        at -= 1
    return at


@joined_kernel
def current_row(histories: RowHistories, vertex: int, iteration: int) -> int:
    """The row of a vertex that holds in an iteration, in the history as it is now."""
    return row_as_of(
        histories, histories.line[vertex, START], histories.line[vertex, COUNT], iteration
    )


@inner_kernel
def iteration_after(histories: RowHistories, at: int, end: int) -> int:
    """The iteration of the row behind one, or -1; `end` is the end of that history."""
    return int(histories.iteration[at + 1]) if at + 1 < end else -1


@joined_kernel
def same_words(whole: Int64, one: int, other: int, width: int) -> bool:
    """True if two runs of words are the same to the bit."""
    same = True
    for step in range(width):
        same = same and whole[one + step] == whole[other + step]
    return same


@inner_kernel
def move_history(histories: RowHistories, vertex: int, room: int, width: int) -> None:
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


@inner_kernel
def touch(histories: RowHistories, touched: Touched, vertex: int, graph: Any, width: int) -> int:
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


@joined_kernel
def put_row(histories: RowHistories, vertex: int, iteration: int, width: int) -> None:
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


@inner_kernel
def shift_rows(histories: RowHistories, first: int, end: int, by: int, width: int) -> None:
    """Move the rows from `first` to `end` by one place, up or down."""
    for step in range(end - first):
        row = end - 1 - step if by > 0 else first + step
        histories.iteration[row + by] = histories.iteration[row]
        for word in range(width):
            histories.whole[(row + by) * width + word] = histories.whole[row * width + word]


@bare_kernel
def put_back(histories: RowHistories, touched: Touched, used: int) -> None:
    """Give all touched vertices the histories they had, and the pool the rows it had."""
    for place in range(touched.size[0]):
        vertex = touched.note[place, VERTEX]
        histories.line[vertex, START] = touched.note[place, OLD_START]
        histories.line[vertex, COUNT] = touched.note[place, OLD_COUNT]
        histories.line[vertex, CAPACITY] = touched.note[place, OLD_CAPACITY]
        histories.line[vertex, PLACE] = -1
    histories.used[0] = used


@bare_kernel
def swap_histories(histories: RowHistories, touched: Touched) -> None:
    """Give all touched vertices the histories they had, and note those that they have now."""
    for place in range(touched.size[0]):
        note, line = touched.note[place], histories.line[touched.note[place, VERTEX]]
        start, count, capacity = line[START], line[COUNT], line[CAPACITY]
        line[START], note[OLD_START] = note[OLD_START], start
        line[COUNT], note[OLD_COUNT] = note[OLD_COUNT], count
        line[CAPACITY], note[OLD_CAPACITY] = note[OLD_CAPACITY], capacity


@bare_kernel
def settle_results(
    histories: RowHistories, touched: Touched, results: Int64, widths: tuple[int, int], old: Int64
) -> int:
    """End of an advance: the last rows of touched vertices become results.

    Returns how many of them changed; a line of `old` gets the vertex and what its result was.
    """
    state_width, width = widths[0], widths[0] + widths[1]
    size = 0
    for place in range(touched.size[0]):
        vertex = touched.note[place, VERTEX]
        histories.line[vertex, PLACE] = -1
        last = (histories.line[vertex, START] + histories.line[vertex, COUNT] - 1) * width
        changed = False
        old[size, 0] = vertex
        for step in range(state_width):
            old[size, step + 1] = results[vertex, step]
            results[vertex, step] = histories.whole[last + step]
            changed = changed or old[size, step + 1] != results[vertex, step]
        if changed:
            size += 1
    return size


@bare_kernel
def cut_histories(
    histories: RowHistories, touched: Touched, graph: Any, widths: tuple[int, int], cut: Cut
) -> int:
    """Drop all rows after an iteration: a run that ended sooner. O(vertices).

    `cut` is (the first vertex to look at, the iteration). Returns the vertex where room ran out,
    or how many vertices there are.
    """
    vertex, last = cut
    while vertex < len(histories.line):
        count = histories.line[vertex, COUNT]
        if histories.iteration[histories.line[vertex, START] + count - 1] > last:
            if lacks_rows(histories, count + ROOM) or touched.size[0] == len(touched.note):
                return vertex
            touch(histories, touched, vertex, graph, widths[0] + widths[1])
            row = row_as_of(histories, histories.line[vertex, START], count, last)
            histories.line[vertex, COUNT] = row - histories.line[vertex, START] + 1
        vertex += 1
    return vertex


@bare_kernel
def count_rows(histories: RowHistories) -> int:
    """How many rows are the history of some vertex. O(vertices)."""
    total = 0
    for vertex in range(len(histories.line)):
        total += histories.line[vertex, COUNT]
    return total


@bare_kernel
def copy_pool(histories: RowHistories, iteration: Int32, whole: Int64, width: int) -> None:
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


@bare_kernel
def copy_touched(
    histories: RowHistories, touched: Touched, iteration: Int32, whole: Int64, width: int
) -> None:
    """Swap back what `swap_histories` has swapped, and move it into a new pool. O(rows)."""
    swap_histories(histories, touched)
    place = histories.used[0]
    for at in range(touched.size[0]):
        line = histories.line[touched.note[at, VERTEX]]
        start, count = line[START], line[COUNT]
        for step in range(count):
            iteration[place + step] = histories.iteration[start + step]
        target, source = place * width, start * width
        for step in range(count * width):
            whole[target + step] = histories.whole[source + step]
        line[START], line[CAPACITY] = place, count
        place += count
    histories.used[0] = place


@inner_kernel
def lacks_waiting_room(agenda: Agenda) -> bool:
    """True if one vertex more may have nowhere to wait."""
    return bool(agenda.sizes[WAITING] + 4 > len(agenda.waiting))


@inner_kernel
def evaluate_in(agenda: Agenda, touched: Touched, place: int, iteration: int) -> None:
    """Have a vertex evaluated in this iteration or the next; once is enough."""
    if touched.note[place, TICKET] == iteration:
        return
    touched.note[place, TICKET] = iteration
    turn = iteration & 1
    agenda.evaluate[turn, agenda.sizes[EVALUATE + turn]] = place
    agenda.sizes[EVALUATE + turn] += 1


@inner_kernel
def send_in(agenda: Agenda, place: int, iteration: int) -> None:
    """Have a vertex's changed messages sent in the next iteration; asked once an iteration."""
    turn = iteration & 1
    agenda.send[turn, agenda.sizes[SEND + turn]] = place
    agenda.sizes[SEND + turn] += 1


@inner_kernel
def evaluate_later(agenda: Agenda, touched: Touched, place: int, now: int, iteration: int) -> None:
    """Have a vertex evaluated in some iteration after this one; nothing if it is past the last."""
    if iteration > agenda.sizes[LAST]:
        return
    if iteration == now + 1:
        evaluate_in(agenda, touched, place, iteration)
        return
    key = (np.int64(iteration) << 32) | np.int64(place)
    agenda.sizes[WAITING] = number_push(agenda.waiting, agenda.sizes[WAITING], key)


@inner_kernel
def take_waiting(agenda: Agenda) -> int:
    """The first of those who wait, out of the heap; its place."""
    place = agenda.waiting[0] & 0xFFFFFFFF
    agenda.sizes[WAITING] = number_pop(agenda.waiting, agenda.sizes[WAITING])
    return int(place)


@inner_kernel
def call_waiting(agenda: Agenda, touched: Touched, iteration: int) -> None:
    """Put those who waited for this iteration on its list."""
    while agenda.sizes[WAITING] > 0 and agenda.waiting[0] >> 32 == iteration:
        evaluate_in(agenda, touched, take_waiting(agenda), iteration)


@inner_kernel
def next_iteration(agenda: Agenda, iteration: int) -> int:
    """Empty the lists of an iteration, and say which one is next; -1 if nothing is left."""
    turn = iteration & 1
    agenda.sizes[EVALUATE + turn] = agenda.sizes[SEND + turn] = 0
    if agenda.sizes[EVALUATE + 1 - turn] + agenda.sizes[SEND + 1 - turn] > 0:
        return iteration + 1
    if agenda.sizes[WAITING] > 0:
        return int(agenda.waiting[0] >> 32)
    return -1
