"""Exact maintenance: what a vertex does when it is visited at an iteration.

- A visit for one edge takes the event of that edge, if it beats what the vertex has.
- A look works the entry out anew. Where only a support may be gone, it ends at the first in-edge
  that still brings the value. Where none does, the vertex takes the best event there is, and asks
  its in-edges for the first later event that beats what it has now: it is visited again there.
"""

from __future__ import annotations

from typing import Any

from graphtide.engine.templates.events import (
    best_event,
    event_of,
    is_supported,
    next_event,
    standing,
    value_at,
)
from graphtide.engine.templates.selecting import backward, better, forward
from graphtide.kernels.exact.histories import (
    NOTHING,
    TOUCHED,
    Agenda,
    Context,
    Desk,
    Histories,
    log_history,
    note_change,
    plan_visit,
    take_entry,
    write_entry,
)
from graphtide.kernels.jit import inner_kernel, joined_kernel


@joined_kernel
def take_offer(context: Context, histories: Histories, desk: Desk, visit: Any, arc: Any) -> None:
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
def still_supported(context: Context, histories: Histories, desk: Desk, look: Any) -> bool:
    """True if some live edge brings the value that the vertex has an entry of."""
    vertex, time, value = look
    graph = context.graph
    if forward() and is_supported(context, histories, desk, (graph.into, vertex, time), value):
        return True
    return backward() and is_supported(context, histories, desk, (graph.out, vertex, time), value)


@joined_kernel
def best_of_all(context: Context, histories: Histories, desk: Desk, look: Any) -> Any:
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
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, visit: Any
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
    context: Context, histories: Histories, agenda: Agenda, desk: Desk, held: Any
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
