"""Interactive queries: their arguments are collections that change like any other.

Inserting an argument asks, removing it forgets. Give all of them the same arrangement of the
edges, by `src`: a query then costs what it touches, and no memory for the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.plan.dataflow_terms import col

if TYPE_CHECKING:
    from graphtide.run.dataflow.collection import Collection


def look_up(properties: Collection, asked: Collection) -> Collection:
    """The properties (node, ...) of the vertices that are asked for (node)."""
    return asked.join(properties, on="node")


def neighbours(edges: Collection, asked: Collection) -> Collection:
    """(node, dst) one hop from each vertex that is asked for."""
    return asked.join_map(edges, on={"node": "src"}, node=col.node, dst=col.dst)


def second_neighbours(edges: Collection, asked: Collection) -> Collection:
    """(node, dst) two hops from each vertex that is asked for, as often as there are ways."""
    first = neighbours(edges, asked)
    return first.join_map(edges, on={"dst": "src"}, node=col.node, dst=col.dst_right)


def paths_within_four(
    edges: Collection, reversed_edges: Collection, asked: Collection
) -> Collection:
    """(src, dst, hops): the least number of hops, at most four, for the pairs asked (src, dst).

    Searches two hops from either end; `reversed_edges` has src and dst exchanged, so that both
    sides seek in an arrangement by `src`.
    """
    here = asked.map(node=col.src, src=col.src, dst=col.dst, hops=0)
    there = asked.map(node=col.dst, src=col.src, dst=col.dst, hops=0)
    ahead, back = _two_hops(edges, here), _two_hops(reversed_edges, there)
    met = ahead.join_map(
        back, on=("node", "src", "dst"), src=col.src, dst=col.dst, hops=col.hops + col.hops_right
    )
    return met.min(by=("src", "dst"))


def _two_hops(edges: Collection, start: Collection) -> Collection:
    """(node, src, dst, hops): where the searches for each pair get within two hops."""
    one = _hop(edges, start)
    two = _hop(edges, one)
    return start.concat(one, two).min(by=("node", "src", "dst"))


def _hop(edges: Collection, places: Collection) -> Collection:
    return places.join_map(
        edges,
        on={"node": "src"},
        node=col.dst_right,
        src=col.src,
        dst=col.dst,
        hops=col.hops + 1,
    )
