"""The k-core."""

import graphtide.lang.python as gt


@gt.program
class KCore:
    """Whether each vertex is in the k-core: has at least `k` edges to vertices that are.

    Edges count both ways and parallel ones each; loops do not count. Exact mode. From scratch
    O(edges) an iteration; an advance costs the edges of the vertices that leave or enter in some
    iteration.
    """

    k: int
    inside: bool = True
    kept = gt.Count()
    direction = "both"

    def traverse(self, u, e, v):
        if u.inside and u != v:
            v.kept()

    def update(self, v):
        v.inside = v.inside and v.kept >= self.k
