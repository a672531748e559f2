"""Widest paths: the greatest bottleneck."""

import graphtide.lang.python as gt
from graphtide.lang.python import inf


@gt.program
class WidestPath:
    """The greatest width of a way from the source, which is as wide as its least `weight`.

    `width` is inf for the source and -inf where there is no way. Fixpoint mode. Cost is that of
    ShortestPaths.
    """

    source: gt.Vertex
    width: float
    widest = gt.Max(float)

    def initialize(self, v):
        v.width = inf if v == self.source else -inf

    def traverse(self, u, e, v):
        v.widest(min(u.width, e.weight))

    def update(self, v):
        v.width = max(v.width, v.widest)
