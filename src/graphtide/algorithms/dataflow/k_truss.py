"""Triangles of each edge, and the k-truss: what is left when edges in too few of them are removed.

A dataflow, and not a walk program: its state is of edges, and it goes on in rounds until no edge
is removed, each round looking at triangles of the edges that are left. Walk programs keep state of
vertices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.plan.dataflow_terms import col, least

if TYPE_CHECKING:
    from graphtide.run.dataflow.collection import Collection


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
