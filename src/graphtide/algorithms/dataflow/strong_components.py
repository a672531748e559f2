"""Strongly connected components by coloring, loops within a loop.

Each round of the outer loop propagates labels along the edges that are left, and removes the edges
whose ends got different labels; then the same against the edges. An edge within a component is
never removed, since its ends reach each other and so hold the same labels; when nothing changes
any more, only those are left. The rounds never undo each other: every round starts from all edges,
propagates along what the round before left, and so keeps a record of what each round removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.algorithms.dataflow.components import propagate
from graphtide.plan.dataflow_terms import col

if TYPE_CHECKING:
    from graphtide.run.dataflow.collection import Collection


def strong_edges(edges: Collection) -> Collection:
    """The edges (src, dst) whose ends are in the same strongly connected component."""
    forward = edges.select("src", "dst")
    backward = edges.map(src=col.dst, dst=col.src)

    def round_trip(left: Collection) -> Collection:
        return _trim(_trim(left, forward), backward)

    return forward.iterate(round_trip, "strong components")


def _trim(left: Collection, edges: Collection) -> Collection:
    """Of all edges those whose ends get the same label along the edges that are left, reversed."""
    labels = propagate(left, edges.map(node=col.dst, label=col.dst).consolidate())
    by_source = edges.join_map(
        labels, on={"src": "node"}, dst=col.dst, src=col.src, source_label=col.label
    )
    ends = by_source.join(labels, on={"dst": "node"})
    same = ends.filter(col.source_label == col.label)
    return same.map(src=col.dst, dst=col.src)


def strong_components(edges: Collection, vertices: Collection | None = None) -> Collection:
    """(node, label): the least vertex of the strongly connected component of each vertex."""
    within = strong_edges(edges)
    if vertices is None:
        ends = edges.map(node=col.src).concat(edges.map(node=col.dst))
        vertices = ends.distinct()
    return propagate(within, vertices.map(node=col.node, label=col.node))
