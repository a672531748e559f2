"""Make the index of pairs of a whole version: which pairs are joined, and by which edge each is
visited.
"""

from __future__ import annotations

from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
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

AHEAD, FIRST = 4, 8
"""So many vertices ahead, the places of so many of its pairs are asked for: every pair waits for
memory otherwise."""


@bare_kernel
def index_all(words: Int64, needs: int) -> None:
    """Enter all live edges of a graph into an empty index. O(vertices + edges)."""
    walking = walking_at(words, 0)
    graph, index, counts = walking.graph, walking.pairs, walking.counts
    for source in range(min(AHEAD, len(graph.out.live))):
        ask_for_first(graph, index, source)
    for source in range(len(graph.out.live)):
        if source + AHEAD < len(graph.out.live):
            ask_for_first(graph, index, source + AHEAD)
        index_edges_of(graph, index, counts, source, needs)
    counts[PARALLEL] = counts[EXTRA_DIRECT] + counts[EXTRA_EITHER]


@joined_kernel
def ask_for_first(graph: Adjacency, index: PairIndex, source: int) -> None:
    """Ask for the places of the first pairs of a vertex."""
    begin = graph.out.start[source]
    for place in range(begin, begin + min(graph.out.live[source], FIRST)):
        ask_for_pair(graph, index, source, place)


@joined_kernel
def ask_for_pair(graph: Adjacency, index: PairIndex, source: int, place: int) -> None:
    """Ask for the place of the pair that an entry of a slab stands for."""
    word = word_of(source, graph.out.neighbour[place])
    prefetch(index.table, first_place(index.table, word))


@inner_kernel
def index_edges_of(
    graph: Adjacency, index: PairIndex, counts: Int64, source: int, needs: int
) -> None:
    """Enter the live edges that leave a vertex."""
    begin = graph.out.start[source]
    end = begin + graph.out.live[source]
    for place in range(begin, end):
        if place + FIRST < end:
            ask_for_pair(graph, index, source, place + FIRST)
        enter_edge(
            index, counts, (source, graph.out.neighbour[place]), graph.out.edge[place], needs
        )


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
