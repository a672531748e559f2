"""Exact maintenance of selecting programs: every iteration of a synchronous run, not only the end.

The history of a vertex is its values over the iterations, stored where they change. Because a
selecting program keeps the best value it ever got, a history is a staircase: later entries are
strictly better. It is the staircase of the vertex's initial value and all its events. An entry
(t, x) of u is an *event* at t + 1 for every vertex that a live edge leads to from u, with the value
that the edge carries. The join of histories with edges is never stored: events are asked for.

Kept true between advances: histories are those of a run from scratch on the current version.

An advance works iteration by iteration, so that everything before the current one is final:

- A deleted edge, or an entry that is gone, takes events away. That matters to v at t only if v has
  an entry at t of just that value (otherwise the event decided nothing, then or later).
- An inserted edge, or a new entry, adds events. That matters only if the event beats the value
  that v has at t. Both tests are FEDiV: two comparisons in place of a scan of v's in-edges.
- An entry that is no better than a new one before it goes, and takes its events away.

A visit for one edge takes the event of that edge, if it beats what the vertex has. A look works the
entry out anew. Where only a support may be gone, it ends at the first in-edge that still brings the
value. Where none does, the vertex takes the best event there is, and asks its in-edges for the
first later event that beats what it has now: it is visited again there.

What a vertex had is logged before it is first changed, to report and to roll back. Where more
edges are looked at than the caller allows, the work is broken off: running again is cheaper then.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.selecting import (
    VALUE,
    backward,
    better,
    forward,
    initial,
    message,
    settles,
)
from graphtide.kernels.blocks import ADJACENCY, adjacency_at, array_at, places, words_from
from graphtide.kernels.exact.histories import (
    CHANGED,
    ENTRIES,
    GOING,
    ITERATIONS,
    MOST,
    MOST_WORK,
    NOTHING,
    NOW,
    PASSED,
    STOPPED,
    TIMES,
    TOO_MUCH,
    TOUCHED,
    VERTICES,
    Desk,
    HistoryContext,
    ValueHistories,
    VisitLists,
    clear_agenda,
    desk_at,
    entry_at,
    entry_behind,
    histories_at,
    is_too_much,
    log_history,
    note_change,
    plan_visit,
    pop_time,
    roll_back,
    take_entry,
    write_entry,
)
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.intrinsics import FAR, MIDDLE, NEAR, prefetch
from graphtide.kernels.jit import inner_kernel, joined_kernel, kernel, lean_kernel


@joined_kernel
def standing(
    context: HistoryContext, histories: ValueHistories, desk: Desk, vertex: int, time: int
) -> tuple[Any, int]:
    """The value of a vertex after so many iterations, and its entry of exactly that one if any."""
    value, exact, passed = initial(vertex, context.read), NOTHING, 0
    at = histories.head[vertex]
    while at != NOTHING and histories.time[at] <= time:
        value = histories.value[at]
        if histories.time[at] == time:
            exact = at
        at = histories.following[at]
        passed += 1
    desk.counts[PASSED] += passed
    return value, exact


@joined_kernel
def value_at(
    context: HistoryContext, histories: ValueHistories, desk: Desk, vertex: int, time: int
) -> Any:
    return standing(context, histories, desk, vertex, time)[0]


@joined_kernel
def event_of(
    context: HistoryContext, histories: ValueHistories, desk: Desk, arc: Any, time: int
) -> tuple[bool, Any]:
    """The event that an arc (source, edge) brings at an iteration, if its source has an entry just
    before.
    """
    source, edge = arc
    held = initial(source, context.read)
    if time > 1:
        at, passed = entry_behind(histories, source, time - 1)
        desk.counts[PASSED] += passed
        if at == NOTHING:
            return False, held
        held = histories.value[at]
    return True, message(held, source, edge, context.read)


@joined_kernel
def ask_ahead(histories: ValueHistories, slabs: Slabs, at: int, last: int) -> None:
    """Ask for the histories of neighbours further on in a slab that ends at `last`."""
    if at + MIDDLE < last:
        prefetch(histories.head, slabs.neighbour[at + MIDDLE])
    if at + NEAR < last:
        prefetch(histories.time, histories.head[slabs.neighbour[at + NEAR]])


@joined_kernel
def ask_first(histories: ValueHistories, slabs: Slabs, start: int, last: int) -> None:
    """Ask for the histories of the first neighbours of a slab, of which all will be looked at."""
    for at in range(start, min(start + MIDDLE, last)):
        prefetch(histories.head, slabs.neighbour[at])
    for at in range(start, min(start + NEAR, last)):
        prefetch(histories.time, histories.head[slabs.neighbour[at]])


@joined_kernel
def best_event(
    context: HistoryContext, histories: ValueHistories, desk: Desk, place: Any, best: Any
) -> Any:
    """The best of `best` and the events at an iteration, over the live edges of one direction.

    `place` is (slabs, vertex, time).
    """
    slabs, vertex, time = place
    start = slabs.start[vertex]
    last = start + slabs.live[vertex]
    desk.counts[TOUCHED] += slabs.live[vertex]
    ask_first(histories, slabs, start, last)
    for at in range(start, last):
        ask_ahead(histories, slabs, at, last)
        known, event = event_of(
            context, histories, desk, (slabs.neighbour[at], slabs.edge[at]), time
        )
        if known and better(event, best):
            best = event
    return best


@joined_kernel
def next_event(
    context: HistoryContext, histories: ValueHistories, desk: Desk, look: Any, soonest: int
) -> int:
    """The first iteration after `time`, before `soonest`, with an event that beats `held`."""
    slabs, vertex, time, held = look
    passed = 0
    start = slabs.start[vertex]
    last = start + slabs.live[vertex]
    for at in range(start, last):
        ask_ahead(histories, slabs, at, last)
        other, edge = slabs.neighbour[at], slabs.edge[at]
        entry = histories.head[other]
        while entry != NOTHING and histories.time[entry] + 1 < soonest:
            value = histories.value[entry]
            if histories.time[entry] >= time and (not settles() or better(value, held)):
                event = message(value, other, edge, context.read)
                if better(event, held):
                    soonest = histories.time[entry] + 1
                    break
            entry = histories.following[entry]
            passed += 1
    desk.counts[TOUCHED] += slabs.live[vertex]
    desk.counts[PASSED] += passed
    return int(soonest)


@joined_kernel
def is_supported(
    context: HistoryContext, histories: ValueHistories, desk: Desk, place: Any, value: Any
) -> bool:
    """True at the first live in-edge that brings the value at the iteration."""
    slabs, vertex, time = place
    start = slabs.start[vertex]
    last = start + slabs.live[vertex]
    for at in range(start, last):
        ask_ahead(histories, slabs, at, last)
        known, event = event_of(
            context, histories, desk, (slabs.neighbour[at], slabs.edge[at]), time
        )
        if known and event == value:
            desk.counts[TOUCHED] += at - start + 1
            return True
    desk.counts[TOUCHED] += slabs.live[vertex]
    return False


@joined_kernel
def take_offer(
    context: HistoryContext, histories: ValueHistories, desk: Desk, visit: Any, arc: Any
) -> None:
    """Take the event of one edge, if it is there and beats what the vertex has."""
    vertex, time, serial, now = visit
    desk.counts[TOUCHED] += 1
    known, event = event_of(context, histories, desk, arc, time)
    if not known or not better(event, value_at(context, histories, desk, vertex, time)):
        return
    if log_history(histories, desk, vertex, now):
        note_change(histories, desk, vertex, time, serial)
        write_entry(histories, desk, vertex, time, event)


@joined_kernel
def still_supported(
    context: HistoryContext, histories: ValueHistories, desk: Desk, look: Any
) -> bool:
    """True if some live edge brings the value that the vertex has an entry of."""
    vertex, time, value = look
    graph = context.graph
    if forward() and is_supported(context, histories, desk, (graph.into, vertex, time), value):
        return True
    return backward() and is_supported(context, histories, desk, (graph.out, vertex, time), value)


@joined_kernel
def best_of_all(context: HistoryContext, histories: ValueHistories, desk: Desk, look: Any) -> Any:
    """The best event at the iteration, or what the vertex had before if that is no worse."""
    vertex, time, best = look
    if forward():
        place = (context.graph.into, vertex, time)
        best = best_event(context, histories, desk, place, best)
    if backward():
        place = (context.graph.out, vertex, time)
        best = best_event(context, histories, desk, place, best)
    return best


@inner_kernel
def look_again(
    context: HistoryContext, histories: ValueHistories, agenda: VisitLists, desk: Desk, visit: Any
) -> None:
    """Work a vertex's entry at an iteration out anew.

    `visit` is (vertex, time, serial, now, reveal). A vertex that only may have lost a support is
    done when it finds another; one that has fallen behind must go on looking (reveal).
    """
    vertex, time, serial, now, reveal = visit
    _, at = standing(context, histories, desk, vertex, time)
    if at != NOTHING and not reveal:
        look = (vertex, time, histories.value[at])
        if still_supported(context, histories, desk, look):
            return
    before = value_at(context, histories, desk, vertex, time - 1)
    best = best_of_all(context, histories, desk, (vertex, time, before))
    improves = better(best, before)
    if improves or at != NOTHING:
        if not log_history(histories, desk, vertex, now):
            return
        note_change(histories, desk, vertex, time, serial)
        if improves:
            write_entry(histories, desk, vertex, time, best)
        else:
            take_entry(histories, vertex, time)
    come_back(context, histories, agenda, desk, (vertex, time, best if improves else before))


@joined_kernel
def come_back(
    context: HistoryContext, histories: ValueHistories, agenda: VisitLists, desk: Desk, held: Any
) -> None:
    """Visit the vertex again at the first later event that beats what it has, if one is hidden."""
    vertex, time, value = held
    graph = context.graph
    limit = context.iterations + 1
    later = histories.head[vertex]
    while later != NOTHING and histories.time[later] <= time:
        later = histories.following[later]
    if later != NOTHING:
        limit = min(limit, histories.time[later])
    soonest = limit
    if forward():
        look = (graph.into, vertex, time, value)
        soonest = next_event(context, histories, desk, look, soonest)
    if backward():
        look = (graph.out, vertex, time, value)
        soonest = next_event(context, histories, desk, look, soonest)
    if soonest < limit:
        plan_visit(agenda, desk, vertex, soonest, (NOTHING, NOTHING))


@inner_kernel
def tell_neighbours(
    context: HistoryContext, histories: ValueHistories, agenda: VisitLists, desk: Desk, news: Any
) -> None:
    """Visit those whom a changed entry may concern: FEDiV on every live out-edge.

    `news` is (vertex, time, had, old value, has, new value).
    """
    if news[1] >= context.iterations:
        return
    if forward():
        tell_along(context, histories, agenda, desk, (context.graph.out, news))
    if backward():
        tell_along(context, histories, agenda, desk, (context.graph.into, news))


@joined_kernel
def tell_along(
    context: HistoryContext, histories: ValueHistories, agenda: VisitLists, desk: Desk, told: Any
) -> None:
    """Visit those whom a changed entry may concern, along one direction."""
    slabs, news = told
    vertex, time, had, old, has, new = news
    start = slabs.start[vertex]
    last = start + slabs.live[vertex]
    desk.counts[TOUCHED] += slabs.live[vertex]
    ask_first(histories, slabs, start, last)
    for place in range(start, last):
        ask_ahead(histories, slabs, place, last)
        other = slabs.neighbour[place]
        held, entry = standing(context, histories, desk, other, time + 1)
        if has and (not settles() or better(new, held)):
            edge = slabs.edge[place]
            offered = message(new, vertex, edge, context.read)
            if better(offered, held):
                plan_visit(agenda, desk, other, time + 1, (vertex, edge))
                continue
        if had and entry != NOTHING:
            edge = slabs.edge[place]
            if held == message(old, vertex, edge, context.read):
                plan_visit(agenda, desk, other, time + 1, (vertex, NOTHING))


@joined_kernel
def drop_dominated(
    context: HistoryContext, histories: ValueHistories, agenda: VisitLists, desk: Desk, step: Any
) -> None:
    """Remove the later entries that are no better than the one at this iteration."""
    vertex, time, value = step
    while True:
        at = histories.head[vertex]
        while at != NOTHING and histories.time[at] <= time:
            at = histories.following[at]
        if at == NOTHING or better(histories.value[at], value):
            return
        gone_time, gone = histories.time[at], histories.value[at]
        take_entry(histories, vertex, gone_time)
        news = (vertex, gone_time, True, gone, False, gone)
        tell_neighbours(context, histories, agenda, desk, news)


@joined_kernel
def spread_news(
    context: HistoryContext, histories: ValueHistories, agenda: VisitLists, desk: Desk, time: int
) -> None:
    """Tell the neighbours of all whose entry at the iteration is not what it was."""
    for number in range(desk.counts[CHANGED]):
        vertex = desk.changed.vertex[number]
        had, old = desk.changed.had[number], desk.changed.value[number]
        at = entry_at(histories, vertex, time)
        has = at != NOTHING
        new = histories.value[at] if has else old
        if had == has and (not has or old == new):
            continue
        news = (vertex, time, had, old, has, new)
        tell_neighbours(context, histories, agenda, desk, news)
        if has:
            drop_dominated(context, histories, agenda, desk, (vertex, time, new))
    desk.counts[CHANGED] = 0


@joined_kernel
def seed_edges(
    context: HistoryContext, histories: ValueHistories, agenda: VisitLists, desk: Desk, seeds: Any
) -> None:
    """Visits for the events that edges bring or take; `seeds` is (edges, their ends, inserted)."""
    edges, sources, targets, inserted = seeds
    for at in range(min(FAR, len(edges))):
        prefetch(histories.head, sources[at])
        prefetch(histories.head, targets[at])
    for at in range(min(MIDDLE, len(edges))):
        prefetch(histories.time, histories.head[sources[at]])
        prefetch(histories.time, histories.head[targets[at]])
    for at in range(len(edges)):
        if at + FAR < len(edges):
            prefetch(histories.head, sources[at + FAR])
            prefetch(histories.head, targets[at + FAR])
        if at + MIDDLE < len(edges):
            prefetch(histories.time, histories.head[sources[at + MIDDLE]])
            prefetch(histories.time, histories.head[targets[at + MIDDLE]])
        source, target, edge = sources[at], targets[at], edges[at]
        if forward():
            seed_arc(context, histories, agenda, desk, (source, target, edge, inserted))
        if backward():
            seed_arc(context, histories, agenda, desk, (target, source, edge, inserted))


@joined_kernel
def seed_arc(
    context: HistoryContext, histories: ValueHistories, agenda: VisitLists, desk: Desk, arc: Any
) -> None:
    """Plan visits for one way along one changed edge: one event an entry of the source."""
    source, target, edge, inserted = arc
    time, value = 0, initial(source, context.read)
    at = histories.head[source]
    while time < context.iterations:
        desk.counts[TOUCHED] += 1
        held, entry = standing(context, histories, desk, target, time + 1)
        if not inserted and entry != NOTHING:
            event = message(value, source, edge, context.read)
            if held == event:
                plan_visit(agenda, desk, target, time + 1, (source, NOTHING))
        elif inserted and (not settles() or better(value, held)):
            event = message(value, source, edge, context.read)
            if better(event, held):
                plan_visit(agenda, desk, target, time + 1, (source, edge))
        if at == NOTHING:
            return
        time, value = histories.time[at], histories.value[at]
        at = histories.following[at]


@joined_kernel
def visit_all(
    context: HistoryContext, histories: ValueHistories, agenda: VisitLists, desk: Desk, step: Any
) -> None:
    """All visits of one iteration; `step` is (time, serial, now)."""
    time, serial, now = step
    number = agenda.first[time]
    agenda.first[time] = NOTHING
    while number != NOTHING and desk.counts[STOPPED] == GOING:
        vertex, source = desk.visits.vertex[number], desk.visits.source[number]
        edge = desk.visits.edge[number]
        if edge == NOTHING:
            visit = (vertex, time, serial, now, source == NOTHING)
            look_again(context, histories, agenda, desk, visit)
        else:
            take_offer(context, histories, desk, (vertex, time, serial, now), (source, edge))
        if is_too_much(desk):
            desk.counts[STOPPED] = TOO_MUCH
        number = desk.visits.following[number]


@inner_kernel
def repair(
    context: HistoryContext, histories: ValueHistories, agenda: VisitLists, desk: Desk, order: Any
) -> int:
    """Bring the histories and the last values to the version that the graph is at.

    `order` is (delta, last values, now). Returns GOING if all went well; otherwise the caller
    rolls back, and gives more room or runs from scratch.
    """
    delta, value, now = order
    seed_delta(context, histories, agenda, desk, delta)
    serial = 0
    while desk.counts[TIMES] > 0 and desk.counts[STOPPED] == GOING:
        time = pop_time(desk)
        serial += 1
        visit_all(context, histories, agenda, desk, (time, serial, now))
        if desk.counts[STOPPED] == GOING:
            spread_news(context, histories, agenda, desk, time)
        if desk.counts[STOPPED] == GOING and is_too_much(desk):
            desk.counts[STOPPED] = TOO_MUCH
    clear_agenda(agenda, desk)
    if desk.counts[STOPPED] == GOING:
        renew_values(context, histories, desk, value)
    return int(desk.counts[STOPPED])


@inner_kernel
def seed_delta(
    context: HistoryContext, histories: ValueHistories, agenda: VisitLists, desk: Desk, delta: Delta
) -> None:
    count = len(delta.inserted)
    gone = (delta.deleted, delta.sources[count:], delta.targets[count:], False)
    seed_edges(context, histories, agenda, desk, gone)
    come = (delta.inserted, delta.sources[:count], delta.targets[:count], True)
    seed_edges(context, histories, agenda, desk, come)


@joined_kernel
def renew_values(
    context: HistoryContext, histories: ValueHistories, desk: Desk, value: Any
) -> None:
    """Bring the last values of logged vertices up to date; the log keeps what they were."""
    for number in range(desk.counts[VERTICES]):
        vertex = desk.log.vertex[number]
        desk.log.last[number] = value[vertex]
        value[vertex] = value_at(context, histories, desk, vertex, context.iterations)


Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

HISTORIES = ADJACENCY
DESK = HISTORIES + places(ValueHistories)
LAST = DESK + places(Desk)
FIRST, ORDERS, READ = LAST + 1, LAST + 2, LAST + 3
"""Places of the block: graph, histories, desk, last values, agenda, orders, what programs read."""


@joined_kernel
def context_at(words: Int64) -> HistoryContext:
    """What kernels read: the graph, what the program reads, and the last iteration."""
    orders = array_at(words, ORDERS, np.int64)
    return HistoryContext(adjacency_at(words, 0), words_from(words, READ), orders[ITERATIONS])


@joined_kernel
def count_changed(desk: Desk, value: Any) -> int:
    """How many of the logged vertices have another last value than before."""
    changed = 0
    for number in range(desk.counts[VERTICES]):
        if value[desk.log.vertex[number]] != desk.log.last[number]:
            changed += 1
    return changed


@lean_kernel
def follow(
    words: Int64, inserted: Int32, deleted: Int32, sources: Int32, targets: Int32
) -> tuple[int, int, int, int]:
    """Follow the graph to the version that it has been brought to.

    Returns why it was broken off or GOING, how many vertices and entries were logged, and how many
    last values changed. What was broken off is undone.
    """
    context, desk = context_at(words), desk_at(words, DESK, VALUE)
    histories = histories_at(words, HISTORIES, VALUE)
    value, agenda = array_at(words, LAST, VALUE), VisitLists(array_at(words, FIRST, np.int32))
    orders = array_at(words, ORDERS, np.int64)
    delta = Delta(inserted, deleted, sources, targets)
    desk.counts[:] = 0
    desk.counts[MOST] = orders[MOST_WORK]
    stopped = repair(context, histories, agenda, desk, (delta, value, orders[NOW]))
    vertices = desk.counts[VERTICES]
    if stopped != GOING:
        roll_back(histories, desk.log, vertices)
        return stopped, 0, 0, 0
    return stopped, vertices, desk.counts[ENTRIES], count_changed(desk, value)


@kernel
def initial_of(vertex: int, read: Int64) -> Any:
    """The value of iteration 0, for Python."""
    return initial(vertex, read)
