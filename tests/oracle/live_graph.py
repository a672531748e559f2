"""A live graph as a plain list of edges, and what is asked of it by a search in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

Row = tuple[Any, ...]

KINDS = {0.5: "a", 1.0: "b", 2.0: "c"}
"""The kind of an edge by its weight: who knows the weight knows which edges are alike."""


class EdgeList:
    """Edges `(src, dst, weight, kind)` in the order in which they came; all vertices ever named."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = list(rows)
        self.vertices = {end for row in rows for end in row[:2]}
        self.version = 0

    def advance(self, insert: list[Row] = [], delete: list[Row] = []) -> None:  # noqa: B006
        """The next version; rows to delete are there, in full."""
        for row in delete:
            self.rows.remove(row)
        self.rows += insert
        self.vertices |= {end for row in insert for end in row[:2]}
        self.version += 1

    def counted(self) -> Counter[Row]:
        """The edges without their order."""
        return Counter(self.rows)

    def hops(self, start: Any) -> dict[Any, float]:
        """By how many edges each vertex is reached, infinity where it is not."""
        found: dict[Any, float] = {start: 0}
        border = [start]
        while border:
            ahead = {dst for src, dst, *_ in self.rows if src in border} - found.keys()
            found |= dict.fromkeys(ahead, found[border[0]] + 1)
            border = list(ahead)
        return {vertex: found.get(vertex, float("inf")) for vertex in self.vertices}


def random_batch(pick: random.Random, known: EdgeList) -> dict[str, list[Row]]:
    """Some edges in and, as often, edges out."""
    gone = pick.sample(known.rows, min(len(known.rows), pick.randrange(6)))
    come = [
        (pick.randrange(12), pick.randrange(12), *pick.choice(list(KINDS.items())))
        for _ in range(pick.randrange(6))
    ]
    return {"insert": come, "delete": gone}


def given(batch: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """A batch as a graph takes it: rows to delete without what only views read."""
    return {**batch, "delete": [row[:3] for row in batch.get("delete", [])]}
