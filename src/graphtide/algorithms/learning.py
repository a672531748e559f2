"""Programs that learn from a graph: labels, beliefs and factors, spread along its edges."""

from __future__ import annotations

from math import exp, log

import graphtide.lang.python as gt


@gt.program
class LabelPropagation:
    """The share of two classes at each vertex, spread from vertices that are known.

    Vertices of `first` and `second` keep their class. In each iteration every other vertex takes
    the sum of its neighbours' shares, both ways, divided so that they add up to 1; `share` is
    [0, 0] where nothing has arrived yet. Exact mode. From scratch O(edges) an iteration; an
    advance costs the edges of the vertices whose shares change, iteration by iteration.
    """

    first: gt.Vertices
    second: gt.Vertices
    iterations: int = 10
    share = gt.State(float, size=2)
    votes = gt.Sum(float, size=2)
    direction = "both"

    def initialize(self, v):
        v.share[0] = 1.0 if v in self.first else 0.0
        v.share[1] = 1.0 if v in self.second else 0.0

    def traverse(self, u, e, v):
        for k in range(2):
            v.votes[k](u.share[k])

    def update(self, v):
        total = v.votes[0] + v.votes[1]
        if not (v in self.first or v in self.second) and total > 0.0:
            for k in range(2):
                v.share[k] = v.votes[k] / total


@gt.program
class BeliefPropagation:
    """The log-odds that each vertex is in the first of two states, after some iterations.

    Neighbours are in the same state with probability `agreement`, between 0 and 1; the vertices
    of `first` and `second` begin with log-odds of `prior` and -`prior`, which they keep as
    evidence. A vertex sends everything it believes, also to those whom it has it from, as is
    usual for such vertex programs. Beliefs are 1 / (1 + exp(-odds)). The product of messages is
    a sum here, which neither underflows nor loses anything when a message is taken back. Exact
    mode. From scratch O(edges) an iteration; an advance costs the edges of the vertices whose
    odds change, iteration by iteration.
    """

    first: gt.Vertices
    second: gt.Vertices
    agreement: float = 0.7
    prior: float = 2.0
    iterations: int = 10
    odds: float
    evidence = gt.Sum(float)
    direction = "both"

    def initialize(self, v):
        v.odds = self.prior if v in self.first else -self.prior if v in self.second else 0.0

    def traverse(self, u, e, v):
        other = exp(-abs(u.odds))
        said = log(
            (self.agreement + (1.0 - self.agreement) * other)
            / ((1.0 - self.agreement) + self.agreement * other)
        )
        v.evidence(said if u.odds >= 0.0 else -said)

    def update(self, v):
        own = self.prior if v in self.first else -self.prior if v in self.second else 0.0
        v.odds = own + v.evidence


@gt.program
class CoTrainingEM:
    """How likely each vertex belongs to a class, from co-occurrences with weights (CoEM).

    On a graph between phrases and contexts with `weight` the number of times that they occur
    together, each is as likely as those it occurs with on average, by weight. `positive` stay at
    1, `negative` at 0, all others start at 0.5 and keep what they have without edges. Exact
    mode. From scratch O(edges) an iteration; an advance costs the edges of the vertices whose
    score changes, iteration by iteration.
    """

    positive: gt.Vertices
    negative: gt.Vertices
    iterations: int = 10
    score: float
    weighted = gt.Sum(float)
    weights = gt.Sum(float)
    direction = "both"

    def initialize(self, v):
        v.score = 1.0 if v in self.positive else 0.0 if v in self.negative else 0.5

    def traverse(self, u, e, v):
        v.weighted(e.weight * u.score)
        v.weights(e.weight)

    def update(self, v):
        if not (v in self.positive or v in self.negative) and v.weights > 0.0:
            v.score = v.weighted / v.weights


RANK = 4


@gt.program
class CollaborativeFiltering:
    """Factors of users and items whose products are near the ratings (ALS, four factors).

    Edges go from users to items with `weight` the rating. Items are fitted to the users in odd
    iterations and users to the items in even ones, each by least squares with the penalty
    `regularisation`; a vertex without ratings keeps its factors. Starts are the same in every
    run. `system` is room to solve in, and of no interest. Exact mode. From scratch O(edges) an
    iteration, with 20 sums an edge; an advance costs the edges of the vertices whose factors
    change, iteration by iteration.
    """

    regularisation: float = 0.1
    iterations: int = 10
    factors = gt.State(float, size=RANK)
    system = gt.State(float, size=RANK * RANK)
    normal = gt.Sum(float, size=RANK * RANK)
    right = gt.Sum(float, size=RANK)
    direction = "both"

    def initialize(self, v):
        for k in range(RANK):
            v.factors[k] = 0.1 + float((v.id * 7 + k * 13) % 17) / 17.0

    def traverse(self, u, e, v):
        for i in range(RANK):
            v.right[i](e.weight * u.factors[i])
            for j in range(RANK):
                v.normal[i * RANK + j](u.factors[i] * u.factors[j])

    def update(self, v):
        turn = v.in_degree if self.iteration % 2 == 1 else v.out_degree
        if turn > 0:
            for i in range(RANK):
                v.factors[i] = v.right[i]
                for j in range(RANK):
                    v.system[i * RANK + j] = v.normal[i * RANK + j]
                v.system[i * RANK + i] += self.regularisation
            # Elimination without exchanges: the system is positive definite.
            for i in range(RANK):
                for below in range(i + 1, RANK):
                    share = v.system[below * RANK + i] / v.system[i * RANK + i]
                    v.factors[below] -= share * v.factors[i]
                    for j in range(i, RANK):
                        v.system[below * RANK + j] -= share * v.system[i * RANK + j]
            for i in range(RANK - 1, -1, -1):
                for j in range(i + 1, RANK):
                    v.factors[i] -= v.system[i * RANK + j] * v.factors[j]
                v.factors[i] = v.factors[i] / v.system[i * RANK + i]
