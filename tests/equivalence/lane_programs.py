# mypy: ignore-errors
"""Programs with what lanes do in a way of their own: conditions, selections, every operation."""

from __future__ import annotations

from math import sqrt

import graphtide.lang.python as gt
from graphtide.lang.python import inf


@gt.program
class Branches:
    """Conditions in conditions, names that some lanes assign, a state read after its change."""

    iterations = 4
    direction = "both"
    level = gt.State(float, default=1)
    turns: int
    total = gt.Sum(float)
    least = gt.Min(int)

    def initialize(self, v):
        if v.degree > 2:
            v.level = sqrt(float(v.out_degree))
            if v.in_degree == 1:
                v.turns = v.id
            else:
                v.turns = -v.in_degree

    def traverse(self, u, e, v):
        if u.level > 1.5:
            share = u.level / (1 + u.degree)
            if e.weight > 0.5 and u != v:
                share = share * e.weight
                v.least(u.turns)
            else:
                share = -share
            v.total(share)
        elif u.turns > v.turns:
            v.total(0.25)

    def update(self, v):
        if v.least < 1000:
            v.turns = max(abs(v.turns) - 1, v.least, -5)
        if v.total > 0:
            v.level = v.total
            if v.level > 3.0:
                v.level = 3.0
                v.turns += 1
        else:
            v.level = 0.5 * v.level - v.total if v.turns < 0 or not v.total < -2.0 else 0.75


@gt.program
class Infinities:
    """Divisions by zero, infinities and what is no number, in some lanes and not in others."""

    iterations = 5
    level = gt.State(float, default=1)
    total = gt.Sum(float)
    highest = gt.Max(float)

    def traverse(self, u, e, v):
        v.total(u.level / e.weight)
        v.highest(u.level - v.level)

    def update(self, v):
        v.level = v.total / (v.in_degree - 2) if v.in_degree > 0 else -inf
        if v.highest > 100.0:
            v.level = v.highest


@gt.program
class Clock:
    """Looks at the iteration, so that every vertex is updated in each; truth values in parcels."""

    steps: int = 3
    iterations = 6
    awake: bool
    since: int
    some = gt.Or()
    every = gt.And()
    number = gt.Count()

    def initialize(self, v):
        v.awake = v.out_degree > 1

    def traverse(self, u, e, v):
        if u.out_degree > 1:
            v.number()
        v.some(u.awake)
        v.every(u.awake == (u.since > 1))

    def update(self, v):
        if v.some and not v.awake:
            v.awake = True
            v.since = self.iteration
        elif v.number >= self.steps or v.every:
            v.awake = bool(v.since) and v.every
            v.since = int(v.awake) + v.number


@gt.program
class Spreading:
    """From few vertices outwards, until nothing changes: most vertices rest in most rounds."""

    source: gt.Vertex
    reached: int
    farthest = gt.Max(int)

    def initialize(self, v):
        v.reached = 1 if v == self.source else 0

    def traverse(self, u, e, v):
        v.farthest(u.reached + 1 if u.reached > 0 else 0)

    def update(self, v):
        if v.reached == 0 and v.farthest > 0:
            v.reached = v.farthest


LANE_PROGRAMS = (Branches, Infinities, Clock, Spreading)
