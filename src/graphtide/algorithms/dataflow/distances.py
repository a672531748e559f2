"""How far vertices are from roots, in hops or by weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.plan.dataflow_terms import col

if TYPE_CHECKING:
    from graphtide.run.dataflow.collection import Collection


def distances(edges: Collection, roots: Collection) -> Collection:
    """(node, hops) for all vertices that a root reaches: breadth-first search."""
    start = roots.map(node=col.node, hops=0)
    with edges.nested_loop("distances") as loop:
        known = loop.variable(node=int, hops=int)
        further = known.join_map(edges, on={"node": "src"}, node=col.dst, hops=col.hops + 1)
        nearest = further.concat(start).min(by="node")
        known.set(nearest)
    return nearest.leave()


def shortest_paths(edges: Collection, roots: Collection) -> Collection:
    """(node, distance) by the column `weight` of edges, which must not be negative."""
    weight = dict(edges.schema)["weight"]
    zero = 0 if weight == "int" else 0.0
    start = roots.map(node=col.node, distance=zero)
    with edges.nested_loop("shortest paths") as loop:
        known = loop.variable(start)
        further = known.join_map(
            edges, on={"node": "src"}, node=col.dst, distance=col.distance + col.weight
        )
        nearest = further.concat(start).min(by="node")
        known.set(nearest)
    return nearest.leave()
