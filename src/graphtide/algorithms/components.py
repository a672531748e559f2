"""Weakly connected components."""

import graphtide.lang.python as gt


@gt.program
class WCC:
    """The component of each vertex, edges taken both ways.

    `component` is the vertex of the component that stands first in the graph, by its id. Fixpoint
    mode. From scratch O(vertices + edges); an insertion that joins two components costs the one
    whose first vertex stands behind the other's, or one pass over the vertices where that holds
    most of them; a deletion costs what loses its support.
    """

    component: int
    least = gt.Min(int)
    direction = "both"

    def initialize(self, v):
        v.component = v.id

    def traverse(self, u, e, v):
        v.least(u.component)

    def update(self, v):
        v.component = min(v.component, v.least)
