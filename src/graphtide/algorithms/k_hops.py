"""Neighbourhoods of a bounded number of hops."""

import graphtide.lang.python as gt
from graphtide.lang.python import inf


@gt.program
class KHops:
    """How many hops each vertex is away from the nearest source, up to `k` of them.

    `hops` is inf for what is further away. Exact mode with histories: the number of iterations
    counts. From scratch O(edges of what is reached); an advance costs the edges of the vertices
    whose hops change in some iteration.
    """

    sources: gt.Vertices
    k: int = 2
    hops: float = inf
    nearest = gt.Min(float)
    iterations = "k"

    def initialize(self, v):
        v.hops = 0.0 if v in self.sources else inf

    def traverse(self, u, e, v):
        v.nearest(u.hops + 1.0)

    def update(self, v):
        v.hops = min(v.hops, v.nearest)
