"""Degrees, and those of the neighbours."""

import graphtide.lang.python as gt


@gt.program
class DegreeStatistics:
    """Edges in and out of each vertex, and the mean and greatest degree of its neighbours.

    Degrees count edges both ways, parallel ones each, a loop twice. `neighbour_mean` and
    `neighbour_most` are 0 for a vertex without edges. Exact mode, one iteration. From scratch
    O(edges); an advance costs the edges of the vertices whose degree changes, and of their
    neighbours.
    """

    incoming: int
    outgoing: int
    neighbour_mean: float
    neighbour_most: int
    total = gt.Sum(int)
    most = gt.Max(int)
    direction = "both"
    iterations = 1

    def traverse(self, u, e, v):
        v.total(u.degree)
        v.most(u.degree)

    def update(self, v):
        v.incoming = v.in_degree
        v.outgoing = v.out_degree
        v.neighbour_mean = v.total / v.degree if v.degree > 0 else 0.0
        v.neighbour_most = v.most if v.degree > 0 else 0
