"""What a step changes, where nobody goes on from it: values alone, and no state to go on with.

The last step of a branch of a plan is gone back from at once. Its values are asked for; its parents
and levels are not, so that who falls gets neither, and is not sorted by them: the log is the line
in which vertices are asked, and the fallen pull in sweeps. The caller puts back what is logged, the
last entry first, since one may be logged twice.
"""

from __future__ import annotations

from typing import Any

from graphtide.engine.templates.fixpoint import offer_inserted, pass_all_on
from graphtide.engine.templates.selecting import (
    BACKWARD,
    FORWARD,
    SIGN,
    better,
    initial,
    message,
)
from graphtide.engine.templates.settling import NO_EDGE
from graphtide.engine.templates.trimming import keeps_value, note
from graphtide.kernels.adjacency import Slabs
from graphtide.kernels.fixpoint_records import Context, FixpointState
from graphtide.kernels.flips import Delta
from graphtide.kernels.heap import heap_push
from graphtide.kernels.jit import joined_kernel

SWEEPS = 5
"""The fallen pull so many times before they are sorted."""


@joined_kernel
def note_orphans(state: FixpointState, delta: Delta, now: int) -> int:
    """Log those who lost their parent edge; returns how many, as many as there is room for."""
    count, first, room = 0, len(delta.inserted), len(state.log.vertex)
    for at in range(len(delta.deleted)):
        edge, source = delta.deleted[at], delta.sources[first + at]
        target = delta.targets[first + at]
        if FORWARD and state.parent[target] == edge and count < room:
            count = note(state, now, count, target)
        if BACKWARD and state.parent[source] == edge and count < room:
            count = note(state, now, count, source)
    return count


@joined_kernel
def note_children(state: FixpointState, slabs: Slabs, vertex: int, now: int, count: int) -> int:
    """Log those whose parent edge comes from the vertex, as many as there is room for."""
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        if state.parent[other] == slabs.edge[at] and count < len(state.log.vertex):
            count = note(state, now, count, other)
    return count


@joined_kernel
def let_fall(
    context: Context, state: FixpointState, delta: Delta, order: Any
) -> tuple[int, int, int]:
    """Give those that nothing supports any more their start.

    The log is the line of those who are asked. One that found another parent is asked again if
    that one falls after it, so that they may come in any order: it is in the log twice then.
    Returns how many are logged, how many fell, and the edges looked at.
    """
    now, most = order
    graph, at, fallen, touched = context.graph, 0, 0, 0
    count = note_orphans(state, delta, now)
    while at < count and touched <= most and count < len(state.log.vertex):
        vertex = state.log.vertex[at]
        at += 1
        kept, looked = keeps_value(context, state, vertex)
        touched += looked
        if kept:
            continue
        if FORWARD:
            count = note_children(state, graph.out, vertex, now, count)
            touched += graph.out.live[vertex]
        if BACKWARD:
            count = note_children(state, graph.into, vertex, now, count)
            touched += graph.into.live[vertex]
        state.value[vertex] = initial(vertex, context.parameters)
        state.parent[vertex] = NO_EDGE
        state.fallen[fallen] = vertex
        fallen += 1
    return count, fallen, touched


@joined_kernel
def best_offer(context: Context, state: FixpointState, slabs: Slabs, vertex: int, best: Any) -> Any:
    """The best that the live edges of one direction offer, if it beats `best`."""
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        held = state.value[other]
        if better(held, best):
            edge = slabs.edge[at]
            offered = message(held, other, edge, context.properties, context.parameters)
            if better(offered, best):
                best = offered
    return best


@joined_kernel
def pull_anew(context: Context, state: FixpointState, fallen: int, work: Any) -> tuple[int, int]:
    """Let the fallen pull, the last one first, then the first one first, until nothing improves.

    Values come in from where the fallen end and go up to where they begin, or the other way round:
    two or three sweeps suffice, each without a heap. Who still improves in the last one that is
    made is put into the heap, to pass it on; with `passes`, all are. `work` is (passes, touched).
    Returns the heap's size and the edges looked at.
    """
    passes, touched = work
    graph, size, sweep, improved = context.graph, 0, 0, fallen > 0
    while improved and sweep < SWEEPS:
        improved = False
        for at in range(fallen):
            vertex = state.fallen[at if sweep & 1 else fallen - 1 - at]
            best = state.value[vertex]
            if FORWARD:
                best = best_offer(context, state, graph.into, vertex, best)
                touched += graph.into.live[vertex]
            if BACKWARD:
                best = best_offer(context, state, graph.out, vertex, best)
                touched += graph.out.live[vertex]
            if better(best, state.value[vertex]):
                state.value[vertex] = best
                improved = fallen > 1
                if passes or sweep == SWEEPS - 1:
                    size = heap_push(state.heap, state.place, size, vertex, state.value, SIGN)
        sweep += 1
    return size, touched


@joined_kernel
def peek(
    context: Context, state: FixpointState, delta: Delta, now: int, most: int
) -> tuple[int, int]:
    """The values of the version that the graph is at; those before are logged.

    Returns the number of entries logged, and the number of edges touched: if that is above `most`,
    the work was broken off. Either way the caller puts the values back.
    """
    count, fallen, touched = let_fall(context, state, delta, (now, most))
    size = count - count  # 0, but no constant, for which what follows would be compiled twice.
    if count == len(state.log.vertex):
        touched = max(touched, most + 1)
    if touched <= most:
        work = (len(delta.inserted) > 0, touched)
        size, touched = pull_anew(context, state, fallen, work)
        count, size = offer_inserted(context, state, delta, (now, count, size))
        touched += len(delta.inserted)
    return pass_all_on(context, state, (now, most, count, size, touched))
