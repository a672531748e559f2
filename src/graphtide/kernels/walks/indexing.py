"""Make the index of pairs of a whole version: which pairs are joined, and by which edge each is
visited.
"""

from __future__ import annotations

from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.walks.pairs import FREE, direction_of, place_of, word_of
from graphtide.kernels.walks.records import (
    BACKWARD,
    DIRECT,
    EITHER,
    EXTRA_DIRECT,
    EXTRA_EITHER,
    FORWARD,
    NEEDS_DIRECT,
    NEEDS_EITHER,
    USED,
    Int64,
    PairIndex,
    walking_at,
)


@bare_kernel
def index_all(words: Int64, needs: int) -> None:
    """Enter all live edges of a graph into an empty index. O(vertices + edges)."""
    walking = walking_at(words, 0)
    graph, index, counts = walking.graph, walking.pairs, walking.counts
    for source in range(len(graph.out.live)):
        index_edges_of(graph, index, counts, source, needs)


@inner_kernel
def index_edges_of(
    graph: Adjacency, index: PairIndex, counts: Int64, source: int, needs: int
) -> None:
    """Enter the live edges that leave a vertex."""
    begin = graph.out.start[source]
    for place in range(begin, begin + graph.out.live[source]):
        enter_edge(
            index, counts, (source, graph.out.neighbour[place]), graph.out.edge[place], needs
        )


@joined_kernel
def enter_edge(
    index: PairIndex, counts: Int64, ends: tuple[int, int], edge: int, needs: int
) -> None:
    """Enter a live edge, and mark it if it is the first of its pair."""
    source, target = ends
    word = word_of(source, target)
    at = place_of(index.table, word)
    before = index.table[at]
    if before == FREE:
        counts[USED] += 1
        before = word
    bits = direction_of(source, target) if needs & NEEDS_DIRECT else FORWARD | BACKWARD
    mark = 0
    if needs & NEEDS_EITHER:
        if before & 3 == 0:
            mark |= EITHER
        else:
            counts[EXTRA_EITHER] += 1
    if needs & NEEDS_DIRECT:
        if before & bits != bits:
            mark |= DIRECT
        else:
            counts[EXTRA_DIRECT] += 1
    index.table[at] = before | bits
    index.marks[edge] = mark
