"""The vertices of results by their ids: all in memory, or looked up where they stand; and by texts.

Results on shards may have more vertices than fit a process. Who reads them looks up those that are
shown, and nothing else is kept of the table; whoever asks for all of them gets all.

`row_number` finds a row by the text that a user writes on a command line or in an address: an id is
known by what tables show of it, and where several labels have an id, its label stands before it:
`Person:17`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.model.column_types import ARROW_TYPES
from graphtide.model.errors import InputError
from graphtide.run.live.ids import Ids
from graphtide.run.live.results import PairRows, ResultRows, VertexRows
from graphtide.run.live.vertex_ids import Int32, VertexIds, vertex_hint
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import vertex_table, vertices_at, vertices_with_id

_TOLD = 3
_NAMES = {"_id": "id", "_label": "label"}

Found = tuple[NDArray[np.int64], list[str | None]]
"""The numbers of the vertices that have an id, and their labels, where several have any."""


class StoredVertices(VertexIds):
    """The vertices of a stored graph by their ids; where there are several labels, by both.

    Where they are `paged`, none are read before some are asked for.
    """

    def __init__(self, stored: StoredGraph, *, paged: bool = False) -> None:
        self.stored = stored
        self._several = len(stored.schema.vertex_labels) > 1
        self._columns = ["_id", "_label"] if self._several else ["_id"]
        if not paged:
            self.columns()

    @cached_property
    def _rows(self) -> pa.Table:
        return vertex_table(self.stored, self._columns).combine_chunks()

    @property
    def _read(self) -> bool:
        """Whether all ids have been read."""
        return "_rows" in self.__dict__

    def __len__(self) -> int:
        return self.stored.vertices

    def __getitem__(self, number: int) -> Any:
        row = self._taken(np.array([number]))
        id_ = row.column("_id")[0].as_py()
        return (row.column("_label")[0].as_py(), id_) if self._several else id_

    def numbers(self, ids: Ids) -> Int32:
        """The number of each id, -1 where there is none, or where several labels have it."""
        return np.array([self._number(item) for item in ids.tolist()], np.int32)

    @property
    def vertices(self) -> StoredVertices:
        return self

    def listed(self, numbers: NDArray[Any]) -> list[Any]:
        """The ids of some vertices; pairs of label and id where there are several labels."""
        columns = self.columns(numbers)
        ids: list[Any] = columns["id"].to_pylist()
        if not self._several:
            return ids
        return list(zip(columns["label"].to_pylist(), ids, strict=True))

    def columns(self, numbers: NDArray[Any] | None = None) -> dict[str, pa.Array]:
        """The ids of some vertices, or of all; with their labels where they need them."""
        table = self._rows if numbers is None else self._taken(numbers)
        return {_NAMES[name]: table.column(name).combine_chunks() for name in table.column_names}

    def taken(self, numbers: NDArray[Any]) -> pa.Array:
        """The ids of some vertices, without their labels."""
        return self.columns(numbers)["id"]

    def number(self, vertex: Any) -> int:
        """The number of a vertex; InputError if there is none."""
        number = self._number(vertex)
        if number < 0:
            raise InputError(f"there is no vertex {vertex!r}", hint=self.hint(vertex))
        return number

    def hint(self, vertex: Any) -> str:
        """What to do about a vertex that is not there, or that several labels have."""
        label, given = self._parted(vertex)
        labels = self._labels_of(given)
        if self._several and labels and label is None:
            pairs = " or ".join(repr((item, given)) for item in labels[:_TOLD])
            return f"several labels have it: give a pair, such as {pairs}"
        if self._several and labels:
            return f"that id has the label {' or '.join(map(repr, labels[:_TOLD]))}"
        return self._hint(given)

    def _hint(self, given: Any) -> str:
        if self._read:
            return vertex_hint(self._rows.column("_id"), given)
        some = self._taken(np.arange(min(_TOLD, len(self)))).column("_id").to_pylist()
        if not some:
            return "the graph has no vertices"
        return f"ids are such as {', '.join(map(repr, some))}"

    def _taken(self, numbers: NDArray[Any]) -> pa.Table:
        if self._read:
            return self._rows.take(pa.array(numbers))
        return vertices_at(self.stored, self._columns, numbers)

    def _parted(self, given: Any) -> tuple[Any, Any]:
        """The label, None where there is none, and the id."""
        pair = self._several and isinstance(given, tuple) and len(given) == 2
        return given if pair else (None, given)

    def _labels_of(self, given: Any) -> list[str]:
        labels = self._there(given)[1] if self._several else []
        return list(dict.fromkeys(str(label) for label in labels))

    def _number(self, given: Any) -> int:
        label, given = self._parted(given)
        numbers, labels = self._there(given)
        if label is not None:
            numbers = numbers[[item == str(label) for item in labels]]
        return int(numbers[0]) if len(numbers) == 1 else -1

    def _there(self, given: Any) -> Found:
        """All vertices with an id."""
        wanted = self._as_id(given)
        if wanted is None:
            return np.empty(0, np.int64), []
        return self._with_id(wanted)

    def _with_id(self, wanted: pa.Scalar) -> Found:
        if not self._read:
            numbers, rows = vertices_with_id(self.stored, self._columns, wanted)
        else:
            numbers = np.flatnonzero(pc.equal(self._rows.column("_id"), wanted).to_numpy())
            rows = self._rows.take(pa.array(numbers))
        return numbers, rows.column("_label").to_pylist() if self._several else []

    def _as_id(self, given: Any) -> pa.Scalar | None:
        """What is given in the type of the ids; None where no vertex could have it."""
        try:
            id_ = pa.scalar(given, ARROW_TYPES[self.stored.schema.id_type])
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return None
        return id_ if id_.is_valid else None


def typed_id(ids: pa.Array, text: str) -> Any:
    if pa.types.is_string(ids.type):
        return text
    try:
        return pa.scalar(text).cast(ids.type).as_py()
    except pa.ArrowException:
        problem = f"'{text}' is not the id of a vertex: ids are of type {ids.type}"
        raise InputError(problem, hint=vertex_hint(ids, 0)) from None


def vertex_number(rows: VertexRows, text: str) -> int:
    """The number of the vertex that a text names; InputError if there is none."""
    columns = rows.columns()
    if "label" in columns:
        label, colon, rest = text.partition(":")
        if colon and pc.any(pc.equal(columns["label"], label)).as_py():
            return rows.number((label, typed_id(columns["id"], rest)))
        return rows.number(typed_id(columns["id"], text))
    ids = columns["id"]
    if pa.types.is_nested(ids.type) or pa.types.is_string(ids.type):
        return _shown_as(rows, ids, text)
    return rows.number(typed_id(ids, text))


def vertex_texts(rows: VertexRows, numbers: NDArray[Any]) -> list[str]:
    """Some vertices as `vertex_number` finds them again."""
    columns = rows.columns(numbers)
    texts = [str(item) for item in columns["id"].to_pylist()]
    if "label" not in columns:
        return texts
    return [
        f"{label}:{text}" for label, text in zip(columns["label"].to_pylist(), texts, strict=True)
    ]


def row_number(rows: ResultRows, text: str, to: str | None = None) -> int:
    """The number of a vertex, or of the pair of `text` and `to`."""
    if not isinstance(rows, PairRows):
        if to is not None:
            raise InputError("results are those of single vertices", hint="name one vertex")
        return vertex_number(rows.vertices, text)
    if to is None:
        raise InputError("results are those of pairs of vertices", hint="name both ends")
    ends = [vertex_number(rows.vertices, item) for item in (text, to)]
    named = rows.vertices.listed(_array(ends))
    return rows.number((named[0], named[1]))


def _array(numbers: list[int]) -> NDArray[Any]:
    import numpy as np

    return np.array(numbers, np.int64)


def _shown_as(rows: VertexRows, ids: pa.Array, text: str) -> int:
    """Find a vertex by the text that tables show for its id."""
    if pa.types.is_string(ids.type):
        found = pc.index(ids, text).as_py()
    else:
        found = next((at for at, item in enumerate(ids.to_pylist()) if str(item) == text), -1)
    return int(found) if found >= 0 else rows.number(text)
