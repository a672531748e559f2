"""Exact maintenance of selecting programs: every iteration of a synchronous run, not only the end.

The history of a vertex is its values over the iterations, stored where they change. Because a
selecting program keeps the best value it ever got, a history is a staircase: later entries are
strictly better. It is the staircase of the vertex's initial value and all its events. The join of
histories with edges is never stored: events are asked for.

Kept true between advances: histories are those of a run from scratch on the current version.

An advance works iteration by iteration, so that everything before the current one is final:

- A deleted edge, or an entry that is gone, takes events away. That matters to v at t only if v has
  an entry at t of just that value (otherwise the event decided nothing, then or later).
- An inserted edge, or a new entry, adds events. That matters only if the event beats the value
  that v has at t. Both tests are FEDiV: two comparisons in place of a scan of v's in-edges.
- An entry that is no better than a new one before it goes, and takes its events away.

What a vertex had is logged before it is first changed, to report and to roll back. Where more
edges are looked at than the caller allows, the work is broken off: running again is cheaper then.
"""

from __future__ import annotations

from typing import Any

from graphtide.engine.templates.events import ask_ahead, ask_first, standing, value_at
from graphtide.engine.templates.selecting import (
    backward,
    better,
    forward,
    initial,
    message,
    settles,
)
from graphtide.engine.templates.visiting import look_again, take_offer
from graphtide.kernels.exact.histories import (
    CHANGED,
    GOING,
    NOTHING,
    STOPPED,
    TIMES,
    TOO_MUCH,
    TOUCHED,
    VERTICES,
    Agenda,
    Context,
    Desk,
    Histories,
    clear_agenda,
    entry_at,
    is_too_much,
    plan_visit,
    pop_time,
    take_entry,
)
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.intrinsics import FAR, MIDDLE, prefetch
from graphtide.kernels.jit import inner_kernel, joined_kernel


@inner_kernel
def tell_neighbours(
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, news: Any
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
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, told: Any
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
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, step: Any
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
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, time: int
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
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, seeds: Any
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
def seed_arc(context: Context, histories: Histories, agenda: Agenda, desk: Desk, arc: Any) -> None:
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
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, step: Any
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
def repair(context: Context, histories: Histories, agenda: Agenda, desk: Desk, order: Any) -> int:
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
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, delta: Delta
) -> None:
    """Visits for what a delta takes and brings."""
    count = len(delta.inserted)
    gone = (delta.deleted, delta.sources[count:], delta.targets[count:], False)
    seed_edges(context, histories, agenda, desk, gone)
    come = (delta.inserted, delta.sources[:count], delta.targets[:count], True)
    seed_edges(context, histories, agenda, desk, come)


@joined_kernel
def renew_values(context: Context, histories: Histories, desk: Desk, value: Any) -> None:
    """Bring the last values of logged vertices up to date; the log keeps what they were."""
    for number in range(desk.counts[VERTICES]):
        vertex = desk.log.vertex[number]
        desk.log.last[number] = value[vertex]
        value[vertex] = value_at(context, histories, desk, vertex, context.iterations)
