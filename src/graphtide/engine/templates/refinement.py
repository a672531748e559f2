"""Maintenance of synchronous programs: histories corrected iteration by iteration.

Think of two runs side by side, that of the version before and that of the version now. A vertex
is touched where they may differ; its old history stays as it was and the new one is written
beside it. In each iteration differences are sent (`differences`), and then whoever heard of one is
evaluated (`evaluation`).

A vertex that differs is evaluated again where its old history has a row, where it hears of
differences, and where its own new state moves; in between both runs stand still. So an iteration
in which nothing happens costs nothing, and a vertex that is as it was is left alone.

An edge costs here tens of times what it costs in a run from scratch, where memory is read in
order. So there is a budget of edges, and who exceeds it is told: running anew is cheaper.
"""

from __future__ import annotations

from typing import Any

from graphtide.engine.templates.differences import (
    DOUBTED,
    NEWCOMER,
    SOURCE,
    WATCHED,
    is_altered,
    place_of,
    row_width,
    send_changes,
)
from graphtide.engine.templates.evaluation import drop_difference, evaluate
from graphtide.engine.templates.synchronous import (
    backward,
    degrees,
    forward,
    initial_state,
    state_width,
    target_degrees,
)
from graphtide.kernels.graph.adjacency import destination_of, goes_back, source_of
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.synchronous.histories import (
    BUDGET,
    DEAR,
    DONE,
    EVALUATE,
    EVALUATED,
    FLAGS,
    FRESH_INTO,
    FRESH_OUT,
    GONE_INTO,
    GONE_OUT,
    IN_DEGREE,
    LACKING,
    LAST,
    LONGEST,
    LOOKED,
    MORE_PLACES,
    MORE_ROWS,
    NOW,
    OLD_COUNT,
    OUT_DEGREE,
    ROOM,
    SEND,
    SENT,
    START,
    VERTEX,
    Agenda,
    Limits,
    RoundContext,
    RowHistories,
    Touched,
    call_waiting,
    evaluate_in,
    lacks_rows,
    lacks_waiting_room,
    next_iteration,
    send_in,
)


@inner_kernel
def touch_ends(
    context: RoundContext, histories: RowHistories, touched: Touched, agenda: Agenda, inserted: Any
) -> None:
    """Touch the ends of all changed edges and note how their degrees changed."""
    graph = context.graph
    for edge in inserted:
        ends = source_of(graph, edge), destination_of(graph, edge)
        source = place_of(context, histories, touched, ends[0])
        target = place_of(context, histories, touched, ends[1])
        touched.note[source, OUT_DEGREE] -= 1
        touched.note[source, FRESH_OUT] += 1
        if goes_back(graph, edge, ends[0], ends[1]):
            touched.note[target, IN_DEGREE] -= 1
            touched.note[target, FRESH_INTO] += 1
    for number in range(len(agenda.deleted)):
        edge = agenda.deleted[number]
        ends = source_of(graph, edge), destination_of(graph, edge)
        source = place_of(context, histories, touched, ends[0])
        target = place_of(context, histories, touched, ends[1])
        touched.note[source, OUT_DEGREE] += 1
        agenda.next_out[number] = touched.note[source, GONE_OUT]
        touched.note[source, GONE_OUT] = number
        if goes_back(graph, edge, ends[0], ends[1]):
            touched.note[target, IN_DEGREE] += 1
            agenda.next_into[number] = touched.note[target, GONE_INTO]
            touched.note[target, GONE_INTO] = number


@inner_kernel
def altered_edges(context: RoundContext, touched: Touched) -> int:
    """How many edges the ends of changed edges alone will send along, about.

    Whoever's messages look at a degree that changed tells all neighbours, whenever it moves.
    """
    graph, total = context.graph, 0
    for place in range(touched.size[0]):
        if is_altered(context, touched, place):
            vertex, moves = touched.note[place, VERTEX], touched.note[place, OLD_COUNT] - 1
            total += moves * graph.out.live[vertex] if forward() else 0
            total += moves * graph.into.live[vertex] if backward() else 0
    return total


@inner_kernel
def begin_ends(
    context: RoundContext, histories: RowHistories, touched: Touched, agenda: Agenda
) -> None:
    """Iteration 0: the ends of changed edges send, and may start otherwise than before."""
    width = row_width(context)
    for place in range(touched.size[0]):
        touched.note[place, FLAGS] = SOURCE
        if degrees():
            vertex = touched.note[place, VERTEX]
            initial_state(context, vertex, histories, 0)
            at = histories.line[vertex, START] * width
            for step in range(state_width(context.read)):
                histories.whole[at + step] = histories.whole[step]
            touched.note[place, FLAGS] = SOURCE | WATCHED
        if target_degrees():
            touched.note[place, FLAGS] |= DOUBTED
        send_in(agenda, place, 1)
        evaluate_in(agenda, touched, place, 1)


@inner_kernel
def begin_newcomers(
    context: RoundContext, histories: RowHistories, touched: Touched, agenda: Agenda, first: int
) -> None:
    """Vertices that came have row 0 alone: they are run from there, and never taken as they were.

    Being as in row 0 says nothing of the next iteration, as being as in an old run would.
    """
    for vertex in range(first, len(histories.line)):
        place = place_of(context, histories, touched, vertex)
        touched.note[place, FLAGS] |= WATCHED | NEWCOMER
        evaluate_in(agenda, touched, place, 1)


@inner_kernel
def listed_edges(context: RoundContext, touched: Touched, agenda: Agenda, now: int) -> int:
    """How many edges those will send along that are listed for the next iteration.

    Differences that spread grow many times over in each: what was done before is little.
    """
    graph, total, turn = context.graph, 0, (now + 1) & 1
    for number in range(agenda.sizes[SEND + turn]):
        vertex = touched.note[agenda.send[turn, number], VERTEX]
        total += graph.out.live[vertex] if forward() else 0
        total += graph.into.live[vertex] if backward() else 0
    return total


@joined_kernel
def send_listed(
    context: RoundContext, histories: RowHistories, touched: Touched, agenda: Agenda, now: int
) -> int:
    """Send the changes of those listed who have not sent yet."""
    sizes, graph, turn = agenda.sizes, context.graph, now & 1
    while sizes[SENT] < sizes[SEND + turn]:
        place = agenda.send[turn, sizes[SENT]]
        vertex = touched.note[place, VERTEX]
        more = graph.out.live[vertex] + graph.into.live[vertex] + len(agenda.deleted)
        sizes[MORE_PLACES], sizes[MORE_ROWS] = more, more * (sizes[LONGEST] + ROOM)
        if lacks_rows(histories, sizes[MORE_ROWS]) or touched.size[0] + more > len(touched.note):
            return LACKING
        send_changes(context, histories, touched, agenda, place, now)
        sizes[SENT] += 1
        if sizes[LOOKED] > sizes[BUDGET]:
            return DEAR
    return DONE


@joined_kernel
def evaluate_listed(
    context: RoundContext,
    histories: RowHistories,
    touched: Touched,
    agenda: Agenda,
    now: int,
    limits: Limits,
) -> int:
    """Evaluate those listed who have not been yet."""
    sizes, turn = agenda.sizes, now & 1
    while sizes[EVALUATED] < sizes[EVALUATE + turn]:
        sizes[MORE_PLACES], sizes[MORE_ROWS] = 0, 2 * (sizes[LONGEST] + ROOM)
        if lacks_rows(histories, sizes[MORE_ROWS]) or lacks_waiting_room(agenda):
            return LACKING
        place = agenda.evaluate[turn, sizes[EVALUATED]]
        evaluate(context, histories, touched, agenda, (place, now), limits)
        sizes[EVALUATED] += 1
        if sizes[LOOKED] > sizes[BUDGET]:
            return DEAR
    return DONE


@bare_kernel
def refine(
    context: RoundContext,
    histories: RowHistories,
    touched: Touched,
    agenda: Agenda,
    inserted: Any,
    limits: Limits,
) -> int:
    """Bring all histories to the version that the graph is at.

    The graph has been flipped: `inserted` and `agenda.deleted` say how. A stopping run is left at
    the first iteration in which nothing moves any more. LACKING where it has to be called again
    with more room. After a fault, or DEAR, the histories are to be put back.
    """
    sizes = agenda.sizes
    if sizes[NOW] == 0:
        touch_ends(context, histories, touched, agenda, inserted)
        if altered_edges(context, touched) > sizes[BUDGET]:
            return DEAR
        begin_ends(context, histories, touched, agenda)
        begin_newcomers(context, histories, touched, agenda, limits.newcomer)
        sizes[NOW] = 1 if touched.size[0] > 0 else -1
    while 0 < sizes[NOW] <= sizes[LAST]:
        now = sizes[NOW]
        call_waiting(agenda, touched, now)
        left = send_listed(context, histories, touched, agenda, now)
        if left == DONE:
            left = evaluate_listed(context, histories, touched, agenda, now, limits)
        if left != DONE:
            return left
        if context.fault[0] != 0 or (limits.stopping and limits.counts[now] == 0):
            break
        sizes[NOW] = next_iteration(agenda, now)
        sizes[SENT] = sizes[EVALUATED] = 0
        goes_on = now < sizes[LAST]
        if goes_on and sizes[LOOKED] + listed_edges(context, touched, agenda, now) > sizes[BUDGET]:
            return DEAR
    for place in range(touched.size[0]):
        drop_difference(context, histories, touched, place)
    return DONE
