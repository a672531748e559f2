"""Programs that add up and settle, each with what it means in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import graphtide as gt
from graphtide.algorithms import ConvergedPageRank
from tests.oracle.settled import Share


@gt.program
class FavouredRank:
    """Some vertices have more of their own than others."""

    sources: gt.Vertices
    damping: float = 0.6
    tolerance: float = 1e-6
    rank: float = 5.0
    total = gt.Sum(float)

    def traverse(self, u, e, v):
        v.total(self.damping * u.rank / u.out_degree)

    def update(self, v):
        own = 1.0 if v in self.sources else 0.01
        v.rank = own + v.total


@gt.program
class LazyInfluence:
    """Backwards along edges, a part of it staying where it is."""

    tolerance: float = 1e-6
    influence: float
    total = gt.Sum(float)
    direction = "in"

    def traverse(self, u, e, v):
        sent = u.influence * (1.0 / (u.in_degree + 2))
        v.total(sent)

    def update(self, v):
        v.influence = (v.total + 0.5) * 0.9 + 0.1


@gt.program
class SpreadBothWays:
    """Both ways along edges, the more the later a vertex came."""

    factor: float = 0.95
    tolerance: float = 1e-6
    heat: float = 1.0
    total = gt.Sum(float)
    direction = "both"

    def initialize(self, v):
        v.heat = float(v.id)

    def traverse(self, u, e, v):
        v.total(u.heat / max(u.degree, 1))

    def update(self, v):
        v.heat = 1.0 + 0.25 * v.id - (-self.factor) * v.total


@gt.program
class SharedByDegree:
    """Forwards, but the in-edges of a vertex take their part, too."""

    tolerance: float = 1e-6
    weight: float = 0.0
    total = gt.Sum(float)

    def traverse(self, u, e, v):
        v.total(2.0 * u.weight / u.degree)

    def update(self, v):
        v.weight = 3.0 + v.total / 4


@gt.program
class CloseTo:
    """A personalised rank: only sources have anything of their own."""

    sources: gt.Vertices
    damping: float = 0.85
    tolerance: float = 1e-6
    rank: float
    total = gt.Sum(float)

    def initialize(self, v):
        v.rank = 1.0 if v in self.sources else 0.0

    def traverse(self, u, e, v):
        v.total(u.rank / u.out_degree)

    def update(self, v):
        own = 1.0 - self.damping if v in self.sources else 0.0
        v.rank = own + self.damping * v.total


@gt.program
class HeatFromTwo:
    """Both ways along edges, from two vertices of which one has nearly nothing."""

    one: gt.Vertex
    other: gt.Vertex
    tolerance: float = 1e-6
    heat: float = 3.0
    total = gt.Sum(float)
    direction = "both"

    def traverse(self, u, e, v):
        v.total(0.7 * u.heat / u.degree)

    def update(self, v):
        own = 4.0 if v == self.one else 0.0
        v.heat = v.total + (0.0000001 if v == self.other else own)


@dataclass(frozen=True)
class Settling:
    """A program, some of its parameters, and what they mean.

    `greatest` is its greatest base where others are 0; 0 where every base is above that.
    """

    program: Any
    direction: str
    base: Callable[[int, dict[str, Any]], float]
    share: Share
    parameters: dict[str, Any] = field(default_factory=dict)
    greatest: float = 0.0

    @property
    def name(self) -> str:
        return str(self.program.plan.name)


SETTLING = [
    Settling(ConvergedPageRank, "out", lambda v, _: 0.15, lambda out, into: 0.85 / out),
    Settling(
        FavouredRank,
        "out",
        lambda v, given: 1.0 if v in given["sources"] else 0.01,
        lambda out, into: 0.6 / out,
        {"sources": (0, 1)},
    ),
    Settling(LazyInfluence, "in", lambda v, _: 0.55, lambda out, into: 0.9 / (into + 2)),
    Settling(
        SpreadBothWays, "both", lambda v, _: 1.0 + 0.25 * v, lambda out, into: 0.95 / (out + into)
    ),
    Settling(SharedByDegree, "out", lambda v, _: 3.0, lambda out, into: 0.5 / (out + into)),
    Settling(
        CloseTo,
        "out",
        lambda v, given: 0.15 if v in given["sources"] else 0.0,
        lambda out, into: 0.85 / out,
        {"sources": (0, 1)},
        greatest=0.15,
    ),
    Settling(
        HeatFromTwo,
        "both",
        lambda v, given: {given["one"]: 4.0, given["other"]: 1e-7}.get(v, 0.0),
        lambda out, into: 0.7 / (out + into),
        {"one": 1, "other": 0},
        greatest=4.0,
    ),
]
