"""Breadth-first search."""

import graphtide.lang.python as gt
from graphtide.lang.python import inf


@gt.program
class BFS:
    """The number of edges on a shortest way from the source to each vertex.

    `hops` is inf where there is no way. Fixpoint mode. From scratch O(vertices + edges); an
    advance costs the edges of the vertices whose hops change or lose their support.
    """

    source: gt.Vertex
    hops: float = inf
    best = gt.Min(float)

    def initialize(self, v):
        v.hops = 0.0 if v == self.source else inf

    def traverse(self, u, e, v):
        v.best(u.hops + 1.0)

    def update(self, v):
        v.hops = min(v.hops, v.best)
