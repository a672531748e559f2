"""Results as users see them: rows by the users' ids, and columns of Arrow.

A result stands at a number in its array. `ResultRows` says which vertex, or pair of vertices, that
is, for every kind of graph. Engines name a vertex by its number and runs keep results so; the
number becomes the user's own id here and nowhere else, when somebody looks: in tables
(`result_columns`), in arrays (`named`) and in the rows that walks report (`match_table`). A number
that no vertex has becomes a null, or None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint
from graphtide.plan.expressions import ValueType
from graphtide.plan.walks import Matches
from graphtide.run.live.vertex_ids import VertexIds, id_column
from graphtide.run.table import HasTable, Table

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
        return self

    def __len__(self) -> int:
        return len(self.ids)

    def listed(self, numbers: NDArray[Any]) -> list[Any]:
        return [self.ids[number] for number in numbers.tolist()]

    def columns(self, numbers: NDArray[Any] | None = None) -> dict[str, pa.Array]:
        chosen = np.arange(len(self.ids)) if numbers is None else numbers
        return {"id": self.ids.taken(chosen)}

    def number(self, row: Any) -> int:
        """The number of a vertex; InputError if there is none."""
        number = int(self.ids.numbers(id_column([row], "the vertex"))[0])
        if number < 0:
            raise InputError(f"there is no vertex {row!r}", hint=self.ids.hint(row))
        return number

    def since(self, vertices: int) -> range:
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
        return range(0)


def row_names(rows: ResultRows, numbers: NDArray[Any]) -> list[str]:
    """Rows as they are called in pictures: `ann`, or `ann to bob`."""
    columns = rows.columns(numbers)
    if "id" in columns:
        return [str(item) for item in columns["id"].to_pylist()]
    ends = (columns[end].to_pylist() for end in _ENDS)
    return [f"{source} to {target}" for source, target in zip(*ends, strict=True)]


def arrow_column(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Results as Arrow: arrays of a fixed size where a field is an array."""
    if values.ndim == 1:
        return pa.array(values, mask=missing)
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return _arrays_of(flat, values.shape[1], missing)


def result_columns(
    name: str,
    values: NDArray[Any],
    vertices: VertexRows | None,
    missing: NDArray[np.bool_] | None = None,
) -> dict[str, pa.Array]:
    """A result as a column; of one that names some `vertices`, their ids.

    Where ids need a label there is a second column with the labels: `component_label`.
    """
    if vertices is None:
        return {name: arrow_column(values, missing)}
    numbers, there = _numbers(values, vertices)
    if missing is not None and values.ndim == 1:
        there &= ~missing
    every = 2 * len(numbers) >= len(vertices)
    known = vertices.columns(None if every else numbers[there])
    places = numbers if every else np.cumsum(there) - 1
    taken = pa.array(places, mask=~there)
    columns = {}
    for what, ids in known.items():
        column = ids.take(taken)
        if values.ndim > 1:
            column = _arrays_of(column, values.shape[1], missing)
        columns[name if what == "id" else f"{name}_{what}"] = column
    return columns


def named(values: NDArray[Any], vertices: VertexRows | None) -> NDArray[Any]:
    """A copy of a result; of one that names some `vertices`, their ids.

    An array of whole numbers where ids are such and each names a vertex, or else of objects.
    """
    if vertices is None:
        return values.copy()
    numbers, there = _numbers(values, vertices)
    none = vertices.columns(numbers[:0])
    if there.all() and len(none) == 1 and pa.types.is_integer(none["id"].type):
        ids = vertices.columns(numbers)["id"]
        whole: NDArray[Any] = ids.to_numpy(zero_copy_only=False)
        return whole.reshape(values.shape)
    objects = np.full(len(numbers), None, object)
    different, places = np.unique(numbers[there], return_inverse=True)
    objects[there] = np.fromiter(vertices.listed(different), object, len(different))[places]
    return objects.reshape(values.shape)


def plain_value(value: Any) -> Any:
    """One result as Python has it: a number, a list, or an id."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _numbers(
    values: NDArray[Any], vertices: VertexRows
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """All vertex numbers in one flat array, and which of them belong to a vertex."""
    numbers = np.ascontiguousarray(values).reshape(-1).astype(np.int64)
    return numbers, (numbers >= 0) & (numbers < len(vertices))


def _arrays_of(flat: pa.Array, size: int, missing: NDArray[np.bool_] | None) -> pa.Array:
    mask = None if missing is None else pa.array(missing)
    return pa.FixedSizeListArray.from_arrays(flat, size, mask=mask)


Row = tuple[Any, ...]
VERTEX = "vertex"
_TYPES = {
    ValueType.INT: pa.int64(),
    ValueType.FLOAT: pa.float64(),
    ValueType.BOOL: pa.bool_(),
    ValueType.TEXT: pa.string(),
}


def named_matches(program: str, known: Sequence[str], name: str | None) -> str:
    if not known or (name is not None and name not in known):
        wanted = "matches" if name is None else f"matches '{name}'"
        hint = f"it has {', '.join(known)}" if known else "declare some: gt.Matches(...)"
        raise InputError(f"{program} has no {wanted}", hint=hint)
    return known[0] if name is None else name


def column_type(kind: ValueType | str) -> pa.DataType:
    return pa.int64() if kind == VERTEX else _TYPES[ValueType(kind)]


def match_table(matches: Matches, rows: Iterable[Row], results: ResultRows) -> pa.Table:
    """Rows as Arrow; a vertex by its id, and by its label where ids need one."""
    listed = list(rows)
    columns: dict[str, pa.Array] = {}
    for at, (name, kind) in enumerate(matches.columns):
        values = [row[at] for row in listed]
        if kind != VERTEX:
            columns[name] = pa.array(values, column_type(kind))
        else:
            columns |= result_columns(name, np.array(values, np.int64), results.vertices)
    return pa.table(columns)


class NamedResults(HasTable):
    """The results of one program on one graph, by the users' ids, whoever keeps them.

    `_value` hands out a result as an array by its name, `_rows` says what its places stand for.
    """

    _held = "results"
    _compiled: Any
    _rows: ResultRows

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the program's results of vertices, or of pairs."""
        fields: tuple[str, ...] = self._compiled.fields
        return fields

    def _value(self, name: str) -> NDArray[Any]:
        raise NotImplementedError

    def _match_rows(self, name: str) -> Iterable[Row]:
        """The rows that walks report under a name, in their order."""
        raise NotImplementedError

    def __getitem__(self, field: str) -> Any:
        """The result of every vertex (or pair), in the order of `vertices()`; a copy.

        A result that names vertices holds their ids. A result of the whole graph is a number, or an
        array of them.
        """
        compiled, known = self._compiled, (*self.fields, *self._compiled.globals)
        if field not in known:
            hint = name_hint(field, known, f"it has {', '.join(known)}")
            if field in compiled.matches:
                hint = f"its rows are {self._held}.matches('{field}')"
            raise InputError(f"{compiled.bound.program.name} has no result '{field}'", hint=hint)
        values = named(self._value(field), self._named_by(field))
        if field in self.fields:
            return values
        value = values[0]
        return value if isinstance(value, np.ndarray) else plain_value(value)

    def _names(self) -> tuple[str, ...]:
        return self.fields

    def at(self, vertex: Any) -> dict[str, Any]:
        """The results of one vertex, by its id, or of one pair `(source, target)`. O(1)."""
        number = self._rows.number(vertex)
        one = slice(number, number + 1)
        return {
            name: plain_value(named(self._value(name)[one], self._named_by(name))[0])
            for name in self.fields
        }

    def table(self) -> Table:
        """The results of every vertex with its `id`, or of every pair with `source`, `target`.

        Of a program that has results of the whole graph alone, those in one row.
        """
        columns = self._rows.columns() if self.fields else {}
        for name in self.fields or self._compiled.globals:
            columns |= result_columns(name, self._value(name).copy(), self._named_by(name))
        return Table(pa.table(columns))

    def matches(self, name: str | None = None) -> Table:
        """The rows that walks report under a name (the first, if none is given), in their order.

        Vertices are told by their ids. Where the program has a `limit`, these are the first so many
        rows.
        """
        compiled = self._compiled
        chosen = named_matches(compiled.bound.program.name, compiled.matches, name)
        plans = {item.name: item for item in compiled.match_plans}
        return Table(match_table(plans[chosen], self._match_rows(chosen), self._rows))

    def _named_by(self, name: str) -> VertexRows | None:
        """The vertices that a result names; None where it names none."""
        return self._rows.vertices if name in self._compiled.naming else None
