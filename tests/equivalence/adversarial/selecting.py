# mypy: ignore-errors
"""Selections, and what only looks like one: bounds, signs, degrees, conditions."""

from __future__ import annotations

from math import inf

import graphtide.lang.python as gt


@gt.program
class HigherEnd:
    """A maximum that looks like a selection, but for reading v."""

    level: int = 0
    best = gt.Max(int)
    iterations = 5

    def initialize(self, v):
        v.level = v.id * 2

    def traverse(self, u, e, v):
        v.best(max(u.level, v.level) - 1)

    def update(self, v):
        v.level = v.best if v.in_degree > 0 else v.level - 1


@gt.program
class BoundedPaths:
    """Shortest paths with a bound: weights may then be negative, and messages overtake."""

    source: gt.Vertex
    x: float = inf
    best = gt.Min(float)
    iterations = 5

    def initialize(self, v):
        v.x = 0.0 if v == self.source else inf

    def traverse(self, u, e, v):
        v.best(u.x + e.weight)

    def update(self, v):
        v.x = min(v.x, v.best)


@gt.program
class BoundedByParameter:
    """What is added is a parameter, which nobody has checked where there is a bound."""

    source: gt.Vertex
    step: int
    rounds: int
    x: int = 1000
    best = gt.Min(int)
    iterations = "rounds"

    def initialize(self, v):
        v.x = 0 if v == self.source else 1000

    def traverse(self, u, e, v):
        v.best(u.x + self.step)

    def update(self, v):
        if v.best < v.x:
            v.x = v.best


@gt.program
class GainsWithin:
    """A maximum that grows along every edge, for so long as it may."""

    x: int = 0
    best = gt.Max(int)
    toll = gt.Property(int)
    iterations = 4

    def initialize(self, v):
        v.x = -v.id

    def traverse(self, u, e, v):
        v.best(u.x + e.toll)

    def update(self, v):
        v.x = max(v.best, v.x)


@gt.program
class LeastDegree:
    """A selection whose start is a degree: the start itself changes with every edge."""

    least: int = 0
    best = gt.Min(int)
    direction = "both"

    def initialize(self, v):
        v.least = v.degree

    def traverse(self, u, e, v):
        v.best(u.least)

    def update(self, v):
        v.least = min(v.least, v.best)


@gt.program
class FromRoots:
    """Distances from whoever has no edge coming in: sources come and go with edges."""

    x: float = inf
    best = gt.Min(float)

    def initialize(self, v):
        v.x = 0.0 if v.in_degree == 0 else inf

    def traverse(self, u, e, v):
        v.best(u.x + abs(e.weight))

    def update(self, v):
        v.x = min(v.x, v.best)


@gt.program
class RootsReached:
    """The same with truth values, and a start in two statements."""

    reached: bool
    some = gt.Or()

    def initialize(self, v):
        if v.out_degree > 1:
            v.reached = True

    def traverse(self, u, e, v):
        v.some(u.reached)

    def update(self, v):
        v.reached = v.reached or v.some


@gt.program
class NoRounds:
    """No iteration at all: only the start, which reads degrees."""

    n: int = 0
    got = gt.Max(int)
    iterations = 0

    def initialize(self, v):
        v.n = v.in_degree * 10 + v.out_degree

    def traverse(self, u, e, v):
        v.got(u.n)

    def update(self, v):
        v.n = max(v.n, v.got)


@gt.program
class Chances:
    """A product along the way that stays below its source, for weights up to 1 alone."""

    source: gt.Vertex
    x: float = 0.0
    best = gt.Max(float)

    def initialize(self, v):
        v.x = 1.0 if v == self.source else 0.0

    def traverse(self, u, e, v):
        v.best(u.x * e.weight)

    def update(self, v):
        v.x = max(v.x, v.best)


@gt.program
class DegreeTolls:
    """A message that changes because its source got another edge, its state being the same."""

    source: gt.Vertex
    x: int = 1000
    best = gt.Min(int)

    def initialize(self, v):
        v.x = 0 if v == self.source else 1000

    def traverse(self, u, e, v):
        v.best(u.x + u.out_degree)

    def update(self, v):
        v.x = min(v.x, v.best)


@gt.program
class TargetTolls:
    """The same of the vertex that it goes to."""

    source: gt.Vertex
    x: int = 1000
    best = gt.Min(int)

    def initialize(self, v):
        v.x = 0 if v == self.source else 1000

    def traverse(self, u, e, v):
        v.best(u.x + v.degree)

    def update(self, v):
        v.x = min(v.x, v.best)


@gt.program
class ClosedBorder:
    """Who is sent to is told by a parameter, and so is whether anything is sent at all."""

    guests: gt.Vertices
    flag: bool
    x: int = 0
    best = gt.Max(int)
    direction = "in"

    def initialize(self, v):
        v.x = v.id

    def traverse(self, u, e, v):
        if v in self.guests and self.flag:
            v.best(u.x)
        elif u not in self.guests:
            v.best(min(u.x, 2))

    def update(self, v):
        v.x = max(v.x, v.best)


@gt.program
class AllOfNone:
    """True if all are, where there are none: no edges, or edges that send nothing."""

    sure: bool = True
    every = gt.And()
    open = gt.Property(bool)

    def initialize(self, v):
        v.sure = v.id % 3 != 1

    def traverse(self, u, e, v):
        if e.open or not u.sure:
            v.every(u.sure)

    def update(self, v):
        v.sure = v.sure and v.every


@gt.program
class PairsBelowZero:
    """A program on pairs with a bound, and weights of any sign."""

    pairs: gt.Pairs
    x: float = inf
    best = gt.Min(float)
    iterations = 4

    def initialize(self, v):
        v.x = 0.0 if v == self.pairs.source else inf

    def traverse(self, u, e, v):
        v.best(u.x + e.weight)

    def update(self, v):
        v.x = min(v.x, v.best)
