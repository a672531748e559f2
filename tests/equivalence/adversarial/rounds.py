# mypy: ignore-errors
"""Programs about their own iterations: reads of v, sums that rise and fall, runs without an end."""

from __future__ import annotations

import graphtide.lang.python as gt


@gt.program
class Shed:
    """A message of v's own state: iterations beyond those of the earlier run must be scheduled."""

    load: float = 8.0
    back = gt.Sum(float)
    iterations = 3

    def traverse(self, u, e, v):
        v.back(v.load * 0.5)

    def update(self, v):
        v.load = v.back


@gt.program
class Halving:
    """The same without a bound: a new edge makes a run of eight iterations of one of none."""

    n: int = 100
    back = gt.Sum(int)

    def traverse(self, u, e, v):
        v.back(v.n // 2)

    def update(self, v):
        v.n = v.back


@gt.program
class Squares:
    """Both ends in one message, and ints that wrap around."""

    n: int = 3
    total = gt.Sum(int)
    iterations = 4

    def traverse(self, u, e, v):
        v.total(v.n * v.n + u.n)

    def update(self, v):
        v.n = v.total


@gt.program
class RestlessAlone:
    """A vertex without edges never settles; one edge calms it."""

    n: int = 0
    got = gt.Count()

    def traverse(self, u, e, v):
        v.got()

    def update(self, v):
        v.n = 1 - v.n if v.got == 0 and v.id > 1 else 0


@gt.program
class GrowingAlone:
    """The same with a number that grows for ever, and that never comes back to where it was."""

    n: int = 0
    got = gt.Sum(int)

    def traverse(self, u, e, v):
        v.got(1)

    def update(self, v):
        v.n = v.n + 1 if v.got == 0 and v.id > 1 else v.got


@gt.program
class Exchange:
    """What one end loses the other does not gain: differences of both ends, halved."""

    heat: float = 0.0
    flow = gt.Sum(float)
    iterations = 4
    direction = "both"

    def initialize(self, v):
        v.heat = float(v.id * 16)

    def traverse(self, u, e, v):
        v.flow((u.heat - v.heat) * 0.25)

    def update(self, v):
        v.heat += v.flow


@gt.program
class Blinking:
    """Settles on some graphs and blinks for ever on others."""

    on: bool
    some = gt.Or()

    def initialize(self, v):
        v.on = v.id == 0

    def traverse(self, u, e, v):
        v.some(u.on and e.weight > 0.0)

    def update(self, v):
        v.on = v.some != v.on


@gt.program
class CountsRounds:
    """Reads the iteration without a bound: a vertex that has settled moves again."""

    n: int = 0
    got = gt.Count()

    def traverse(self, u, e, v):
        if u.n < 3:
            v.got()

    def update(self, v):
        v.n = min(self.iteration // 2, 4) if v.got > 0 else v.n


@gt.program
class LateRounds:
    """Reads the iteration with a bound: nothing moves for two iterations, and then all do."""

    n: int = 0
    got = gt.Sum(int)
    iterations = 5

    def traverse(self, u, e, v):
        v.got(u.n + 1)

    def update(self, v):
        if self.iteration > 2:
            v.n = v.got


@gt.program
class Fading:
    """Ends where no value moves by more than half of itself: who stops first waits for the last."""

    x: float = 64.0
    got = gt.Sum(float)
    tolerance = 0.5

    def traverse(self, u, e, v):
        v.got(u.x * 0.25)

    def update(self, v):
        v.x = v.got if v.in_degree > 0 else v.x * 0.25


@gt.program
class Swapping:
    """Two states that read each other: the first one that was assigned reads as its new value."""

    a: int = 1
    b: int = 2
    got = gt.Sum(int)
    iterations = 3

    def traverse(self, u, e, v):
        v.got(u.a - u.b)

    def update(self, v):
        v.a = v.b + v.got
        v.b = v.a * 2


@gt.program
class Tables:
    """An index that a graph with many edges drives outside of its array, and back."""

    n: int
    table = gt.State(int, size=4)
    got = gt.Count()
    iterations = 2

    def initialize(self, v):
        for k in range(4):
            v.table[k] = k * k

    def traverse(self, u, e, v):
        v.got()

    def update(self, v):
        v.n = v.table[v.got]


@gt.program
class Ballots:
    """Arrays of a size that is given, sent to by place, and ties."""

    labels: int
    label: int
    votes = gt.Count(size="labels")
    weights = gt.Sum(float, size="labels")
    iterations = 4
    direction = "both"

    def initialize(self, v):
        v.label = v.id % self.labels

    def traverse(self, u, e, v):
        v.votes[u.label]()
        v.weights[v.label](e.weight)

    def update(self, v):
        for k in range(len(v.votes)):
            if v.votes[k] > v.votes[v.label] and v.weights[k] <= v.weights[v.label]:
                v.label = k


@gt.program
class LoopsTwice:
    """Traversed both ways, a self-loop counts twice, as it does in a degree."""

    n: int = 0
    got = gt.Count()
    direction = "both"

    def traverse(self, u, e, v):
        v.got()

    def update(self, v):
        v.n = v.got - v.degree + (v.in_degree - v.out_degree)


@gt.program
class CappedWalks:
    """A sum that stops at a cap: deletions must find their way down again."""

    source: gt.Vertex
    n: int = 0
    got = gt.Sum(int)

    def initialize(self, v):
        v.n = 1 if v == self.source else 0

    def traverse(self, u, e, v):
        v.got(u.n)

    def update(self, v):
        v.n = min(9, max(v.got, 1 if v == self.source else 0))


@gt.program
class BlinksWhenAlone:
    """Truth that turns where nothing comes in: the last edge that goes makes it blink for ever."""

    x: bool
    seen = gt.And()

    def traverse(self, u, e, v):
        v.seen(u.x)

    def update(self, v):
        v.x = v.x != v.seen


@gt.program
class LateDegree:
    """A degree that update looks at only late: an end of a new edge is as it was until then."""

    x: int
    got = gt.Sum(int)
    iterations = 5

    def traverse(self, u, e, v):
        v.got(u.x + 1)

    def update(self, v):
        v.x = v.got + (v.out_degree if v.got > 1 else 0)


@gt.program
class OwnDegrees:
    """Messages that look at v's degree: an edge that comes changes those of all others into v."""

    x: int = 1
    got = gt.Sum(int)
    iterations = 3

    def traverse(self, u, e, v):
        v.got(u.x * v.in_degree + v.out_degree)

    def update(self, v):
        v.x = v.got % 1000


@gt.program
class Ceilings:
    """Who reached a ceiling sooner is as before afterwards: it takes back what it told others."""

    x: int
    got = gt.Sum(int)
    iterations = 5

    def initialize(self, v):
        v.x = 1 if v.id == 0 else 0

    def traverse(self, u, e, v):
        v.got(u.x)

    def update(self, v):
        if v.id == 0:
            v.x = 1
        else:
            v.x = min(v.got, 3 if v.id % 2 == 0 else 1000)


@gt.program
class InfiniteAtFirst:
    """An infinite factor that all neighbours hear alike, once: no difference takes it back."""

    x: float
    got = gt.Product(float)
    iterations = 4

    def initialize(self, v):
        v.x = float(v.id)

    def traverse(self, u, e, v):
        v.got(1.0 / u.x)

    def update(self, v):
        v.x = v.x + (8.0 if v.got > 100.0 else 1.0)
