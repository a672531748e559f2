"""Cliques of four and of five vertices, each two of which are joined."""

import graphtide.lang.python as gt


@gt.program
class FourCliques:
    """In how many cliques of four each vertex is, and how many there are: `cliques`, `total`.

    Edges are taken both ways; loops and parallel edges change nothing. Walk mode: an advance costs
    the triangles at its edges, times the neighbours of one of their corners.
    """

    total = gt.Global(gt.Count())
    cliques: int = 0
    found = gt.Count()

    def traverse(self, u):
        for v in u.neighbours:
            if u < v:
                for w in v.neighbours:
                    if v < w and w in u.neighbours:
                        for x in w.neighbours:
                            if w < x and x in u.neighbours and x in v.neighbours:
                                u.found()
                                v.found()
                                w.found()
                                x.found()
                                self.total()

    def update(self, v):
        v.cliques = v.found


@gt.program
class FiveCliques:
    """How many cliques of five vertices there are: `total`.

    Edges are taken both ways; loops and parallel edges change nothing. Walk mode: an advance costs
    the cliques of four at its edges, times the neighbours of one of their corners.
    """

    total = gt.Global(gt.Count())

    def traverse(self, u):
        for v in u.neighbours:
            if u < v:
                for w in v.neighbours:
                    if v < w and w in u.neighbours:
                        for x in w.neighbours:
                            if w < x and x in u.neighbours and x in v.neighbours:
                                for y in x.neighbours:
                                    joined = y in u.neighbours and y in v.neighbours
                                    if x < y and joined and y in w.neighbours:
                                        self.total()
