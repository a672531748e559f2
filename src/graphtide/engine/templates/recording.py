"""The history of every vertex, written while rounds are run, and read back.

A row is written where a state or its accumulators differ from the row before. Histories that can
be put back are set apart (`touch`) before anything is written to them. A kernel that lacks room
says so and goes on when it is called again.
"""

from __future__ import annotations

from graphtide.engine.templates.phases import run_round
from graphtide.engine.templates.synchronous import (
    clear_sums,
    hears,
    hoisted,
    initial_state,
    make_parcel,
    state_width,
    sums_width,
)
from graphtide.kernels.jit import bare_kernel, inner_kernel
from graphtide.kernels.synchronous.histories import (
    CAPACITY,
    COUNT,
    DONE,
    LACKING,
    PLACE,
    ROOM,
    START,
    RoundContext,
    RowHistories,
    Touched,
    current_row,
    lacks_rows,
    move_history,
    same_words,
    touch,
)
from graphtide.kernels.synchronous.rounds import (
    EVERYBODY,
    GOING,
    ITERATION,
    MOVES,
    NOBODY,
    PENDING,
    WANTED_PLACES,
    WANTED_ROWS,
    Course,
    RoundWork,
)

FILLS, FOLLOWS = 1, 2
"""How rows are recorded: for the first time, or into histories that can be put back."""


@bare_kernel
def begin_histories(
    context: RoundContext, work: RoundWork, histories: RowHistories, room: int
) -> None:
    """Row 0 of every vertex; those that hear of others have room for so many rows."""
    used = 1
    for vertex in range(len(work.changed)):
        histories.line[vertex, START] = used
        histories.line[vertex, CAPACITY] = room if hears(context, vertex) else min(room, 2)
        histories.line[vertex, COUNT] = 1
        histories.line[vertex, PLACE] = -1
        histories.slack[vertex] = 0.0
        histories.iteration[used] = 0
        clear_sums(context, work.sums, vertex * sums_width(context.read))
        copy_row(context, work, histories, vertex, used)
        used += histories.line[vertex, CAPACITY]
    histories.used[0] = used


@inner_kernel
def copy_row(
    context: RoundContext, work: RoundWork, histories: RowHistories, vertex: int, row: int
) -> None:
    state_words, sums_words = state_width(context.read), sums_width(context.read)
    at = row * (state_words + sums_words)
    for step in range(state_words):
        histories.whole[at + step] = work.states.whole[vertex * state_words + step]
    for step in range(sums_words):
        histories.whole[at + state_words + step] = work.sums.whole[vertex * sums_words + step]


@inner_kernel
def row_is_news(
    context: RoundContext, work: RoundWork, histories: RowHistories, vertex: int, last: int
) -> bool:
    """True if a vertex's last row says something else than it has now."""
    state_words, sums_words = state_width(context.read), sums_width(context.read)
    at = last * (state_words + sums_words)
    same = True
    for step in range(state_words):
        same &= histories.whole[at + step] == work.states.whole[vertex * state_words + step]
    at += state_words
    for step in range(sums_words):
        same &= histories.whole[at + step] == work.sums.whole[vertex * sums_words + step]
    return not same


@inner_kernel
def record_row(
    context: RoundContext, work: RoundWork, histories: RowHistories, vertex: int, iteration: int
) -> None:
    """Append what a vertex has after an iteration, unless its last row says the same."""
    last = histories.line[vertex, START] + histories.line[vertex, COUNT] - 1
    if not row_is_news(context, work, histories, vertex, last):
        return
    if histories.line[vertex, COUNT] == histories.line[vertex, CAPACITY]:
        width = state_width(context.read) + sums_width(context.read)
        move_history(histories, vertex, 2 * histories.line[vertex, CAPACITY], width)
        last = histories.line[vertex, START] + histories.line[vertex, COUNT] - 1
    copy_row(context, work, histories, vertex, last + 1)
    histories.iteration[last + 1] = iteration
    histories.line[vertex, COUNT] += 1


@inner_kernel
def rows_wanted(histories: RowHistories, work: RoundWork, size: int, record: int) -> int:
    """How many rows of the pool recording may take: full histories move, untouched ones copy."""
    everybody, rows = size == EVERYBODY, 0
    for number in range(len(work.changed) if everybody else size):
        vertex = number if everybody else work.listed[number]
        if record == FOLLOWS and histories.line[vertex, PLACE] < 0:
            rows += histories.line[vertex, COUNT] + ROOM
        elif histories.line[vertex, COUNT] == histories.line[vertex, CAPACITY]:
            rows += 2 * histories.line[vertex, CAPACITY]
    return rows


@inner_kernel
def record_pending(
    context: RoundContext,
    work: RoundWork,
    histories: RowHistories,
    touched: Touched,
    course: Course,
) -> bool:
    """Record the rows of the last iteration; False if there is no room for them."""
    size, progress = course.progress[PENDING], course.progress
    everybody, follows = size == EVERYBODY, course.record == FOLLOWS
    count = len(work.changed) if everybody else size
    progress[WANTED_ROWS] = rows_wanted(histories, work, size, course.record)
    progress[WANTED_PLACES] = count if follows else 0
    lacks = follows and touched.size[0] + count > len(touched.note)
    if lacks or lacks_rows(histories, progress[WANTED_ROWS]):
        return False
    for number in range(count):
        vertex = number if everybody else work.listed[number]
        if follows:
            width = state_width(context.read) + sums_width(context.read)
            touch(histories, touched, vertex, context.graph, width)
        record_row(context, work, histories, vertex, progress[ITERATION])
    progress[PENDING] = NOBODY
    return True


@bare_kernel
def run_recorded(
    context: RoundContext,
    work: RoundWork,
    histories: RowHistories,
    touched: Touched,
    course: Course,
) -> int:
    """Run on as `run_rounds` does, and record; LACKING where room has to be made first."""
    progress = course.progress
    if progress[PENDING] != NOBODY and not record_pending(
        context, work, histories, touched, course
    ):
        return LACKING
    while progress[ITERATION] < course.last and progress[GOING] != 0:
        run_round(context, work, course)
        course.counts[progress[ITERATION]] = progress[MOVES]
        if context.fault[0] != 0:
            break
        if not record_pending(context, work, histories, touched, course):
            return LACKING
    return DONE


@bare_kernel
def load_layer(
    context: RoundContext, work: RoundWork, histories: RowHistories, iteration: int
) -> int:
    """States of an iteration, from the histories; lists who changed in it. O(rows)."""
    state_words = state_width(context.read)
    width = state_words + sums_width(context.read)
    active = 0
    for vertex in range(len(work.changed)):
        row = current_row(histories, vertex, iteration)
        at = row * width
        for step in range(state_words):
            work.states.whole[vertex * state_words + step] = histories.whole[at + step]
        if hoisted():
            make_parcel(context, vertex, work.states, work.parcels)
        if iteration == 0 or histories.iteration[row] < iteration:
            continue
        if not same_words(histories.whole, at, at - width, state_words):
            work.changed[active] = vertex
            active += 1
    return active if iteration > 0 else EVERYBODY


@bare_kernel
def add_vertices(context: RoundContext, histories: RowHistories, first: int) -> None:
    """Histories of vertices that came later: row 0 alone. There must be room for them.

    What follows of it is found by refining, with the edges that came along: a vertex that would
    never come to rest by itself may do so among others.
    """
    state_words = state_width(context.read)
    width = state_words + sums_width(context.read)
    for vertex in range(first, len(histories.line)):
        row = histories.used[0]
        histories.used[0] += 1
        histories.line[vertex, START], histories.line[vertex, CAPACITY] = row, 1
        histories.line[vertex, COUNT], histories.line[vertex, PLACE] = 1, -1
        histories.slack[vertex] = 0.0
        histories.iteration[row] = 0
        initial_state(context, vertex, histories, row * width)
        clear_sums(context, histories, row * width + state_words)
