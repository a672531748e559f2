"""What a batch changed of pairs, edges and rows: taken in, written down, and undone.

The graph is already at its new version. A pair that loses the edge that it is visited by gets
another one, if there is one: among the edges that came, or, where the version before had parallel
edges at all, in the shorter slab of its two ends. O(batch) but for such a search.

All that it takes to undo an advance, and to say what changed, is one array:

    HEAD        how many of each there are, and how many edges were beside others before
    pairs       a word as in the table of pairs, with the bits that it had
    marks       an edge and the mark that it had, in the order in which they changed
    touched     a vertex, its row of accumulators as it was, its row of state as it was and as it is
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.graph.adjacency import Adjacency, Slabs, goes_back
from graphtide.kernels.intrinsics import NEAR, prefetch
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.walks.pairs import FREE, direction_of, place_of, put_word, set_flags, word_of
from graphtide.kernels.walks.records import (
    BACKWARD,
    CHANGED,
    DIRECT,
    DIRECT_CAME,
    EDGE_CAME,
    EDGE_LEFT,
    EITHER,
    EITHER_CAME,
    EXTRA_DIRECT,
    EXTRA_EITHER,
    FORWARD,
    LEFT,
    LEFT_EDGE_IN,
    LEFT_EDGE_OUT,
    LEFT_EITHER,
    LEFT_IN,
    LEFT_OUT,
    MARKED,
    NEEDS_DIRECT,
    NEEDS_EDGES,
    NEEDS_EITHER,
    OLD_DIRECT,
    OLD_EITHER,
    PAIRS,
    PARALLEL,
    SLOTS,
    STATE_WIDTH,
    SUMS_WIDTH,
    TOUCHED,
    USED,
    BatchChanges,
    Float64,
    Int32,
    Int64,
    Walking,
    walking_at,
)
from graphtide.kernels.walks.versions import ask_pair, rank_place

LOST_EITHER = 4
"""Beside FORWARD and BACKWARD, in `lost`: the edge that the pair is visited by has left."""


@inner_kernel
def take_batch(
    walking: Walking,
    inserted: Int32,
    deleted: Int32,
    sources: Int32,
    targets: Int32,
    needs: int,
) -> None:
    """Bring the index to the new version, and say what is different from the old one."""
    counts = walking.counts
    counts[PAIRS], counts[SLOTS], counts[LEFT], counts[MARKED] = 0, 0, 0, 0
    counts[OLD_DIRECT], counts[OLD_EITHER] = counts[EXTRA_DIRECT], counts[EXTRA_EITHER]
    count = len(inserted)
    parallel = counts[EXTRA_DIRECT] > 0, counts[EXTRA_EITHER] > 0
    for at in range(min(NEAR, len(sources))):
        ask_for_edge(walking, sources[at], targets[at])
    for at in range(len(sources)):
        if at + NEAR < len(sources):
            ask_for_edge(walking, sources[at + NEAR], targets[at + NEAR])
        if needs and at + NEAR < count:
            prefetch(walking.pairs.marks, inserted[at + NEAR])
        elif needs and at >= count and at - count + NEAR < len(deleted):
            prefetch(walking.pairs.marks, deleted[at - count + NEAR])
        edge = inserted[at] if at < count else deleted[at - count]
        note_edge(walking, (sources[at], targets[at]), edge, (at < count, needs))
    for rank in range(counts[PAIRS]):
        settle_pair(walking, rank, needs, parallel)
    extra = counts[EXTRA_DIRECT] + counts[EXTRA_EITHER]
    counts[PARALLEL] = counts[OLD_DIRECT] + counts[OLD_EITHER] + extra
    list_left(walking, deleted, sources[count:], targets[count:], needs)


@joined_kernel
def ask_for_edge(walking: Walking, source: int, target: int) -> None:
    """Ask for what an edge of the batch will need, soon and in its terms."""
    prefetch(walking.changed.slots, source)
    prefetch(walking.changed.slots, target)
    ask_pair(walking, source, target)
    for slabs in (walking.graph.out, walking.graph.into):
        prefetch(slabs.start, source)
        prefetch(slabs.start, target)
        prefetch(slabs.live, source)
        prefetch(slabs.live, target)


@joined_kernel
def slot_of(changed: BatchChanges, counts: Int64, vertex: int) -> int:
    """The slot of a vertex, which gets one if it has none."""
    if changed.slots[vertex] == 0:
        slot = counts[SLOTS]
        changed.vertex[slot] = vertex
        changed.out_more[slot] = 0
        changed.into_more[slot] = 0
        changed.pairs_at[slot] = 0
        counts[SLOTS] = slot + 1
        changed.slots[vertex] = slot + 1
    return int(changed.slots[vertex] - 1)


@joined_kernel
def note_edge(walking: Walking, ends: tuple[int, int], edge: int, how: tuple[bool, int]) -> None:
    """Take an edge down as changed, with its ends and its pair."""
    changed, counts, index = walking.changed, walking.counts, walking.pairs
    (source, target), (came, needs) = ends, how
    one, other = slot_of(changed, counts, source), slot_of(changed, counts, target)
    changed.out_more[one] += 1 if came else -1
    if goes_back(walking.graph, edge, source, target):
        changed.into_more[other] += 1 if came else -1
    if needs == 0:
        return
    if needs & (NEEDS_DIRECT | NEEDS_EITHER) == 0:
        note_mark(walking, edge, EDGE_CAME if came else EDGE_LEFT)
        return
    rank = rank_for(walking, source, target)
    direction = direction_of(source, target) if needs & NEEDS_DIRECT else FORWARD | BACKWARD
    if came:
        note_mark(walking, edge, EDGE_CAME)
        counts[EXTRA_DIRECT] += 1 if needs & NEEDS_DIRECT else 0
        counts[EXTRA_EITHER] += 1 if needs & NEEDS_EITHER else 0
        if direction & FORWARD:
            changed.fresh_forward[rank] = edge
        if direction & BACKWARD:
            changed.fresh_backward[rank] = edge
        return
    mark = index.marks[edge]
    if mark & DIRECT:
        changed.lost[rank] |= direction
    elif needs & NEEDS_DIRECT:
        counts[EXTRA_DIRECT] -= 1
    if mark & EITHER:
        changed.lost[rank] |= LOST_EITHER
    elif needs & NEEDS_EITHER:
        counts[EXTRA_EITHER] -= 1
    note_mark(walking, edge, EDGE_LEFT)


@joined_kernel
def note_mark(walking: Walking, edge: int, mark: int) -> None:
    """Mark an edge, and remember the mark that it had."""
    changed, at = walking.changed, walking.counts[MARKED]
    changed.marked[at] = edge
    changed.before[at] = walking.pairs.marks[edge]
    walking.counts[MARKED] = at + 1
    walking.pairs.marks[edge] = mark


@joined_kernel
def rank_for(walking: Walking, one: int, other: int) -> int:
    """The rank of a changed pair, which gets one if it has none."""
    changed, counts = walking.changed, walking.counts
    place = rank_place(changed, one, other)
    if changed.place[place] == 0:
        rank = counts[PAIRS]
        changed.low[rank], changed.high[rank] = min(one, other), max(one, other)
        known = place_of(walking.pairs.table, word_of(one, other))
        changed.known[rank] = known
        changed.old[rank] = 0 if known < 0 else walking.pairs.table[known] & 3
        changed.fresh_forward[rank], changed.fresh_backward[rank] = -1, -1
        changed.lost[rank] = 0
        counts[PAIRS] = rank + 1
        changed.place[place] = rank + 1
        note_partner(changed, one, other)
        note_partner(changed, other, one)
    return int(changed.place[place] - 1)


@joined_kernel
def note_partner(changed: BatchChanges, vertex: int, partner: int) -> None:
    """Count a changed pair at one of its ends; a self-loop counts as two."""
    slot = changed.slots[vertex] - 1
    changed.pairs_at[slot] += 1
    changed.partner[slot] = partner


@joined_kernel
def settle_pair(walking: Walking, rank: int, needs: int, parallel: tuple[bool, bool]) -> None:
    """Find out how a touched pair is joined now, and by which edges it is visited.

    `parallel` says whether the old version had edges beside those that pairs are visited by.
    """
    changed, counts = walking.changed, walking.counts
    low, high = changed.low[rank], changed.high[rank]
    new = changed.old[rank] & ~(changed.lost[rank] & 3)
    if needs & NEEDS_DIRECT:
        if low == high:
            new = settle_direction(walking, rank, FORWARD | BACKWARD, new, parallel[0])
        else:
            new = settle_direction(walking, rank, FORWARD, new, parallel[0])
            new = settle_direction(walking, rank, BACKWARD, new, parallel[0])
    if needs & NEEDS_EITHER:
        either = settle_either(walking, rank, parallel[1])
        if needs & NEEDS_DIRECT == 0:
            new = either
    changed.new[rank] = new
    counts[USED] += set_flags(walking.pairs.table, (low, high), new, changed.known[rank])


@joined_kernel
def settle_direction(walking: Walking, rank: int, bits: int, new: int, parallel: bool) -> int:
    """The same for one direction; returns how the pair is joined as far as that is known."""
    changed, counts = walking.changed, walking.counts
    forward = bits & FORWARD != 0
    source = changed.low[rank] if forward else changed.high[rank]
    target = changed.high[rank] if forward else changed.low[rank]
    fresh = changed.fresh_forward[rank] if forward else changed.fresh_backward[rank]
    if new & bits:
        return new
    edge = fresh
    if edge < 0 and parallel and changed.old[rank] & bits:
        edge = find_edge(walking.graph, source, target)
    if edge < 0:
        return new
    mark = DIRECT if changed.old[rank] & bits else DIRECT | DIRECT_CAME
    note_mark(walking, edge, walking.pairs.marks[edge] | mark)
    counts[EXTRA_DIRECT] -= 1
    return new | bits


@joined_kernel
def settle_either(walking: Walking, rank: int, parallel: bool) -> int:
    """The same whatever the direction: 3 if the pair is joined, 0 if not."""
    changed, counts = walking.changed, walking.counts
    old = changed.old[rank]
    if old != 0 and changed.lost[rank] & LOST_EITHER == 0:
        return FORWARD | BACKWARD
    edge = max(changed.fresh_forward[rank], changed.fresh_backward[rank])
    if edge < 0 and parallel and old != 0:
        low, high = changed.low[rank], changed.high[rank]
        edge = find_edge(walking.graph, low, high)
        if edge < 0:
            edge = find_edge(walking.graph, high, low)
    if edge < 0:
        return 0
    mark = EITHER if old else EITHER | EITHER_CAME
    note_mark(walking, edge, walking.pairs.marks[edge] | mark)
    counts[EXTRA_EITHER] -= 1
    return FORWARD | BACKWARD


@inner_kernel
def find_edge(graph: Adjacency, source: int, target: int) -> int:
    """A live edge between two vertices, in the shorter slab; -1 if there is none."""
    if source == target or graph.out.live[source] <= graph.into.live[target]:
        return find_entry(graph.out, source, target)
    return find_entry(graph.into, target, source)


@joined_kernel
def find_entry(slabs: Slabs, vertex: int, neighbour: int) -> int:
    """The first live edge of a slab that leads to a neighbour; -1 if there is none."""
    begin = slabs.start[vertex]
    for place in range(begin, begin + slabs.live[vertex]):
        if slabs.neighbour[place] == neighbour:
            return int(slabs.edge[place])
    return -1


@inner_kernel
def list_left(walking: Walking, deleted: Int32, sources: Int32, targets: Int32, needs: int) -> None:
    """List what left each slot: first how much, then what."""
    changed, counts = walking.changed, walking.counts
    for slot in range(counts[SLOTS] + 1):
        changed.left_start[slot] = 0
    for fills in range(2):
        for rank in range(counts[PAIRS]):
            list_pair(changed, rank, needs, fills == 1)
        if needs & NEEDS_EDGES:
            for at in range(len(deleted)):
                leave(
                    changed, sources[at], (targets[at], deleted[at], 0), LEFT_EDGE_OUT, fills == 1
                )
                if goes_back(walking.graph, deleted[at], sources[at], targets[at]):
                    leave(
                        changed,
                        targets[at],
                        (sources[at], deleted[at], 0),
                        LEFT_EDGE_IN,
                        fills == 1,
                    )
        if fills == 0:
            total = 0
            for slot in range(counts[SLOTS] + 1):
                total += changed.left_start[slot]
                changed.left_start[slot] = total
            counts[LEFT] = total


@joined_kernel
def list_pair(changed: BatchChanges, rank: int, needs: int, fills: bool) -> None:
    """List a pair that is joined no more, in the ways that the program asks for."""
    low, high = changed.low[rank], changed.high[rank]
    old, new = changed.old[rank], changed.new[rank]
    if old == new:
        return
    if needs & NEEDS_EITHER and old and not new:
        leave(changed, low, (high, -1, rank), LEFT_EITHER, fills)
        if low != high:
            leave(changed, high, (low, -1, rank), LEFT_EITHER, fills)
    if needs & NEEDS_DIRECT:
        if old & ~new & FORWARD:
            leave(changed, low, (high, -1, rank), LEFT_OUT, fills)
            leave(changed, high, (low, -1, rank), LEFT_IN, fills)
        if old & ~new & BACKWARD and low != high:
            leave(changed, high, (low, -1, rank), LEFT_OUT, fills)
            leave(changed, low, (high, -1, rank), LEFT_IN, fills)


@joined_kernel
def leave(
    changed: BatchChanges, vertex: int, what: tuple[int, int, int], kind: int, fills: bool
) -> None:
    """Count something that left a vertex; or write it down, at the end of what is counted."""
    slot = changed.slots[vertex] - 1
    if not fills:
        changed.left_start[slot] += 1
        return
    neighbour, edge, rank = what
    at = changed.left_start[slot] - 1
    changed.left_start[slot] = at
    changed.left_vertex[at] = neighbour
    changed.left_edge[at] = edge
    changed.left_rank[at] = rank
    changed.left_kind[at] = kind


@inner_kernel
def clear_batch(walking: Walking) -> None:
    """Take back all that tells the old version from the new one."""
    changed, counts, marks = walking.changed, walking.counts, walking.pairs.marks
    for at in range(counts[MARKED]):
        marks[changed.marked[at]] &= ~CHANGED & 255
    for slot in range(counts[SLOTS]):
        changed.slots[changed.vertex[slot]] = 0
    for rank in range(counts[PAIRS] - 1, -1, -1):
        changed.place[rank_place(changed, changed.low[rank], changed.high[rank])] = 0


LOGGED_PAIRS, LOGGED_MARKS, LOGGED_TOUCHED, LOGGED_DIRECT, LOGGED_EITHER = range(5)
HEAD = 5
_BYTE = 8


@bare_kernel
def write_log(words: Int64, log: Int64) -> int:
    """Write down what changed of the index, if there is room; how many words it takes.

    For runs that keep rows of vertices elsewhere.
    """
    walking = walking_at(words, 0)
    size = log_size(walking)
    if size <= len(log):
        write_index(walking, log)
    return size


@joined_kernel
def log_size(walking: Walking) -> int:
    """How many words the log of an advance takes."""
    counts = walking.counts
    row = 1 + counts[SUMS_WIDTH] + 2 * counts[STATE_WIDTH]
    return int(HEAD + counts[PAIRS] + counts[MARKED] + counts[TOUCHED] * row)


@joined_kernel
def write_index(walking: Walking, log: Int64) -> int:
    """The head, and pairs and marks as they were; returns where the first vertex comes."""
    changed, counts = walking.changed, walking.counts
    log[LOGGED_PAIRS], log[LOGGED_MARKS] = counts[PAIRS], counts[MARKED]
    log[LOGGED_TOUCHED] = counts[TOUCHED]
    log[LOGGED_DIRECT], log[LOGGED_EITHER] = counts[OLD_DIRECT], counts[OLD_EITHER]
    at = HEAD
    for rank in range(counts[PAIRS]):
        log[at + rank] = word_of(changed.low[rank], changed.high[rank]) | changed.old[rank]
    at += counts[PAIRS]
    for mark in range(counts[MARKED]):
        edge = np.int64(changed.marked[mark])
        log[at + mark] = (edge << _BYTE) | changed.before[mark]
    return int(at + counts[MARKED])


@joined_kernel
def write_before(walking: Walking, log: Int64, at: int, entry: int) -> int:
    """A touched vertex with the rows that it had; returns where its new state comes.

    Its accumulators have changed already, its state has not.
    """
    touched, counts = walking.touched, walking.counts
    sums = counts[SUMS_WIDTH]
    log[at] = touched.vertex[entry]
    at += 1
    for word in range(sums):
        log[at + word] = touched.sums[entry * sums + word]
    return write_state(walking, log, int(at + sums), touched.vertex[entry])


@joined_kernel
def write_state(walking: Walking, log: Int64, at: int, vertex: int) -> int:
    """The row of state of a vertex as it is; returns where the next comes."""
    states = walking.counts[STATE_WIDTH]
    for word in range(states):
        log[at + word] = walking.states.whole[vertex * states + word]
    return int(at + states)


@bare_kernel
def tell_field(log: Int64, reals: Float64, shape: Int64, vertices: Int32, words: Int64) -> int:
    """Write down the vertices at which a field differs, and its old and new words; how many.

    `shape` is where the old field stands behind its vertex, how far behind it the new one is, how
    far the next vertex, and 1 for a float: NaN is the same as NaN.
    """
    place, width, row, real = shape[0], shape[1], shape[2], shape[3] == 1
    count, touched = 0, len(vertices)
    first = len(log) - touched * row
    length = len(words) // (2 * touched)
    for entry in range(touched):
        at, differs = first + entry * row + place, False
        for word in range(at, at + length):
            if real:
                one, other = reals[word], reals[word + width]
                differs |= one != other and (one == one or other == other)
            else:
                differs |= log[word] != log[word + width]
        if differs:
            vertices[count] = log[first + entry * row]
            for word in range(length):
                words[count * length + word] = log[at + word]
                words[(touched + count) * length + word] = log[at + width + word]
            count += 1
    return count


@bare_kernel
def undo_log(words: Int64, log: Int64) -> None:
    """Give the index and all vertices what they had; the graph may be at any version by now."""
    walking = walking_at(words, 0)
    counts, index = walking.counts, walking.pairs
    sums, states = counts[SUMS_WIDTH], counts[STATE_WIDTH]
    at = HEAD
    for rank in range(log[LOGGED_PAIRS]):
        word = put_word(index.table, log[at + rank], 0)
        counts[USED] += 1 if word == FREE else 0
    at += log[LOGGED_PAIRS]
    for mark in range(log[LOGGED_MARKS] - 1, -1, -1):
        index.marks[log[at + mark] >> _BYTE] = log[at + mark] & 255
    at += log[LOGGED_MARKS]
    for _ in range(log[LOGGED_TOUCHED]):
        vertex = log[at]
        at += 1
        for word in range(sums):
            walking.sums.whole[vertex * sums + word] = log[at + word]
        at += sums
        for word in range(states):
            walking.states.whole[vertex * states + word] = log[at + word]
        at += 2 * states
    counts[EXTRA_DIRECT], counts[EXTRA_EITHER] = log[LOGGED_DIRECT], log[LOGGED_EITHER]
    counts[PARALLEL] = counts[EXTRA_DIRECT] + counts[EXTRA_EITHER]
