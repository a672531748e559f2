"""A graph with parallel edges as a plain Counter of rows: what an advance means, and nothing else.

A row is a tuple of src, dst and all properties. It imports nothing of the product.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

Row = tuple[Any, ...]


class PlainMultigraph:
    """The rows of the current version, the vertices in order, and the versions before."""

    def __init__(self, vertices: Iterable[Any], rows: Iterable[Row]) -> None:
        self.vertices = list(vertices)
        self.rows = Counter(rows)
        self._before: list[tuple[list[Any], Counter[Row]]] = []

    def can_delete(self, given: Iterable[Row], columns: Sequence[int]) -> bool:
        """Whether every deleted row, which gives these columns, has an edge of its own."""
        there: Counter[Row] = Counter()
        for row, count in self.rows.items():
            there[tuple(row[at] for at in columns)] += count
        return all(count <= there[row] for row, count in Counter(given).items())

    def knows(self, given: Iterable[Row]) -> bool:
        """Whether all ends of rows are there."""
        return all(end in self.vertices for row in given for end in row[:2])

    def check_advanced(
        self, inserted: Iterable[Row], deleted: Iterable[Row], columns: Sequence[int], now: Any
    ) -> None:
        """Go to a version of the product's, if it is one that the rows lead to.

        A deleted row may leave properties out; which of several edges went is told by `now`.
        """
        came = list(inserted)
        whole = self.rows + Counter(came)
        gone = whole.copy()
        gone.subtract(Counter(now))
        assert all(count >= 0 for count in gone.values()), "rows have come from nowhere"
        told: Counter[Row] = Counter()
        for row, count in gone.items():
            told[tuple(row[at] for at in columns)] += count
        assert +told == Counter(deleted), "other rows have gone"
        self._before.append((list(self.vertices), self.rows))
        self.rows = Counter(now)
        for row in came:
            for end in row[:2]:
                if end not in self.vertices:
                    self.vertices.append(end)

    def roll_back(self) -> None:
        """To the version before."""
        self.vertices, self.rows = self._before.pop()

    def distances(self, source: Any, weight: int) -> dict[Any, float]:
        """Lengths of shortest ways from a vertex, by looking at every edge again and again."""
        found = dict.fromkeys(self.vertices, float("inf"))
        found[source] = 0.0
        for _ in self.vertices:
            before = dict(found)
            for row in self.rows:
                found[row[1]] = min(found[row[1]], found[row[0]] + row[weight])
            if found == before:
                break
        return found
