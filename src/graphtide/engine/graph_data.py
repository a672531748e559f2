"""What data say of vertices and edges, as programs read it: arrays of numbers.

Of vertices an array a property, by vertex number; of edges a whole number an edge, for texts, dates
and timestamps: numbers and truth values of edges are columns of the graph itself, by which rows are
matched with edges. Kernels read numbers alone: a text is its code in one dictionary of the whole
graph, so that texts of two properties, constants and parameters compare by their codes.

Who keeps the values, and lets them grow with the graph, is the business of `run`.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.plan.expressions import ValueType, VertexProperty

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


NO_TEXT = -1
"""The code of a text that is missing; it equals no text, not even another that is missing."""

VALUE_TYPES: dict[ValueType, Any] = dict.fromkeys(ValueType, np.int64)
VALUE_TYPES |= {ValueType.FLOAT: np.float64, ValueType.BOOL: np.bool_}
"""The types that kernels have values in."""


class VertexData(Protocol):
    """The properties of a graph's vertices, as many as it has now."""

    def array(self, wanted: VertexProperty) -> NDArray[Any]:
        """A property in the type that kernels take; not a copy, and to be taken anew after growth.

        `wanted.missing` stands where a value is missing; where it is None, 0 or `NO_TEXT` does.
        """

    def code(self, text: str) -> int:
        """The code of a text, which no other text has, now and later."""

    def plain(self, wanted: VertexProperty) -> NDArray[Any]:
        """A property by another way than `array`, to check that by; texts as Python's, or None."""


class NoData:
    """The values of a graph whose vertices have none."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def array(self, wanted: VertexProperty) -> NDArray[Any]:
        """Refuses every property."""
        raise InputError(f"the vertices have no property '{wanted.name}'", hint="they have: none")

    def code(self, text: str) -> int:
        """A program may still compare its parameters with texts of its own."""
        return self._codes.setdefault(text, len(self._codes))

    def plain(self, wanted: VertexProperty) -> NDArray[Any]:
        """Refuses every property."""
        return self.array(wanted)


class FirstData:
    """The values of the first few vertices of a graph, for a small graph that stands in for it."""

    def __init__(self, values: VertexData, vertices: int) -> None:
        self._values = values
        self._vertices = vertices

    def array(self, wanted: VertexProperty) -> NDArray[Any]:
        """Of so many vertices; those of a smaller graph are repeated."""
        return np.resize(self._values.array(wanted)[: self._vertices], self._vertices)

    def code(self, text: str) -> int:
        """As in the whole graph."""
        return self._values.code(text)

    def plain(self, wanted: VertexProperty) -> NDArray[Any]:
        return np.resize(self._values.plain(wanted)[: self._vertices], self._vertices)
