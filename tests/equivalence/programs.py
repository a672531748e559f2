"""Selecting programs that the equivalence tests run in every mode."""

from __future__ import annotations

import graphtide.lang.python as gt
from graphtide.lang.python import inf


@gt.program
class Hops:
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
class Components:
    label: int = 0
    best = gt.Min(int)
    direction = "both"

    def initialize(self, v):
        v.label = v.id

    def traverse(self, u, e, v):
        v.best(u.label)

    def update(self, v):
        v.label = min(v.label, v.best)


@gt.program
class WidestPaths:
    source: gt.Vertex
    width: float = 0.0
    best = gt.Max(float)

    def initialize(self, v):
        v.width = inf if v == self.source else 0.0

    def traverse(self, u, e, v):
        v.best(min(u.width, e.weight))

    def update(self, v):
        v.width = max(v.width, v.best)


@gt.program
class ReachedBy:
    sources: gt.Vertices
    reached: bool = False
    heard = gt.Or()
    direction = "in"

    def initialize(self, v):
        v.reached = v in self.sources

    def traverse(self, u, e, v):
        v.heard(u.reached)

    def update(self, v):
        v.reached = v.reached or v.heard


@gt.program
class GreatestLabels:
    label: int = 0
    best = gt.Max(int)
    direction = "both"

    def initialize(self, v):
        v.label = v.id

    def traverse(self, u, e, v):
        v.best(u.label)

    def update(self, v):
        v.label = max(v.label, v.best)


@gt.program
class HeadStarts:
    """Everybody starts, with something else, and all edges carry alike."""

    late: int = 0
    best = gt.Min(int)

    def initialize(self, v):
        v.late = 4 if v.id < 3 else (1 if v.id < 6 else 2)

    def traverse(self, u, e, v):
        v.best(u.late + 1)

    def update(self, v):
        v.late = min(v.late, v.best)


@gt.program
class Tolls:
    """What an edge carries depends on who sends."""

    source: gt.Vertex
    gates: gt.Vertices
    paid: int = 1000
    best = gt.Min(int)
    direction = "both"

    def initialize(self, v):
        v.paid = 0 if v == self.source else 1000

    def traverse(self, u, e, v):
        v.best(u.paid + (3 if u in self.gates else 1))

    def update(self, v):
        v.paid = min(v.paid, v.best)


SELECTING = (
    Hops,
    ShortestPaths,
    Components,
    WidestPaths,
    ReachedBy,
    GreatestLabels,
    HeadStarts,
    Tolls,
)
