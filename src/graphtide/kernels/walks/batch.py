"""What a batch changed of pairs, edges and rows: taken in, written down, and undone.

The graph is already at its new version. A pair that loses the edge that it is visited by gets
another one, if there is one: among the edges that came, or, where the version before had parallel
edges at all, in the shorter slab of its two ends. O(batch) but for such a search.

What the batch replaces goes into the journal, from whose end it is undone.
"""

from __future__ import annotations

from graphtide.kernels.graph.adjacency import Adjacency, Slabs, goes_back
from graphtide.kernels.intrinsics import NEAR, prefetch
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.walks.pairs import FREE, direction_of, place_of, put_word, set_flags, word_of
from graphtide.kernels.walks.records import (
    BACKWARD,
    CHANGED,
    COUNTER,
    DIRECT,
    DIRECT_CAME,
    EDGE_CAME,
    EDGE_LEFT,
    EDGE_MARK,
    EITHER,
    EITHER_CAME,
    EXTRA_DIRECT,
    EXTRA_EITHER,
    FORWARD,
    GLOBAL_WORD,
    HIGHEST,
    INDEXED,
    JOURNALED,
    KIND_BITS,
    LEFT,
    LEFT_EDGE_IN,
    LEFT_EDGE_OUT,
    LEFT_EITHER,
    LEFT_IN,
    LEFT_OUT,
    NEEDS_DIRECT,
    NEEDS_EDGES,
    NEEDS_EITHER,
    PAIR_WORD,
    PAIRS,
    PARALLEL,
    SLOTS,
    STATE_WIDTH,
    STATE_WORD,
    SUM_WORD,
    USED,
    BatchChanges,
    Int32,
    Int64,
    Walking,
    note_word,
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
    counts[PAIRS], counts[SLOTS], counts[LEFT] = 0, 0, 0
    begin_journal(walking)
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
    counts[PARALLEL] += counts[EXTRA_DIRECT] + counts[EXTRA_EITHER]
    counts[INDEXED] = counts[JOURNALED]
    list_left(walking, deleted, sources[count:], targets[count:], needs)


@joined_kernel
def begin_journal(walking: Walking) -> None:
    """Begin the journal with words that belong to no vertex and no edge."""
    counts, highest = walking.counts, walking.ordered.highest_before
    counts[JOURNALED] = 0
    counts[PARALLEL] = counts[EXTRA_DIRECT] + counts[EXTRA_EITHER]
    note_word(walking, COUNTER, EXTRA_DIRECT, counts[EXTRA_DIRECT])
    note_word(walking, COUNTER, EXTRA_EITHER, counts[EXTRA_EITHER])
    for number in range(len(highest)):
        note_word(walking, HIGHEST, number, highest[number])
    for at in range(len(walking.globals.whole)):
        note_word(walking, GLOBAL_WORD, at, walking.globals.whole[at])


@joined_kernel
def ask_for_edge(walking: Walking, source: int, target: int) -> None:
    """Prefetch what an edge of the batch needs soon and in its terms."""
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
    """Note an edge, its ends and its pair as changed."""
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
    note_word(walking, EDGE_MARK, edge, walking.pairs.marks[edge])
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
    note_word(walking, PAIR_WORD, 0, word_of(low, high) | changed.old[rank])
    counts[USED] += set_flags(walking.pairs.table, (low, high), new, changed.known[rank])


@joined_kernel
def settle_direction(walking: Walking, rank: int, bits: int, new: int, parallel: bool) -> int:
    """Find out the same for one direction; returns how the pair is joined by what is known."""
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
    """Find out the same in either direction: 3 if the pair is joined, 0 if not."""
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
    """Count something that left a vertex; or, where `fills`, write it down."""
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
    """Clear all marks and slots that tell the old version from the new one."""
    changed, counts, marks = walking.changed, walking.counts, walking.pairs.marks
    for at in range(0, counts[INDEXED], 2):
        if walking.journal[at] & 7 == EDGE_MARK:
            marks[walking.journal[at] >> KIND_BITS] &= ~CHANGED & 255
    for slot in range(counts[SLOTS]):
        changed.slots[changed.vertex[slot]] = 0
    for rank in range(counts[PAIRS] - 1, -1, -1):
        changed.place[rank_place(changed, changed.low[rank], changed.high[rank])] = 0


@joined_kernel
def note_states(walking: Walking, vertex: int) -> None:
    """Write the state of a vertex into the journal, before it is settled."""
    width = walking.counts[STATE_WIDTH]
    for at in range(vertex * width, (vertex + 1) * width):
        note_word(walking, STATE_WORD, at, walking.states.whole[at])


@bare_kernel
def undo_journal(words: Int64, journal: Int64) -> None:
    """Put back what an advance replaced, the latest first; the graph may be at any version."""
    walking = walking_at(words, 0)
    counts = walking.counts
    for at in range(len(journal) - 2, -1, -2):
        kind, index = journal[at] & 7, journal[at] >> KIND_BITS
        if kind == PAIR_WORD:
            counts[USED] += 1 if put_word(walking.pairs.table, journal[at + 1], 0) == FREE else 0
        elif kind == EDGE_MARK:
            walking.pairs.marks[index] = journal[at + 1]
        elif kind == SUM_WORD:
            walking.sums.whole[index] = journal[at + 1]
        elif kind == STATE_WORD:
            walking.states.whole[index] = journal[at + 1]
        elif kind == GLOBAL_WORD:
            walking.globals.whole[index] = journal[at + 1]
        elif kind == COUNTER:
            counts[index] = journal[at + 1]
        else:
            walking.ordered.highest[index] = journal[at + 1]
    counts[PARALLEL] = counts[EXTRA_DIRECT] + counts[EXTRA_EITHER]
