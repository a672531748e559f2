"""Selecting programs from scratch, iteration by iteration, with or without histories.

In every iteration those whose value changed in the one before send it on. `fresh` takes the best
of what comes in, `value` stays as it was until all has been sent: so the order of sending does not
matter. What improved becomes an entry at the end of its vertex's history.
"""

from __future__ import annotations

from graphtide.engine.templates.selecting import (
    backward,
    better,
    forward,
    identity,
    initial,
    message,
    settles,
)
from graphtide.kernels.exact.histories import (
    FRONTIER,
    LISTED,
    NOTHING,
    TIME,
    WORK,
    HistoryContext,
    Rounds,
    ValueHistories,
)
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.jit import joined_kernel, kernel


@kernel
def begin_rounds(context: HistoryContext, histories: ValueHistories, rounds: Rounds) -> None:
    """Iteration 0: start values, and everybody has something to say who may.

    Where no message overtakes its source, who has the worst value of all need not speak.
    """
    count = 0
    for vertex in range(len(rounds.value)):
        value = initial(vertex, context.read)
        rounds.value[vertex] = value
        rounds.fresh[vertex] = value
        if len(rounds.tail) > 0:
            histories.head[vertex] = NOTHING
            rounds.tail[vertex] = NOTHING
        if not settles() or value != identity():
            rounds.frontier[count] = vertex
            count += 1
    rounds.progress[:] = 0
    rounds.progress[FRONTIER] = count


@kernel
def run_rounds(context: HistoryContext, histories: ValueHistories, rounds: Rounds) -> bool:
    """Run to the end; False where entries have no room: the caller makes some and calls again."""
    progress = rounds.progress
    while True:
        if progress[LISTED] > 0:
            if len(rounds.tail) > 0:
                if histories.free[1] + progress[LISTED] > len(histories.time):
                    return False
                keep_entries(histories, rounds)
            accept_values(rounds)
        if progress[FRONTIER] == 0 or progress[TIME] >= context.iterations:
            return True
        progress[TIME] += 1
        for number in range(progress[FRONTIER]):
            if forward():
                send_along(context, rounds, context.graph.out, rounds.frontier[number])
            if backward():
                send_along(context, rounds, context.graph.into, rounds.frontier[number])
        progress[FRONTIER] = 0


@joined_kernel
def send_along(context: HistoryContext, rounds: Rounds, slabs: Slabs, vertex: int) -> None:
    held = rounds.value[vertex]
    start, listed = slabs.start[vertex], rounds.progress[LISTED]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        if settles() and not better(held, rounds.fresh[other]):
            continue
        edge = slabs.edge[at]
        offered = message(held, vertex, edge, context.read)
        if better(offered, rounds.fresh[other]):
            if rounds.fresh[other] == rounds.value[other]:
                rounds.listed[listed] = other
                listed += 1
            rounds.fresh[other] = offered
    rounds.progress[LISTED] = listed
    rounds.progress[WORK] += slabs.live[vertex]


@joined_kernel
def keep_entries(histories: ValueHistories, rounds: Rounds) -> None:
    """Append what improved in this iteration to the histories. There must be room."""
    for number in range(rounds.progress[LISTED]):
        vertex, entry = rounds.listed[number], histories.free[1] + number
        histories.time[entry] = rounds.progress[TIME]
        histories.value[entry] = rounds.fresh[vertex]
        histories.following[entry] = NOTHING
        if rounds.tail[vertex] == NOTHING:
            histories.head[vertex] = entry
        else:
            histories.following[rounds.tail[vertex]] = entry
        rounds.tail[vertex] = entry
    histories.free[1] += rounds.progress[LISTED]


@joined_kernel
def accept_values(rounds: Rounds) -> None:
    """What improved is the value from now on, and is to be sent in the next iteration."""
    for number in range(rounds.progress[LISTED]):
        vertex = rounds.listed[number]
        rounds.value[vertex] = rounds.fresh[vertex]
        rounds.frontier[number] = vertex
    rounds.progress[FRONTIER] = rounds.progress[LISTED]
    rounds.progress[LISTED] = 0
