"""What the messages of a vertex differ by between two runs, sent to those that hear it.

The run of the version before and that of the version now stand side by side. Whoever's state
changed in either run sends what its messages now differ by, compared with what they differed by an
iteration earlier. Edges that came or went are told apart from those that both versions share: the
ones that came stand last in the live prefix of their slabs. Who hears of a difference adds it to
what its accumulators differ by already, and is put on the agenda.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.graph.adjacency import destination_of, source_of
from graphtide.kernels.intrinsics import MIDDLE, NEAR, prefetch
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.synchronous.histories import (
    FLAGS,
    FRESH_INTO,
    FRESH_OUT,
    GONE_INTO,
    GONE_OUT,
    IN_DEGREE,
    LOOKED,
    OLD_COUNT,
    OLD_START,
    OUT_DEGREE,
    PLACE,
    START,
    VERTEX,
    Agenda,
    RoundContext,
    RowHistories,
    Touched,
    current_row,
    evaluate_in,
    row_as_of,
    same_words,
    touch,
)

MOST_SLACK = 2.0**46

# program section: begin
from graphtide.engine.templates.synchronous import (  # noqa: E402
    backward,
    clear_sums,
    contribute,
    forward,
    hoisted,
    merge_sums,
    reversible,
    source_in_degree,
    source_out_degree,
    state_width,
    sums_width,
    withdraw,
)

# program section: end

NOTHING = (-1, -1, -1, -1)
PREFETCHED, LINE = 4, 8
"""How many lines of the cache are asked for of a history, and the words of one."""
SHARED, FRESH, GONE, OWN = 0, 1, 2, 3
"""Rows of `Agenda.sums`: what a shared, a new and a former edge is told, and a vertex's own."""
WATCHED, SOURCE, DOUBTED, ENDED, NEWCOMER = 1, 2, 4, 8, 16
"""Flags: what it hears may differ; its edges changed, so it sends whenever it moves; differences
are of no use to it; edges into it changed; it was not there before, and has no old run."""
Change = tuple[int, int, int, int]
"""Words of a source's state: new and new before, old and old before; -1 where it does not count."""


@inner_kernel
def row_width(context: RoundContext) -> int:
    return state_width(context.read) + sums_width(context.read)


@inner_kernel
def same_state(context: RoundContext, histories: RowHistories, one: int, other: int) -> bool:
    width = row_width(context)
    return same_words(histories.whole, one * width, other * width, state_width(context.read))


@joined_kernel
def place_of(context: RoundContext, histories: RowHistories, touched: Touched, vertex: int) -> int:
    """Where a vertex stands among the touched; at first without any differences."""
    if histories.line[vertex, PLACE] >= 0:
        return int(histories.line[vertex, PLACE])
    place = touch(histories, touched, vertex, context.graph, row_width(context))
    clear_difference(context, touched, place)
    return place


@inner_kernel
def is_altered(context: RoundContext, touched: Touched, place: int) -> bool:
    """True if a degree that its messages look at is not what it was."""
    graph, note = context.graph, touched.note
    vertex = note[place, VERTEX]
    out = source_out_degree() and note[place, OUT_DEGREE] != graph.out.live[vertex]
    return bool(out or (source_in_degree() and note[place, IN_DEGREE] != graph.into.live[vertex]))


@inner_kernel
def clear_difference(context: RoundContext, touched: Touched, place: int) -> None:
    """Forget by how much a vertex's accumulators differ."""
    at = place * (sums_width(context.read) + 1)
    clear_sums(context, touched, at)
    touched.real[at + sums_width(context.read)] = 0.0


@inner_kernel
def send_difference(
    context: RoundContext,
    histories: RowHistories,
    touched: Touched,
    sums: Any,
    visit: Any,
    change: Change,
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


@joined_kernel
def deliver(
    context: RoundContext,
    histories: RowHistories,
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
    if not reversible() or touched.note[place, FLAGS] & DOUBTED:
        return
    width = sums_width(context.read) + 1
    if hoisted():
        if not merge_sums(context, touched, place * width, agenda.sums, row * width):
            touched.note[place, FLAGS] |= DOUBTED
        return
    send_difference(
        context, histories, touched, touched, (source, vertex, edge, place * width), change
    )


@inner_kernel
def prepare(
    context: RoundContext,
    histories: RowHistories,
    touched: Touched,
    agenda: Agenda,
    place: int,
    changes: Any,
) -> None:
    """Where all edges carry the same, add it up once for all of them."""
    width = sums_width(context.read) + 1
    for row in range(3):
        clear_sums(context, agenda.sums, row * width)
        agenda.sums.real[row * width + sums_width(context.read)] = 0.0
        visit = (place, 0, 0, row * width)
        send_difference(context, histories, touched, agenda.sums, visit, changes[row])


@joined_kernel
def ask_ahead(
    context: RoundContext, histories: RowHistories, neighbour: Any, position: int, last: int
) -> None:
    """Ask for what will be read of the targets a few steps further on, where they are new."""
    graph = context.graph
    if position + MIDDLE < last:
        vertex = neighbour[position + MIDDLE]
        prefetch(histories.line, vertex)
        prefetch(histories.slack, vertex)
        prefetch(graph.out.live, vertex)
        prefetch(graph.into.live, vertex)
    if position + NEAR < last:
        row = histories.line[neighbour[position + NEAR], START]
        prefetch(histories.iteration, row)
        for step in range(PREFETCHED):
            prefetch(histories.whole, row * row_width(context) + LINE * step)


@joined_kernel
def send_along(
    context: RoundContext,
    histories: RowHistories,
    touched: Touched,
    agenda: Agenda,
    visit: tuple[int, int, bool],
    changes: tuple[Change, Change, Change],
) -> None:
    """Send a vertex's differences along one direction; `visit` is (place, iteration, outward)."""
    place, iteration, outward = visit
    graph, note = context.graph, touched.note
    slabs = graph.out if outward else graph.into
    vertex = note[place, VERTEX]
    begin, end = slabs.start[vertex], slabs.start[vertex] + slabs.live[vertex]
    border = end - (note[place, FRESH_OUT] if outward else note[place, FRESH_INTO])
    gone = note[place, GONE_OUT] if outward else note[place, GONE_INTO]
    for kind in range(3):
        change = changes[kind]
        if change == NOTHING:
            continue
        position = begin if kind == SHARED else border if kind == FRESH else gone
        last = border if kind == SHARED else end if kind == FRESH else len(agenda.deleted)
        while 0 <= position < last:
            if kind == GONE:
                edge = agenda.deleted[position]
                target = destination_of(graph, edge) if outward else source_of(graph, edge)
                position = agenda.next_out[position] if outward else agenda.next_into[position]
            else:
                edge, target = slabs.edge[position], slabs.neighbour[position]
                if iteration == 1:
                    ask_ahead(context, histories, slabs.neighbour, position, last)
                position += 1
            told = (place, target, edge, iteration, kind)
            deliver(context, histories, touched, agenda, told, change)


@joined_kernel
def send_changes(
    context: RoundContext,
    histories: RowHistories,
    touched: Touched,
    agenda: Agenda,
    place: int,
    now: int,
) -> None:
    """Send what a vertex's messages in this iteration differ by, beyond the iteration before."""
    vertex, width = touched.note[place, VERTEX], row_width(context)
    start, count = touched.note[place, OLD_START], touched.note[place, OLD_COUNT]
    new, old = current_row(histories, vertex, now - 1), row_as_of(histories, start, count, now - 1)
    altered = is_altered(context, touched, place)
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
    if hoisted() and reversible():
        prepare(context, histories, touched, agenda, place, changes)
    for way in range(2):
        if (way == 0 and forward()) or (way == 1 and backward()):
            visit = (place, now, way == 0)
            send_along(context, histories, touched, agenda, visit, changes)
