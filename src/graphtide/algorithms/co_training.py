"""Co-training EM: two kinds of evidence that teach each other."""

import graphtide.lang.python as gt


@gt.program
class CoTrainingEM:
    """How likely each vertex belongs to a class, from co-occurrences with weights (CoEM).

    On a graph between phrases and contexts with `weight` the number of times that they occur
    together, each is as likely as those it occurs with on average, by weight. `positive` stay at
    1, `negative` at 0, all others start at 0.5 and keep what they have without edges. Exact
    mode. From scratch O(edges) an iteration; an advance costs the edges of the vertices whose
    score changes, iteration by iteration.
    """

    positive: gt.Vertices
    negative: gt.Vertices
    iterations: int = 10
    score: float
    weighted = gt.Sum(float)
    weights = gt.Sum(float)
    direction = "both"

    def initialize(self, v):
        v.score = 1.0 if v in self.positive else 0.0 if v in self.negative else 0.5

    def traverse(self, u, e, v):
        v.weighted(e.weight * u.score)
        v.weights(e.weight)

    def update(self, v):
        if not (v in self.positive or v in self.negative) and v.weights > 0.0:
            v.score = v.weighted / v.weights
