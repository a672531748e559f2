"""What results belong to, by the users' ids: the vertices of a graph, or pairs of them.

A result stands at a number in its array; rows say which vertex or pair that is. Pairs name
their vertices by number, so that every kind of graph can have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.live.vertex_ids import VertexIds, id_column

Pairs = Sequence[tuple[int, int]]
_ENDS = ("source", "target")


class ResultRows(Protocol):
    """What the results of a program stand for, in their order."""

    @property
    def vertices(self) -> VertexRows:
        """The vertices of the graph, which results may name by their numbers."""

    def columns(self, numbers: NDArray[Any] | None = None) -> dict[str, pa.Array]:
        """The ids of some rows, or of all, and whatever else tells them apart."""

    def number(self, row: Any) -> int:
        """The number of a row by its id, or pair of ids; InputError if there is none."""


class VertexRows(ResultRows, Protocol):
    """All vertices of a graph."""

    def __len__(self) -> int: ...

    def listed(self, numbers: NDArray[Any]) -> list[Any]:
        """The ids of some vertices as `number` takes them."""


class LiveRows(ResultRows, Protocol):
    """Rows of results that are kept current."""

    def since(self, vertices: int) -> range:
        """The rows that have come since the graph had so many vertices."""


class GraphVertices:
    """The vertices of a graph in memory, which may get more."""

    def __init__(self, ids: VertexIds) -> None:
        self.ids = ids

    @property
    def vertices(self) -> GraphVertices:
        """Themselves."""
        return self

    def __len__(self) -> int:
        return len(self.ids)

    def listed(self, numbers: NDArray[Any]) -> list[Any]:
        """The ids of some vertices, as they were given."""
        return [self.ids[number] for number in numbers.tolist()]

    def columns(self, numbers: NDArray[Any] | None = None) -> dict[str, pa.Array]:
        """The ids of some vertices, or of all."""
        chosen = np.arange(len(self.ids)) if numbers is None else numbers
        return {"id": self.ids.taken(chosen)}

    def number(self, row: Any) -> int:
        """The number of a vertex; InputError if there is none."""
        number = int(self.ids.numbers(id_column([row], "the vertex"))[0])
        if number < 0:
            raise InputError(f"there is no vertex {row!r}", hint=self.ids.hint(row))
        return number

    def since(self, vertices: int) -> range:
        """The vertices that came after the first `vertices`."""
        return range(vertices, len(self.ids))


class PairRows:
    """Pairs of vertices, which stay as they are."""

    def __init__(self, vertices: ResultRows, pairs: Pairs) -> None:
        self.vertices = vertices.vertices
        self._places = {pair: at for at, pair in enumerate(pairs)}
        self._columns: dict[str, pa.Array] = {}
        for at, end in enumerate(_ENDS):
            columns = vertices.columns(np.array([pair[at] for pair in pairs], np.int64))
            self._columns[end] = columns.pop("id")
            self._columns |= {f"{end}_{name}": column for name, column in columns.items()}

    def columns(self, numbers: NDArray[Any] | None = None) -> dict[str, pa.Array]:
        """The ids of both ends of some pairs, or of all."""
        if numbers is None:
            return dict(self._columns)
        return {name: column.take(pa.array(numbers)) for name, column in self._columns.items()}

    def number(self, row: Any) -> int:
        """The place of a pair `(source, target)`; InputError if it is not among them."""
        if not isinstance(row, tuple | list) or len(row) != 2:
            raise InputError(f"{row!r} is no pair", hint="give (source, target) by their ids")
        pair = (self.vertices.number(row[0]), self.vertices.number(row[1]))
        if pair not in self._places:
            raise InputError(
                f"the pair {row!r} is not among those of the program",
                hint="add it to `pairs`, and run the program again",
            )
        return self._places[pair]

    def since(self, vertices: int) -> range:
        """None: pairs do not come later."""
        return range(0)


def row_names(rows: ResultRows, numbers: NDArray[Any]) -> list[str]:
    """Rows as they are called in pictures: `ann`, or `ann to bob`."""
    columns = rows.columns(numbers)
    if "id" in columns:
        return [str(item) for item in columns["id"].to_pylist()]
    ends = (columns[end].to_pylist() for end in _ENDS)
    return [f"{source} to {target}" for source, target in zip(*ends, strict=True)]
