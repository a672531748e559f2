"""PageRank with integers: exact, whatever the order in which edges came and went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphtide.plan.dataflow_terms import col

if TYPE_CHECKING:
    from graphtide.run.dataflow.collection import Collection

SHARES = 1_000_000


def page_rank(edges: Collection, rounds: int, *, shares: int = SHARES) -> Collection:
    """(node, rank): ranks in whole shares after some rounds; each vertex starts with `shares`.

    A vertex gives 5 of 6 shares away, divided equally among its edges and rounded down, and gets
    one sixth of what it started with anew in each round.
    """
    plain = edges.select("src", "dst")
    nodes = plain.map(node=col.src).concat(plain.map(node=col.dst)).distinct()
    degrees = plain.count(by="src", name="degree")
    start = nodes.map(node=col.node, rank=shares)
    base = nodes.map(node=col.node, rank=shares // 6)
    with edges.nested_loop("page rank") as loop:
        ranks = loop.variable(start)
        given = ranks.join_map(
            degrees, on={"node": "src"}, node=col.node, share=col.rank * 5 // 6 // col.degree
        )
        received = given.join_map(plain, on={"node": "src"}, node=col.dst, rank=col.share)
        sums = received.concat(base).sum("rank", by="node")
        ranks.set(sums, rounds=rounds)
    return ranks.leave()
