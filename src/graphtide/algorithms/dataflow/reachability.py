"""Which vertices can be reached, from some or from all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.plan.dataflow_terms import col

if TYPE_CHECKING:
    from graphtide.run.dataflow.collection import Collection


def reachable(edges: Collection, roots: Collection) -> Collection:
    """(node) for all vertices that a root reaches, the roots included."""

    def step(reached: Collection) -> Collection:
        further = reached.join_map(edges, on={"node": "src"}, node=col.dst)
        return further.concat(roots).distinct()

    return roots.iterate(step, "reachable")


def transitive_closure(edges: Collection) -> Collection:
    """(src, dst) for all pairs with a path of one edge or more from one to the other."""
    plain = edges.select("src", "dst")

    def step(paths: Collection) -> Collection:
        longer = paths.join_map(plain, on={"dst": "src"}, src=col.src, dst=col.dst_right)
        return longer.concat(plain).distinct()

    return plain.iterate(step, "closure")
