"""One vertex in one iteration, brought up to date: its row in the run of this version.

Its accumulators are the old ones of the iteration plus all differences so far, its state follows
by the program's update. Accumulators that cannot take a message back (min, max, messages that look
at v's state, anything with an infinity in it) are evaluated anew from all live in-edges. Such a
vertex is also visited wherever an in-neighbour's history has a row: what is no difference to the
neighbour may be one to a vertex that differs already.

With a tolerance, a state that would move by no more than this share keeps the words it had, and
nothing is sent; its accumulators do take the difference in, so that small ones add up until they
count. Every state is therefore within the tolerance of what its own accumulators say.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.engine.templates.differences import (
    DOUBTED,
    ENDED,
    NEWCOMER,
    OWN,
    SOURCE,
    WATCHED,
    clear_difference,
    row_width,
    same_state,
)
from graphtide.engine.templates.synchronous import (
    backward,
    clear_sums,
    contribute,
    degrees,
    forward,
    in_doubt,
    merge_sums,
    moved,
    own_state,
    reads_iteration,
    reversible,
    state_width,
    sums_width,
    update_state,
)
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.synchronous.histories import (
    COUNT,
    FLAGS,
    LONGEST,
    LOOKED,
    OLD_COUNT,
    OLD_START,
    PLACE,
    START,
    VERTEX,
    Agenda,
    Limits,
    RoundContext,
    RowHistories,
    Touched,
    current_row,
    evaluate_later,
    iteration_after,
    put_row,
    row_as_of,
    same_words,
    send_in,
)

NEVER = 0x7FFFFFFF
"""An iteration that no run reaches."""


@inner_kernel
def pull(
    context: RoundContext, histories: RowHistories, agenda: Agenda, vertex: int, iteration: int
) -> tuple[int, bool]:
    """A vertex's accumulators from all its live in-edges, in the run of this version.

    Returns when a neighbour moves next, and if any is touched.
    """
    at = OWN * (sums_width(context.read) + 1)
    clear_sums(context, agenda.sums, at)
    agenda.sums.real[at + sums_width(context.read)] = 0.0
    upcoming, watched = NEVER, False
    for way in range(2):
        if (way == 0 and forward()) or (way == 1 and backward()):
            visit = (vertex, iteration, way == 0)
            soonest, some = pull_along(context, histories, agenda, visit)
            upcoming, watched = min(upcoming, soonest), watched or some
    return upcoming, watched


@inner_kernel
def pull_along(
    context: RoundContext, histories: RowHistories, agenda: Agenda, visit: tuple[int, int, bool]
) -> tuple[int, bool]:
    """Gather along one direction; `visit` is (vertex, iteration, forward), result as in `pull`."""
    vertex, iteration, forward = visit
    graph, width = context.graph, row_width(context)
    slabs = graph.into if forward else graph.out
    own = current_row(histories, vertex, iteration - 1) * width
    target = (vertex, own, OWN * (sums_width(context.read) + 1))
    upcoming, watched = NEVER, False
    begin = slabs.start[vertex]
    for position in range(begin, begin + slabs.live[vertex]):
        source, edge = slabs.neighbour[position], slabs.edge[position]
        row = current_row(histories, source, iteration - 1)
        out, into = np.int64(graph.out.live[source]), np.int64(graph.into.live[source])
        contribute(context, histories, (source, row * width, out, into), target, edge, agenda.sums)
        after = iteration_after(
            histories, row, histories.line[source, START] + histories.line[source, COUNT]
        )
        if after >= 0:
            upcoming = min(upcoming, after + 1)
        watched = watched or histories.line[source, PLACE] >= 0
    agenda.sizes[LOOKED] += slabs.live[vertex]
    return upcoming, watched


@joined_kernel
def accumulate(
    context: RoundContext,
    histories: RowHistories,
    touched: Touched,
    agenda: Agenda,
    visit: tuple[int, int, int],
) -> tuple[int, bool]:
    """The accumulators of a vertex in this run, into row 0 of the pool.

    `visit` is (place, iteration, its old row). Returns the next iteration in which a neighbour
    may concern it, and whether it has to be watched for that.
    """
    place, iteration, old = visit
    state_words, sums_words = state_width(context.read), sums_width(context.read)
    vertex, at = touched.note[place, VERTEX], OWN * (sums_words + 1)
    upcoming, watched, corrected, trusted = NEVER, False, False, False
    if reversible() and not touched.note[place, FLAGS] & DOUBTED:
        old_sums = old * (state_words + sums_words) + state_words
        for step in range(sums_words):
            agenda.sums.whole[at + step] = histories.whole[old_sums + step]
        agenda.sums.real[at + sums_words] = histories.slack[vertex]
        corrected = merge_sums(context, agenda.sums, at, touched, place * (sums_words + 1))
        if corrected:
            trusted = not in_doubt(context, agenda.sums, at, agenda.sums.real[at + sums_words])
        else:
            touched.note[place, FLAGS] |= DOUBTED
    if not trusted:
        soonest, some = pull(context, histories, agenda, vertex, iteration)
        if not corrected:
            ended = touched.note[place, FLAGS] & ENDED != 0
            upcoming, watched = soonest, some or reversible() or ended
    for step in range(sums_words):
        histories.whole[state_words + step] = agenda.sums.whole[at + step]
    return upcoming, watched


@joined_kernel
def write_row(
    context: RoundContext,
    histories: RowHistories,
    touched: Touched,
    agenda: Agenda,
    visit: Any,
    limits: Limits,
) -> tuple[int, bool]:
    """The row of a vertex in this run; `visit` and result as in `accumulate`."""
    place, iteration, old = visit
    width, vertex = row_width(context), touched.note[place, VERTEX]
    before = current_row(histories, vertex, iteration - 1) * width
    upcoming, watched = accumulate(context, histories, touched, agenda, visit)
    for step in range(state_width(context.read)):
        histories.whole[step] = histories.whole[before + step]
    update_state(context, vertex, iteration, histories, histories, (0, state_width(context.read)))
    if limits.tolerance > 0.0 and not moved(context, histories, old * width, 0, limits.tolerance):
        for step in range(state_width(context.read)):
            histories.whole[step] = histories.whole[old * width + step]
    put_row(histories, vertex, iteration, width)
    agenda.sizes[LONGEST] = max(agenda.sizes[LONGEST], histories.line[vertex, COUNT])
    return upcoming, watched


@joined_kernel
def evaluate(
    context: RoundContext,
    histories: RowHistories,
    touched: Touched,
    agenda: Agenda,
    visit: Any,
    limits: Limits,
) -> None:
    """Bring one vertex up to date in one iteration, and see to what follows.

    `visit` is (place, iteration).
    """
    place, now = visit
    vertex, width = touched.note[place, VERTEX], row_width(context)
    start, count = touched.note[place, OLD_START], touched.note[place, OLD_COUNT]
    old, old_before = (
        row_as_of(histories, start, count, now),
        row_as_of(histories, start, count, now - 1),
    )
    upcoming, watched = NEVER, False
    if touched.note[place, FLAGS] & WATCHED:
        upcoming, watched = write_row(
            context, histories, touched, agenda, (place, now, old), limits
        )
    new, new_before = current_row(histories, vertex, now), current_row(histories, vertex, now - 1)
    if touched.note[place, FLAGS] & WATCHED:
        limits.counts[now] += moved(
            context, histories, new_before * width, new * width, limits.settle
        )
        limits.counts[now] -= moved(
            context, histories, old_before * width, old * width, limits.settle
        )
    new_moves = not same_state(context, histories, new_before, new)
    moves = new_moves or not same_state(context, histories, old_before, old)
    differs = not same_state(context, histories, new, old)
    differed = not same_state(context, histories, new_before, old_before)
    source = touched.note[place, FLAGS] & SOURCE != 0
    if moves and (differs or differed or source):
        send_in(agenda, place, now + 1)
    same = same_words(histories.whole, new * width, old * width, width)
    stays = (degrees() and source) or touched.note[place, FLAGS] & NEWCOMER != 0
    if same and not watched and not stays:
        touched.note[place, FLAGS] &= ~np.uint8(WATCHED)
        drop_difference(context, histories, touched, place)
    if touched.note[place, FLAGS] & (WATCHED | SOURCE):
        after = iteration_after(histories, old, start + count)
        if after >= 0:
            evaluate_later(agenda, touched, place, now, after)
    if touched.note[place, FLAGS] & WATCHED:
        if reads_iteration() or (own_state() and new_moves):
            evaluate_later(agenda, touched, place, now, now + 1)
        evaluate_later(agenda, touched, place, now, upcoming)


@inner_kernel
def drop_difference(
    context: RoundContext, histories: RowHistories, touched: Touched, place: int
) -> None:
    """A vertex is as it was: what is left of a difference is rounding."""
    reach = touched.real[place * (sums_width(context.read) + 1) + sums_width(context.read)]
    histories.slack[touched.note[place, VERTEX]] += reach
    clear_difference(context, touched, place)
