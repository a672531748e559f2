"""Ways from vertices to vertices: whether there is one, how many edges it has, what it weighs."""

from __future__ import annotations

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


@gt.program
class Reachability:
    """Whether there is a way to each vertex from any of the sources, which reach themselves.

    Fixpoint mode. From scratch O(vertices + edges); an advance costs the edges of the vertices
    whose answer changes or loses its support.
    """

    sources: gt.Vertices
    reached: bool
    heard = gt.Or()

    def initialize(self, v):
        v.reached = v in self.sources

    def traverse(self, u, e, v):
        v.heard(u.reached)

    def update(self, v):
        v.reached = v.reached or v.heard


@gt.program
class Ancestors:
    """Whether there is a way from each vertex to any of the targets: Reachability backwards."""

    targets: gt.Vertices
    reaches: bool
    heard = gt.Or()
    direction = "in"

    def initialize(self, v):
        v.reaches = v in self.targets

    def traverse(self, u, e, v):
        v.heard(u.reaches)

    def update(self, v):
        v.reaches = v.reaches or v.heard


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
