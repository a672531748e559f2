"""Label propagation from vertices whose class is known."""

import graphtide.lang.python as gt


@gt.program
class LabelPropagation:
    """The share of two classes at each vertex, spread from vertices that are known.

    Vertices of `first` and `second` keep their class. In each iteration every other vertex takes
    the sum of its neighbours' shares, both ways, divided so that they add up to 1; `share` is
    [0, 0] where nothing has arrived yet. Exact mode. From scratch O(edges) an iteration; an
    advance costs the edges of the vertices whose shares change, iteration by iteration.
    """

    first: gt.Vertices
    second: gt.Vertices
    iterations: int = 10
    share = gt.State(float, size=2)
    votes = gt.Sum(float, size=2)
    direction = "both"

    def initialize(self, v):
        v.share[0] = 1.0 if v in self.first else 0.0
        v.share[1] = 1.0 if v in self.second else 0.0

    def traverse(self, u, e, v):
        for k in range(2):
            v.votes[k](u.share[k])

    def update(self, v):
        total = v.votes[0] + v.votes[1]
        if not (v in self.first or v in self.second) and total > 0.0:
            for k in range(2):
                v.share[k] = v.votes[k] / total
