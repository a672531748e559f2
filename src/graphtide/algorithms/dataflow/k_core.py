"""The k-core: what is left when vertices of too low a degree are removed, again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.plan.dataflow_terms import col

if TYPE_CHECKING:
    from graphtide.run.dataflow.collection import Collection


def k_core(edges: Collection, k: int) -> Collection:
    """The edges (src, dst) between vertices with at least k edges among them, in or out."""
    plain = edges.select("src", "dst")

    def step(left: Collection) -> Collection:
        ends = left.map(node=col.src).concat(left.map(node=col.dst))
        kept = ends.count(by="node", name="degree").filter(col.degree >= k).select("node")
        one = left.join_map(kept, on={"src": "node"}, src=col.src, dst=col.dst)
        return one.join_map(kept, on={"dst": "node"}, src=col.src, dst=col.dst)

    return plain.iterate(step, "k-core")
