"""Maintenance of synchronous programs: histories corrected iteration by iteration.

Think of two runs side by side, that of the version before and that of the version now. A vertex
is touched where they may differ; its old history stays as it was and the new one is written
beside it. In each iteration

- whoever's state changed in either run sends what its messages now differ by, compared with what
  they differed by an iteration earlier. Edges that came or went are told apart from those that
  both versions share: the ones that came stand last in the live prefix of their slabs;
- whoever heard of a difference is evaluated: its accumulators are the old ones of the iteration
  plus all differences so far, its state follows by the program's update.

A vertex that differs is evaluated again where its old history has a row, where it hears of
differences, and where its own new state moves; in between both runs stand still. So an iteration
in which nothing happens costs nothing, and a vertex that is as it was is left alone.

Accumulators that cannot take a message back (min, max, messages that look at v's state, anything
with an infinity in it) are evaluated anew from all live in-edges. Such a vertex is also visited
wherever an in-neighbour's history has a row: what is no difference to the neighbour may be one to
a vertex that differs already.

With a tolerance, a state that would move by no more than this share keeps the words it had, and
nothing is sent; its accumulators do take the difference in, so that small ones add up until they
count. Every state is therefore within the tolerance of what its own accumulators say.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.adjacency import Slabs, destination_of, source_of
from graphtide.kernels.agenda import (
    call_waiting,
    evaluate_in,
    evaluate_later,
    lacks_waiting_room,
    next_iteration,
    send_in,
    with_list_room,
)
from graphtide.kernels.jit import kernel, lean_kernel
from graphtide.kernels.row_histories import (
    ROOM,
    current_row,
    iteration_after,
    lacks_rows,
    put_row,
    row_as_of,
    same_words,
    touch,
    with_places,
    with_rows,
)
from graphtide.kernels.synchronous_records import (
    COUNT,
    EVALUATE,
    FLAGS,
    FRESH_INTO,
    FRESH_OUT,
    GONE_INTO,
    GONE_OUT,
    IN_DEGREE,
    LAST,
    LONGEST,
    LOOKED,
    OLD_COUNT,
    OLD_START,
    OUT_DEGREE,
    PLACE,
    SEND,
    START,
    VERTEX,
    Agenda,
    Context,
    Histories,
    Limits,
    Touched,
)

MOST_SLACK = 2.0**46

# program section: begin
from graphtide.engine.templates.synchronous import (  # noqa: E402
    BACKWARD,
    DEGREES,
    FORWARD,
    HOISTED,
    OWN_STATE,
    READS_ITERATION,
    REVERSIBLE,
    SOURCE_DEGREES,
    TARGET_DEGREES,
    clear_sums,
    contribute,
    in_doubt,
    initial_state,
    merge_sums,
    moved,
    state_width,
    sums_width,
    update_state,
    withdraw,
)

# program section: end

NEVER = 0x7FFFFFFF
"""An iteration that no run reaches."""
NOTHING = (-1, -1, -1, -1)
SHARED, FRESH, GONE, OWN = 0, 1, 2, 3
"""Rows of `Agenda.sums`: what a shared, a new and a former edge is told, and a vertex's own."""
WATCHED, SOURCE, DOUBTED, ENDED = 1, 2, 4, 8
"""Flags: what it hears may differ; its edges changed, so it sends whenever it moves; differences
are of no use to it; edges into it changed."""
Change = tuple[int, int, int, int]
"""Words of a source's state: new and new before, old and old before; -1 where it does not count."""


@lean_kernel
def row_width(context: Context) -> int:
    """How many words a row of a history has."""
    return state_width(context) + sums_width(context)


@lean_kernel
def same_state(context: Context, histories: Histories, one: int, other: int) -> bool:
    """True if two rows have the same state."""
    width = row_width(context)
    return same_words(histories.whole, one * width, other * width, state_width(context))


@lean_kernel
def place_of(context: Context, histories: Histories, touched: Touched, vertex: int) -> int:
    """Where a vertex stands among the touched; at first without any differences."""
    if histories.line[vertex, PLACE] >= 0:
        return int(histories.line[vertex, PLACE])
    place = touch(histories, touched, vertex, context.graph, row_width(context))
    clear_difference(context, touched, place)
    return place


@lean_kernel
def clear_difference(context: Context, touched: Touched, place: int) -> None:
    """Forget by how much a vertex's accumulators differ."""
    at = place * (sums_width(context) + 1)
    clear_sums(context, touched, at)
    touched.real[at + sums_width(context)] = 0.0


@lean_kernel
def send_difference(
    context: Context, histories: Histories, touched: Touched, sums: Any, visit: Any, change: Change
) -> None:
    """What one edge now carries too much, into a row of sums.

    `visit` is (place of the source, target, edge, where the row stands).
    """
    place, vertex, edge, at = visit
    source, graph = touched.note[place, VERTEX], context.graph
    target = (vertex, 0, at)
    new, new_before, old, old_before = change
    out, into = np.int64(graph.out.live[source]), np.int64(graph.into.live[source])
    if new >= 0:
        contribute(context, histories, (source, new, out, into), target, edge, sums)
    if new_before >= 0:
        withdraw(context, histories, (source, new_before, out, into), target, edge, sums)
    out, into = np.int64(touched.note[place, OUT_DEGREE]), np.int64(touched.note[place, IN_DEGREE])
    if old >= 0:
        withdraw(context, histories, (source, old, out, into), target, edge, sums)
    if old_before >= 0:
        contribute(context, histories, (source, old_before, out, into), target, edge, sums)


@lean_kernel
def deliver(
    context: Context,
    histories: Histories,
    touched: Touched,
    agenda: Agenda,
    visit: Any,
    change: Change,
) -> None:
    """Tell one target what an edge to it now carries too much, and have it evaluated.

    `visit` is (place of the source, target, edge, iteration, row of sums).
    """
    source, vertex, edge, iteration, row = visit
    place = place_of(context, histories, touched, vertex)
    touched.note[place, FLAGS] |= WATCHED if row == SHARED else WATCHED | ENDED
    evaluate_in(agenda, touched, place, iteration)
    agenda.sizes[LOOKED] += 1
    if not REVERSIBLE or touched.note[place, FLAGS] & DOUBTED:
        return
    width = sums_width(context) + 1
    if HOISTED:
        if not merge_sums(context, touched, place * width, agenda.sums, row * width):
            touched.note[place, FLAGS] |= DOUBTED
        return
    send_difference(
        context, histories, touched, touched, (source, vertex, edge, place * width), change
    )


@lean_kernel
def prepare(
    context: Context,
    histories: Histories,
    touched: Touched,
    agenda: Agenda,
    place: int,
    changes: Any,
) -> None:
    """Where all edges carry the same, add it up once for all of them."""
    width = sums_width(context) + 1
    for row in range(3):
        clear_sums(context, agenda.sums, row * width)
        agenda.sums.real[row * width + sums_width(context)] = 0.0
        visit = (place, 0, 0, row * width)
        send_difference(context, histories, touched, agenda.sums, visit, changes[row])


@lean_kernel
def send_along(
    context: Context,
    histories: Histories,
    touched: Touched,
    agenda: Agenda,
    visit: tuple[int, int, bool],
    changes: tuple[Change, Change, Change],
) -> None:
    """Send a vertex's differences along one direction; `visit` is (place, iteration, forward)."""
    place, iteration, forward = visit
    slabs = context.graph.out if forward else context.graph.into
    vertex = touched.note[place, VERTEX]
    begin, live = slabs.start[vertex], slabs.live[vertex]
    border = (
        begin
        + live
        - (touched.note[place, FRESH_OUT] if forward else touched.note[place, FRESH_INTO])
    )
    shared, fresh, gone = changes
    if shared != NOTHING:
        for position in range(begin, border):
            edge = slabs.edge[position]
            told = (place, slabs.neighbour[position], edge, iteration, SHARED)
            deliver(context, histories, touched, agenda, told, shared)
    if fresh != NOTHING:
        for position in range(border, begin + live):
            edge = slabs.edge[position]
            told = (place, slabs.neighbour[position], edge, iteration, FRESH)
            deliver(context, histories, touched, agenda, told, fresh)
    if gone != NOTHING:
        number = touched.note[place, GONE_OUT] if forward else touched.note[place, GONE_INTO]
        while number >= 0:
            edge = agenda.deleted[number]
            end = destination_of(context.graph, edge) if forward else source_of(context.graph, edge)
            deliver(context, histories, touched, agenda, (place, end, edge, iteration, GONE), gone)
            number = agenda.next_out[number] if forward else agenda.next_into[number]


@lean_kernel
def send_changes(
    context: Context, histories: Histories, touched: Touched, agenda: Agenda, place: int, now: int
) -> None:
    """Send what a vertex's messages in this iteration differ by, beyond the iteration before."""
    vertex, width = touched.note[place, VERTEX], row_width(context)
    start, count = touched.note[place, OLD_START], touched.note[place, OLD_COUNT]
    new, old = current_row(histories, vertex, now - 1), row_as_of(histories, start, count, now - 1)
    altered = SOURCE_DEGREES and (
        touched.note[place, OUT_DEGREE] != context.graph.out.live[vertex]
        or touched.note[place, IN_DEGREE] != context.graph.into.live[vertex]
    )
    differs = altered or not same_state(context, histories, new, old)
    differed, new_moves, old_moves = False, True, True
    new_before, old_before = -1, -1
    if now > 1:
        new_before = current_row(histories, vertex, now - 2)
        old_before = row_as_of(histories, start, count, now - 2)
        differed = altered or not same_state(context, histories, new_before, old_before)
        new_moves = not same_state(context, histories, new, new_before)
        old_moves = not same_state(context, histories, old, old_before)
    new, old = new * width, old * width
    new_before = new_before * width if new_before >= 0 else -1
    old_before = old_before * width if old_before >= 0 else -1
    shared = NOTHING
    if (new_moves or old_moves) and (differs or differed):
        shared = (
            new if differs else -1,
            new_before if differed else -1,
            old if differs else -1,
            old_before if differed else -1,
        )
    fresh = (new, new_before, -1, -1) if new_moves else NOTHING
    gone = (-1, -1, old, old_before) if old_moves else NOTHING
    changes = (shared, fresh, gone)
    if HOISTED and REVERSIBLE:
        prepare(context, histories, touched, agenda, place, changes)
    if FORWARD:
        send_along(context, histories, touched, agenda, (place, now, True), changes)
    if BACKWARD:
        send_along(context, histories, touched, agenda, (place, now, False), changes)


@lean_kernel
def pull_along(
    context: Context, histories: Histories, agenda: Agenda, slabs: Slabs, visit: tuple[int, int]
) -> tuple[int, bool]:
    """Gather along one direction; returns when a neighbour moves next, and if any is touched."""
    vertex, iteration = visit
    graph, width = context.graph, row_width(context)
    own = current_row(histories, vertex, iteration - 1) * width
    target = (vertex, own, OWN * (sums_width(context) + 1))
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


@lean_kernel
def pull(
    context: Context, histories: Histories, agenda: Agenda, vertex: int, iteration: int
) -> tuple[int, bool]:
    """A vertex's accumulators from all its live in-edges, in the run of this version."""
    at = OWN * (sums_width(context) + 1)
    clear_sums(context, agenda.sums, at)
    agenda.sums.real[at + sums_width(context)] = 0.0
    upcoming, watched = NEVER, False
    visit = (vertex, iteration)
    if FORWARD:
        found, some = pull_along(context, histories, agenda, context.graph.into, visit)
        upcoming, watched = min(upcoming, found), some
    if BACKWARD:
        found, some = pull_along(context, histories, agenda, context.graph.out, visit)
        upcoming, watched = min(upcoming, found), watched or some
    return upcoming, watched


@lean_kernel
def accumulate(
    context: Context,
    histories: Histories,
    touched: Touched,
    agenda: Agenda,
    visit: tuple[int, int, int],
) -> tuple[int, bool]:
    """The accumulators of a vertex in this run, into row 0 of the pool.

    `visit` is (place, iteration, its old row). Returns the next iteration in which a neighbour
    may concern it, and whether it has to be watched for that.
    """
    place, iteration, old = visit
    state_words, sums_words = state_width(context), sums_width(context)
    vertex, at = touched.note[place, VERTEX], OWN * (sums_words + 1)
    upcoming, watched, done = NEVER, False, False
    if REVERSIBLE and not touched.note[place, FLAGS] & DOUBTED:
        old_sums = old * (state_words + sums_words) + state_words
        for step in range(sums_words):
            agenda.sums.whole[at + step] = histories.whole[old_sums + step]
        agenda.sums.real[at + sums_words] = histories.slack[vertex]
        if not merge_sums(context, agenda.sums, at, touched, place * (sums_words + 1)):
            touched.note[place, FLAGS] |= DOUBTED
        elif in_doubt(context, agenda.sums, at, agenda.sums.real[at + sums_words]):
            pull(context, histories, agenda, vertex, iteration)
            done = True
        else:
            done = True
    if not done:
        upcoming, watched = pull(context, histories, agenda, vertex, iteration)
        watched = watched or REVERSIBLE or touched.note[place, FLAGS] & ENDED != 0
    for step in range(sums_words):
        histories.whole[state_words + step] = agenda.sums.whole[at + step]
    return upcoming, watched


@lean_kernel
def write_row(
    context: Context,
    histories: Histories,
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
    for step in range(state_width(context)):
        histories.whole[step] = histories.whole[before + step]
    update_state(context, vertex, iteration, histories, histories, (0, state_width(context)))
    if limits.tolerance > 0.0 and not moved(context, histories, old * width, 0, limits.tolerance):
        for step in range(state_width(context)):
            histories.whole[step] = histories.whole[old * width + step]
    put_row(histories, vertex, iteration, width)
    agenda.sizes[LONGEST] = max(agenda.sizes[LONGEST], histories.line[vertex, COUNT])
    return upcoming, watched


@lean_kernel
def evaluate(
    context: Context,
    histories: Histories,
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
    if same and not watched and not (DEGREES and source):
        touched.note[place, FLAGS] &= ~np.uint8(WATCHED)
        drop_difference(context, histories, touched, place)
    if touched.note[place, FLAGS] & (WATCHED | SOURCE):
        after = iteration_after(histories, old, start + count)
        if after >= 0:
            evaluate_later(agenda, touched, place, now, after)
    if touched.note[place, FLAGS] & WATCHED:
        if READS_ITERATION or (OWN_STATE and new_moves):
            evaluate_later(agenda, touched, place, now, now + 1)
        evaluate_later(agenda, touched, place, now, upcoming)


@lean_kernel
def drop_difference(context: Context, histories: Histories, touched: Touched, place: int) -> None:
    """A vertex is as it was: what is left of a difference is rounding."""
    reach = touched.real[place * (sums_width(context) + 1) + sums_width(context)]
    histories.slack[touched.note[place, VERTEX]] += reach
    clear_difference(context, touched, place)


@lean_kernel
def touch_ends(
    context: Context, histories: Histories, touched: Touched, agenda: Agenda, inserted: Any
) -> None:
    """Touch the ends of all changed edges and note how their degrees changed."""
    graph = context.graph
    for edge in inserted:
        source = place_of(context, histories, touched, source_of(graph, edge))
        target = place_of(context, histories, touched, destination_of(graph, edge))
        touched.note[source, OUT_DEGREE] -= 1
        touched.note[source, FRESH_OUT] += 1
        touched.note[target, IN_DEGREE] -= 1
        touched.note[target, FRESH_INTO] += 1
    for number in range(len(agenda.deleted)):
        edge = agenda.deleted[number]
        source = place_of(context, histories, touched, source_of(graph, edge))
        target = place_of(context, histories, touched, destination_of(graph, edge))
        touched.note[source, OUT_DEGREE] += 1
        agenda.next_out[number] = touched.note[source, GONE_OUT]
        touched.note[source, GONE_OUT] = number
        touched.note[target, IN_DEGREE] += 1
        agenda.next_into[number] = touched.note[target, GONE_INTO]
        touched.note[target, GONE_INTO] = number


@lean_kernel
def begin_ends(context: Context, histories: Histories, touched: Touched, agenda: Agenda) -> None:
    """Iteration 0: the ends of changed edges send, and may start otherwise than before."""
    width = row_width(context)
    for place in range(touched.size[0]):
        touched.note[place, FLAGS] = SOURCE
        if DEGREES:
            vertex = touched.note[place, VERTEX]
            initial_state(context, vertex, histories, 0)
            at = histories.line[vertex, START] * width
            for step in range(state_width(context)):
                histories.whole[at + step] = histories.whole[step]
            touched.note[place, FLAGS] = SOURCE | WATCHED
        if TARGET_DEGREES:
            touched.note[place, FLAGS] |= DOUBTED
        send_in(agenda, place, 1)
        evaluate_in(agenda, touched, place, 1)


@lean_kernel
def places_wanted(context: Context, touched: Touched, agenda: Agenda, place: int) -> int:
    """How many vertices may be touched by what one vertex sends."""
    vertex, graph = touched.note[place, VERTEX], context.graph
    return int(graph.out.live[vertex] + graph.into.live[vertex] + len(agenda.deleted))


@lean_kernel
def send_listed(
    context: Context,
    histories: Histories,
    touched: Touched,
    agenda: Agenda,
    number: int,
    now: int,
) -> int:
    """Send the changes of those listed from `number` on; returns where room ran out, or the end."""
    turn = now & 1
    while number < agenda.sizes[SEND + turn]:
        place = agenda.send[turn, number]
        more = places_wanted(context, touched, agenda, place)
        rows = more * (agenda.sizes[LONGEST] + ROOM)
        if lacks_rows(histories, rows) or touched.size[0] + more > len(touched.note):
            return number
        send_changes(context, histories, touched, agenda, place, now)
        number += 1
    return number


@lean_kernel
def evaluate_listed(
    context: Context,
    histories: Histories,
    touched: Touched,
    agenda: Agenda,
    visit: tuple[int, int],
    limits: Limits,
) -> int:
    """The same for evaluating; `visit` is (number, iteration)."""
    number, now = visit
    turn = now & 1
    while number < agenda.sizes[EVALUATE + turn]:
        rows = 2 * (agenda.sizes[LONGEST] + ROOM)
        if lacks_rows(histories, rows) or lacks_waiting_room(agenda):
            return number
        place = agenda.evaluate[turn, number]
        evaluate(context, histories, touched, agenda, (place, now), limits)
        number += 1
    return number


@lean_kernel
def drop_differences(context: Context, histories: Histories, touched: Touched) -> None:
    """At the end of an advance: what passed through sums counts for all advances to come."""
    for place in range(touched.size[0]):
        drop_difference(context, histories, touched, place)


@kernel
def refine(
    context: Context,
    histories: Histories,
    touched: Touched,
    agenda: Agenda,
    inserted: Any,
    limits: Limits,
) -> tuple[Histories, Touched]:
    """Bring all histories to the version that the graph is at.

    The graph has been flipped: `inserted` and `agenda.deleted` say how. A stopping run is left at
    the first iteration in which nothing moves any more. After a fault the histories are to be put
    back. Makes room where there is none; all else is done by kernels that count no references.
    """
    width, difference_width = row_width(context), sums_width(context) + 1
    ends = 2 * (len(inserted) + len(agenda.deleted))
    histories = with_rows(histories, ends * (agenda.sizes[LONGEST] + ROOM), width)
    touched = with_places(touched, ends, difference_width)
    agenda = with_list_room(agenda, len(touched.note))
    touch_ends(context, histories, touched, agenda, inserted)
    begin_ends(context, histories, touched, agenda)
    now = 1 if ends > 0 else -1
    while 0 < now <= agenda.sizes[LAST]:
        turn = now & 1
        call_waiting(agenda, touched, now)
        number = send_listed(context, histories, touched, agenda, 0, now)
        while number < agenda.sizes[SEND + turn]:
            more = places_wanted(context, touched, agenda, agenda.send[turn, number])
            histories = with_rows(histories, more * (agenda.sizes[LONGEST] + ROOM), width)
            touched = with_places(touched, more, difference_width)
            agenda = with_list_room(agenda, len(touched.note))
            number = send_listed(context, histories, touched, agenda, number, now)
        number = evaluate_listed(context, histories, touched, agenda, (0, now), limits)
        while number < agenda.sizes[EVALUATE + turn]:
            histories = with_rows(histories, 2 * (agenda.sizes[LONGEST] + ROOM), width)
            agenda = with_list_room(agenda, len(touched.note))
            number = evaluate_listed(context, histories, touched, agenda, (number, now), limits)
        if context.fault[0] != 0 or (limits.stopping and limits.counts[now] == 0):
            break
        now = next_iteration(agenda, now)
    drop_differences(context, histories, touched)
    return histories, touched
