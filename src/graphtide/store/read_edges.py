"""How many rows this process has read from stores, so that a test can tell who reads none.

Those of edges are counted, and those that there is one of for each vertex: ids, properties, results
of the empty version and their differences.
"""

from __future__ import annotations


class ReadRows:
    """A count that only grows."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, rows: int) -> None:
        """So many rows were read."""
        self.count += rows


READ_EDGES = ReadRows()
READ_VERTICES = ReadRows()
