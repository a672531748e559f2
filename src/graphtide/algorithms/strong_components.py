"""Strongly connected components, as a program."""

import numpy as np

from graphtide.algorithms.dataflow.strong_components import strong_components
from graphtide.lang.python import Vertex, dataflow_program


def _searched(graph):
    """The labels of a graph at rest, by a depth-first search."""
    from graphtide.kernels.graph.strong_components import label_strong_components, new_search

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
