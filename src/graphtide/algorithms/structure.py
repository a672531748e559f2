"""The structure of a graph: components, cores and degrees."""

from __future__ import annotations

import numpy as np

import graphtide.lang.python as gt
from graphtide.algorithms.dataflow.reachability import strong_components
from graphtide.lang.python import Vertex, dataflow_program


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


def _searched(graph):
    """The labels of a graph at rest, by a depth-first search."""
    from graphtide.kernels.graph.components import label_strong_components, new_search

    labels = np.empty(graph.vertices, np.int64)
    label_strong_components(graph.adjacency, new_search(graph.vertices), labels)
    return labels


@dataflow_program("component", Vertex, labels=True, scratch=_searched)
def SCC(edges, vertices):  # noqa: N802
    """The strongly connected component of each vertex: those that reach each other along edges.

    `component` is the vertex of the component that stands first in the graph, by its id. A dataflow
    of loops within a loop, in dataflow mode: an advance costs what changes in any round of any of
    them. From scratch, one depth-first search, O(vertices + edges).
    """
    return strong_components(edges, vertices)


@gt.program
class KCore:
    """Whether each vertex is in the k-core: has at least `k` edges to vertices that are.

    Edges count both ways and parallel ones each; loops do not count. Exact mode. From scratch
    O(edges) an iteration; an advance costs the edges of the vertices that leave or enter in some
    iteration.
    """

    k: int
    inside: bool = True
    kept = gt.Count()
    direction = "both"

    def traverse(self, u, e, v):
        if u.inside and u != v:
            v.kept()

    def update(self, v):
        v.inside = v.inside and v.kept >= self.k


@gt.program
class DegreeStatistics:
    """Edges in and out of each vertex, and the mean and greatest degree of its neighbours.

    Degrees count edges both ways, parallel ones each, a loop twice. `neighbour_mean` and
    `neighbour_most` are 0 for a vertex without edges. Exact mode, one iteration. From scratch
    O(edges); an advance costs the edges of the vertices whose degree changes, and of their
    neighbours.
    """

    incoming: int
    outgoing: int
    neighbour_mean: float
    neighbour_most: int
    total = gt.Sum(int)
    most = gt.Max(int)
    direction = "both"
    iterations = 1

    def traverse(self, u, e, v):
        v.total(u.degree)
        v.most(u.degree)

    def update(self, v):
        v.incoming = v.in_degree
        v.outgoing = v.out_degree
        v.neighbour_mean = v.total / v.degree if v.degree > 0 else 0.0
        v.neighbour_most = v.most if v.degree > 0 else 0
