"""Triangles: of each vertex, and of the whole graph."""

import graphtide.lang.python as gt


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
