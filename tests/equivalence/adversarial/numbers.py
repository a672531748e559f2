# mypy: ignore-errors
"""NaN, infinities, the last ints, and types that are fixed beforehand."""

from __future__ import annotations

from math import inf

import graphtide.lang.python as gt


@gt.program
class FirstSendIsNaN:
    """inf - inf is sent first, and counts as nothing sent; what is sent second counts."""

    source: gt.Vertex
    x: float = inf
    best = gt.Min(float)
    iterations = 6

    def initialize(self, v):
        v.x = 3.0 if v == self.source else inf

    def traverse(self, u, e, v):
        v.best(u.x - u.x + 5.0)
        v.best(u.id + 7.0)

    def update(self, v):
        v.x = min(v.x, v.best)


@gt.program
class SecondSendIsNaN:
    """The same the other way round, for the greatest, and without a bound."""

    x: float = 0.0
    best = gt.Max(float)

    def initialize(self, v):
        v.x = -inf if v.id == 1 else float(v.id)

    def traverse(self, u, e, v):
        v.best(min(u.x + 1.0, 6.0))
        v.best(u.x - u.x - 2.0)

    def update(self, v):
        v.x = v.best if v.best > v.x else v.x


@gt.program
class NaNStart:
    """`min(a, b)` is a unless b < a: a vertex that starts with NaN keeps it."""

    x: float = 0.0
    best = gt.Min(float)

    def initialize(self, v):
        v.x = inf - inf if v.id % 2 == 0 else 4.0

    def traverse(self, u, e, v):
        v.best(u.x + 1.0)

    def update(self, v):
        v.x = min(v.x, v.best)


@gt.program
class NaNStartOffered:
    """The same with the arguments turned round: what is offered wins over a NaN."""

    x: float = 0.0
    best = gt.Min(float)
    iterations = 7

    def initialize(self, v):
        v.x = inf - inf if v.id % 2 == 0 else 4.0

    def traverse(self, u, e, v):
        v.best(u.x + 1.0)

    def update(self, v):
        v.x = min(v.best, v.x)


@gt.program
class LastInts:
    """The least int has no opposite: dividing by -1, negating and abs() all wrap around."""

    n: int = -9223372036854775808
    m: int
    got = gt.Sum(int)
    toll = gt.Property(int)
    iterations = 3

    def traverse(self, u, e, v):
        v.got(u.n // e.toll + u.n % e.toll)

    def update(self, v):
        v.m = abs(v.n) + v.got // -1
        v.n = -v.n + v.m // -1 if v.got != 0 else v.n // -1


@gt.program
class NothingSent:
    """Reads what nothing was sent to, and computes with it: the least of no ints plus one wraps."""

    n: int = 1
    least = gt.Min(int)
    most = gt.Max(int)
    iterations = 3

    def traverse(self, u, e, v):
        if u.n > 0:
            v.least(u.n)
            v.most(u.n)

    def update(self, v):
        v.n = (v.least + 1) // 2 + (v.most - 1) // 4


@gt.program
class WrappingDistance:
    """Distances so close to the last int that adding to them wraps around."""

    x: int = 9223372036854775806
    best = gt.Min(int)
    iterations = 3

    def initialize(self, v):
        v.x = 9223372036854775806 if v.id > 1 else 9223372036854775800

    def traverse(self, u, e, v):
        v.best(u.x + 2)

    def update(self, v):
        v.x = min(v.x, v.best)


@gt.program
class InfiniteFactors:
    """0 times an infinity is NaN, in a message and in a product of messages."""

    x: float = 1.0
    many = gt.Product(float)
    iterations = 3

    def initialize(self, v):
        v.x = inf if v.id == 0 else float(v.id - 1)

    def traverse(self, u, e, v):
        v.many(u.x)
        v.many(e.weight)

    def update(self, v):
        v.x = v.many


@gt.program
class Widened:
    """A local name that is an int at first and a float later is a float from the beginning."""

    x: float = 0.0
    got = gt.Sum(float)
    iterations = 2

    def traverse(self, u, e, v):
        part = u.in_degree
        if e.weight > 1.0:
            part = 0.5
        v.got(part // 2 + (1 if u.x > 0.0 else 0.25))

    def update(self, v):
        v.x = v.got


@gt.program
class NaNCompared:
    """NaN is neither less nor greater nor equal, and is unequal to itself."""

    x: float = 1.0
    got = gt.Count()
    best = gt.Max(float)
    iterations = 3

    def initialize(self, v):
        v.x = inf - inf if v.id == 1 else float(v.id)

    def traverse(self, u, e, v):
        if not u.x < 2.0:
            v.got()
        if 0.0 <= u.x < 3.0 or u.x != u.x:
            v.best(u.x)

    def update(self, v):
        v.x = max(v.best, v.x) if v.got > 1 else v.x + 1.0


@gt.program
class SignOfZero:
    """0.0 and -0.0 are equal: a run that only turns the sign of a zero stands still."""

    x: float = 0.0
    got = gt.Sum(float)

    def traverse(self, u, e, v):
        v.got(u.x * 0.5)

    def update(self, v):
        v.x = -v.x if v.got == 0.0 else v.got


@gt.program
class BeyondExactFloats:
    """An int beside a float becomes a float, and so 2**53 + 1 is equal to 2**53."""

    n: int = 9007199254740992
    got = gt.Count()
    iterations = 2

    def initialize(self, v):
        v.n = 9007199254740992 + v.id

    def traverse(self, u, e, v):
        if u.n <= 9007199254740992.0 + e.weight * 0.0:
            v.got()

    def update(self, v):
        v.n = v.n + v.got


@gt.program
class NegativeBase:
    """A power of a negative number that stands in the text: its sign belongs to the base."""

    x: float = 0.0
    n: int
    got = gt.Sum(int)
    iterations = 2

    def traverse(self, u, e, v):
        v.got((-3) ** 2 + u.n)

    def update(self, v):
        v.x = (-2.0) ** 2 - (-0.5) ** 3
        v.n = v.got * (-1) ** 3


@gt.program
class LeastSent:
    """The least int is sent, to a maximum and to a minimum."""

    x: int = 0
    best = gt.Max(int)
    toll = gt.Property(int)
    iterations = 3

    def traverse(self, u, e, v):
        v.best(e.toll - 1 if e.toll < 0 else -9223372036854775808)

    def update(self, v):
        v.x = max(v.best, v.x)


@gt.program
class ClosedGate:
    """A maximum that nothing is sent to: the least int has no opposite, and is not the greatest."""

    flag: bool
    x: int = 0
    best = gt.Max(int)

    def initialize(self, v):
        v.x = -v.id

    def traverse(self, u, e, v):
        if self.flag:
            v.best(u.x)

    def update(self, v):
        v.x = max(v.x, v.best)


@gt.program
class ConvertedTruth:
    """A truth value that becomes a number, summed, and turned back by comparing."""

    on: bool
    level: int
    got = gt.Sum(int)
    even = gt.Product(int)
    open = gt.Property(bool)
    iterations = 3

    def initialize(self, v):
        v.on = v.id % 2 == 0

    def traverse(self, u, e, v):
        v.got(int(u.on) + int(e.open))
        v.even(-1 if u.on != v.on else 1)

    def update(self, v):
        v.level = v.got * v.even
        v.on = bool(v.level) and not v.level < 0


@gt.program
class FadingFromInfinity:
    """A tolerance beside infinities: a move from or to one always counts."""

    x: float = inf
    best = gt.Min(float)
    tolerance = 0.25

    def initialize(self, v):
        v.x = 1.0 if v.id == 0 else inf

    def traverse(self, u, e, v):
        v.best(u.x + 1.0)

    def update(self, v):
        v.x = min(v.x, v.best)


@gt.program
class WrittenOutBeyondTheLast:
    """Ints that are written out wrap around as all others do; Python's own have no last one."""

    x: float = 0.0
    n: int
    got = gt.Sum(int)
    iterations = 2

    def traverse(self, u, e, v):
        v.got(9223372036854775807 * 9223372036854775807 + u.n)

    def update(self, v):
        v.n = v.got % (3**50) - (-(-9223372036854775807 - 1)) // 2
        v.n = v.n + abs(-9223372036854775807 - 1) // 4
        v.x = v.x + (2 + 9223372036854775807) * 0.5
