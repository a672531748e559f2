"""Fixpoint maintenance of programs whose accumulator selects: trim, pull, offer, pass on.

A vertex has a value, the edge that it got the value by (its parent edge, or NO_EDGE where it has
its initial value), and a level. Kept true between advances: every value is attained by live
edges; no live edge offers a better one; and the level of a vertex is above that of the vertex its
parent edge comes from. Levels need not be exact: they only have to make supports acyclic.

An advance first trims. A vertex whose parent edge is gone asks its live in-edges for another one
that yields the same value from a lower level. One that finds none falls back to its initial value,
and those it supported are asked in turn. Vertices are asked in ascending order of level, as far as
there are lists for it (`kernels.queues`): whoever could support one is then settled before it. If
not, it is asked once more when its new support falls. The fallen then pull from what is valid.

Then the fallen and inserted edges offer, and what improves is passed on, best values first. Work
is in proportion to the edges of vertices that were asked or changed. Where that is more than the
caller allows, or than the log has room for, it is broken off: running again is cheaper then.

Every vertex is logged before it is first changed, for the changes to report and to roll back.
Python hands over the graph and the state as a block (`kernels.blocks`), so that a call takes no
longer for the many arrays there are. What changed its value comes first in the log: reporting it
needs no search.
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
    sign,
)
from graphtide.engine.templates.settling import NO_EDGE
from graphtide.kernels.blocks import ADJACENCY, adjacency_at, array_at, places, words_from
from graphtide.kernels.fixpoint.records import (
    MOST,
    NOW,
    ChangeLog,
    Context,
    FixpointState,
    state_at,
)
from graphtide.kernels.graph.adjacency import Adjacency, Slabs
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.intrinsics import FAR, prefetch
from graphtide.kernels.jit import inner_kernel, joined_kernel, lean_kernel
from graphtide.kernels.queues import (
    NOT_WAITING,
    clear_lists,
    heap_pop,
    heap_push,
    next_list,
    put_in_list,
    take_from_list,
)


@joined_kernel
def is_orphan(state: FixpointState, vertex: int, edge: int) -> bool:
    """True if the vertex got its value by that edge and has not been lined up."""
    return bool(state.parent[vertex] == edge and state.place[vertex] == NOT_WAITING)


@joined_kernel
def is_alone(context: Context, vertex: int) -> bool:
    graph = context.graph
    return bool(graph.out.live[vertex] == 0 and graph.into.live[vertex] == 0)


@joined_kernel
def line_up_orphans(
    context: Context, state: FixpointState, delta: Delta, now: int
) -> tuple[int, int]:
    """Line up those who lost their parent edge; returns how many, and entries logged.

    Those who are left without any edge fall at once, and nobody else with them.
    """
    size, count, first = 0, 0, len(delta.inserted)
    if len(delta.deleted) > 0:
        clear_lists(state.heap)
    for at in range(min(FAR, len(delta.deleted))):
        if forward():
            prefetch(state.parent, delta.targets[first + at])
        if backward():
            prefetch(state.parent, delta.sources[first + at])
    for at in range(len(delta.deleted)):
        if at + FAR < len(delta.deleted):
            if forward():
                prefetch(state.parent, delta.targets[first + at + FAR])
            if backward():
                prefetch(state.parent, delta.sources[first + at + FAR])
        edge = delta.deleted[at]
        source, target = delta.sources[first + at], delta.targets[first + at]
        if forward() and is_orphan(state, target, edge):
            size, count = line_up_orphan(context, state, target, (now, size, count))
        if backward() and is_orphan(state, source, edge):
            size, count = line_up_orphan(context, state, source, (now, size, count))
    return size, count


@joined_kernel
def line_up_orphan(
    context: Context, state: FixpointState, vertex: int, work: Any
) -> tuple[int, int]:
    """Line one up, or let it fall; `work` is (now, those lined up, entries logged)."""
    now, size, count = work
    if count == len(state.log.vertex) or not is_alone(context, vertex):
        put_in_list(state.heap, state.place, vertex, state.level[vertex])
        return size + 1, count
    count = record(state, now, count, vertex)
    begin_again(context, state, vertex)
    return size, count


@joined_kernel
def find_support(
    context: Context, state: FixpointState, slabs: Slabs, vertex: int
) -> tuple[int, int]:
    """A live edge that yields the vertex's value from a lower level; and the edges looked at.

    No message overtakes its source, so that what has a worse value need not be asked.
    """
    value, level = state.value[vertex], state.level[vertex]
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        if state.level[other] < level and not better(value, state.value[other]):
            edge, held = slabs.edge[at], state.value[other]
            if message(held, other, edge, context.read) == value:
                return edge, at - start + 1
    return NO_EDGE, int(slabs.live[vertex])


@joined_kernel
def line_up_children(state: FixpointState, slabs: Slabs, vertex: int, size: int) -> int:
    """Line up those whose parent edge comes from the vertex."""
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        if is_orphan(state, other, slabs.edge[at]):
            put_in_list(state.heap, state.place, other, state.level[other])
            size += 1
    return size


@joined_kernel
def pull(context: Context, state: FixpointState, slabs: Slabs, vertex: int, goal: Any) -> int:
    """Take the best offer of the live edges of one direction, if it beats what there is.

    `goal` is (a value, True if an offer that is no worse is enough). Returns the edges looked at.
    """
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        held = state.value[other]
        if not better(held, state.value[vertex]):
            continue
        edge = slabs.edge[at]
        offered = message(held, other, edge, context.read)
        if better(offered, state.value[vertex]):
            state.value[vertex] = offered
            state.parent[vertex] = edge
            state.level[vertex] = state.level[other] + 1
            if goal[1] and not better(goal[0], offered):
                return int(at - start + 1)
    return int(slabs.live[vertex])


@joined_kernel
def keeps_value(context: Context, state: FixpointState, vertex: int) -> tuple[bool, int]:
    """Give an orphan another parent edge, or none if it has its start; and the edges looked at."""
    support, looked, more = NO_EDGE, 0, 0
    if forward():
        support, looked = find_support(context, state, context.graph.into, vertex)
    if backward() and support == NO_EDGE:
        support, more = find_support(context, state, context.graph.out, vertex)
    if support == NO_EDGE and initial(vertex, context.read) != state.value[vertex]:
        return False, looked + more
    state.parent[vertex] = support
    return True, looked + more


@joined_kernel
def fall(context: Context, state: FixpointState, vertex: int, size: int) -> tuple[int, int]:
    """Go back to the start, and line up those who had their value from here; edges looked at."""
    looked = 0
    if forward():
        size = line_up_children(state, context.graph.out, vertex, size)
        looked += context.graph.out.live[vertex]
    if backward():
        size = line_up_children(state, context.graph.into, vertex, size)
        looked += context.graph.into.live[vertex]
    begin_again(context, state, vertex)
    return size, looked


@joined_kernel
def begin_again(context: Context, state: FixpointState, vertex: int) -> None:
    state.value[vertex] = initial(vertex, context.read)
    state.parent[vertex] = NO_EDGE
    state.level[vertex] = 0


@joined_kernel
def pull_both(context: Context, state: FixpointState, vertex: int, goal: Any) -> int:
    """Take the best offer that the fallen vertex gets, or one that is enough; edges looked at."""
    looked = 0
    if forward():
        looked += pull(context, state, context.graph.into, vertex, goal)
    if backward() and not (goal[1] and not better(goal[0], state.value[vertex])):
        looked += pull(context, state, context.graph.out, vertex, goal)
    return looked


@joined_kernel
def record(state: FixpointState, now: int, count: int, vertex: int) -> int:
    """Log a vertex if this advance has not yet; there must be room."""
    return count if state.stamp[vertex] == now else note(state, now, count, vertex)


@joined_kernel
def note(state: FixpointState, now: int, count: int, vertex: int) -> int:
    """Log what a vertex has; there must be room."""
    state.stamp[vertex] = now
    state.log.vertex[count] = vertex
    state.log.value[count] = state.value[vertex]
    state.log.parent[count] = state.parent[vertex]
    state.log.level[count] = state.level[vertex]
    return count + 1


@joined_kernel
def trim(context: Context, state: FixpointState, delta: Delta, order: Any) -> Any:
    """Let fall what no live edge supports any more, and let the fallen pull.

    `order` is (now, the most edges to look at); beyond that, or when the log is full, it is broken
    off. Returns how many are logged, how many of the fallen have another value than before, which
    they have yet to pass on, and the edges looked at.
    """
    now, most = order
    fallen, touched, lowest = 0, 0, 0
    size, count = line_up_orphans(context, state, delta, now)
    while size > 0 and touched <= most and count < len(state.log.vertex):
        lowest = next_list(state.heap, lowest)
        vertex = take_from_list(state.heap, state.place, lowest)
        ask_for_waiting(context.graph, state, state.heap[lowest])
        size, before = size - 1, count
        count = record(state, now, count, vertex)
        kept, looked = keeps_value(context, state, vertex)
        touched += looked
        if kept:
            continue
        size, looked = fall(context, state, vertex, size)
        touched += looked
        state.fallen[fallen] = before if count > before else -1 - vertex
        fallen += 1
    for _ in range(size):
        lowest = next_list(state.heap, lowest)
        take_from_list(state.heap, state.place, lowest)
    fallen, touched = pull_all(context, state, fallen, (touched, most))
    return count, fallen, touched


@joined_kernel
def ask_for_waiting(graph: Adjacency, state: FixpointState, vertex: int) -> None:
    """Ask for the slabs of whoever comes next, and for where those of the one after it begin."""
    if vertex >= 0:
        ask_for_edges(graph, vertex)
        if state.place[vertex] >= 0:
            ask_for_vertex(graph, state.place[vertex])


@joined_kernel
def ask_for_vertex(graph: Adjacency, vertex: int) -> None:
    """Ask for where the slabs of a vertex begin and end."""
    prefetch(graph.out.start, vertex)
    prefetch(graph.out.live, vertex)
    prefetch(graph.into.start, vertex)
    prefetch(graph.into.live, vertex)


@joined_kernel
def ask_for_edges(graph: Adjacency, vertex: int) -> None:
    """Ask for the first entries of the slabs of a vertex that are looked at."""
    prefetch(graph.out.neighbour, graph.out.start[vertex])
    prefetch(graph.out.edge, graph.out.start[vertex])
    prefetch(graph.into.neighbour, graph.into.start[vertex])
    prefetch(graph.into.edge, graph.into.start[vertex])


@joined_kernel
def pull_all(context: Context, state: FixpointState, fallen: int, work: Any) -> tuple[int, int]:
    """Let the fallen pull, and list those who do not get their value back.

    Who gets it back has no news for anybody but the fallen, and of these only for whoever pulled
    before and did not get theirs: they pull again. Edges that were inserted are another matter: all
    of them make an offer later. Returns how many are listed, and the edges looked at.
    """
    touched, most = work
    listed, late = 0, False
    for at in range(fallen):
        if touched > most:
            break
        entry = state.fallen[at]
        known = entry >= 0
        vertex = state.log.vertex[entry] if known else -1 - entry
        value = state.log.value[entry] if known else state.value[vertex]
        touched += pull_both(context, state, vertex, (value, known))
        if known and state.value[vertex] == value:
            late = late or listed > 0
        else:
            state.fallen[listed] = vertex
            listed += 1
    for at in range(listed if late else 0):
        if touched > most:
            break
        vertex = state.fallen[at]
        touched += pull_both(context, state, vertex, (state.value[vertex], False))
    return listed, touched


@joined_kernel
def leave(state: FixpointState, size: int) -> None:
    """Empty the heap."""
    for at in range(size):
        state.place[state.heap[at]] = -1


ASKED = 5
"""So many of those who are next in the heap are asked for ahead."""


@joined_kernel
def pass_on(context: Context, state: FixpointState, slabs: Slabs, work: Any) -> tuple[int, int]:
    """Offer a vertex's value along one direction; lift the levels of its children.

    `work` is (vertex, now, log entries, heap size); returns the last two. Ends where the log is
    full.
    """
    vertex, now, count, size = work
    value, level = state.value[vertex], state.level[vertex] + 1
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other, edge = slabs.neighbour[at], slabs.edge[at]
        if better(value, state.value[other]):
            offered = message(value, vertex, edge, context.read)
            if better(offered, state.value[other]):
                if count == len(state.log.vertex):
                    break
                count = record(state, now, count, other)
                state.value[other] = offered
                state.parent[other] = edge
                state.level[other] = level
                size = heap_push(state.heap, state.place, size, other, state.value, sign())
                continue
        if state.parent[other] == edge and state.level[other] < level:
            if count == len(state.log.vertex):
                break
            count = record(state, now, count, other)
            state.level[other] = level
            size = heap_push(state.heap, state.place, size, other, state.value, sign())
    return count, size


@joined_kernel
def offer_edge(context: Context, state: FixpointState, arc: Any) -> tuple[int, int]:
    """Offer a value over one edge; `arc` is (from, to, edge, now, log entries, heap size)."""
    source, target, edge, now, count, size = arc
    value = state.value[source]
    if not better(value, state.value[target]):
        return count, size
    offered = message(value, source, edge, context.read)
    if better(offered, state.value[target]) and count < len(state.log.vertex):
        count = record(state, now, count, target)
        state.value[target] = offered
        state.parent[target] = edge
        state.level[target] = state.level[source] + 1
        size = heap_push(state.heap, state.place, size, target, state.value, sign())
    return count, size


@joined_kernel
def offer_inserted(
    context: Context, state: FixpointState, delta: Delta, work: Any
) -> tuple[int, int]:
    """Offer over every inserted edge, until the log is full."""
    now, count, size = work
    for at in range(min(FAR, len(delta.inserted))):
        prefetch(state.value, delta.sources[at])
        prefetch(state.value, delta.targets[at])
    for at in range(len(delta.inserted)):
        if at + FAR < len(delta.inserted):
            prefetch(state.value, delta.sources[at + FAR])
            prefetch(state.value, delta.targets[at + FAR])
        source, target, edge = delta.sources[at], delta.targets[at], delta.inserted[at]
        if forward():
            arc = (source, target, edge, now, count, size)
            count, size = offer_edge(context, state, arc)
        if backward():
            arc = (target, source, edge, now, count, size)
            count, size = offer_edge(context, state, arc)
    return count, size


@joined_kernel
def repair(
    context: Context, state: FixpointState, delta: Delta, now: int, most: int
) -> tuple[int, int]:
    """Bring the state to the version that the graph is at, and log what changes in `state.log`.

    The graph has already been flipped by the delta. Returns the number of entries logged, and the
    number of edges touched: if that is above `most`, the work was broken off and the caller rolls
    back.
    """
    count, fallen, touched = trim(context, state, delta, (now, most))
    size = count - count  # 0, but no constant, for which what follows would be compiled twice.
    if touched <= most:
        for at in range(fallen):
            vertex = state.fallen[at]
            size = heap_push(state.heap, state.place, size, vertex, state.value, sign())
        count, size = offer_inserted(context, state, delta, (now, count, size))
        touched += len(delta.inserted)
    return pass_all_on(context, state, (now, most, count, size, touched))


@joined_kernel
def pass_all_on(context: Context, state: FixpointState, work: Any) -> tuple[int, int]:
    """Let those in the heap pass on what they have, the best first, until nothing improves.

    `work` is (now, the most edges to look at, log entries, heap size, edges touched). Returns log
    entries and edges touched, above the most if it was broken off there or by a log that is full.
    """
    now, most, count, size, touched = work
    graph = context.graph
    while size > 0 and touched <= most and count < len(state.log.vertex):
        vertex = state.heap[0]
        size = heap_pop(state.heap, state.place, size, state.value, sign())
        if size > ASKED:
            ask_for_edges(graph, state.heap[0])
            for at in range(1, ASKED):
                ask_for_vertex(graph, state.heap[at])
        if forward():
            count, size = pass_on(context, state, graph.out, (vertex, now, count, size))
            touched += graph.out.live[vertex]
        if backward():
            count, size = pass_on(context, state, graph.into, (vertex, now, count, size))
            touched += graph.into.live[vertex]
    leave(state, size)
    if count == len(state.log.vertex):
        touched = max(touched, most + 1)
    return count, touched


@joined_kernel
def roll_back(state: FixpointState, log: ChangeLog, count: int) -> None:
    """Put back what an advance changed. O(count)."""
    for at in range(count):
        vertex = log.vertex[at]
        state.value[vertex] = log.value[at]
        state.parent[vertex] = log.parent[at]
        state.level[vertex] = log.level[at]


Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

STATE = ADJACENCY
ORDERS = STATE + places(FixpointState)
READ = ORDERS + 1
"""Places of the block: graph, state, orders, and then what programs read."""


@joined_kernel
def kept_at(words: Int64) -> FixpointState:
    state: FixpointState = state_at(words, STATE, VALUE)
    return state


@joined_kernel
def context_at(words: Int64) -> Context:
    """What kernels read: the graph, and what the program reads."""
    return Context(adjacency_at(words, 0), words_from(words, READ))


@inner_kernel
def repair_at(words: Int64, delta: Delta, now: int, most: int) -> tuple[int, int]:
    """`repair` of what a block names: a call that hands over one array in place of thirty."""
    return repair(context_at(words), kept_at(words), delta, now, most)


@joined_kernel
def changed_first(state: FixpointState, count: int) -> int:
    """Sort the log so that those come first whose value is not what it was; how many they are."""
    log, changed = state.log, 0
    for at in range(count):
        if state.value[log.vertex[at]] != log.value[at]:
            swap_entries_of(log, changed, at)
            changed += 1
    return changed


@joined_kernel
def swap_entries_of(log: ChangeLog, one: int, other: int) -> None:
    log.vertex[one], log.vertex[other] = log.vertex[other], log.vertex[one]
    log.value[one], log.value[other] = log.value[other], log.value[one]
    log.parent[one], log.parent[other] = log.parent[other], log.parent[one]
    log.level[one], log.level[other] = log.level[other], log.level[one]


@lean_kernel
def follow(
    words: Int64, inserted: Int32, deleted: Int32, sources: Int32, targets: Int32
) -> tuple[int, int, int]:
    """Follow the graph to the version that it has been brought to.

    Returns entries logged, values changed, and edges touched: above what the orders allow if the
    work was broken off and undone.
    """
    state, delta = kept_at(words), Delta(inserted, deleted, sources, targets)
    orders = array_at(words, ORDERS, np.int64)
    count, touched = repair_at(words, delta, orders[NOW], orders[MOST])
    if touched > orders[MOST]:
        roll_back(state, state.log, count)
        return 0, 0, touched
    return count, changed_first(state, count), touched
