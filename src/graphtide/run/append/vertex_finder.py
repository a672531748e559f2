"""The vertices that rows are about, by id, and by label where ids need one.

A look goes over the ids of all vertices once, for all rows of an append together, and keeps those
that some row names: the work is one pass over a column, and a table as large as the append.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphtide.model.errors import InputError
from graphtide.model.schema import ENDS
from graphtide.run.append.given import GivenRows
from graphtide.store.graph import StoredGraph
from graphtide.store.merged import vertex_table

Key = tuple[str | None, Any]
"""A label, None where ids need none, and an id."""


class VertexFinder:
    """Numbers of vertices, known ones and those that an append brings, behind them."""

    def __init__(self, stored: StoredGraph, tables: Iterable[GivenRows]) -> None:
        tables = list(tables)
        self.several = _has_several_labels(stored, tables)
        self._next = stored.vertices
        self._numbers: dict[Key, int] = {}
        self._labels: dict[Any, list[str | None]] = {}
        self.new: list[Key] = []
        for number, label, id_ in _named_vertices(stored, tables):
            self._know((label if self.several else None, id_), number)

    def number(self, label: str | None, given: Any) -> int | None:
        """The number of a vertex; None if there is none."""
        if not self.several:
            return self._numbers.get((None, given))
        if label is None:
            labels = self._labels.get(given, [])
            if len(labels) > 1:
                raise _ambiguous(given)
            label = labels[0] if labels else None
        return self._numbers.get((label, given))

    def add(self, label: str | None, given: Any) -> int:
        """A vertex that is not there yet gets the next number."""
        number = self._next
        self._know((label if self.several else None, given), number)
        self.new.append((label, given))
        self._next += 1
        return number

    def ends(self, given: GivenRows) -> list[list[int | None]]:
        """The numbers of both ends of each row; None where an end is missing or not known."""
        sides = [
            [None if id_ is None else self.number(label, id_) for label, id_ in keys]
            for keys in _end_keys(given)
        ]
        return [list(row) for row in zip(*sides, strict=True)]

    def add_ends(self, given: GivenRows) -> None:
        """Let the ends that are not there become vertices, sorted by label and id."""
        keys = {key for side in _end_keys(given) for key in side if key[1] is not None}
        unknown = [key for key in keys if self.number(*key) is None]
        for label, id_ in sorted(unknown, key=lambda key: (key[0] or "", key[1])):
            self.add(label, id_)

    def _know(self, key: Key, number: int) -> None:
        self._numbers[key] = number
        self._labels.setdefault(key[1], []).append(key[0])


def _end_keys(given: GivenRows) -> list[list[Key]]:
    return [given.keys(f"{side}_label", side) for side in ENDS]


def _ambiguous(given: Any) -> InputError:
    return InputError(
        f"several labels have the vertex {given!r}",
        hint="say which is meant in a column: `label` of vertices, `src_label` and `dst_label` of "
        "edges",
    )


def _has_several_labels(stored: StoredGraph, tables: Iterable[GivenRows]) -> bool:
    """Whether ids may stand for one vertex of each label, now or with what is appended."""
    labels: set[str | None] = set(stored.schema.vertex_labels)
    for given in tables:
        names = ("label",) if given.has("id") else ("src_label", "dst_label")
        for name in names:
            labels |= (
                set(pc.unique(given.rows.column(name)).to_pylist()) if given.has(name) else set()
            )
    return len(labels - {None}) > 1


def _named_vertices(
    stored: StoredGraph, tables: Iterable[GivenRows]
) -> Iterable[tuple[int, str | None, Any]]:
    """Number, label and id of the vertices whose ids some row gives."""
    rows = vertex_table(stored, ["_id", "_label"])
    ids = rows.column("_id")
    named = [
        given.rows.column(name).combine_chunks().cast(ids.type)
        for given in tables
        for name in ("id", "src", "dst")
        if given.has(name)
    ]
    if not named:
        return []
    wanted = pc.unique(pa.concat_arrays(named)).drop_null()
    places = np.flatnonzero(pc.is_in(ids, value_set=wanted).to_numpy())
    chosen = rows.take(pa.array(places))
    columns = (chosen.column(name).to_pylist() for name in ("_label", "_id"))
    return zip(places.tolist(), *columns, strict=True)
