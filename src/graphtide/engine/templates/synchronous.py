"""Synchronous runs of any vertex program, from scratch or from a layer of stored histories.

Every iteration has two passes: each vertex gathers what its live edges bring from the states of
the iteration before, then all states are updated in place. What a vertex tells all neighbours
alike is computed once, as a parcel, before anybody gathers: PageRank's inner loop is then one
load and one addition an edge, with the error of the sum beside it.

Kept true: the accumulators of a vertex are those of its last gathering, and none of its messages
changed since. So where few states changed, only the targets of those gather again; where many
did, everybody does. Rows of histories are written on the way if wanted, only where they change.

Sums are made in the order of the slabs, with their errors: two orders differ by less than
n * n * 2^-106 of the sum of the absolute messages, n being their number.
"""

from __future__ import annotations

import math
from typing import Any

from graphtide.kernels.adjacency import Slabs
from graphtide.kernels.jit import kernel, lean_kernel
from graphtide.kernels.program_words import float_moved
from graphtide.kernels.reversible import (
    add_to_sum,
    merge_sum,
)
from graphtide.kernels.row_histories import (
    ROOM,
    current_row,
    move_history,
    put_row,
    same_words,
    touch,
    with_places,
    with_rows,
)
from graphtide.kernels.synchronous_records import (
    CAPACITY,
    COUNT,
    PLACE,
    START,
    Context,
    Course,
    Histories,
    Touched,
    Work,
)

MOST_SLACK = 2.0**46
"""An accumulator is trusted while no more than this often itself has passed through it."""

# program section: begin
FORWARD = True
BACKWARD = False
REVERSIBLE = True
HOISTED = True
OWN_STATE = False
READS_ITERATION = False
SOURCE_DEGREES = True
TARGET_DEGREES = False
DEGREES = True


@lean_kernel
def state_width(context: Any) -> int:
    """How many words a state has."""
    return 1


@lean_kernel
def sums_width(context: Any) -> int:
    """How many words the accumulators have."""
    return 2


@lean_kernel
def initial_state(context: Any, vertex: int, states: Any, at: int) -> None:
    """The state of iteration 0."""
    states.real[at] = 1.0


@lean_kernel
def update_state(
    context: Any, vertex: int, iteration: int, states: Any, sums: Any, place: tuple[int, int]
) -> None:
    """Replace a state by that of the next iteration; `place` is that of state and accumulators."""
    at, sums_at = place
    states.real[at] = 0.15 + 0.85 * sums.real[sums_at]


@lean_kernel
def clear_sums(context: Any, sums: Any, at: int) -> None:
    """Accumulators to which nothing was sent."""
    sums.real[at] = 0.0
    sums.real[at + 1] = 0.0


@lean_kernel
def contribute(context: Any, states: Any, source: Any, target: Any, edge: int, sums: Any) -> None:
    """Send what an edge carries."""
    message = states.real[source[1]] / float(source[2])
    add_to_sum(sums.real, target[2], message)
    sums.real[target[2] + sums_width(context)] += abs(message)


@lean_kernel
def withdraw(context: Any, states: Any, source: Any, target: Any, edge: int, sums: Any) -> None:
    """Take back what an edge carried."""
    message = states.real[source[1]] / float(source[2])
    add_to_sum(sums.real, target[2], -message)
    sums.real[target[2] + sums_width(context)] += abs(message)


@lean_kernel
def merge_sums(context: Any, sums: Any, at: int, other: Any, other_at: int) -> bool:
    """Put one row of accumulators into another; False if the result cannot be trusted."""
    sums.real[at + sums_width(context)] += other.real[other_at + sums_width(context)]
    return merge_sum(sums.real, at, other.real, other_at)


@lean_kernel
def in_doubt(context: Any, sums: Any, at: int, slack: float) -> bool:
    """True if so much passed through that the last digits may be wrong."""
    return bool(abs(sums.real[at]) * MOST_SLACK < slack)


@lean_kernel
def moved(context: Any, states: Any, before: int, after: int, tolerance: float) -> bool:
    """True if any field moved by more than a share of itself."""
    return float_moved(states.real[before], states.real[after], tolerance)


@lean_kernel
def make_parcel(context: Any, vertex: int, states: Any, parcels: Any) -> None:
    """What a vertex tells all neighbours alike."""
    parcels.real[vertex] = states.real[vertex] / float(context.graph.out.live[vertex])


@lean_kernel
def gather_parcels(
    context: Any, slabs: Slabs, vertex: int, parcels: Any, sums: Any, at: int
) -> None:
    """Add up the parcels of all neighbours in one direction."""
    total, low = sums.real[at], sums.real[at + 1]
    begin = slabs.start[vertex]
    for position in range(begin, begin + slabs.live[vertex]):
        message = parcels.real[slabs.neighbour[position]]
        raised = total + message
        part = raised - total
        low += (total - (raised - part)) + (message - part)
        total = raised
    raised = total + low
    sums.real[at], sums.real[at + 1] = total, 0.0
    if math.isfinite(raised):
        sums.real[at], sums.real[at + 1] = raised, low - (raised - total)


@lean_kernel
def gather_messages(
    context: Any, slabs: Slabs, vertex: int, states: Any, sums: Any, at: int
) -> None:
    """Add up what all edges in one direction carry, edge by edge."""


# program section: end

FILLS, FOLLOWS = 1, 2
"""How rows are recorded: for the first time, or into histories that can be put back."""


@lean_kernel
def row_width(context: Context) -> int:
    """How many words a row of a history has."""
    return state_width(context) + sums_width(context)


@lean_kernel
def begin_states(context: Context, work: Work) -> None:
    """Iteration 0 for every vertex."""
    for vertex in range(len(work.changed)):
        initial_state(context, vertex, work.states, vertex * state_width(context))
        clear_sums(context, work.sums, vertex * sums_width(context))


@lean_kernel
def gather(context: Context, work: Work, vertex: int) -> None:
    """The accumulators of a vertex, from the states of its neighbours."""
    at = vertex * sums_width(context)
    clear_sums(context, work.sums, at)
    if HOISTED:
        if FORWARD:
            gather_parcels(context, context.graph.into, vertex, work.parcels, work.sums, at)
        if BACKWARD:
            gather_parcels(context, context.graph.out, vertex, work.parcels, work.sums, at)
        return
    if FORWARD:
        gather_messages(context, context.graph.into, vertex, work.states, work.sums, at)
    if BACKWARD:
        gather_messages(context, context.graph.out, vertex, work.states, work.sums, at)


@lean_kernel
def list_along(slabs: Slabs, work: Work, vertex: int, size: int, iteration: int) -> int:
    """List the neighbours of a vertex that are not listed yet."""
    begin = slabs.start[vertex]
    for position in range(begin, begin + slabs.live[vertex]):
        target = slabs.neighbour[position]
        if work.mark[target] != iteration:
            work.mark[target] = iteration
            work.listed[size] = target
            size += 1
    return size


@lean_kernel
def list_targets(context: Context, work: Work, active: int, iteration: int) -> int:
    """List the changed and those they tell; -1 where gathering for everybody is as cheap."""
    vertices = len(work.changed)
    size, looked = 0, 0
    for number in range(active):
        vertex = work.changed[number]
        if work.mark[vertex] != iteration:
            work.mark[vertex] = iteration
            work.listed[size] = vertex
            size += 1
        if FORWARD:
            size = list_along(context.graph.out, work, vertex, size, iteration)
            looked += context.graph.out.live[vertex]
        if BACKWARD:
            size = list_along(context.graph.into, work, vertex, size, iteration)
            looked += context.graph.into.live[vertex]
        if 4 * size > vertices or looked > 4 * vertices:
            return -1
    return size


@lean_kernel
def gather_listed(context: Context, work: Work, active: int, size: int) -> None:
    """Gather for those listed, or for everybody (-1), after the changed made their parcels."""
    everybody = size < 0
    if HOISTED:
        for number in range(len(work.changed) if everybody else active):
            vertex = number if everybody else work.changed[number]
            make_parcel(context, vertex, work.states, work.parcels)
    for number in range(len(work.changed) if everybody else size):
        gather(context, work, number if everybody else work.listed[number])


@lean_kernel
def rows_wanted(histories: Histories, work: Work, size: int, record: int) -> int:
    """How many rows of the pool recording may take: full histories move, untouched ones copy."""
    rows = 0
    for number in range(len(work.changed) if size < 0 else size):
        vertex = number if size < 0 else work.listed[number]
        if record == FOLLOWS and histories.line[vertex, PLACE] < 0:
            rows += histories.line[vertex, COUNT] + ROOM
        elif histories.line[vertex, COUNT] == histories.line[vertex, CAPACITY]:
            rows += 2 * histories.line[vertex, CAPACITY]
    return rows


@lean_kernel
def copy_row(context: Context, work: Work, histories: Histories, vertex: int, row: int) -> None:
    """A vertex's state and accumulators as a row of the pool."""
    state_words, sums_words = state_width(context), sums_width(context)
    at = row * (state_words + sums_words)
    for step in range(state_words):
        histories.whole[at + step] = work.states.whole[vertex * state_words + step]
    for step in range(sums_words):
        histories.whole[at + state_words + step] = work.sums.whole[vertex * sums_words + step]


@lean_kernel
def record_row(context: Context, work: Work, histories: Histories, visit: tuple[int, int]) -> None:
    """Append what a vertex has after an iteration, unless its last row says the same."""
    vertex, iteration = visit
    width = row_width(context)
    copy_row(context, work, histories, vertex, 0)
    last = histories.line[vertex, START] + histories.line[vertex, COUNT] - 1
    if same_words(histories.whole, 0, last * width, width):
        return
    if histories.line[vertex, COUNT] == histories.line[vertex, CAPACITY]:
        move_history(histories, vertex, 2 * histories.line[vertex, CAPACITY], width)
        last = histories.line[vertex, START] + histories.line[vertex, COUNT] - 1
    copy_row(context, work, histories, vertex, last + 1)
    histories.iteration[last + 1] = iteration
    histories.line[vertex, COUNT] += 1


@lean_kernel
def update_one(context: Context, work: Work, vertex: int, iteration: int) -> None:
    """Update a state in place; what it was is in the row behind all others."""
    width = state_width(context)
    at, spare = vertex * width, len(work.changed) * width
    for step in range(width):
        work.states.whole[spare + step] = work.states.whole[at + step]
    place = (at, vertex * sums_width(context))
    update_state(context, vertex, iteration, work.states, work.sums, place)


@lean_kernel
def update_listed(
    context: Context, work: Work, size: int, iteration: int, tolerance: float
) -> tuple[int, int]:
    """Update those listed, or everybody; lists the changed and returns how many, and who moved."""
    width = state_width(context)
    spare = len(work.changed) * width
    active, moves = 0, 0
    for number in range(len(work.changed) if size < 0 else size):
        vertex = number if size < 0 else work.listed[number]
        update_one(context, work, vertex, iteration)
        if not same_words(work.states.whole, spare, vertex * width, width):
            work.changed[active] = vertex
            active += 1
            moves += moved(context, work.states, spare, vertex * width, tolerance)
    return active, moves


@lean_kernel
def record_listed(
    context: Context, work: Work, histories: Histories, touched: Touched, visit: tuple[int, int]
) -> None:
    """Record the rows of an iteration; `visit` is who was updated (-1: all), and the iteration."""
    size, iteration = visit
    width = row_width(context)
    follows = len(touched.note) > 0
    for number in range(len(work.changed) if size < 0 else size):
        vertex = number if size < 0 else work.listed[number]
        if follows:
            touch(histories, touched, vertex, context.graph, width)
        record_row(context, work, histories, (vertex, iteration))


@kernel
def run_iterations(
    context: Context, work: Work, histories: Histories, touched: Touched, course: Course
) -> tuple[Histories, Touched, int, int]:
    """Run from `course.first` on; returns the last iteration that was run, and who changed in it.

    States and sums must be those of the iteration before the first. The states of the last
    iteration are in `work` afterwards.
    """
    width = row_width(context)
    iteration, active = course.first, course.active
    work.mark[:] = -1
    while iteration <= course.last:
        size = -1
        if active >= 0 and not READS_ITERATION:
            size = list_targets(context, work, active, iteration)
        gather_listed(context, work, active, size)
        active, moves = update_listed(context, work, size, iteration, course.tolerance)
        if course.record:
            rows = rows_wanted(histories, work, size, course.record)
            histories = with_rows(histories, rows, width)
            if course.record == FOLLOWS:
                more = len(work.changed) if size < 0 else size
                touched = with_places(touched, more, sums_width(context) + 1)
            record_listed(context, work, histories, touched, (size, iteration))
        course.counts[iteration] = moves
        if context.fault[0] != 0 or (moves == 0 and not course.patient):
            return histories, touched, iteration, active
        iteration += 1
    return histories, touched, iteration - 1, active


@lean_kernel
def begin_histories(context: Context, work: Work, histories: Histories, room: int) -> None:
    """Row 0 of every vertex, each with the same room."""
    for vertex in range(len(work.changed)):
        histories.line[vertex, START] = 1 + vertex * room
        histories.line[vertex, CAPACITY] = room
        histories.line[vertex, COUNT] = 1
        histories.line[vertex, PLACE] = -1
        histories.slack[vertex] = 0.0
        histories.iteration[1 + vertex * room] = 0
        copy_row(context, work, histories, vertex, 1 + vertex * room)
    histories.used[0] = 1 + len(work.changed) * room


@lean_kernel
def load_layer(context: Context, work: Work, histories: Histories, iteration: int) -> int:
    """States and sums of an iteration, from the histories; lists who changed in it. O(rows)."""
    state_words, sums_words = state_width(context), sums_width(context)
    width = state_words + sums_words
    active = 0
    for vertex in range(len(work.changed)):
        row = current_row(histories, vertex, iteration)
        at = row * width
        for step in range(state_words):
            work.states.whole[vertex * state_words + step] = histories.whole[at + step]
        for step in range(sums_words):
            word = histories.whole[at + state_words + step]
            work.sums.whole[vertex * sums_words + step] = word
        if HOISTED:
            make_parcel(context, vertex, work.states, work.parcels)
        if iteration == 0 or histories.iteration[row] < iteration:
            continue
        if not same_words(histories.whole, at, at - width, state_words):
            work.changed[active] = vertex
            active += 1
    return active if iteration > 0 else -1


@kernel
def add_vertices(context: Context, histories: Histories, first: int, course: Course) -> Histories:
    """Histories of vertices that came later, as they would be without edges."""
    width = row_width(context)
    for vertex in range(first, len(histories.line)):
        histories = with_rows(histories, 2 * ROOM, width)
        histories.line[vertex, START] = histories.used[0]
        histories.line[vertex, CAPACITY], histories.line[vertex, COUNT] = 2 * ROOM, 1
        histories.line[vertex, PLACE], histories.slack[vertex] = -1, 0.0
        histories.used[0] += 2 * ROOM
        histories.iteration[histories.line[vertex, START]] = 0
        initial_state(context, vertex, histories, 0)
        clear_sums(context, histories, state_width(context))
        at = histories.line[vertex, START] * width
        for step in range(width):
            histories.whole[at + step] = histories.whole[step]
        histories = run_alone(context, histories, vertex, course)
    return histories


@kernel
def run_alone(context: Context, histories: Histories, vertex: int, course: Course) -> Histories:
    """The iterations of a vertex to which nothing is sent."""
    width = row_width(context)
    for iteration in range(1, course.last + 1):
        histories = with_rows(histories, 2 * histories.line[vertex, CAPACITY], width)
        update_state(context, vertex, iteration, histories, histories, (0, state_width(context)))
        before = current_row(histories, vertex, iteration - 1) * width
        settled = same_words(histories.whole, 0, before, state_width(context))
        course.counts[iteration] += moved(context, histories, before, 0, course.tolerance)
        put_row(histories, vertex, iteration, width)
        if settled and not READS_ITERATION:
            break
    return histories
