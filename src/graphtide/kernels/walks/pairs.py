"""The pairs of vertices that edges join: a hash table of them, made for a version and kept current.

A word of the table is the lower vertex, the higher one, and two bits that say how they are joined.
A pair that is joined no more keeps its place with both bits 0, because it may come back; a table
that is made anew leaves such pairs out. Each pair is visited by one of its edges, which is marked.

Places are found by multiplying and not by masking, so that a table has as many as it needs: with
seven of eight taken at most, 9.7 bytes a pair. Pairs that are in each other's way stand in the
order of the places where they are looked for first (Robin Hood hashing). So most questions about
pairs that are not joined end after a few words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.intrinsics import prefetch
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.walks.records import (
    BACKWARD,
    DIRECT,
    EITHER,
    EXTRA_DIRECT,
    EXTRA_EITHER,
    FORWARD,
    NEEDS_DIRECT,
    NEEDS_EITHER,
    PARALLEL,
    USED,
    Int64,
    PairIndex,
    walking_at,
)

FREE = np.int64(-1)
NOWHERE = np.int64(-1)
_MIX = np.int64(-7046029254386353131)  # 2^64 over the golden ratio
_LOW32 = np.int64(0xFFFFFFFF)
_PAIR = np.int64(-4)


def places_for(pairs: int) -> int:
    return 8 * pairs // 7 + 64


def pairs_within(places: int) -> int:
    return 7 * (places - 64) // 8


@joined_kernel
def word_of(one: int, other: int) -> Any:
    """The word of a pair that is joined in no way."""
    low, high = np.int64(min(one, other)), np.int64(max(one, other))
    return (low << np.int64(33)) | (high << np.int64(2))


@joined_kernel
def first_place(table: Int64, word: Any) -> Any:
    """Where a pair is looked for first."""
    hashed = ((word >> np.int64(2)) * _MIX >> np.int64(32)) & _LOW32
    return (hashed * np.int64(len(table))) >> np.int64(32)


@joined_kernel
def distance(table: Int64, place: int, word: Any) -> Any:
    """How many places a word stands behind the first place where it is looked for."""
    found = np.int64(place) - first_place(table, word & _PAIR)
    return found if found >= 0 else found + np.int64(len(table))


@joined_kernel
def found_word(table: Int64, pair: Any) -> Any:
    """The word of a pair; FREE if the table lacks the pair."""
    place = place_of(table, pair)
    return FREE if place < 0 else table[place]


@joined_kernel
def place_of(table: Int64, pair: Any) -> Any:
    """The place of a pair's word; NOWHERE if the table lacks the pair."""
    place, steps = first_place(table, pair), np.int64(0)
    while True:
        word = table[place]
        if (word & _PAIR) == pair:
            return place
        if word == FREE or (steps > 0 and distance(table, place, word) < steps):
            return NOWHERE
        steps += 1
        place += 1
        if place == len(table):
            place = np.int64(0)


@inner_kernel
def put_word(table: Int64, given: Any, kept: int) -> Any:
    """Put a word in place of that of its pair, or among the others; returns what stood there.

    Of the bits of the earlier word, those in `kept` stay. Where there is none (FREE is returned), a
    place more is taken: all from the first that is looked for further on move up by one.
    """
    given, place = np.int64(given), first_place(table, given & _PAIR)
    steps = np.int64(0)
    while table[place] != FREE:
        word = table[place]
        if (word & _PAIR) == (given & _PAIR):
            table[place] = given | (word & np.int64(kept))
            return word
        if distance(table, place, word) < steps:
            break
        steps += 1
        place += 1
        if place == len(table):
            place = np.int64(0)
    move_up(table, place)
    table[place] = given
    return FREE


@joined_kernel
def move_up(table: Int64, place: Any) -> None:
    """Move the words from a place up to the next free one by one place; their order stays.

    Some thirty words where seven of eight places are taken, so that nobody asks for their hashes.
    """
    carried, at = table[place], place
    while carried != FREE:
        at += 1
        if at == len(table):
            at = np.int64(0)
        word = table[at]
        table[at] = carried
        carried = word


@joined_kernel
def set_flags(table: Int64, ends: tuple[int, int], flags: int, place: int) -> int:
    """Say how two vertices are joined; 1 if the pair took a place of its own.

    `place` is where the pair stood, or NOWHERE: others that came may have moved it up since.
    """
    pair = word_of(ends[0], ends[1])
    if place >= 0 and (table[place] & _PAIR) == pair:
        table[place] = pair | flags
        return 0
    return 1 if put_word(table, pair | flags, 0) == FREE else 0


@bare_kernel
def copy_pairs(table: Int64, larger: Int64) -> int:
    """Take over all pairs that are joined; how many these are."""
    count = 0
    for at in range(len(table)):
        word = table[at]
        if word != FREE and word & 3 != 0:
            put_word(larger, word, 0)
            count += 1
    return count


@joined_kernel
def direction_of(source: int, target: int) -> int:
    """The bits of a pair that an edge from one vertex to another sets."""
    if source == target:
        return FORWARD | BACKWARD
    return FORWARD if source < target else BACKWARD


AHEAD = 16
"""The place of the pair that comes so many later is asked for: every pair waits for memory
otherwise. Asked for by vertex, pairs of vertices with few edges still waited."""


@bare_kernel
def index_all(words: Int64, needs: int) -> None:
    """Enter all live edges of a graph into an empty index. O(vertices + edges)."""
    walking = walking_at(words, 0)
    slabs, index, counts = walking.graph.out, walking.pairs, walking.counts
    reached = 0, 0, np.int64(0)
    for _ in range(AHEAD):
        reached = ask_for_next(slabs, index, reached)
    for source in range(len(slabs.live)):
        begin = slabs.start[source]
        for place in range(begin, begin + slabs.live[source]):
            reached = ask_for_next(slabs, index, reached)
            ends = source, slabs.neighbour[place]
            enter_edge(index, counts, ends, slabs.edge[place], needs)
    counts[PARALLEL] = counts[EXTRA_DIRECT] + counts[EXTRA_EITHER]


@joined_kernel
def ask_for_next(slabs: Slabs, index: PairIndex, reached: Any) -> Any:
    """Prefetch the place of the next pair; returns how far that came.

    `reached` is the next vertex, and of the one before it how many entries are left, from where.
    """
    vertex, left, place = reached
    while left == 0:
        if vertex == len(slabs.live):
            return vertex, left, place
        left, place = int(slabs.live[vertex]), np.int64(slabs.start[vertex])
        vertex += 1
    word = word_of(vertex - 1, slabs.neighbour[place])
    prefetch(index.table, first_place(index.table, word))
    prefetch(index.marks, slabs.edge[place])
    return vertex, left - 1, place + 1


@joined_kernel
def enter_edge(
    index: PairIndex, counts: Int64, ends: tuple[int, int], edge: int, needs: int
) -> None:
    """Enter a live edge, and mark it if it is the first of its pair."""
    source, target = ends
    bits = direction_of(source, target) if needs & NEEDS_DIRECT else FORWARD | BACKWARD
    found = put_word(index.table, word_of(source, target) | bits, FORWARD | BACKWARD)
    counts[USED] += 1 if found == FREE else 0
    before = 0 if found == FREE else found & (FORWARD | BACKWARD)
    mark = 0
    if needs & NEEDS_EITHER:
        if before == 0:
            mark |= EITHER
        else:
            counts[EXTRA_EITHER] += 1
    if needs & NEEDS_DIRECT:
        if before & bits != bits:
            mark |= DIRECT
        else:
            counts[EXTRA_DIRECT] += 1
    index.marks[edge] = mark
