"""Triangles: three vertices with an edge between any two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
