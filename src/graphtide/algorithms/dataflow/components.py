"""Connected components by propagation of labels.

Small labels set out first: a label enters the loop in a round that grows with its number of bits,
by which time those before it have gone where they can. So few vertices ever hold a label that is
not final, and few messages are sent that have to be taken back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.plan.dataflow_terms import bits, col

if TYPE_CHECKING:
    from graphtide.run.dataflow.collection import Collection

ROUNDS_A_BIT = 256


def propagate(edges: Collection, labels: Collection) -> Collection:
    """(node, label): the least label that reaches each vertex along edges (src, dst).

    Labels are ints from 0 up, records (node, label). Where edges are in a loop, so is the result.
    """
    with edges.nested_loop("propagate") as loop:
        held = loop.variable(node=int, label=int)
        moved = held.join_map(edges, on={"node": "src"}, node=col.dst, label=col.label)
        waiting = labels.enter(loop, at=ROUNDS_A_BIT * bits(col.label))
        least = moved.concat(waiting).min(by="node")
        held.set(least)
    return least.leave()


def components(edges: Collection, vertices: Collection | None = None) -> Collection:
    """(node, label): the least vertex of the component of each, edges taken in both directions.

    `vertices` (node) are those without edges too; by default, the ends of edges.
    """
    both = edges.select("src", "dst").concat(edges.map(src=col.dst, dst=col.src))
    nodes = both.map(node=col.src).distinct() if vertices is None else vertices
    return propagate(both, nodes.map(node=col.node, label=col.node))
