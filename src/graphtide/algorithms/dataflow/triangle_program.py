"""Triangles as a dataflow program, beside the walk program of the library."""

from graphtide.algorithms.dataflow.triangles import triangles
from graphtide.lang.python import dataflow_program


@dataflow_program("triangles", int, missing=0)
def Triangles(edges):  # noqa: N802
    """In how many triangles each vertex is: three vertices with an edge between any two.

    Edges are taken both ways; loops and parallel edges make no triangle. A dataflow, in dataflow
    mode: an advance costs the pairs of greater neighbours of the ends of its edges. From scratch,
    those of all vertices. `graphtide.algorithms.Triangles` finds the same by walks, faster and in
    less memory.
    """
    return triangles(edges)
