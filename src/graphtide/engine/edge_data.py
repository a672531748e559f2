"""Texts, dates and timestamps of edges, as programs read them: a whole number an edge.

Numbers and truth values are columns of the graph itself, by which rows are matched with edges. All
else stands in a table of whoever holds the graph, and becomes an array when a program first asks
for it: a text its code in the dictionary of the graph's vertices, a moment its number.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.plan.expressions import ValueType

CODED = (ValueType.TEXT, ValueType.DATE, ValueType.TIMESTAMP)
"""The types that edges have values of beside the graph's own columns."""

NO_MOMENT = int(np.iinfo(np.int64).min)
"""The number of a date or timestamp that is missing; no program is given it."""


class EdgeData(Protocol):
    """What edges have besides numbers, by the numbers that users know edges by."""

    def values(self, name: str, type_: ValueType, first: int, stop: int) -> NDArray[np.int64]:
        """A property of edges from one number to another; `NO_TEXT` or `NO_MOMENT` if missing."""

    def plain(self, name: str, type_: ValueType, first: int, stop: int) -> NDArray[Any]:
        """A property by another way than `values`, to check it by; texts as Python's, or None."""


class NoEdgeData:
    """The values of a graph whose edges have numbers and truth values alone."""

    def values(self, name: str, type_: ValueType, first: int, stop: int) -> NDArray[np.int64]:
        """Refuses every property."""
        raise InputError(f"the edges have no {type_} property '{name}'", hint="give them one")

    def plain(self, name: str, type_: ValueType, first: int, stop: int) -> NDArray[Any]:
        """Refuses every property."""
        return self.values(name, type_, first, stop)
