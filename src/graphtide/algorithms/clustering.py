"""Clustering coefficients: how many of the neighbours of a vertex are neighbours of each other."""

import graphtide.lang.python as gt


@gt.program
class ClusteringCoefficients:
    """The share of the pairs of neighbours of each vertex that are joined: `coefficient`.

    It is 0 for a vertex with fewer than two neighbours; `triangles` is how many pairs are joined.
    The mean over all vertices is `coefficient_mean` of a summary. Edges are taken both ways;
    loops and parallel edges change nothing. Walk mode: an advance costs the neighbours of the ends
    of its edges.
    """

    total = gt.Global(gt.Count())
    coefficient: float = 0.0
    triangles: int = 0
    found = gt.Count()
    neighbours = gt.Count()

    def traverse(self, u):
        for v in u.neighbours:
            if u != v:
                u.neighbours()
            if u < v:
                for w in v.neighbours:
                    if v < w and w in u.neighbours:
                        u.found()
                        v.found()
                        w.found()
                        self.total()

    def update(self, v):
        v.triangles = v.found
        v.coefficient = 0.0
        if v.neighbours > 1:
            v.coefficient = 2.0 * v.found / (v.neighbours * (v.neighbours - 1))


@gt.program
class Transitivity:
    """How many pairs of neighbours there are, `wedges`, and how many are joined, `closed`.

    The global clustering coefficient is closed / wedges. Edges are taken both ways; loops and
    parallel edges change nothing. Walk mode: from scratch it costs the pairs of neighbours of every
    vertex, and an advance the neighbours of the ends of its edges.
    """

    wedges = gt.Global(gt.Count())
    closed = gt.Global(gt.Count())

    def traverse(self, u):
        for v in u.neighbours:
            if u != v:
                for w in u.neighbours:
                    if v < w and u != w:
                        self.wedges()
                        if w in v.neighbours:
                            self.closed()
