"""Selecting programs that the equivalence tests run in every mode: the library's, and odd ones."""

from __future__ import annotations

import graphtide.lang.python as gt
from graphtide.algorithms import BFS, WCC, Ancestors, ShortestPaths, WidestPath


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
    BFS,
    ShortestPaths,
    WCC,
    WidestPath,
    Ancestors,
    GreatestLabels,
    HeadStarts,
    Tolls,
)
