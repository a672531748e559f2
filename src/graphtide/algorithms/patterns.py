"""Patterns of a few vertices: triangles, triads, cliques, rings and common neighbours.

All are walk programs, which look at several edges at a time.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from math import log

import graphtide.lang.python as gt
from graphtide.lang.python import inf


@gt.program
class Triangles:
    """In how many triangles each vertex is, and how many there are: `triangles` and `total`.

    A triangle is three vertices with an edge between any two, whichever way it goes; loops and
    parallel edges make none. Walk mode: an advance costs the neighbours of the ends of its edges.
    """

    total = gt.Global(gt.Count())
    triangles: int = 0
    found = gt.Count()

    def traverse(self, u):
        for v in u.neighbours:
            if u < v:
                for w in v.neighbours:
                    if v < w and w in u.neighbours:
                        u.found()
                        v.found()
                        w.found()
                        self.total()

    def update(self, v):
        v.triangles = v.found


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


@gt.program
class TriadCensus:
    """How often three vertices are connected in each of the 13 ways.

    Names are those of Holland and Leinhardt: how many of the three pairs have edges both ways, one
    way and not at all, then a letter (down, up, cyclic, transitive). Every three vertices of which
    two pairs at least are joined count once; loops and parallel edges change nothing. Walk mode:
    from scratch it costs the pairs of neighbours of every vertex, an advance the neighbours of the
    ends of its edges.
    """

    triad_021D = gt.Global(gt.Count())  # noqa: N815
    triad_021U = gt.Global(gt.Count())  # noqa: N815
    triad_021C = gt.Global(gt.Count())  # noqa: N815
    triad_111D = gt.Global(gt.Count())  # noqa: N815
    triad_111U = gt.Global(gt.Count())  # noqa: N815
    triad_201 = gt.Global(gt.Count())
    triad_030T = gt.Global(gt.Count())  # noqa: N815
    triad_030C = gt.Global(gt.Count())  # noqa: N815
    triad_120D = gt.Global(gt.Count())  # noqa: N815
    triad_120U = gt.Global(gt.Count())  # noqa: N815
    triad_120C = gt.Global(gt.Count())  # noqa: N815
    triad_210 = gt.Global(gt.Count())
    triad_300 = gt.Global(gt.Count())

    def traverse(self, v):
        for a in v.out_neighbours:
            for b in v.out_neighbours:
                if gt.distinct(v, a, b):
                    if a not in v.in_neighbours and b not in v.in_neighbours:
                        if a < b and a not in b.neighbours:
                            self.triad_021D()
                        if a < b and a in b.out_neighbours and a in b.in_neighbours:
                            self.triad_120D()
                        if a in b.in_neighbours and a not in b.out_neighbours:
                            self.triad_030T()
                    if a not in v.in_neighbours and b in v.in_neighbours:
                        if a not in b.neighbours:
                            self.triad_111U()
                        if a in b.out_neighbours and a in b.in_neighbours:
                            self.triad_210()
                        if a in b.in_neighbours and a not in b.out_neighbours:
                            self.triad_120C()
                    if a < b and a in v.in_neighbours and b in v.in_neighbours:
                        if a not in b.neighbours:
                            self.triad_201()
                        if v < a and a in b.out_neighbours and a in b.in_neighbours:
                            self.triad_300()
        for a in v.in_neighbours:
            if a not in v.out_neighbours:
                for b in v.in_neighbours:
                    if a != b and b not in v.out_neighbours:
                        if a < b and a not in b.neighbours:
                            self.triad_021U()
                        if a < b and a in b.out_neighbours and a in b.in_neighbours:
                            self.triad_120U()
                    if b != v and b in v.out_neighbours and a not in b.neighbours:
                        self.triad_111D()
                for b in v.out_neighbours:
                    if a != b and b not in v.in_neighbours:
                        if a not in b.neighbours:
                            self.triad_021C()
                        if a < v and a < b and a in b.out_neighbours and a not in b.in_neighbours:
                            self.triad_030C()


@gt.program
class Cliques:
    """In how many cliques of `size` vertices each vertex is, and how many there are: `total`.

    A clique is a set of different vertices, each two of which are joined. Edges are taken both
    ways; loops and parallel edges change nothing. The size is 1 to 11: cliques of three are
    triangles, those of two the pairs that are joined, and each vertex is one of one.
    Walk mode: an advance costs the cliques of one vertex less at its edges, times the neighbours of
    one of their corners.
    """

    size: int = 4
    total = gt.Global(gt.Count())
    cliques: int = 0
    found = gt.Count()

    def traverse(self, u):
        for _ in range(self.size, 2):  # Once where the size is 1, and else not at all.
            u.found()
            self.total()
        for v, path in u.neighbours.repeat(self.size):
            increasing = all(a < b for a, b in pairwise(path.vertices[:-1]))
            joined = all(b in a.neighbours for a, b in combinations(path.vertices[:-1], 2))
            if v == u and self.size > 1 and increasing and joined:
                for corner in path.vertices[:-1]:
                    corner.found()
                self.total()

    def update(self, v):
        v.cliques = v.found


@gt.program
class Rings:
    """Cycles of `length` different vertices along edges whose `time` increases from each to next.

    `rings` has a row for each: its vertices from the source of the first edge on, and the times of
    its first and last edge, which lie at most `within` apart. The first `most` rows are shown;
    `total` counts all. Edges are followed from src to dst, each parallel edge by itself; a loop is
    a ring of length 1. Walk mode: an advance costs the paths of that length through its edges that
    have increasing times.
    """

    length: int = 3
    within: float = inf
    most: int = 1_000_000
    total = gt.Global(gt.Count())
    rings = gt.Matches(
        member=gt.Columns(gt.Vertex, size="length"), first=float, last=float, limit="most"
    )

    def traverse(self, u):
        for v, path in u.out_edges.repeat(self.length):
            first = path.edges[0].time
            last = path.edges[-1].time
            increasing = all(a.time < b.time for a, b in pairwise(path.edges))
            closed = v == u and gt.distinct(path.vertices[1:])
            if closed and increasing and last - first <= self.within:
                self.total()
                self.rings(path.vertices[:-1], first, last)


@gt.program
class CommonNeighbours:
    """How many vertices are neighbours of both ends of each pair: `common`, one a pair.

    Edges are taken both ways, parallel ones once; an end is no common neighbour. Of a vertex
    with itself there are none. Walk mode: a state for each distinct source, which an advance costs
    the neighbours of the ends of its edges.
    """

    pairs: gt.Pairs
    common: int = 0
    found = gt.Count()

    def traverse(self, u):
        if u == self.pairs.source:
            for w in u.neighbours:
                for v in w.neighbours:
                    if gt.distinct(u, v, w):
                        v.found()

    def update(self, v):
        v.common = v.found


@gt.program
class AdamicAdar:
    """The sum of 1 / log(degree) over the common neighbours of each pair: `score`, one a pair.

    Common neighbours are those of `CommonNeighbours`; a degree counts every edge at a vertex, in
    and out. Walk mode, at the cost of `CommonNeighbours`.
    """

    pairs: gt.Pairs
    score: float = 0.0
    found = gt.Sum(float)

    def traverse(self, u):
        if u == self.pairs.source:
            for w in u.neighbours:
                for v in w.neighbours:
                    if gt.distinct(u, v, w):
                        v.found(1.0 / log(w.degree))

    def update(self, v):
        v.score = v.found
