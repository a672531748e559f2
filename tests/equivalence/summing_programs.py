# mypy: ignore-errors
"""Programs that add up, multiply and mix: what the synchronous maintainer is tested with."""

from __future__ import annotations

import graphtide.lang.python as gt
from graphtide.lang.python import inf


@gt.program
class PageRank:
    """Ten rounds; the share of vertices without out-edges is lost."""

    iterations = 10
    rank = gt.State(float, default=1)
    total = gt.Sum(float)

    def traverse(self, u, e, v):
        v.total(u.rank / u.out_degree)

    def update(self, v):
        v.rank = 0.15 + 0.85 * v.total


@gt.program
class SettledRank:
    """PageRank until no rank moves by more than a share of itself."""

    tolerance = 1e-3
    rank = gt.State(float, default=1)
    total = gt.Sum(float)

    def traverse(self, u, e, v):
        v.total(u.rank / u.out_degree)

    def update(self, v):
        v.rank = 0.15 + 0.85 * v.total


@gt.program
class PersonalRank:
    """PageRank that starts again at some vertices; weighted, and the graph taken both ways."""

    sources: gt.Vertices
    iterations = 6
    direction = "both"
    rank: float
    total = gt.Sum(float)

    def initialize(self, v):
        v.rank = 1.0 if v in self.sources else 0.0

    def traverse(self, u, e, v):
        if u.rank > 0:
            v.total(u.rank * e.weight / u.degree)

    def update(self, v):
        v.rank = 0.85 * v.total + (0.15 if v in self.sources else 0.0)


@gt.program
class InDegree:
    """How many edges come in, counted the long way."""

    incoming: int
    seen = gt.Count()

    def traverse(self, u, e, v):
        v.seen()

    def update(self, v):
        v.incoming = v.seen


@gt.program
class SoftLabels:
    """Label propagation with shares of labels; some vertices keep theirs."""

    labels: int
    iterations = 5
    shares = gt.State(float, size="labels")
    heard = gt.Sum(float, size="labels")
    weight = gt.Sum(float)
    direction = "both"

    def initialize(self, v):
        for k in range(self.labels):
            v.shares[k] = 1.0 / self.labels
        if v.id % 3 == 0:
            for k in range(self.labels):
                v.shares[k] = 1.0 if k == v.id % self.labels else 0.0

    def traverse(self, u, e, v):
        v.weight(e.weight)
        for k in range(self.labels):
            v.heard[k](u.shares[k] * e.weight)

    def update(self, v):
        if v.id % 3 != 0 and v.weight > 0:
            for k in range(self.labels):
                v.shares[k] = v.heard[k] / v.weight


@gt.program
class Beliefs:
    """Two states that neighbours pull each other to: products of messages, and zeros in them."""

    iterations = 4
    yes = gt.State(float, default=0.5)
    for_yes = gt.Product(float)
    for_no = gt.Product(float)
    direction = "both"

    def initialize(self, v):
        if v.id % 4 == 1:
            v.yes = 1.0
        if v.id % 4 == 2:
            v.yes = 0.0

    def traverse(self, u, e, v):
        share = 0.9 if e.weight > 0 else 1.0
        v.for_yes(share * u.yes + (1 - share) * (1 - u.yes))
        v.for_no(share * (1 - u.yes) + (1 - share) * u.yes)

    def update(self, v):
        if v.id % 4 == 0 or v.id % 4 == 3:
            both = v.for_yes + v.for_no
            v.yes = v.for_yes / both if both > 0 else 0.5


@gt.program
class Factors:
    """Products of ints that wrap around, zeros and even numbers among them."""

    iterations = 3
    value: int
    product = gt.Product(int)

    def initialize(self, v):
        v.value = v.id - 2

    def traverse(self, u, e, v):
        v.product(u.value * int(e.weight) + 3)

    def update(self, v):
        v.value = v.product % 1000003


@gt.program
class WithinHops:
    """Distance in hops from a source, up to three: a minimum that looks at nothing it had."""

    source: gt.Vertex
    iterations = 3
    hops = gt.State(float, default=inf)
    nearest = gt.Min(float)

    def initialize(self, v):
        v.hops = 0.0 if v == self.source else inf

    def traverse(self, u, e, v):
        v.nearest(u.hops + 1.0)

    def update(self, v):
        v.hops = 0.0 if v == self.source else v.nearest


@gt.program
class Core:
    """Vertices that keep at least two neighbours of their kind; ends when nothing changes."""

    inside = gt.State(bool, default=True)
    kept = gt.Count()
    direction = "both"

    def traverse(self, u, e, v):
        if u.inside and u != v:
            v.kept()

    def update(self, v):
        v.inside = v.inside and v.kept >= 2


@gt.program
class Mixed:
    """A sum beside a maximum, `or` and `and`, degrees everywhere, against the edges."""

    iterations = 4
    direction = "in"
    level: float
    marked: bool
    total = gt.Sum(float)
    highest = gt.Max(float)
    some = gt.Or()
    every = gt.And()

    def initialize(self, v):
        v.level = float(v.out_degree)

    def traverse(self, u, e, v):
        v.total(u.level * e.weight)
        v.highest(u.level)
        v.some(u.level > 4)
        v.every(not u.marked)

    def update(self, v):
        v.level = v.total / (1 + v.degree) + (v.highest if v.some else 0.5)
        v.marked = v.every and v.level > 1


@gt.program
class Friction:
    """Messages that look at both ends, and at the degree of the one they go to."""

    iterations = 4
    place = gt.State(float)
    pull = gt.Sum(float)

    def initialize(self, v):
        v.place = float(v.id)

    def traverse(self, u, e, v):
        v.pull((u.place - v.place) / (1 + v.in_degree))

    def update(self, v):
        v.place += 0.5 * v.pull


@gt.program
class Votes:
    """The label that most in-neighbours have; the program looks at the iteration."""

    labels: int
    iterations = 5
    label: int
    last: int
    votes = gt.Count(size="labels")

    def initialize(self, v):
        v.label = v.id % self.labels

    def traverse(self, u, e, v):
        v.votes[u.label]()

    def update(self, v):
        most = 0
        for k in range(len(v.votes)):
            if v.votes[k] > most:
                most = v.votes[k]
                if v.label != k:
                    v.last = self.iteration
                v.label = k


@gt.program
class Walks:
    """How many walks end at a vertex, by a table: fails where there are more than it has."""

    iterations: int = 4
    number = gt.State(int, default=1)
    table = gt.State(int, size=12)
    total = gt.Sum(int)

    def initialize(self, v):
        for k in range(12):
            v.table[k] = k

    def traverse(self, u, e, v):
        v.total(u.number)

    def update(self, v):
        v.number = v.table[v.total]


SUMMING = (
    PageRank,
    SettledRank,
    PersonalRank,
    InDegree,
    SoftLabels,
    Beliefs,
    Factors,
    WithinHops,
    Core,
    Mixed,
    Friction,
    Votes,
)
