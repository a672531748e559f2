"""Personalised PageRank: closeness to some vertices, after some iterations or where it settles."""

import graphtide.lang.python as gt


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
