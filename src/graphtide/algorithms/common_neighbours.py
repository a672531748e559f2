"""Common neighbours of pairs of vertices: counted, and weighed as Adamic and Adar do."""

from math import log

import graphtide.lang.python as gt


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
