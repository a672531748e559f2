"""Weakly connected components."""

import graphtide.lang.python as gt


@gt.program
class WCC:
    """The component of each vertex, edges taken both ways.

    `component` is the number of the vertex that stands first in the component: its place in the
    results, which is its id where ids are 0, 1, 2, ... Fixpoint mode. From scratch O(vertices +
    edges); an insertion that joins two components costs the one whose number is the greater, or
    one pass over the vertices where that holds most of them; a deletion costs what loses its
    support.
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
