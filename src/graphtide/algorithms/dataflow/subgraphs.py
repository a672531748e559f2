"""Triangles, and the dense subgraphs that dataflows find in rounds: k-core and k-truss.

The truss is a dataflow and not a walk program: its state is of edges, and it goes on until no edge
is removed, each round looking at triangles of the edges that are left. Walk programs keep state of
vertices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.lang.python import dataflow_program
from graphtide.plan.dataflow_terms import col, least

if TYPE_CHECKING:
    from graphtide.run.dataflow.collection import Collection


def triangles(edges: Collection) -> Collection:
    """(node, triangles): in how many triangles each vertex is that is in one.

    Edges are taken both ways; loops and parallel edges make no triangle. Each triangle is found
    once, from its least vertex: the cost is that of the pairs of greater neighbours of a vertex.
    """
    low = least(col.src, col.dst)
    apart = edges.filter(col.src != col.dst)
    pairs = apart.map(low=low, high=col.src + col.dst - low).distinct()
    wedges = pairs.join_map(pairs, on="low", node=col.low, low=col.high, high=col.high_right)
    closed = wedges.filter(col.low < col.high).join(pairs, on=("low", "high"))
    corners = (closed.map(node=corner) for corner in (col.node, col.low, col.high))
    first, second, third = corners
    return first.concat(second, third).count(by="node", name="triangles")


@dataflow_program("triangles", int, missing=0)
def Triangles(edges):  # noqa: N802
    """In how many triangles each vertex is: three vertices with an edge between any two.

    Edges are taken both ways; loops and parallel edges make no triangle. A dataflow, in dataflow
    mode: an advance costs the pairs of greater neighbours of the ends of its edges. From scratch,
    those of all vertices. `graphtide.algorithms.Triangles` finds the same by walks, faster and in
    less memory.
    """
    return triangles(edges)


def edge_triangles(edges: Collection) -> Collection:
    """(src, dst, triangles): in how many triangles each joined pair is that is in one.

    Edges are taken both ways, and a pair is told once, the lesser end first; loops and parallel
    edges change nothing.
    """
    return _supports(_pairs(edges))


def k_truss(edges: Collection, k: int) -> Collection:
    """The joined pairs (src, dst) each of which is in at least k - 2 triangles of such pairs.

    Pairs are told as those of `edge_triangles`. All of them are left where k is 2 or less.
    """
    pairs = _pairs(edges)
    if k <= 2:
        return pairs

    def step(left: Collection) -> Collection:
        return _supports(left).filter(col.triangles >= k - 2).select("src", "dst")

    return pairs.iterate(step, "k-truss")


def _pairs(edges: Collection) -> Collection:
    low = least(col.src, col.dst)
    apart = edges.filter(col.src != col.dst)
    return apart.map(src=low, dst=col.src + col.dst - low).distinct()


def _supports(pairs: Collection) -> Collection:
    """Each triangle is found once, from its least corner, and counts for its three sides."""
    wedges = pairs.join_map(pairs, on="src", low=col.src, src=col.dst, dst=col.dst_right)
    closed = wedges.filter(col.src < col.dst).join(pairs, on=("src", "dst"))
    first = closed.map(src=col.src, dst=col.dst)
    second = closed.map(src=col.low, dst=col.src)
    third = closed.map(src=col.low, dst=col.dst)
    return first.concat(second, third).count(by=("src", "dst"), name="triangles")


def k_core(edges: Collection, k: int) -> Collection:
    """The edges (src, dst) between vertices with at least k edges among them, in or out."""
    plain = edges.select("src", "dst")

    def step(left: Collection) -> Collection:
        ends = left.map(node=col.src).concat(left.map(node=col.dst))
        kept = ends.count(by="node", name="degree").filter(col.degree >= k).select("node")
        one = left.join_map(kept, on={"src": "node"}, src=col.src, dst=col.dst)
        return one.join_map(kept, on={"dst": "node"}, src=col.src, dst=col.dst)

    return plain.iterate(step, "k-core")
