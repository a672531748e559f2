"""Collaborative filtering by alternating least squares."""

import graphtide.lang.python as gt

RANK = 4


@gt.program
class CollaborativeFiltering:
    """Factors of users and items whose products are near the ratings (ALS, four factors).

    Edges go from users to items with `weight` the rating. Items are fitted to the users in odd
    iterations and users to the items in even ones, each by least squares with the penalty
    `regularisation`; a vertex without ratings keeps its factors. Starts are the same in every
    run. `system` is room to solve in, and of no interest. Exact mode. From scratch O(edges) an
    iteration, with 20 sums an edge; an advance costs the edges of the vertices whose factors
    change, iteration by iteration.
    """

    regularisation: float = 0.1
    iterations: int = 10
    factors = gt.State(float, size=RANK)
    system = gt.State(float, size=RANK * RANK)
    normal = gt.Sum(float, size=RANK * RANK)
    right = gt.Sum(float, size=RANK)
    direction = "both"

    def initialize(self, v):
        for k in range(RANK):
            v.factors[k] = 0.1 + float((v.id * 7 + k * 13) % 17) / 17.0

    def traverse(self, u, e, v):
        for i in range(RANK):
            v.right[i](e.weight * u.factors[i])
            for j in range(RANK):
                v.normal[i * RANK + j](u.factors[i] * u.factors[j])

    def update(self, v):
        turn = v.in_degree if self.iteration % 2 == 1 else v.out_degree
        if turn > 0:
            for i in range(RANK):
                v.factors[i] = v.right[i]
                for j in range(RANK):
                    v.system[i * RANK + j] = v.normal[i * RANK + j]
                v.system[i * RANK + i] += self.regularisation
            # Elimination without exchanges: the system is positive definite.
            for i in range(RANK):
                for below in range(i + 1, RANK):
                    share = v.system[below * RANK + i] / v.system[i * RANK + i]
                    v.factors[below] -= share * v.factors[i]
                    for j in range(i, RANK):
                        v.system[below * RANK + j] -= share * v.system[i * RANK + j]
            for i in range(RANK - 1, -1, -1):
                for j in range(i + 1, RANK):
                    v.factors[i] -= v.system[i * RANK + j] * v.factors[j]
                v.factors[i] = v.factors[i] / v.system[i * RANK + i]
