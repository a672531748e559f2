"""The programs that the engine is measured with."""

from __future__ import annotations

from typing import Any

import graphtide.lang.python as gt
from graphtide.lang.python import inf
from graphtide.plan.programs import VertexProgram


def plan_of(program: Any) -> VertexProgram:
    """The plan that the decorator has read from a class."""
    plan: VertexProgram = program.plan
    return plan


@gt.program
class BFS:
    source: gt.Vertex
    hops: float = inf
    best = gt.Min(float)

    def initialize(self, v):  # type: ignore[no-untyped-def]
        v.hops = 0.0 if v == self.source else inf

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        v.best(u.hops + 1.0)

    def update(self, v):  # type: ignore[no-untyped-def]
        v.hops = min(v.hops, v.best)


@gt.program
class ShortestPaths:
    source: gt.Vertex
    dist: float = inf
    best = gt.Min(float)

    def initialize(self, v):  # type: ignore[no-untyped-def]
        v.dist = 0.0 if v == self.source else inf

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        v.best(u.dist + e.weight)

    def update(self, v):  # type: ignore[no-untyped-def]
        v.dist = min(v.dist, v.best)


@gt.program
class WCC:
    label: int = 0
    best = gt.Min(int)
    direction = "both"

    def initialize(self, v):  # type: ignore[no-untyped-def]
        v.label = v.id

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        v.best(u.label)

    def update(self, v):  # type: ignore[no-untyped-def]
        v.label = min(v.label, v.best)
