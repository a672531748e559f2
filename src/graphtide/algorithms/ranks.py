"""PageRank, plain and personalised: for a number of iterations, or until it has converged."""

from __future__ import annotations

import graphtide.lang.python as gt


@gt.program
class PageRank:
    """PageRank after a number of iterations, 10 unless told otherwise.

    A vertex has 1 - damping of its own and gets damping times the ranks of those that point to
    it, each shared equally among its out-edges; parallel edges count each. Ranks start at 1 and
    are about 1 on average; what vertices without out-edges hold is not handed round. Divide by
    the number of vertices for the usual shares. Exact mode. From scratch O(edges) an iteration;
    an advance costs the out-edges of the vertices whose rank changes, iteration by iteration.
    """

    damping: float = 0.85
    iterations: int = 10
    rank: float = 1.0
    total = gt.Sum(float)

    def traverse(self, u, e, v):
        v.total(u.rank / u.out_degree)

    def update(self, v):
        v.rank = (1.0 - self.damping) + self.damping * v.total


@gt.program
class ConvergedPageRank:
    """PageRank where it settles: every rank is within `tolerance` of the true one, relatively.

    Otherwise as PageRank. Fixpoint mode: a value and a residual a vertex. An advance costs the
    out-edges of the vertices whose rank it moves by more than that, at most about what a run from
    scratch takes. Exact mode iterates until no rank moves by more than `tolerance` of itself.
    """

    damping: float = 0.85
    tolerance: float = 1e-6
    rank: float = 1.0
    total = gt.Sum(float)

    def traverse(self, u, e, v):
        v.total(u.rank / u.out_degree)

    def update(self, v):
        v.rank = (1.0 - self.damping) + self.damping * v.total


@gt.program
class PersonalisedPageRank:
    """PageRank of a walker who starts anew at one of the sources, after some iterations.

    Each source has 1 - damping of its own and everybody else nothing: divide by the number of
    sources for the shares of one walker. What vertices without out-edges hold is not handed
    round. Exact mode; cost is that of PageRank, over what can be reached from the sources.
    """

    sources: gt.Vertices
    damping: float = 0.85
    iterations: int = 10
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
class ConvergedPersonalisedPageRank:
    """Personalised PageRank where it settles, within `tolerance` of the true one.

    Otherwise as PersonalisedPageRank. Fixpoint mode. A rank may be 0, and nothing is small beside
    that: each is off by at most `tolerance` times itself and a 1024th of what it would be if all
    vertices were sources. An advance costs the out-edges of the vertices whose rank it moves by
    more than that, and far from the sources next to nothing.
    """

    sources: gt.Vertices
    damping: float = 0.85
    tolerance: float = 1e-6
    rank: float
    total = gt.Sum(float)

    def initialize(self, v):
        v.rank = 0.0

    def traverse(self, u, e, v):
        v.total(u.rank / u.out_degree)

    def update(self, v):
        own = 1.0 - self.damping if v in self.sources else 0.0
        v.rank = own + self.damping * v.total
