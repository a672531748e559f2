"""What edges bring at an iteration, asked for and never stored.

An entry (t, x) of u is an *event* at t + 1 for every vertex that a live edge leads to from u, with
the value that the edge carries. Scans ask ahead for the histories of the neighbours to come.
"""

from __future__ import annotations

from typing import Any

from graphtide.engine.templates.selecting import better, initial, message, settles
from graphtide.kernels.exact.histories import (
    NOTHING,
    PASSED,
    TOUCHED,
    Context,
    Desk,
    Histories,
    entry_behind,
)
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.intrinsics import MIDDLE, NEAR, prefetch
from graphtide.kernels.jit import joined_kernel


@joined_kernel
def standing(
    context: Context, histories: Histories, desk: Desk, vertex: int, time: int
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
def value_at(context: Context, histories: Histories, desk: Desk, vertex: int, time: int) -> Any:
    """The value of a vertex after so many iterations."""
    return standing(context, histories, desk, vertex, time)[0]


@joined_kernel
def event_of(
    context: Context, histories: Histories, desk: Desk, arc: Any, time: int
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
def ask_ahead(histories: Histories, slabs: Slabs, at: int, last: int) -> None:
    """Ask for the histories of neighbours further on in a slab that ends at `last`."""
    if at + MIDDLE < last:
        prefetch(histories.head, slabs.neighbour[at + MIDDLE])
    if at + NEAR < last:
        prefetch(histories.time, histories.head[slabs.neighbour[at + NEAR]])


@joined_kernel
def ask_first(histories: Histories, slabs: Slabs, start: int, last: int) -> None:
    """Ask for the histories of the first neighbours of a slab, of which all will be looked at."""
    for at in range(start, min(start + MIDDLE, last)):
        prefetch(histories.head, slabs.neighbour[at])
    for at in range(start, min(start + NEAR, last)):
        prefetch(histories.time, histories.head[slabs.neighbour[at]])


@joined_kernel
def best_event(context: Context, histories: Histories, desk: Desk, place: Any, best: Any) -> Any:
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
def next_event(context: Context, histories: Histories, desk: Desk, look: Any, soonest: int) -> int:
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
    context: Context, histories: Histories, desk: Desk, place: Any, value: Any
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
