"""Cliques: sets of vertices, each two of which are joined."""

from itertools import combinations, pairwise

import graphtide.lang.python as gt


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
