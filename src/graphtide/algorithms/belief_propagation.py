"""Belief propagation between vertices that are in one of two states."""

from math import exp, log

import graphtide.lang.python as gt


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
