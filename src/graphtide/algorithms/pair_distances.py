"""Shortest paths between pairs of vertices, by edge weight or by the number of edges."""

import graphtide.lang.python as gt
from graphtide.lang.python import inf


@gt.program
class PairDistances:
    """The least sum of `weight` on a way from the source of each pair to its target.

    `distance` is inf where there is no way; there is one a pair, not one a vertex. Weights are
    not negative. Fixpoint mode. Pairs with the same source share all work: memory, a run from
    scratch and an advance are those of ShortestPaths, once a distinct source.
    """

    pairs: gt.Pairs
    distance: float = inf
    best = gt.Min(float)

    def initialize(self, v):
        v.distance = 0.0 if v == self.pairs.source else inf

    def traverse(self, u, e, v):
        v.best(u.distance + e.weight)

    def update(self, v):
        v.distance = min(v.distance, v.best)


@gt.program
class PairHops:
    """The number of edges on a shortest way from the source of each pair to its target.

    `distance` is inf where there is no way, and there is one a pair. Mode and cost are
    those of BFS, once a distinct source.
    """

    pairs: gt.Pairs
    distance: float = inf
    best = gt.Min(float)

    def initialize(self, v):
        v.distance = 0.0 if v == self.pairs.source else inf

    def traverse(self, u, e, v):
        v.best(u.distance + 1.0)

    def update(self, v):
        v.distance = min(v.distance, v.best)
