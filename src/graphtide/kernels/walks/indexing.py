"""Make the index of pairs of a whole version: which pairs are joined, and by which edge each is
visited.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.jit import bare_kernel, joined_kernel
from graphtide.kernels.prefetch import prefetch
from graphtide.kernels.walks.pairs import FREE, direction_of, first_place, put_word, word_of
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
    """Ask for the place of the next pair, and say how far that came.

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
