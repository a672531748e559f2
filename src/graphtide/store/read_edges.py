"""How many rows of edges this process has read, so that a test can tell who reads none."""

from __future__ import annotations


class ReadEdges:
    """A count that only grows."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, rows: int) -> None:
        """So many rows were read."""
        self.count += rows


READ_EDGES = ReadEdges()
