"""Shortest paths by edge weight, from one source or from the nearest of several."""

import graphtide.lang.python as gt
from graphtide.lang.python import inf


@gt.program
class ShortestPaths:
    """The least sum of `weight` on a way from the source to each vertex.

    `dist` is inf where there is no way. Weights are not negative. Fixpoint mode. From scratch
    O(edges log vertices); an advance costs the edges of the vertices whose distance changes or
    loses its support.
    """

    source: gt.Vertex
    dist: float = inf
    best = gt.Min(float)

    def initialize(self, v):
        v.dist = 0.0 if v == self.source else inf

    def traverse(self, u, e, v):
        v.best(u.dist + e.weight)

    def update(self, v):
        v.dist = min(v.dist, v.best)


@gt.program
class NearestSource:
    """The least sum of `weight` on a way from any of the sources to each vertex.

    `dist` is inf where there is no way. Weights are not negative. Mode and cost are those of
    ShortestPaths.
    """

    sources: gt.Vertices
    dist: float = inf
    best = gt.Min(float)

    def initialize(self, v):
        v.dist = 0.0 if v in self.sources else inf

    def traverse(self, u, e, v):
        v.best(u.dist + e.weight)

    def update(self, v):
        v.dist = min(v.dist, v.best)
