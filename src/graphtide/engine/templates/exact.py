"""Exact maintenance of selecting programs: every iteration of a synchronous run, not only the end.

The history of a vertex is its values over the iterations, stored where they change. Because a
selecting program keeps the best value it ever got, a history is a staircase: later entries are
strictly better. An entry (t, x) of u is an *event* at t + 1 for every vertex that a live edge leads
to from u, with the value that the edge carries; the history of v is the staircase of its initial
value and all its events. The join of histories with edges is never stored: events are asked for.

Kept true between advances: histories are those of a run from scratch on the current version.

An advance works iteration by iteration, so that everything before the current one is final:

- A deleted edge, or an entry that is gone, takes events away. That matters to v at t only if v has
  an entry at t of just that value (otherwise the event decided nothing, then or later). v then
  looks for another event of that value at t, and stops at the first.
- An inserted edge, or a new entry, adds events. That matters only if the event beats the value
  that v has at t. Both tests are FEDiV: two comparisons in place of a scan of v's in-edges.
- Where v lost an entry and found no other support, it takes the best event at t, and asks its
  in-edges for the first later event that beats what it has now: v is looked at again there.
- An entry that is no better than a new one before it goes, and takes its events away.

What a vertex had is logged before it is first changed, to report and to roll back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.selecting import BACKWARD, FORWARD, better, initial, message
from graphtide.kernels.adjacency import destination_of, source_of
from graphtide.kernels.exact_records import (
    Agenda,
    Context,
    Desk,
    Histories,
    Log,
)
from graphtide.kernels.jit import kernel

NOTHING = -1
Int32 = NDArray[np.int32]


VISITS, VERTICES, ENTRIES, CHANGED, TIMES, TOUCHED, FULL = range(7)


@kernel
def value_at(context: Context, histories: Histories, vertex: int, time: int) -> Any:
    """The value of a vertex after so many iterations."""
    found = initial(vertex, context.parameters)
    at = histories.head[vertex]
    while at != NOTHING and histories.time[at] <= time:
        found = histories.value[at]
        at = histories.following[at]
    return found


@kernel
def entry_at(histories: Histories, vertex: int, time: int) -> int:
    """The entry of exactly that iteration, or NOTHING."""
    at = histories.head[vertex]
    while at != NOTHING and histories.time[at] < time:
        at = histories.following[at]
    if at != NOTHING and histories.time[at] == time:
        return int(at)
    return NOTHING


@kernel
def event_of(
    context: Context, histories: Histories, source: int, edge: int, time: int
) -> tuple[bool, Any]:
    """The event that an edge brings at an iteration, if its source has an entry just before."""
    if time == 1:
        held = initial(source, context.parameters)
        return True, message(held, source, edge, context.properties, context.parameters)
    at = entry_at(histories, source, time - 1)
    if at == NOTHING:
        return False, initial(source, context.parameters)
    held = histories.value[at]
    return True, message(held, source, edge, context.properties, context.parameters)


@kernel
def put_entry(histories: Histories, vertex: int, time: int, value: Any) -> bool:
    """Set the entry of an iteration; False if there is no room for a new one."""
    before, at = NOTHING, histories.head[vertex]
    while at != NOTHING and histories.time[at] < time:
        before, at = at, histories.following[at]
    if at != NOTHING and histories.time[at] == time:
        histories.value[at] = value
        return True
    fresh = histories.free[0]
    if fresh == NOTHING:
        return False
    histories.free[0] = histories.following[fresh]
    histories.time[fresh] = time
    histories.value[fresh] = value
    histories.following[fresh] = at
    if before == NOTHING:
        histories.head[vertex] = fresh
    else:
        histories.following[before] = fresh
    return True


@kernel
def take_entry(histories: Histories, vertex: int, time: int) -> None:
    """Remove the entry of an iteration, if there is one."""
    before, at = NOTHING, histories.head[vertex]
    while at != NOTHING and histories.time[at] < time:
        before, at = at, histories.following[at]
    if at == NOTHING or histories.time[at] != time:
        return
    if before == NOTHING:
        histories.head[vertex] = histories.following[at]
    else:
        histories.following[before] = histories.following[at]
    histories.following[at] = histories.free[0]
    histories.free[0] = at


@kernel
def log_history(histories: Histories, desk: Desk, vertex: int, now: int) -> bool:
    """Copy a vertex's history into the log, once an advance; False if the log is full."""
    if histories.stamp[vertex] == now:
        return True
    count, entries = desk.counts[VERTICES], desk.counts[ENTRIES]
    if count + 1 >= len(desk.log.vertex):
        return False
    at = histories.head[vertex]
    while at != NOTHING:
        if entries >= len(desk.log.time):
            return False
        desk.log.time[entries] = histories.time[at]
        desk.log.value[entries] = histories.value[at]
        entries += 1
        at = histories.following[at]
    histories.stamp[vertex] = now
    desk.log.vertex[count] = vertex
    desk.log.begin[count] = desk.counts[ENTRIES]
    desk.log.begin[count + 1] = entries
    desk.counts[VERTICES] = count + 1
    desk.counts[ENTRIES] = entries
    return True


@kernel
def plan_visit(agenda: Agenda, desk: Desk, vertex: int, time: int, arc: Any) -> None:
    """Line up a visit; `arc` is (source, edge), with edge NOTHING for a look at all in-edges."""
    count = desk.counts[VISITS]
    if count >= len(desk.visits.vertex):
        desk.counts[FULL] = 1
        return
    desk.visits.vertex[count] = vertex
    desk.visits.source[count] = arc[0]
    desk.visits.edge[count] = arc[1]
    desk.visits.following[count] = agenda.first[time]
    if agenda.first[time] == NOTHING:
        push_time(desk, time)
    agenda.first[time] = count
    desk.counts[VISITS] = count + 1


@kernel
def push_time(desk: Desk, time: int) -> None:
    """Put an iteration into the heap of those that have visits."""
    at = desk.counts[TIMES]
    if at >= len(desk.times):
        desk.counts[FULL] = 1
        return
    desk.counts[TIMES] = at + 1
    while at > 0 and desk.times[(at - 1) >> 1] > time:
        desk.times[at] = desk.times[(at - 1) >> 1]
        at = (at - 1) >> 1
    desk.times[at] = time


@kernel
def pop_time(desk: Desk) -> int:
    """Take the earliest iteration out of the heap."""
    earliest = desk.times[0]
    size = desk.counts[TIMES] - 1
    desk.counts[TIMES] = size
    moved = desk.times[size]
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and desk.times[below + 1] < desk.times[below]:
            below += 1
        if moved <= desk.times[below]:
            break
        desk.times[at] = desk.times[below]
        at = below
    desk.times[at] = moved
    return int(earliest)


@kernel
def note_change(histories: Histories, desk: Desk, vertex: int, time: int, serial: int) -> None:
    """Keep what a vertex's entry at the current iteration was, the first time it is touched."""
    if desk.mark[vertex] == serial:
        return
    desk.mark[vertex] = serial
    count = desk.counts[CHANGED]
    if count >= len(desk.changed.vertex):
        desk.counts[FULL] = 1
        return
    at = entry_at(histories, vertex, time)
    desk.changed.vertex[count] = vertex
    desk.changed.had[count] = at != NOTHING
    if at != NOTHING:
        desk.changed.value[count] = histories.value[at]
    desk.counts[CHANGED] = count + 1


@kernel
def tell_neighbours(
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, news: Any
) -> None:
    """Visit those whom a changed entry may concern: FEDiV on every live out-edge.

    `news` is (vertex, time, had, old value, has, new value).
    """
    if FORWARD:
        tell_along(context, histories, agenda, desk, (context.graph.out, news))
    if BACKWARD:
        tell_along(context, histories, agenda, desk, (context.graph.into, news))


@kernel
def tell_along(
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, told: Any
) -> None:
    """The same along one direction."""
    slabs, news = told
    vertex, time, had, old, has, new = news
    if time + 1 > context.iterations:
        return
    start = slabs.start[vertex]
    desk.counts[TOUCHED] += slabs.live[vertex]
    for place in range(start, start + slabs.live[vertex]):
        other, edge = slabs.neighbour[place], slabs.edge[place]
        if has:
            offered = message(new, vertex, edge, context.properties, context.parameters)
            if better(offered, value_at(context, histories, other, time + 1)):
                plan_visit(agenda, desk, other, time + 1, (vertex, edge))
                continue
        if had:
            at = entry_at(histories, other, time + 1)
            if at != NOTHING:
                gone = message(old, vertex, edge, context.properties, context.parameters)
                if histories.value[at] == gone:
                    plan_visit(agenda, desk, other, time + 1, (vertex, NOTHING))


@kernel
def best_event(context: Context, histories: Histories, desk: Desk, place: Any, best: Any) -> Any:
    """The best of `best` and the events at an iteration, over the live edges of one direction.

    `place` is (slabs, vertex, time).
    """
    slabs, vertex, time = place
    start = slabs.start[vertex]
    desk.counts[TOUCHED] += slabs.live[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other, edge = slabs.neighbour[at], slabs.edge[at]
        known, event = event_of(context, histories, other, edge, time)
        if known and better(event, best):
            best = event
    return best


@kernel
def next_event(context: Context, histories: Histories, place: Any, held: Any, soonest: int) -> int:
    """The first iteration after `time`, before `soonest`, with an event that beats `held`."""
    slabs, vertex, time = place
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other, edge = slabs.neighbour[at], slabs.edge[at]
        entry = histories.head[other]
        while entry != NOTHING and histories.time[entry] + 1 < soonest:
            if histories.time[entry] >= time:
                value = histories.value[entry]
                event = message(value, other, edge, context.properties, context.parameters)
                if better(event, held):
                    soonest = histories.time[entry] + 1
                    break
            entry = histories.following[entry]
    return int(soonest)


@kernel
def is_supported(
    context: Context, histories: Histories, desk: Desk, place: Any, value: Any
) -> bool:
    """True at the first live in-edge that brings the value at the iteration."""
    slabs, vertex, time = place
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        desk.counts[TOUCHED] += 1
        known, event = event_of(context, histories, slabs.neighbour[at], slabs.edge[at], time)
        if known and event == value:
            return True
    return False


@kernel
def look_again(
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, visit: Any
) -> None:
    """Work a vertex's entry at an iteration out anew.

    `visit` is (vertex, time, serial, now, reveal). A vertex that only may have lost a support is
    done when it finds another; one that has fallen behind must go on looking (reveal).
    """
    vertex, time, serial, now, reveal = visit
    graph = context.graph
    at = entry_at(histories, vertex, time)
    if at != NOTHING and not reveal:
        value = histories.value[at]
        if FORWARD and is_supported(context, histories, desk, (graph.into, vertex, time), value):
            return
        if BACKWARD and is_supported(context, histories, desk, (graph.out, vertex, time), value):
            return
    before = value_at(context, histories, vertex, time - 1)
    best = before
    if FORWARD:
        best = best_event(context, histories, desk, (graph.into, vertex, time), best)
    if BACKWARD:
        best = best_event(context, histories, desk, (graph.out, vertex, time), best)
    improves = better(best, before)
    if improves or at != NOTHING:
        if not log_history(histories, desk, vertex, now):
            desk.counts[FULL] = 1
            return
        note_change(histories, desk, vertex, time, serial)
        if not improves:
            take_entry(histories, vertex, time)
        elif not put_entry(histories, vertex, time, best):
            desk.counts[FULL] = 1
            return
    held = best if improves else before
    soonest = context.iterations + 1
    later = histories.head[vertex]
    while later != NOTHING:
        if histories.time[later] > time:
            soonest = min(soonest, histories.time[later])
            break
        later = histories.following[later]
    limit = soonest
    if FORWARD:
        soonest = next_event(context, histories, (graph.into, vertex, time), held, soonest)
        desk.counts[TOUCHED] += graph.into.live[vertex]
    if BACKWARD:
        soonest = next_event(context, histories, (graph.out, vertex, time), held, soonest)
        desk.counts[TOUCHED] += graph.out.live[vertex]
    if soonest < limit:
        plan_visit(agenda, desk, vertex, soonest, (NOTHING, NOTHING))


@kernel
def take_offer(context: Context, histories: Histories, desk: Desk, visit: Any, arc: Any) -> None:
    """Take the event of one edge, if it is there and beats what the vertex has."""
    vertex, time, serial, now = visit
    source, edge = arc
    desk.counts[TOUCHED] += 1
    known, event = event_of(context, histories, source, edge, time)
    if not known or not better(event, value_at(context, histories, vertex, time)):
        return
    if not log_history(histories, desk, vertex, now):
        desk.counts[FULL] = 1
        return
    note_change(histories, desk, vertex, time, serial)
    if not put_entry(histories, vertex, time, event):
        desk.counts[FULL] = 1


@kernel
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
        tell_neighbours(
            context, histories, agenda, desk, (vertex, gone_time, True, gone, False, gone)
        )


@kernel
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
        tell_neighbours(context, histories, agenda, desk, (vertex, time, had, old, has, new))
        if has:
            drop_dominated(context, histories, agenda, desk, (vertex, time, new))
    desk.counts[CHANGED] = 0


@kernel
def seed_edges(
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, seeds: Any
) -> None:
    """Visits for the events that edges bring or take; `seeds` is (edges, inserted)."""
    edges, inserted = seeds
    for edge in edges:
        source, target = source_of(context.graph, edge), destination_of(context.graph, edge)
        if FORWARD:
            seed_arc(context, histories, agenda, desk, (source, target, edge, inserted))
        if BACKWARD:
            seed_arc(context, histories, agenda, desk, (target, source, edge, inserted))


@kernel
def seed_arc(context: Context, histories: Histories, agenda: Agenda, desk: Desk, arc: Any) -> None:
    """The same for one way along one edge: one event an entry of the source."""
    source, target, edge, inserted = arc
    time, value = 0, initial(source, context.parameters)
    at = histories.head[source]
    while True:
        desk.counts[TOUCHED] += 1
        if time + 1 <= context.iterations:
            event = message(value, source, edge, context.properties, context.parameters)
            if inserted:
                if better(event, value_at(context, histories, target, time + 1)):
                    plan_visit(agenda, desk, target, time + 1, (source, edge))
            else:
                entry = entry_at(histories, target, time + 1)
                if entry != NOTHING and histories.value[entry] == event:
                    plan_visit(agenda, desk, target, time + 1, (source, NOTHING))
        if at == NOTHING:
            return
        time, value = histories.time[at], histories.value[at]
        at = histories.following[at]


@kernel
def repair(context: Context, histories: Histories, agenda: Agenda, desk: Desk, delta: Any) -> bool:
    """Bring the histories to the version that the graph is at; False if room ran out.

    `delta` is (inserted, deleted, now). If room ran out, the caller rolls back, gives more room
    and calls again.
    """
    inserted, deleted, now = delta
    seed_edges(context, histories, agenda, desk, (deleted, False))
    seed_edges(context, histories, agenda, desk, (inserted, True))
    serial = 0
    while desk.counts[TIMES] > 0 and desk.counts[FULL] == 0:
        time = pop_time(desk)
        serial += 1
        number = agenda.first[time]
        agenda.first[time] = NOTHING
        while number != NOTHING and desk.counts[FULL] == 0:
            vertex, source = desk.visits.vertex[number], desk.visits.source[number]
            edge = desk.visits.edge[number]
            if edge == NOTHING:
                reveal = source == NOTHING
                look_again(context, histories, agenda, desk, (vertex, time, serial, now, reveal))
            else:
                take_offer(context, histories, desk, (vertex, time, serial, now), (source, edge))
            number = desk.visits.following[number]
        spread_news(context, histories, agenda, desk, time)
    for number in range(desk.counts[VISITS]):
        desk.mark[desk.visits.vertex[number]] = 0
    if desk.counts[FULL] != 0:
        for place in range(desk.counts[TIMES]):
            agenda.first[desk.times[place]] = NOTHING
        return False
    return True


@kernel
def final_values(context: Context, histories: Histories, log: Log, count: int, value: Any) -> None:
    """Bring `value` up to date for the vertices of a log."""
    for number in range(count):
        vertex = log.vertex[number]
        value[vertex] = value_at(context, histories, vertex, context.iterations)


@kernel
def add_room(histories: Histories, used: int) -> None:
    """Make the entries from `used` on free ones."""
    for entry in range(used, len(histories.time)):
        histories.following[entry] = histories.free[0]
        histories.free[0] = entry


@kernel
def roll_back(histories: Histories, log: Log, count: int) -> None:
    """Put logged histories back. There is room: what replaced them is freed first."""
    for number in range(count):
        vertex = log.vertex[number]
        at = histories.head[vertex]
        while at != NOTHING:
            following = histories.following[at]
            histories.following[at] = histories.free[0]
            histories.free[0] = at
            at = following
        histories.head[vertex] = NOTHING
    for number in range(count):
        vertex = log.vertex[number]
        histories.stamp[vertex] = NOTHING
        for entry in range(log.begin[number + 1] - 1, log.begin[number] - 1, -1):
            put_entry(histories, vertex, log.time[entry], log.value[entry])


@kernel
def run_from_scratch(
    context: Context, histories: Histories, value: Any, frontier: Int32, fresh: Int32
) -> int:
    """Histories of a synchronous run on the current version; the last iteration that changed one.

    `value` ends as the final values; `frontier` and `fresh` have room for all vertices. Returns
    NOTHING if the entries ran out of room.
    """
    count = 0
    for vertex in range(len(histories.head)):
        histories.head[vertex] = NOTHING
        value[vertex] = initial(vertex, context.parameters)
        frontier[count] = vertex
        count += 1
    for entry in range(len(histories.time)):
        histories.following[entry] = entry + 1
    if len(histories.time) > 0:
        histories.following[len(histories.time) - 1] = NOTHING
    histories.free[0] = 0 if len(histories.time) > 0 else NOTHING
    time = 0
    while count > 0 and time < context.iterations:
        time += 1
        count = one_round(context, histories, (value, time), (frontier, count, fresh))
        if count < 0:
            return NOTHING
        frontier, fresh = fresh, frontier
    return time


@kernel
def one_round(context: Context, histories: Histories, now: Any, work: Any) -> int:
    """Send along the live edges of the frontier; `fresh` gets those that improved.

    Values are those of the iteration before until all messages are sent: an entry at this
    iteration is the new value.
    """
    value, time = now
    frontier, count, fresh = work
    improved = 0
    for number in range(count):
        vertex = frontier[number]
        if FORWARD:
            improved = send_along(
                context, histories, (context.graph.out, vertex), now, (fresh, improved)
            )
        if improved >= 0 and BACKWARD:
            improved = send_along(
                context, histories, (context.graph.into, vertex), now, (fresh, improved)
            )
        if improved < 0:
            return NOTHING
    for number in range(improved):
        vertex = fresh[number]
        value[vertex] = histories.value[entry_at(histories, vertex, time)]
    return int(improved)


@kernel
def send_along(context: Context, histories: Histories, place: Any, now: Any, work: Any) -> int:
    """Messages of one vertex along one direction."""
    slabs, vertex = place
    value, time = now
    fresh, improved = work
    held = value[vertex]
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other, edge = slabs.neighbour[at], slabs.edge[at]
        offered = message(held, vertex, edge, context.properties, context.parameters)
        if not better(offered, value[other]):
            continue
        entry = entry_at(histories, other, time)
        if entry == NOTHING:
            if not put_entry(histories, other, time, offered):
                return NOTHING
            fresh[improved] = other
            improved += 1
        elif better(offered, histories.value[entry]):
            histories.value[entry] = offered
    return int(improved)
