"""What is appended, found in the graph: rows by ids become rows of its tables by numbers.

Vertices come first: those of `vertices` in their order, then the ends of edges that are not there
yet, sorted. Deleted and updated rows name edges that were there before the append, never those that
it brings; each row takes an edge of its own, the one with the lowest number first. A row that names
no edge refuses the whole append: somebody expected something else to be there.

The ids of all vertices are gone through once for all rows of an append, and so are the ends of all
edges: the work is one pass over these columns, and tables as large as the append.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.model.column_types import MEMORY_TYPES
from graphtide.model.delta import MOST_EDGES, EdgeIds, no_edges, number_type
from graphtide.model.errors import InputError, LimitError
from graphtide.model.schema import ENDS, GraphSchema
from graphtide.run.append.rows import AppendRows, RejectedRows, declared_types
from graphtide.store.graph import StoredGraph
from graphtide.store.next_state import AppendedRows, deleted_table
from graphtide.store.tables import (
    TableName,
    deleted_edges,
    edge_table_rows,
    end_batches,
    numbered_by,
    table_schema,
    vertex_table,
)

Key = tuple[str | None, Any]
"""A label, None where ids need none, and an id."""


class VertexFinder:
    """Numbers of vertices, known ones and those that an append brings, behind them."""

    def __init__(self, stored: StoredGraph, tables: Iterable[AppendRows]) -> None:
        tables = list(tables)
        self.several = _has_several_labels(stored, tables)
        self._next = stored.vertices
        self._numbers: dict[Key, int] = {}
        self._labels: dict[Any, list[str | None]] = {}
        self.new: list[Key] = []
        for number, label, id_ in _named_vertices(stored, tables):
            self._know((label if self.several else None, id_), number)

    def number(self, label: str | None, given: Any) -> int | None:
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

    def ends(self, given: AppendRows) -> list[list[int | None]]:
        sides = [
            [None if id_ is None else self.number(label, id_) for label, id_ in keys]
            for keys in _end_keys(given)
        ]
        return [list(row) for row in zip(*sides, strict=True)]

    def add_ends(self, given: AppendRows) -> None:
        """Let the ends that are not there become vertices, sorted by label and id."""
        keys = {key for side in _end_keys(given) for key in side if key[1] is not None}
        unknown = [key for key in keys if self.number(*key) is None]
        for label, id_ in sorted(unknown, key=lambda key: (key[0] or "", key[1])):
            self.add(label, id_)

    def _know(self, key: Key, number: int) -> None:
        self._numbers[key] = number
        self._labels.setdefault(key[1], []).append(key[0])


def _end_keys(given: AppendRows) -> list[list[Key]]:
    return [given.keys(f"{side}_label", side) for side in ENDS]


def _ambiguous(given: Any) -> InputError:
    return InputError(
        f"several labels have the vertex {given!r}",
        hint="say which is meant in a column: `label` of vertices, `src_label` and `dst_label` of "
        "edges",
    )


def _has_several_labels(stored: StoredGraph, tables: Iterable[AppendRows]) -> bool:
    """Whether ids may stand for one vertex of each label, now or with what is appended."""
    labels: set[str | None] = set(stored.schema.vertex_labels)
    for given in tables:
        names = ("src_label", "dst_label") if given.are_edges else ("label",)
        for name in names:
            labels |= (
                set(pc.unique(given.rows.column(name)).to_pylist()) if given.has(name) else set()
            )
    return len(labels - {None}) > 1


def _named_vertices(
    stored: StoredGraph, tables: Iterable[AppendRows]
) -> Iterable[tuple[int, str | None, Any]]:
    """Number, label and id of the vertices whose ids some row gives."""
    rows = vertex_table(stored, ["_id", "_label"])
    ids = rows.column("_id")
    named = [
        given.rows.column(name).combine_chunks().cast(ids.type)
        for given in tables
        for name in (ENDS if given.are_edges else ("id",))
    ]
    if not named:
        return []
    wanted = pc.unique(pa.concat_arrays(named)).drop_null()
    places = np.flatnonzero(pc.is_in(ids, value_set=wanted).to_numpy())
    chosen = rows.take(pa.array(places))
    columns = (chosen.column(name).to_pylist() for name in ("_label", "_id"))
    return zip(places.tolist(), *columns, strict=True)


def new_rows(
    stored: StoredGraph,
    table: TableName,
    fixed: Mapping[str, pa.Array],
    given: AppendRows | None,
    rows: Sequence[int | None],
) -> pa.Table:
    """Rows of a table: what is fixed, and what was given for the rest; missing where it was not.

    Numbers of edges have the type that they are given in: they may be wider than earlier ones.
    """
    taken = None if given is None else given.rows.take(pa.array(rows, pa.int64()))
    schema, columns = table_schema(stored, table), []
    if table == "edges":
        schema = numbered_by(schema, fixed["_edge"].type)
    for item in schema:
        name = "label" if item.name == "_label" else item.name
        if item.name in fixed:
            column = fixed[item.name].cast(item.type)
        elif taken is not None and name in taken.column_names:
            column = taken.column(name).cast(item.type)
        else:
            column = pa.nulls(len(rows), item.type)
        columns.append(column)
    return pa.table(columns, schema=schema)


def replaced_rows(
    table: pa.Table, given: AppendRows, rows: Sequence[int], names: Sequence[str]
) -> pa.Table:
    taken = given.rows.take(pa.array(rows, pa.int64()))
    for name in names:
        at = table.schema.get_field_index(name)
        values = taken.column(name).cast(table.schema.field(at).type)
        table = table.set_column(at, name, values)
    return table


def with_new_labels(
    schema: GraphSchema, edges: AppendRows | None, vertices: AppendRows | None
) -> GraphSchema:
    vertex = [(vertices, "label"), (edges, "src_label"), (edges, "dst_label")]
    return replace(
        schema,
        vertex_labels=_labels(schema.vertex_labels, vertex),
        edge_labels=_labels(schema.edge_labels, [(edges, "label")]),
    )


def _labels(
    known: tuple[str, ...], columns: Sequence[tuple[AppendRows | None, str]]
) -> tuple[str, ...]:
    labels = dict.fromkeys(known)
    for given, name in columns:
        if given is not None and given.has(name):
            names = pc.unique(given.rows.column(name)).drop_null().to_pylist()
            labels |= dict.fromkeys(sorted(names))
    return tuple(labels)


Int64 = NDArray[np.int64]


class NamedEdges:
    """The edges between some pairs of vertices, by what rows say of them.

    Edges of an undirected graph are named from either end. One pass over the ends of all edges;
    properties are read of the edges that are between a pair.
    """

    def __init__(
        self, stored: StoredGraph, src: Int64, dst: Int64, columns: dict[str, pa.DataType]
    ) -> None:
        numbers = _between(stored, src, dst)
        names = ["_src", "_dst", *columns]
        rows = edge_table_rows(stored, numbers, names)
        values = [
            rows.column(name).to_pylist()
            if name not in columns
            else rows.column(name).cast(columns[name]).to_pylist()
            for name in names
        ]
        self._directed = stored.directed
        self._edges: dict[tuple[Any, ...], deque[int]] = {}
        for number, *key in zip(numbers.tolist(), *values, strict=True):
            self._edges.setdefault(self._comparable(key), deque()).append(number)

    def of(self, row: Sequence[Any]) -> deque[int]:
        """The edges that match a row (ends first) and that no other row has taken."""
        return self._edges.get(self._comparable(row), deque())

    def take(self, row: Sequence[Any]) -> int | None:
        """Take one edge that matches a row; None if there is none left."""
        waiting = self.of(row)
        return waiting.popleft() if waiting else None

    def _comparable(self, key: Sequence[Any]) -> tuple[Any, ...]:
        """A key that is equal for rows that agree; NaN counts as missing."""
        ends = key[:2] if self._directed else sorted(key[:2])
        missing = [isinstance(item, float) and math.isnan(item) for item in key[2:]]
        same = [None if no else item for item, no in zip(key[2:], missing, strict=True)]
        return *ends, *same


def _between(stored: StoredGraph, src: Int64, dst: Int64) -> EdgeIds:
    """The numbers of the edges that are there and go from a `src` to the `dst` beside it, or back
    where the graph is undirected.
    """
    if not stored.directed:
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    named = np.zeros((2, stored.vertices), np.bool_)
    named[0, src], named[1, dst] = True, True
    between: list[EdgeIds] = [no_edges()]
    for first, sources, targets in end_batches(stored):
        near = np.flatnonzero(named[0, sources] & named[1, targets])
        pairs = sources[near].astype(np.int64) << 32 | targets[near]
        between.append(first + near[np.isin(pairs, src << 32 | dst)])
    numbers = np.concatenate(between).astype(stored.number_type)
    return np.setdiff1d(numbers, deleted_edges(stored), assume_unique=True)


_TOLD = 5


class EdgeChanges:
    """Finds edges of one state of a graph by rows."""

    def __init__(self, stored: StoredGraph, finder: VertexFinder) -> None:
        self._stored = stored
        self._finder = finder
        self._declared = declared_types(stored.schema, "edges")

    def deleted(self, given: AppendRows | None) -> list[int]:
        """One matching edge for each row."""
        if given is None:
            return []
        names = [*(["label"] if given.has("label") else []), *given.properties(self._declared)]
        edges, rows = self._named("delete", given, names)
        matched = [edges.take(row) for row in rows]
        _refuse("delete", given, [at for at, edge in enumerate(matched) if edge is None])
        return sorted(edge for edge in matched if edge is not None)

    def updated(
        self, given: AppendRows | None, match: Sequence[str], deleted: Sequence[int]
    ) -> pa.Table:
        """The new values of the one edge that each row names by its ends and by `match`."""
        if given is None:
            return edge_table_rows(self._stored, no_edges())
        names = given.properties(self._declared)
        _check_update(names, match, list(self._declared))
        edges, rows = self._named("update", given, match)
        gone, row_of = set(deleted), {}
        for at, row in enumerate(rows):
            left = [edge for edge in edges.of(row) if edge not in gone]
            if not edges.of(row):
                _refuse("update", given, [at])
            if len(left) != 1 or left[0] in row_of:
                raise _unclear(given, at, len(left))
            row_of[left[0]] = at
        numbers = sorted(row_of)
        table = edge_table_rows(self._stored, np.array(numbers, self._stored.number_type))
        new = [name for name in names if name not in match]
        return replaced_rows(table, given, [row_of[edge] for edge in numbers], new)

    def _named(
        self, what: str, given: AppendRows, names: Sequence[str]
    ) -> tuple[NamedEdges, list[tuple[Any, ...]]]:
        ends = self._finder.ends(given)
        known = self._stored.vertices
        outside = [
            at for at, row in enumerate(ends) if any(end is None or end >= known for end in row)
        ]
        _refuse(what, given, outside)
        src, dst = np.array(ends, np.int64).reshape(-1, 2).T
        types = {name: given.rows.column(name).type for name in names}
        columns = {"_label" if name == "label" else name: type_ for name, type_ in types.items()}
        said = [given.values(name) for name in names]
        rows = list(zip(src.tolist(), dst.tolist(), *said, strict=True))
        return NamedEdges(self._stored, src, dst, columns), rows


def _refuse(what: str, given: AppendRows, rows: Sequence[int]) -> None:
    if rows:
        count = f"{len(rows):,} rows of {what} name" if len(rows) > 1 else f"a row of {what} names"
        raise InputError(
            f"{count} edges that are not there",
            where="\n      ".join(given.text(at) for at in rows[:_TOLD]),
            hint="look them up in graph.edges(); each row takes an edge of its own",
        )


def _check_update(names: Sequence[str], match: Sequence[str], declared: Sequence[str]) -> None:
    for name in match:
        if name not in names:
            raise InputError(
                f"match names '{name}', which the rows of update do not give",
                hint=f"properties are: {', '.join(declared) or 'none'}",
            )
    if set(names) <= set(match):
        raise InputError(
            "update gives no new value for any property",
            hint="a row is src, dst, what `match` names, and the properties that change",
        )


def _unclear(given: AppendRows, at: int, count: int) -> InputError:
    problem = "names an edge that the same append deletes, or that another row updates"
    if count > 1:
        problem = f"names {count:,} parallel edges"
    return InputError(
        f"a row of update {problem}",
        where=given.text(at),
        hint="tell edges apart by properties: match=['...']; those that agree in everything can be "
        "deleted and appended",
    )


_MOST_VERTICES = 2**31 - 1


@dataclass(frozen=True)
class AppendTables:
    """What one append was given; `match` are the properties by which updated rows name edges."""

    edges: AppendRows | None = None
    vertices: AppendRows | None = None
    delete: AppendRows | None = None
    update: AppendRows | None = None
    match: tuple[str, ...] = ()

    @property
    def tables(self) -> list[AppendRows]:
        every = (self.vertices, self.edges, self.delete, self.update)
        return [table for table in every if table is not None]


def resolve(stored: StoredGraph, given: AppendTables, bad: RejectedRows) -> AppendedRows:
    for table in (given.delete, given.update):
        if table is not None and table.faults:
            at, fault = next(iter(table.faults.items()))
            raise InputError(
                f"rows that delete or update edges cannot be used: {fault}", where=table.text(at)
            )
    finder = VertexFinder(stored, given.tables)
    rows, changed_vertices = _vertices(stored, given.vertices, finder, bad)
    edges = _edges(stored, given.edges, finder, bad)
    changes = EdgeChanges(stored, finder)
    deleted = changes.deleted(given.delete)
    found_in_edges = len(finder.new) - len(rows)
    added = AppendedRows(
        schema=with_new_labels(stored.schema, given.edges, given.vertices),
        vertices=_new_vertices(stored, given.vertices, finder, [*rows, *[None] * found_in_edges]),
        edges=edges,
        deleted=deleted_table(deleted, stored.number + 1, stored.numbers),
        changed_vertices=changed_vertices,
        changed_edges=changes.updated(given.update, given.match, deleted),
        quarantined=bad.table(),
        listed=not found_in_edges,
    )
    _check_size(stored, added)
    return added


def _vertices(
    stored: StoredGraph, given: AppendRows | None, finder: VertexFinder, bad: RejectedRows
) -> tuple[list[int], pa.Table]:
    """The rows of new vertices, and the changed rows of vertices that were there."""
    new: list[int] = []
    row_of: dict[int, int] = {}
    if given is None:
        return new, vertex_table(stored).slice(0, 0)
    for at, (label, id_) in enumerate(given.keys("label", "id")):
        if at in given.faults:
            bad.add("vertex", given, at, given.faults[at])
            continue
        if id_ is None:
            bad.add("vertex", given, at, "missing id")
            continue
        number = finder.number(label, id_)
        if number is None:
            finder.add(label, id_)
            new.append(at)
        elif number >= stored.vertices or number in row_of:
            bad.add("vertex", given, at, "duplicate vertex")
        else:
            row_of[number] = at
    names = given.properties(declared_types(stored.schema, "vertices"))
    numbers = sorted(row_of) if names else []
    table = vertex_table(stored).take(pa.array(numbers, pa.int64()))
    return new, replaced_rows(table, given, [row_of[number] for number in numbers], names)


def _edges(
    stored: StoredGraph, given: AppendRows | None, finder: VertexFinder, bad: RejectedRows
) -> pa.Table:
    """The new edges. Ends that are not there become vertices, unless all vertices are listed."""
    ends: list[list[int | None]] = []
    if given is not None:
        if not 0 < stored.listed == stored.vertices:
            finder.add_ends(given.without_faults())
        ends = finder.ends(given)
    good = []
    for at, row in enumerate(ends):
        assert given is not None
        if at in given.faults:
            bad.add("edge", given, at, given.faults[at])
            continue
        if None not in row:
            good.append(at)
            continue
        side = ENDS[row.index(None)]
        missing = given.rows.column(side)[at].as_py() is None
        own = given.ends[ENDS.index(side)]
        called = side if own == side else f"{side} (column '{own}')"
        bad.add("edge", given, at, f"{'missing' if missing else 'unknown'} {called}")
    numbers = np.array([ends[at] for at in good], np.int32).reshape(-1, 2)
    first, last = stored.numbers, stored.numbers + len(good)
    fixed = {
        "_edge": pa.array(np.arange(first, last, dtype=number_type(last))),
        "_src": pa.array(numbers[:, 0]),
        "_dst": pa.array(numbers[:, 1]),
    }
    return new_rows(stored, "edges", fixed, given, good)


def _new_vertices(
    stored: StoredGraph,
    given: AppendRows | None,
    finder: VertexFinder,
    rows: Sequence[int | None],
) -> pa.Table:
    first, type_ = stored.vertices, MEMORY_TYPES[stored.schema.id_type]
    fixed = {
        "_vertex": pa.array(np.arange(first, first + len(rows)), pa.int32()),
        "_id": pa.array([id_ for _, id_ in finder.new], type_),
        "_label": pa.array([label for label, _ in finder.new], pa.string()),
    }
    return new_rows(stored, "vertices", fixed, given, rows)


def _check_size(stored: StoredGraph, added: AppendedRows) -> None:
    for known, new, rows, most in (
        (stored.vertices, added.vertices, "vertices", _MOST_VERTICES),
        (stored.numbers, added.edges, "edges", MOST_EDGES),
    ):
        if known + new.num_rows > most:
            raise LimitError(
                f"{known + new.num_rows:,} {rows} are more than one graph can hold ({most:,})",
                hint="split the graph; graph.merge() gives the numbers of deleted edges back",
            )
