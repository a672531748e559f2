"""PageRank: for a number of iterations, or until it has converged."""

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
