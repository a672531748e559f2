"""Shortest paths by Graphsurge's made-up weights."""

import graphtide.lang.python as gt
from graphtide.lang.python import inf


@gt.program
class CappedPaths:
    """The least sum of weights that are made up of the ends of edges, as Graphsurge's `sssp`.

    The edge from u to v weighs (u + v) % weight_cap + 1, u and v being their numbers in the order
    of the input: `_ends` is their sum, which a run over a stored graph provides. Otherwise as
    ShortestPaths.
    """

    source: gt.Vertex
    weight_cap: int
    dist: float = inf
    best = gt.Min(float)
    _ends = gt.Property(int)

    def initialize(self, v):
        v.dist = 0.0 if v == self.source else inf

    def traverse(self, u, e, v):
        # The weight is never below 1; max says so to the proof, which does not look into %.
        v.best(u.dist + max(e._ends % self.weight_cap + 1.0, 1.0))

    def update(self, v):
        v.dist = min(v.dist, v.best)
