"""Settling sums, all vertices in their order: sweeps, and pushes of whoever is off.

Where most values move, a sweep pulls all of them anew from what edges carry, each from the newest
values of others; balances are then pulled as well. Where many move, a scan pushes those alone,
which keeps all balances.

The limit of a residual is in proportion to the slack of its vertex: ceiling - A ceiling, for any
ceiling that is at most the value. With the value itself for a ceiling, slack is the base, and a hub
with a thousand times its base would be pushed for every thousandth of what it has. So ceilings are
kept near half of the way between what edges carry of other ceilings and the value: slack is then a
quarter of the value where a hub is fed by leaves, and half of the base at worst. A ceiling is
lifted only when it is far from there, so that this costs next to nothing.

Where bases may be 0, slack has a floor besides: values may be 0 then, ceilings with them, and a
value may be less than what edges carry of ceilings, as long as nobody asks for the difference.

The section below is that of a sample, PageRank.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import ADJACENCY, adjacency_at, array_at, places, words_from
from graphtide.kernels.fixpoint.records import Context
from graphtide.kernels.fixpoint.residuals import (
    BALANCES,
    DRIFT,
    FLOOR,
    GREATEST,
    LIMIT,
    RESIDUAL,
    SLACK,
    SLACK_DRIFT,
    TOUCHED,
    ResidualState,
    state_at,
)
from graphtide.kernels.graph.adjacency import Adjacency, Slabs
from graphtide.kernels.jit import joined_kernel, kernel, program_kernel


# program section: begin
@program_kernel(np.bool_)
def forward() -> bool:
    """True if edges carry anything from source to target."""
    return True


@program_kernel(np.bool_)
def backward() -> bool:
    """True if they carry anything the other way."""
    return False


@program_kernel(np.float64)
def base(vertex: Any, read: Any) -> float:
    return 1.0 - float(array_at(read, 0, np.float64)[0])


@program_kernel(np.float64)
def share(source: Any, graph: Adjacency, read: Any) -> float:
    """What an edge carries of its source's value; only where an edge leaves it."""
    return float(array_at(read, 0, np.float64)[0]) / np.float64(graph.out.live[source])


# program section: end

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

READ = ADJACENCY + places(ResidualState)
"""Places of the block: graph, state, and then the parameters."""

ROUNDING = 2.0**-52
"""Twice what one operation puts a float off by, beside itself: so much for the measures, too."""
LIFTED = 0.5
"""Where a lifted ceiling stands between what edges carry of ceilings and the value."""
LEAST_LIFTED = 0.25
"""A ceiling that stands lower is lifted, and one above the value is lowered."""


@joined_kernel
def context_at(words: Int64) -> Context:
    return Context(adjacency_at(words, 0), words_from(words, READ))


@joined_kernel
def kept_at(words: Int64) -> ResidualState:
    state: ResidualState = state_at(words, ADJACENCY)
    return state


@joined_kernel
def edges_from(graph: Adjacency, vertex: Any) -> int:
    """Along how many edges a vertex sends; a loop that is taken both ways counts twice."""
    count = 0
    if forward():
        count += graph.out.live[vertex]
    if backward():
        count += graph.into.live[vertex]
    return count


@joined_kernel
def carried_along(slabs: Slabs, sent: Float64, vertex: Any) -> float:
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
def carried(graph: Adjacency, sent: Float64, vertex: Any) -> float:
    total = 0.0
    if forward():
        total += carried_along(graph.into, sent, vertex)
    if backward():
        total += carried_along(graph.out, sent, vertex)
    return total


@joined_kernel
def sending(context: Context, vertex: Any, value: float) -> float:
    """What a vertex of that value sends along each edge."""
    if edges_from(context.graph, vertex) == 0:
        return 0.0
    return value * share(vertex, context.graph, context.read)


@joined_kernel
def rate(context: Context, vertex: Any, sent: float, value: float) -> float:
    """What an edge carries of a ceiling: the same share as of the value."""
    return sent / value if value > 0.0 else sending(context, vertex, 1.0)


@joined_kernel
def fits(value: float, ceiling: float, slack: float, floor: float) -> bool:
    """True where a ceiling may stay: it is not above the value, and leaves enough slack."""
    above = value - (ceiling + floor - slack)
    return ceiling <= value and slack >= LEAST_LIFTED * above and 2.0 * slack >= floor


@joined_kernel
def fitting_ceiling(value: float, led: float) -> float:
    """Half of the way from what edges carry of ceilings to the value, and never above that."""
    return led + LIFTED * (value - led) if value > led else value


@kernel
def begin(words: Int64, first: int) -> None:
    """Vertices from `first` on have their base, as if nothing led to them."""
    context, state = context_at(words), kept_at(words)
    summed, floor = state.summed, state.measures[FLOOR]
    for at in range(first, len(summed.value)):
        vertex = np.uint32(at)
        value = base(vertex, context.read)
        summed.value[at] = value
        summed.sent[at] = sending(context, vertex, value)
        summed.ceiling[at] = LIFTED * value
        summed.balance[BALANCES * at + RESIDUAL] = 0.0
        summed.balance[BALANCES * at + SLACK] = LIFTED * value + floor


@kernel
def sweep(words: Int64) -> int:
    """Pull every value anew, the newest ones of others at hand; balances are then out of date.

    Returns how many edges leave those that moved by more than a share of their slack.
    """
    context, summed = context_at(words), kept_at(words).summed
    limit, moving = kept_at(words).measures[LIMIT], 0
    for at in range(len(summed.value)):
        vertex = np.uint32(at)
        value = base(vertex, context.read) + carried(context.graph, summed.sent, vertex)
        moved = abs(value - summed.value[at])
        if moved == 0.0:
            continue
        summed.value[at] = value
        summed.sent[at] = sending(context, vertex, value)
        if moved > limit * summed.balance[BALANCES * at + SLACK]:
            moving += edges_from(context.graph, vertex) + 1
    return moving


@kernel
def scan(words: Int64) -> int:
    """Push and lift whoever is off, in the order of vertices; nothing is logged.

    Returns how many edges were told of it, and one more for each such vertex.
    """
    context, state = context_at(words), kept_at(words)
    balance, limit, moving = state.summed.balance, state.measures[LIMIT], 0
    for at in range(len(state.summed.value)):
        vertex, place = np.uint32(at), BALANCES * np.uint64(at)
        if abs(balance[place]) > limit * balance[place + np.uint64(SLACK)]:
            moving += push_plainly(context, state, vertex)
        moving += lift_plainly(context, state, vertex)
    state.counts[TOUCHED] += moving
    return moving


@joined_kernel
def push_plainly(context: Context, state: ResidualState, vertex: Any) -> int:
    """Take a residual into the value, and send on what that changes; nobody joins a queue."""
    summed, measures = state.summed, state.measures
    place = BALANCES * np.uint64(vertex) + np.uint64(RESIDUAL)
    residual, before = summed.balance[place], summed.value[vertex]
    value = max(before + residual, 0.0)
    if value == before:
        return 0  # Less than the last digit: nothing can be done about it.
    sent = sending(context, vertex, value)
    change = sent - summed.sent[vertex]
    summed.value[vertex], summed.sent[vertex] = value, sent
    summed.balance[place] = residual - (value - before)
    heard = 0.0
    if forward():
        heard += tell_plainly(summed.balance, context.graph.out, vertex, change)
    if backward():
        heard += tell_plainly(summed.balance, context.graph.into, vertex, change)
    edges = edges_from(context.graph, vertex)
    measures[DRIFT] += ROUNDING * (heard + edges * abs(change))
    measures[GREATEST] = max(measures[GREATEST], value)
    measures[SLACK_DRIFT] += ROUNDING * measures[GREATEST]
    return edges + 1


@joined_kernel
def lift_plainly(context: Context, state: ResidualState, vertex: Any) -> int:
    """Let a ceiling that is above the value, or far below, be where it should; nobody is queued."""
    summed, measures, floor = state.summed, state.measures, state.measures[FLOOR]
    place = BALANCES * np.uint64(vertex) + np.uint64(SLACK)
    slack, ceiling, value = summed.balance[place], summed.ceiling[vertex], summed.value[vertex]
    if fits(value, ceiling, slack, floor):
        return 0
    led = ceiling + floor - slack
    lifted = fitting_ceiling(value, led)
    if lifted == ceiling:
        return 0
    summed.ceiling[vertex], summed.balance[place] = lifted, lifted - led + floor
    change = (lifted - ceiling) * rate(context, vertex, summed.sent[vertex], value)
    if forward():
        pledge_plainly(summed.balance, context.graph.out, vertex, change)
    if backward():
        pledge_plainly(summed.balance, context.graph.into, vertex, change)
    edges = edges_from(context.graph, vertex)
    measures[SLACK_DRIFT] += ROUNDING * edges * (measures[GREATEST] + abs(change))
    return edges + 1


@joined_kernel
def pledge_plainly(balance: Float64, slabs: Slabs, vertex: Any, change: float) -> None:
    """What the edges of a slab carry of a ceiling has changed."""
    first = np.uint64(slabs.start[vertex])
    last = first + np.uint64(slabs.live[vertex])
    while first < last:
        other = np.uint64(np.uint32(slabs.neighbour[first]))
        balance[BALANCES * other + np.uint64(SLACK)] -= change
        first += np.uint64(1)


@joined_kernel
def tell_plainly(balance: Float64, slabs: Slabs, vertex: Any, change: float) -> float:
    """What the edges of a slab carry has changed, and nobody is told whom that puts off.

    Returns the sum of the absolute residuals, of which each was rounded.
    """
    heard = 0.0
    first = np.uint64(slabs.start[vertex])
    last = first + np.uint64(slabs.live[vertex])
    while first < last:
        place = BALANCES * np.uint64(np.uint32(slabs.neighbour[first])) + np.uint64(RESIDUAL)
        residual = balance[place] + change
        balance[place] = residual
        heard += abs(residual)
        first += np.uint64(1)
    return heard


@kernel
def lift_all(words: Int64, times: int) -> None:
    context, summed, pledged = context_at(words), kept_at(words).summed, kept_at(words).pledged
    for at in range(len(summed.value)):
        pledged[at] = LIFTED * summed.sent[at]
    for _ in range(times):
        for at in range(len(summed.value)):
            value = summed.value[at]
            led = min(carried(context.graph, pledged, np.uint32(at)), value)
            summed.ceiling[at] = fitting_ceiling(value, led)
            pledged[at] = summed.ceiling[at] * rate(context, np.uint32(at), summed.sent[at], value)


@kernel
def pull_balances(words: Int64) -> None:
    """Residuals and slacks from what edges carry now."""
    context, state = context_at(words), kept_at(words)
    summed, measures, pledged = state.summed, state.measures, state.pledged
    greatest = 0.0
    for at in range(len(summed.value)):
        value = summed.value[at]
        pledged[at] = summed.ceiling[at] * rate(context, np.uint32(at), summed.sent[at], value)
        greatest = max(greatest, value)
    for at in range(len(summed.value)):
        vertex = np.uint32(at)
        total = base(vertex, context.read) + carried(context.graph, summed.sent, vertex)
        residual = total - summed.value[at]
        summed.balance[BALANCES * at + RESIDUAL] = residual
        slack = summed.ceiling[at] - carried(context.graph, pledged, vertex)
        summed.balance[BALANCES * at + SLACK] = slack + measures[FLOOR]
    measures[GREATEST], measures[DRIFT], measures[SLACK_DRIFT] = greatest, 0.0, 0.0
