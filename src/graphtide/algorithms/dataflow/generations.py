"""Same generation: who is as many steps below a common ancestor as another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.plan.dataflow_terms import col

if TYPE_CHECKING:
    from graphtide.run.dataflow.collection import Collection


def same_generation(parents: Collection) -> Collection:
    """(one, other) of the same generation, from edges (src, dst) from child to parent.

    Children of one parent are of one generation, and so are children of parents who are. Pairs of
    a vertex with itself are left out.
    """
    plain = parents.select("src", "dst")
    siblings = plain.join_map(plain, on="dst", one=col.src, other=col.src_right)
    siblings = siblings.filter(col.one != col.other).distinct()

    def step(pairs: Collection) -> Collection:
        left = pairs.join_map(plain, on={"one": "dst"}, child=col.src, other=col.other)
        both = left.join_map(plain, on={"other": "dst"}, one=col.child, other=col.src)
        return both.filter(col.one != col.other).concat(siblings).distinct()

    return siblings.iterate(step, "same generation")
