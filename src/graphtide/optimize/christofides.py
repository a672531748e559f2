"""The first chain: Christofides' tour over the views and the empty version.

A minimum spanning tree, plus a cheapest perfect matching of its points of odd degree, has a closed
walk over every edge; skipping points already seen makes it a tour of at most 1.5 times the best
one. Cut at the empty version it is a chain, and each direction is another chain of up to three
times the best one's differences (they differ by where they start).

The matching is exact up to EXACT_MATCHING odd points (it is O(n**3): 0.02 s for 156). Beyond that,
as with thousands of views at equal distances, it is greedy: the 1.5 is lost, but the chain is
improved afterwards anyhow.
"""

from __future__ import annotations

import numpy as np
import rustworkx

from graphtide.optimize.distances import Distances
from graphtide.optimize.tree import Numbers, Tree

EXACT_MATCHING = 400
"""Odd points up to which the matching is exact; 400 take about 0.3 s, 600 a second."""


def christofides_tour(distance: Distances, tree: Tree) -> Numbers:
    """All points but 0 in the order of the tour that starts and ends at 0.

    `tree` must be a minimum spanning tree of the distances.
    """
    below = np.arange(1, len(tree.parents))
    edges = np.stack([below, tree.parents[1:]], axis=1)
    degree = np.bincount(edges.ravel(), minlength=len(tree.parents))
    odd = np.flatnonzero(degree % 2)
    among = distance[np.ix_(odd, odd)]
    pairs = match_exactly(among) if len(odd) <= EXACT_MATCHING else match_greedily(among)
    walk = _closed_walk(np.concatenate([edges, odd[pairs]]), len(tree.parents))
    _, first_seen = np.unique(walk, return_index=True)
    return walk[np.sort(first_seen)][1:]


def match_exactly(distance: Distances) -> Numbers:
    """The perfect matching of least total distance, as pairs; the points must be even in number."""
    points = len(distance)
    if not points:
        return np.empty((0, 2), dtype=np.intp)
    left, right = np.triu_indices(points, 1)
    gain = (int(distance.max()) + 1 - distance[left, right].astype(np.int64)).tolist()
    graph = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(points))
    graph.add_edges_from(list(zip(left.tolist(), right.tolist(), gain, strict=True)))
    pairs = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return np.array(sorted(pairs), dtype=np.intp)


def match_greedily(distance: Distances) -> Numbers:
    """A perfect matching in O(n**2): those with the nearest partner choose first."""
    far = np.iinfo(np.int64).max
    wide = distance.astype(np.int64)
    np.fill_diagonal(wide, far)
    pairs: list[tuple[int, int]] = []
    free = np.ones(len(wide), dtype=np.bool_)
    for point in np.argsort(wide.min(axis=1, initial=far), kind="stable").tolist():
        if free[point]:
            free[point] = False
            partner = int(np.where(free, wide[point], far).argmin())
            free[partner] = False
            pairs.append((point, partner))
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def _closed_walk(edges: Numbers, points: int) -> Numbers:
    """A walk from 0 over every edge once and back (Hierholzer); all degrees must be even."""
    around: list[list[int]] = [[] for _ in range(points)]
    for number, (left, right) in enumerate(edges.tolist()):
        around[left].append(number)
        around[right].append(number)
    ends = edges.sum(axis=1).tolist()
    used = [False] * len(edges)
    path, walk = [0], []
    while path:
        point = path[-1]
        while around[point] and used[around[point][-1]]:
            around[point].pop()
        if around[point]:
            number = around[point].pop()
            used[number] = True
            path.append(ends[number] - point)
        else:
            walk.append(path.pop())
    return np.array(walk, dtype=np.intp)
