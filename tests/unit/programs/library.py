# mypy: ignore-errors
"""Programs in the users' spelling, one for each thing the language can do."""

from math import inf, sqrt

import graphtide.lang.python as gt

SHARE = 0.85


@gt.program
class ShortestPaths:
    """Distance of every vertex from one source."""

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
class Hops:
    """Number of edges from the nearest of some sources, up to a limit."""

    sources: gt.Vertices
    limit: int = 1_000_000
    level: int = 1_000_000_000
    best = gt.Min(int)

    def initialize(self, v):
        if v in self.sources:
            v.level = 0

    def traverse(self, u, e, v):
        if u.level < self.limit:
            v.best(u.level + 1)

    def update(self, v):
        if v.best < v.level:
            v.level = v.best


@gt.program
class Components:
    """The least vertex number of each weakly connected component."""

    label: int
    best = gt.Min(int)
    direction = "both"

    def initialize(self, v):
        v.label = v.id

    def traverse(self, u, e, v):
        v.best(u.label)

    def update(self, v):
        v.label = min(v.label, v.best)


@gt.program
class Ancestors:
    """Which vertices reach one of the targets."""

    targets: gt.Vertices
    reaches = gt.State(bool)
    any = gt.Or()
    direction = "in"

    def initialize(self, v):
        v.reaches = v in self.targets

    def traverse(self, u, e, v):
        v.any(u.reaches)

    def update(self, v):
        v.reaches = v.reaches or v.any


@gt.program
class WidestPath:
    """The greatest capacity of a path from the source."""

    source: gt.Vertex
    width: float
    best = gt.Max(float)

    def initialize(self, v):
        v.width = inf if v == self.source else 0

    def traverse(self, u, e, v):
        v.best(min(u.width, e.capacity))

    def update(self, v):
        v.width = max(v.width, v.best)


@gt.program
class MostReliable:
    """The greatest product of probabilities along a path from the source."""

    source: gt.Vertex
    chance: float
    best = gt.Max(float)

    def initialize(self, v):
        v.chance = 1 if v == self.source else 0

    def traverse(self, u, e, v):
        v.best(u.chance * e.chance)

    def update(self, v):
        v.chance = v.best if v.best > v.chance else v.chance


@gt.program
class PageRank:
    """PageRank without the share of vertices that have no out-edges."""

    iterations: int = 10
    tolerance: float = 0
    damping: float = SHARE
    rank = gt.State(float, default=1)
    total = gt.Sum(float)

    def traverse(self, u, e, v):
        v.total(u.rank / u.out_degree)

    def update(self, v):
        v.rank = (1 - self.damping) + self.damping * v.total


@gt.program
class Core:
    """Vertices of the k-core: those that keep at least k neighbours that are in it."""

    k: int
    inside = gt.State(bool, default=True)
    kept = gt.Count()
    direction = "both"

    def traverse(self, u, e, v):
        if u.inside and u != v:
            v.kept()

    def update(self, v):
        v.inside = v.inside and v.kept >= self.k


@gt.program
class Votes:
    """The label that most in-neighbours have, the least such label on a tie."""

    labels: int
    iterations = 5
    label: int
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
                v.label = k


@gt.program
class Moments:
    """Count, mean and spread of the weights that come in; the rest of the language, too."""

    moments = gt.Sum(float, size=3)
    scale = gt.Product(float)
    all_light = gt.And()
    turn: int = -1
    iterations = "rounds"
    rounds: int = 2
    spread: float
    mean: float
    light: bool
    shape = gt.State(float, size=3)
    kind = gt.Property(int)

    def traverse(self, u, e, v):
        weight = 0
        weight += e["weight"] ** 2 / max(e.weight, 1)
        v.moments([1, weight, weight**2])
        v.scale(1.0 + abs(u.mean) if e.kind % 2 == 0 else 1.0)
        v.all_light(not 0 <= weight > 10)

    def update(self, v):
        """What comes of it."""
        count = v.moments[0]
        v.turn = self.iteration
        if count > 0:
            v.mean = v.moments[1] / count
            v.spread = sqrt(max(0, v.moments[2] / count - v.mean**2))
        elif v.degree == 0:
            v.mean = -inf
        else:
            pass
        v.light = v.all_light and v.scale < 1e9
        for k in range(2, -1, -1):
            v.shape[k] += v.moments[k] if k != 1 else float(int(v.scale) // 2)


ALL = (
    ShortestPaths,
    Hops,
    Components,
    Ancestors,
    WidestPath,
    MostReliable,
    PageRank,
    Core,
    Votes,
    Moments,
)
