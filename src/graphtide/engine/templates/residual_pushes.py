"""Settling sums, pushed in turn: a queue of whoever is off, and logs of what they had.

Whose residual is beyond its limit takes it in and sends on what its messages change by; whose
ceiling is far from where it should be lifts it. Only who is reached is looked at, so that an
advance costs what it changes.

A change of degree changes what all edges of a vertex carry. Instead of telling all its neighbours,
the vertex keeps what it sends and takes the value that goes with that: what it is off by is its own
residual, which is pushed if it is too much, and costs O(1) if it is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.residual import (
    ROUNDING,
    backward,
    context_at,
    edges_from,
    fits,
    fitting_ceiling,
    forward,
    kept_at,
    rate,
    sending,
    share,
)
from graphtide.kernels.fixpoint.records import Context
from graphtide.kernels.fixpoint.residuals import (
    BALANCES,
    CORRECTED,
    CORRECTIONS,
    DRIFT,
    FIRST,
    FLOOR,
    GREATEST,
    LIMIT,
    MET,
    MOST,
    MOVED,
    MOVES,
    QUEUED,
    RESIDUAL,
    SLACK,
    SLACK_DRIFT,
    TOUCHED,
    WAITING,
    WIDE,
    MovedValues,
    ResidualState,
)
from graphtide.kernels.graph.adjacency import Slabs, goes_back
from graphtide.kernels.jit import joined_kernel, kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

SAME = 2.0**-50
"""Values that differ by no more of themselves are the same but for rounding."""


@kernel
def enqueue_all(words: Int64) -> None:
    """Whoever is off joins the queue."""
    state = kept_at(words)
    for at in range(len(state.summed.value)):
        if is_off(state, np.uint32(at)):
            enqueue(state, np.uint32(at))


@kernel
def line_up(words: Int64) -> None:
    """Whoever was corrected in this advance, and is off by the limit of now, waits; nobody else."""
    state = kept_at(words)
    counts, corrected = state.counts, state.corrections.vertex
    counts[WAITING] = 0
    for at in range(counts[CORRECTIONS]):
        vertex = np.uint32(corrected[at])
        state.mark[vertex] &= ~np.uint8(QUEUED)
        if is_off(state, vertex):
            enqueue(state, vertex)


@joined_kernel
def is_off(state: ResidualState, vertex: Any) -> bool:
    """True where a residual is too large, or a ceiling too low or above the value."""
    summed, measures, place = state.summed, state.measures, BALANCES * np.uint64(vertex)
    slack = summed.balance[place + np.uint64(SLACK)]
    if abs(summed.balance[place + np.uint64(RESIDUAL)]) > measures[LIMIT] * slack:
        return True
    return not fits(summed.value[vertex], summed.ceiling[vertex], slack, measures[FLOOR])


@joined_kernel
def enqueue(state: ResidualState, vertex: Any) -> None:
    """Let a vertex wait its turn, once."""
    counts = state.counts
    if state.mark[vertex] & QUEUED:
        return
    state.mark[vertex] |= QUEUED
    place, size = counts[FIRST] + counts[WAITING], len(state.queue)
    state.queue[place - size if place >= size else place] = vertex
    counts[WAITING] += 1


@joined_kernel
def write_down(state: ResidualState, vertex: Any) -> None:
    """Log the balance of a vertex, before it is corrected for the first time."""
    if state.mark[vertex] & CORRECTED:
        return
    state.mark[vertex] |= CORRECTED
    balance, logged = state.summed.balance, state.corrections.balance
    at, place = state.counts[CORRECTIONS], BALANCES * np.uint64(vertex)
    state.corrections.vertex[at] = vertex
    logged[BALANCES * at + RESIDUAL] = balance[place + np.uint64(RESIDUAL)]
    logged[BALANCES * at + SLACK] = balance[place + np.uint64(SLACK)]
    state.counts[CORRECTIONS] = at + 1


@joined_kernel
def write_value(state: ResidualState, vertex: Any) -> None:
    """Log the value of a vertex and what goes with it, before it moves for the first time."""
    write_down(state, vertex)
    if state.mark[vertex] & MOVED:
        return
    state.mark[vertex] |= MOVED
    moves, summed, at = state.moves, state.summed, state.counts[MOVES]
    moves.vertex[at] = vertex
    moves.value[at] = summed.value[vertex]
    moves.sent[at] = summed.sent[vertex]
    moves.ceiling[at] = summed.ceiling[vertex]
    state.counts[MOVES] = at + 1


@joined_kernel
def tell_slab(state: ResidualState, slabs: Slabs, vertex: Any, change: float) -> float:
    """What the edges of a slab carry has changed: the residuals of its neighbours.

    Logging and queueing have no branches, which nobody could foretell: an entry is always written,
    and counts only where it is wanted. Both have room for one more than there are vertices.
    Returns the sum of the absolute residuals, of which each was rounded.
    """
    balance, mark, limit = state.summed.balance, state.mark, state.measures[LIMIT]
    queue, logged, counts = state.queue, state.corrections, state.counts
    size, waiting, entries = len(queue), counts[WAITING], counts[CORRECTIONS]
    heard = 0.0
    tail = counts[FIRST] + waiting
    tail = tail - size if tail >= size else tail
    first = np.uint64(slabs.start[vertex])
    last = first + np.uint64(slabs.live[vertex])
    while first < last:
        other = np.uint32(slabs.neighbour[first])
        place, known = BALANCES * np.uint64(other), np.int64(mark[other])
        before, slack = balance[place], balance[place + np.uint64(SLACK)]
        residual = before + change
        balance[place] = residual
        heard += abs(residual)
        logged.vertex[entries] = other
        logged.balance[BALANCES * entries] = before
        logged.balance[BALANCES * entries + SLACK] = slack
        entries += (known & CORRECTED) == 0
        joins = np.int64(abs(residual) > limit * slack) & ~known
        queue[tail] = other
        waiting += joins
        tail += joins
        tail = 0 if tail == size else tail
        mark[other] = np.uint8(known | CORRECTED | joins)
        first += np.uint64(1)
    counts[WAITING], counts[CORRECTIONS] = waiting, entries
    return heard


@joined_kernel
def tell(context: Context, state: ResidualState, vertex: Any, change: float) -> None:
    """What a vertex sends along each of its edges has changed.

    Each addition is rounded, and so is the change.
    """
    heard = 0.0
    if forward():
        heard += tell_slab(state, context.graph.out, vertex, change)
    if backward():
        heard += tell_slab(state, context.graph.into, vertex, change)
    edges = edges_from(context.graph, vertex)
    state.counts[TOUCHED] += edges
    state.measures[DRIFT] += ROUNDING * (heard + edges * abs(change))


@joined_kernel
def pledge_slab(state: ResidualState, slabs: Slabs, vertex: Any, change: float) -> None:
    """What the edges of a slab carry of a ceiling has changed: the slacks of its neighbours."""
    summed = state.summed
    first = np.uint64(slabs.start[vertex])
    last = first + np.uint64(slabs.live[vertex])
    while first < last:
        other = np.uint32(slabs.neighbour[first])
        write_down(state, other)
        summed.balance[BALANCES * np.uint64(other) + np.uint64(SLACK)] -= change
        if is_off(state, other):
            enqueue(state, other)
        first += np.uint64(1)


@joined_kernel
def pledge(context: Context, state: ResidualState, vertex: Any, change: float) -> None:
    """What the edges of a vertex carry of its ceiling has changed."""
    if forward():
        pledge_slab(state, context.graph.out, vertex, change)
    if backward():
        pledge_slab(state, context.graph.into, vertex, change)
    edges, measures = edges_from(context.graph, vertex), state.measures
    state.counts[TOUCHED] += edges
    measures[SLACK_DRIFT] += ROUNDING * edges * (measures[GREATEST] + abs(change))


@joined_kernel
def push(context: Context, state: ResidualState, vertex: Any) -> None:
    """Take the residual of a vertex into its value, and send on what that changes."""
    summed, measures = state.summed, state.measures
    write_value(state, vertex)
    place = BALANCES * np.uint64(vertex) + np.uint64(RESIDUAL)
    residual, before = summed.balance[place], summed.value[vertex]
    value = max(before + residual, 0.0)
    sent = sending(context, vertex, value)
    change = sent - summed.sent[vertex]
    left = residual - (value - before)
    summed.value[vertex], summed.sent[vertex], summed.balance[place] = value, sent, left
    measures[GREATEST] = max(measures[GREATEST], value)
    measures[SLACK_DRIFT] += ROUNDING * measures[GREATEST]
    if change != 0.0:
        tell(context, state, vertex, change)
    lift(context, state, vertex)


@joined_kernel
def lift(context: Context, state: ResidualState, vertex: Any) -> None:
    """Let a ceiling that is above the value, or far below, be where it should."""
    summed, floor = state.summed, state.measures[FLOOR]
    place = BALANCES * np.uint64(vertex) + np.uint64(SLACK)
    slack, ceiling, value = summed.balance[place], summed.ceiling[vertex], summed.value[vertex]
    if fits(value, ceiling, slack, floor):
        return
    led = ceiling + floor - slack
    lifted = fitting_ceiling(value, led)
    summed.ceiling[vertex], summed.balance[place] = lifted, lifted - led + floor
    change = (lifted - ceiling) * rate(context, vertex, summed.sent[vertex], value)
    if change != 0.0:
        pledge(context, state, vertex, change)


@kernel
def settle(words: Int64) -> bool:
    """Push whoever waits, in turn, until nobody does, or for long.

    False where that comes to too much of the graph: whoever waits goes on waiting.
    """
    context, state = context_at(words), kept_at(words)
    counts, size = state.counts, len(state.queue)
    behind, pushed = 0, -counts[TOUCHED]
    while counts[WAITING] > 0 and counts[TOUCHED] < counts[MOST]:
        if behind == 0:
            behind = counts[WAITING]
            if pushed + counts[TOUCHED] + edges_waiting(context, state) > counts[WIDE]:
                return False
        vertex = np.uint32(state.queue[counts[FIRST]])
        counts[FIRST] = 0 if counts[FIRST] + 1 == size else counts[FIRST] + 1
        counts[WAITING] -= 1
        behind -= 1
        state.mark[vertex] &= ~np.uint8(QUEUED)
        push(context, state, vertex)
    return True


@joined_kernel
def edges_waiting(context: Context, state: ResidualState) -> int:
    """The edges of all who wait, and one more for each of them."""
    size, total, place = len(state.queue), 0, state.counts[FIRST]
    for _ in range(state.counts[WAITING]):
        total += edges_from(context.graph, np.uint32(state.queue[place])) + 1
        place = 0 if place + 1 == size else place + 1
    return total


@kernel
def take_delta(
    words: Int64, inserted: Int32, deleted: Int32, sources: Int32, targets: Int32
) -> None:
    """What changed edges carried or will carry, and then what their ends send now."""
    context, state, count = context_at(words), kept_at(words), len(inserted)
    for at in range(len(sources)):
        sign = 1.0 if at < count else -1.0
        source, target = np.uint32(sources[at]), np.uint32(targets[at])
        edge = inserted[at] if at < count else deleted[at - count]
        if forward():
            carry(state, source, target, sign)
        if backward() and goes_back(context.graph, edge, sources[at], targets[at]):
            carry(state, target, source, sign)
    for at in range(len(sources)):
        meet(context, state, np.uint32(sources[at]))
        meet(context, state, np.uint32(targets[at]))
    for at in range(len(sources)):
        state.mark[sources[at]] &= ~np.uint8(MET)
        state.mark[targets[at]] &= ~np.uint8(MET)


@joined_kernel
def carry(state: ResidualState, source: Any, target: Any, sign: float) -> None:
    """An edge has come or gone, which carries what its source sent before."""
    summed = state.summed
    sent = sign * summed.sent[source]
    if sent != 0.0:
        pledged = summed.ceiling[source] * (sent / summed.value[source])
        correct(state, target, sent, -pledged)


@joined_kernel
def correct(state: ResidualState, vertex: Any, residual: float, slack: float) -> None:
    write_down(state, vertex)
    summed, measures, place = state.summed, state.measures, BALANCES * np.uint64(vertex)
    before = summed.balance[place + np.uint64(RESIDUAL)]
    measures[DRIFT] += ROUNDING * (abs(before) + 2.0 * abs(residual))
    measures[SLACK_DRIFT] += ROUNDING * (measures[GREATEST] + abs(slack))
    summed.balance[place + np.uint64(RESIDUAL)] += residual
    summed.balance[place + np.uint64(SLACK)] += slack
    if is_off(state, vertex):
        enqueue(state, vertex)


@joined_kernel
def meet(context: Context, state: ResidualState, vertex: Any) -> None:
    """An end of a changed edge: once, let what it sends go with its degree."""
    if state.mark[vertex] & MET:
        return
    write_value(state, vertex)
    state.mark[vertex] |= MET
    summed = state.summed
    sent, value, ceiling = summed.sent[vertex], summed.value[vertex], summed.ceiling[vertex]
    if edges_from(context.graph, vertex) == 0 or value == 0.0:
        summed.sent[vertex] = 0.0
    elif sent == 0.0:
        sent = sending(context, vertex, value)
        summed.sent[vertex] = sent
        tell(context, state, vertex, sent)
        pledge(context, state, vertex, ceiling * (sent / value))
    else:
        fitting = sent / share(vertex, context.graph, context.read)
        if abs(fitting - value) > SAME * value:
            summed.value[vertex] = fitting
            summed.ceiling[vertex] = ceiling * (fitting / value)
            correct(state, vertex, value - fitting, summed.ceiling[vertex] - ceiling)


@kernel
def finish(words: Int64, new: Float64) -> int:
    """Clear the marks of an advance, and let those whose value moved be the first of the moves.

    Returns how many they are; `new` gets their values of now.
    """
    state = kept_at(words)
    moves, count = state.moves, 0
    for at in range(state.counts[CORRECTIONS]):
        state.mark[state.corrections.vertex[at]] = 0
    for at in range(state.counts[MOVES]):
        value = state.summed.value[moves.vertex[at]]
        if value != moves.value[at]:
            exchange(moves, count, at)
            new[count] = value
            count += 1
    return count


@joined_kernel
def exchange(moves: MovedValues, one: int, other: int) -> None:
    moves.vertex[one], moves.vertex[other] = moves.vertex[other], moves.vertex[one]
    moves.value[one], moves.value[other] = moves.value[other], moves.value[one]
    moves.sent[one], moves.sent[other] = moves.sent[other], moves.sent[one]
    moves.ceiling[one], moves.ceiling[other] = moves.ceiling[other], moves.ceiling[one]
