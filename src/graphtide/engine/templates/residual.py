"""Settling sums: push what is missing at a vertex along its edges, or sweep over all vertices.

A vertex whose residual is no more than its share of the base (`LIMIT`) is left alone. Who has more
takes it in and sends on what its messages change by. Where most vertices would, sweeping is
cheaper: every value is pulled anew from what its edges carry, in the order of vertices, each from
the newest values; residuals are then pulled as well.

A change of degree changes what all edges of a vertex carry. Instead of telling all its neighbours,
the vertex keeps what it sends and takes the value that goes with that: what it is off by is its own
residual, which is pushed if it is too much, and costs O(1) if it is not.

The section below is that of a sample, PageRank.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Adjacency, Slabs
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.jit import joined_kernel, kernel
from graphtide.kernels.residual.records import (
    DRIFT,
    ENTRIES,
    FIRST,
    LIMIT,
    LOGGED,
    MASS,
    MET,
    MOST,
    QUEUED,
    TOUCHED,
    WAITING,
    WIDE,
    Context,
    ResidualLog,
    ResidualState,
    Summed,
)

# program section: begin
FORWARD, BACKWARD = True, False


@joined_kernel
def base(vertex: int, parameters: Any) -> float:
    """What a vertex has without edges."""
    return 1.0 - float(parameters[0])


@joined_kernel
def share(source: int, graph: Adjacency, parameters: Any) -> float:
    """What an edge carries of its source's value; only where an edge leaves it."""
    return float(parameters[0]) / np.float64(graph.out.live[source])


# program section: end

Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]

ROUNDING = 2.0**-52
"""Twice what one operation puts a float off by, beside itself: so much for the measures, too."""
SAME = 2.0**-50
"""Values that differ by no more of themselves are the same but for rounding."""


@joined_kernel
def edges_from(graph: Adjacency, vertex: int) -> int:
    """Along how many edges a vertex sends; a loop that is taken both ways counts twice."""
    count = 0
    if FORWARD:
        count += graph.out.live[vertex]
    if BACKWARD:
        count += graph.into.live[vertex]
    return count


@joined_kernel
def carried(slabs: Slabs, sent: Float64, vertex: int) -> float:
    """What the live edges of a slab carry from its neighbours, in two sums side by side."""
    first = np.uint64(slabs.start[vertex])
    last = first + np.uint64(slabs.live[vertex])
    even = odd = 0.0
    while first + np.uint64(1) < last:
        even += sent[np.uint32(slabs.neighbour[first])]
        odd += sent[np.uint32(slabs.neighbour[first + np.uint64(1)])]
        first += np.uint64(2)
    if first < last:
        even += sent[np.uint32(slabs.neighbour[first])]
    return even + odd


@joined_kernel
def pulled(context: Context, sent: Float64, vertex: int) -> float:
    """The value of a vertex by what its edges carry to it."""
    total = base(vertex, context.parameters)
    if FORWARD:
        total += carried(context.graph.into, sent, vertex)
    if BACKWARD:
        total += carried(context.graph.out, sent, vertex)
    return total


@joined_kernel
def sending(context: Context, vertex: int, value: float) -> float:
    """What a vertex of that value sends along each edge."""
    if edges_from(context.graph, vertex) == 0:
        return 0.0
    return value * share(vertex, context.graph, context.parameters)


@kernel
def begin(context: Context, summed: Summed, first: int) -> None:
    """Vertices from `first` on have their base, and nothing missing but for what edges carry."""
    for at in range(first, len(summed.value)):
        vertex = np.uint32(at)
        value = base(vertex, context.parameters)
        summed.value[vertex] = value
        summed.sent[vertex] = sending(context, vertex, value)
        summed.residual[vertex] = 0.0


@kernel
def sweep(context: Context, summed: Summed, limit: float) -> int:
    """Pull every value anew, the newest ones of others at hand; residuals are then out of date.

    Returns how many edges leave those that moved by more than a share of their base.
    """
    moving = 0
    for at in range(len(summed.value)):
        vertex = np.uint32(at)
        value = pulled(context, summed.sent, vertex)
        moved = abs(value - summed.value[vertex])
        if moved == 0.0:
            continue
        summed.value[vertex] = value
        summed.sent[vertex] = sending(context, vertex, value)
        if moved > limit * base(vertex, context.parameters):
            moving += edges_from(context.graph, vertex) + 1
    return moving


@kernel
def pull_residuals(context: Context, state: ResidualState) -> None:
    """Residuals from what edges carry now, and everyone with too much of it into the queue."""
    summed, measures = state.summed, state.measures
    mass = 0.0
    for at in range(len(summed.value)):
        vertex = np.uint32(at)
        residual = pulled(context, summed.sent, vertex) - summed.value[vertex]
        summed.residual[vertex] = residual
        mass += abs(residual)
        enqueue(context, state, vertex, residual)
    measures[MASS], measures[DRIFT] = mass, 0.0


@joined_kernel
def enqueue(context: Context, state: ResidualState, vertex: int, residual: float) -> None:
    """Let a vertex with too much of a residual wait, once."""
    counts, mark = state.counts, state.mark[vertex]
    if mark & QUEUED:
        return
    if abs(residual) > state.measures[LIMIT] * base(vertex, context.parameters):
        state.mark[vertex] = mark | QUEUED
        place = counts[FIRST] + counts[WAITING]
        size = len(state.queue)
        state.queue[place - size if place >= size else place] = vertex
        counts[WAITING] += 1


@joined_kernel
def write_down(state: ResidualState, vertex: int) -> None:
    """Log what a vertex has, before it is changed for the first time."""
    if state.mark[vertex] & LOGGED:
        return
    at = state.counts[ENTRIES]
    state.log.vertex[at] = vertex
    state.log.value[at] = state.summed.value[vertex]
    state.log.sent[at] = state.summed.sent[vertex]
    state.log.residual[at] = state.summed.residual[vertex]
    state.mark[vertex] |= LOGGED
    state.counts[ENTRIES] += 1


@joined_kernel
def add(context: Context, state: ResidualState, vertex: int, change: float) -> None:
    """What the edges to a vertex carry has changed."""
    write_down(state, vertex)
    residual = state.summed.residual[vertex] + change
    state.summed.residual[vertex] = residual
    enqueue(context, state, vertex, residual)


@joined_kernel
def tell_slab(
    context: Context, state: ResidualState, slabs: Slabs, vertex: int, change: float
) -> None:
    """The same for all neighbours in a slab."""
    first = np.uint64(slabs.start[vertex])
    last = first + np.uint64(slabs.live[vertex])
    for place in range(first, last):
        add(context, state, np.uint32(slabs.neighbour[place]), change)


@joined_kernel
def tell(context: Context, state: ResidualState, vertex: int, change: float) -> None:
    """What a vertex sends along each of its edges has changed.

    Each addition is rounded, by no more than a share of all residuals together and of the change.
    """
    if FORWARD:
        tell_slab(context, state, context.graph.out, vertex, change)
    if BACKWARD:
        tell_slab(context, state, context.graph.into, vertex, change)
    edges = edges_from(context.graph, vertex)
    state.counts[TOUCHED] += edges
    measures = state.measures
    measures[MASS] += edges * abs(change)
    measures[DRIFT] += ROUNDING * edges * (measures[MASS] + 2.0 * abs(change))


@joined_kernel
def push(context: Context, state: ResidualState, vertex: int) -> None:
    """Take the residual of a vertex into its value, and send on what that changes."""
    summed = state.summed
    write_down(state, vertex)
    residual, before = summed.residual[vertex], summed.value[vertex]
    value = before + residual
    sent = sending(context, vertex, value)
    change = sent - summed.sent[vertex]
    left = residual - (value - before)
    summed.value[vertex], summed.sent[vertex], summed.residual[vertex] = value, sent, left
    state.measures[MASS] -= abs(residual) - abs(left)
    if change != 0.0:
        tell(context, state, vertex, change)


@kernel
def settle(context: Context, state: ResidualState) -> bool:
    """Push whoever waits, in turn, until nobody does, or most of the graph would, or for long.

    False where most of the graph would: whoever waits goes on waiting.
    """
    counts, size = state.counts, len(state.queue)
    behind = frontier = 0
    while counts[WAITING] > 0 and counts[TOUCHED] < counts[MOST]:
        if behind == 0:
            behind, frontier = counts[WAITING], 0
            for place in range(counts[FIRST], counts[FIRST] + behind):
                at = place - size if place >= size else place
                frontier += edges_from(context.graph, np.uint32(state.queue[at])) + 1
            if frontier > counts[WIDE]:
                return False
        vertex = np.uint32(state.queue[counts[FIRST]])
        counts[FIRST] = 0 if counts[FIRST] + 1 == size else counts[FIRST] + 1
        counts[WAITING] -= 1
        behind -= 1
        state.mark[vertex] &= ~np.uint8(QUEUED)
        push(context, state, vertex)
    return True


@kernel
def take_delta(context: Context, state: ResidualState, delta: Delta) -> None:
    """What changed edges carried or will carry, and then what their ends send now."""
    count = len(delta.inserted)
    for at in range(len(delta.sources)):
        sign = 1.0 if at < count else -1.0
        source, target = np.uint32(delta.sources[at]), np.uint32(delta.targets[at])
        if FORWARD:
            carry(context, state, target, sign * state.summed.sent[source])
        if BACKWARD:
            carry(context, state, source, sign * state.summed.sent[target])
    for at in range(len(delta.sources)):
        meet(context, state, np.uint32(delta.sources[at]))
        meet(context, state, np.uint32(delta.targets[at]))
    for at in range(len(delta.sources)):
        state.mark[delta.sources[at]] &= ~np.uint8(MET)
        state.mark[delta.targets[at]] &= ~np.uint8(MET)


@joined_kernel
def carry(context: Context, state: ResidualState, vertex: int, change: float) -> None:
    """An edge to a vertex has come or gone."""
    measures = state.measures
    measures[MASS] += abs(change)
    measures[DRIFT] += ROUNDING * (measures[MASS] + abs(change))
    add(context, state, vertex, change)


@joined_kernel
def meet(context: Context, state: ResidualState, vertex: int) -> None:
    """An end of a changed edge: once, let what it sends go with its degree."""
    if state.mark[vertex] & MET:
        return
    state.mark[vertex] |= MET
    write_down(state, vertex)
    summed = state.summed
    sent, value = summed.sent[vertex], summed.value[vertex]
    if edges_from(context.graph, vertex) == 0:
        summed.sent[vertex] = 0.0
    elif sent == 0.0:
        sent = sending(context, vertex, value)
        summed.sent[vertex] = sent
        tell(context, state, vertex, sent)
    else:
        fitting = sent / share(vertex, context.graph, context.parameters)
        if abs(fitting - value) > SAME * value:
            summed.value[vertex] = fitting
            carry(context, state, vertex, value - fitting)


@kernel
def finish(state: ResidualState, moved: ResidualLog) -> int:
    """Clear the marks of an advance and list whose value moved: before, and (as `sent`) now."""
    log, count = state.log, 0
    for at in range(state.counts[ENTRIES]):
        vertex = log.vertex[at]
        state.mark[vertex] = 0
        now = state.summed.value[vertex]
        if now != log.value[at]:
            moved.vertex[count] = vertex
            moved.value[count] = log.value[at]
            moved.sent[count] = now
            count += 1
    return count


@kernel
def put_back(summed: Summed, log: ResidualLog) -> None:
    """Let every vertex have again what is logged of it."""
    for at in range(len(log.vertex)):
        vertex = log.vertex[at]
        summed.value[vertex] = log.value[at]
        summed.sent[vertex] = log.sent[at]
        summed.residual[vertex] = log.residual[at]
