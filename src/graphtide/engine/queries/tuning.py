"""Whose state is worth its bytes: what it saves from batch to batch, for each of them.

A search without its entries is computed anew whenever a batch concerns it. So a state saves how
often that is times how many edges it then looks at. How often is counted, and what was long ago
counts less: the last hundred batches make up most of it.

To have a state again takes a look at all edges that lead to its entries. So a search must have
spent as much on answers before: whatever comes then, no more than twice the least is spent. For a
pair on a graph of small diameter that is after thousands of answers, on a road network after a few.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.engine.queries.searches import Search

FADES = 0.99
"""What a batch leaves of what was counted before it."""

BETTER = 2.0
"""A state replaces others only if it saves this many times as much for a byte."""


@dataclass
class Record:
    """What is known of a search: how many edges it looks at, and what it went through.

    `looks` is how many edges it takes to compute its answer anew, `begins` how many to find all its
    entries, 0 if that was never done: of a pair, many times as many. `since` is the batch after
    which it came, or was last dropped or taken up; `spent` how many edges it has looked at since it
    has no entries.
    """

    search: Search
    since: int
    looks: int = 1
    begins: int = 0
    entries: int = 0
    again: int = 0
    spent: int = 0
    seconds: float = 0.0
    _often: float = 0.0
    _counted: int = 0

    def concern(self, batch: int) -> None:
        """Count a batch that concerned it."""
        self._often = self.often(batch) + 1.0
        self._counted = batch

    def often(self, batch: int) -> float:
        """How many of the last batches concerned it, the latest counting most."""
        return float(self._often * FADES ** (batch - self._counted))

    def worth(self, batch: int, nbytes: int) -> float:
        """How many edges a byte of its state saves."""
        return self.often(batch) * self.looks / max(nbytes, 1)
