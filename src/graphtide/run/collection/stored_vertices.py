"""The vertices of a stored graph by their ids: all at hand, or looked up where they stand.

Results on shards may have more vertices than fit a process. Who reads them looks up those that are
shown, and nothing else is kept of the table; whoever asks for all of them gets all.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.live.given_ids import Ids
from graphtide.run.live.vertex_hints import vertex_hint
from graphtide.run.live.vertex_ids import Int32, VertexIds
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import ARROW_TYPES, vertex_table
from graphtide.store.vertex_rows import vertices_at, vertices_with_id

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
        """Whether all ids are at hand."""
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
        """Themselves."""
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
        """The labels of all vertices with an id."""
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
