"""Rings: cycles along edges whose times increase."""

from itertools import pairwise

import graphtide.lang.python as gt
from graphtide.lang.python import inf


@gt.program
class Rings:
    """Cycles of `length` different vertices along edges whose `time` increases from each to next.

    `rings` has a row for each: its vertices from the source of the first edge on, and the times of
    its first and last edge, which lie at most `within` apart. The first `most` rows are shown;
    `total` counts all. Edges are followed from src to dst, each parallel edge by itself; a loop is
    a ring of length 1. Walk mode: an advance costs the paths of that length through its edges that
    have increasing times.
    """

    length: int = 3
    within: float = inf
    most: int = 1_000_000
    total = gt.Global(gt.Count())
    rings = gt.Matches(
        member=gt.Columns(gt.Vertex, size="length"), first=float, last=float, limit="most"
    )

    def traverse(self, u):
        for v, path in u.out_edges.repeat(self.length):
            first = path.edges[0].time
            last = path.edges[-1].time
            increasing = all(a.time < b.time for a, b in pairwise(path.edges))
            closed = v == u and gt.distinct(path.vertices[1:])
            if closed and increasing and last - first <= self.within:
                self.total()
                self.rings(path.vertices[:-1], first, last)
