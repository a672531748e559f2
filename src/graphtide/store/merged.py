"""The tables of a state of a graph as Arrow: the base, what was added, and what was changed.

The row of a vertex or an edge stands at its number, whatever the state. So the rows of deleted
edges are in the table of edges; `live_edges` says which are there. Rows that appends changed are
taken from the last append that did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.model.delta import EdgeIds, no_edges
from graphtide.model.graph_folders import CHANGED, DELETED, KEYS
from graphtide.model.schema import PropertyType
from graphtide.store.files import Damage, within
from graphtide.store.graph import StoredGraph
from graphtide.store.read_edges import READ_EDGES, READ_VERTICES

TableName = Literal["vertices", "edges"]

ARROW_TYPES = {
    PropertyType.STRING: pa.string(),
    PropertyType.INT: pa.int64(),
    PropertyType.FLOAT: pa.float64(),
    PropertyType.BOOL: pa.bool_(),
    PropertyType.DATE: pa.date32(),
    PropertyType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}


def vertex_table(stored: StoredGraph, columns: Sequence[str] | None = None) -> pa.Table:
    """All vertices, each at its number."""
    table = read_rows(stored, "vertices", columns).slice(0, stored.vertices)
    READ_VERTICES.add(table.num_rows)
    return put_changed(table, changed_rows(stored, "vertices", columns), 0)


def edge_table(stored: StoredGraph, columns: Sequence[str] | None = None) -> pa.Table:
    """All edges, each at its number, those that are deleted included."""
    table = read_rows(stored, "edges", columns).slice(0, stored.numbers)
    READ_EDGES.add(table.num_rows)
    check_ends(stored, table)
    return put_changed(table, changed_rows(stored, "edges", columns), 0)


def check_ends(stored: StoredGraph, edges: pa.Table) -> None:
    """DamagedError for edges of vertices that are not there: kernels take numbers as given."""
    for name in {"_src", "_dst"}.intersection(edges.column_names):
        ends = edges.column(name)
        if ends.null_count or not within(ends.to_numpy(), stored.vertices):
            damage = Damage(stored.path / "edges", "names vertices that the graph does not have")
            raise stored.generation.damaged(damage)


def read_rows(stored: StoredGraph, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """A table, or one file of it, as it was written.

    Spark marks columns in which it knows no value to be missing, and rows that are added later may
    lack one: without these marks, all files have the same columns. Where numbers of edges are wide,
    those of earlier files are read as wide.
    """
    kind: TableName = "edges" if name.startswith(("edges", CHANGED["edges"])) else "vertices"
    schema = table_schema(stored, "edges") if stored.has_wide_numbers and kind == "edges" else None
    return without_marks(stored, kind, stored.generation.table(name, columns, schema), columns)


def without_marks(
    stored: StoredGraph, table: TableName, rows: pa.Table, columns: Sequence[str] | None = None
) -> pa.Table:
    """The same rows, any of whose values may be missing; their columns are those of the schema."""
    fixed = _FIXED[table] | {"_id": _IS[stored.schema.id_type]}
    named = {item.name: _IS[item.type] for item in getattr(stored.schema, _SCHEMA_OF[table])}
    known = {**fixed, "_label": _is_text, **named}
    needed = columns if columns is not None else [*_FIXED[table], *named]
    wrong = [
        name
        for name in needed
        if rows.column_names.count(name) != 1
        or (name in known and not known[name](rows.schema.field(name).type))
    ]
    if wrong:
        problem = f"has no column '{wrong[0]:.40}' of the type that the schema names"
        raise stored.generation.damaged(Damage(stored.path / table, problem))
    return pa.Table.from_arrays(rows.columns, schema=_unmarked(rows.schema))


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


_IS: dict[PropertyType, Callable[[pa.DataType], bool]] = {
    PropertyType.STRING: _is_text,
    PropertyType.INT: pa.types.is_int64,
    PropertyType.FLOAT: pa.types.is_float64,
    PropertyType.BOOL: pa.types.is_boolean,
    PropertyType.DATE: pa.types.is_date32,
    PropertyType.TIMESTAMP: pa.types.is_timestamp,
}
_NUMBER = pa.types.is_integer
_FIXED: dict[TableName, dict[str, Callable[[pa.DataType], bool]]] = {
    "vertices": {"_vertex": _NUMBER},
    "edges": {"_edge": _NUMBER, "_src": _NUMBER, "_dst": _NUMBER},
}
_SCHEMA_OF: dict[TableName, str] = {"vertices": "vertex", "edges": "edge"}


def deleted_edges(stored: StoredGraph) -> EdgeIds:
    """The numbers of the edges that are deleted, sorted."""
    names = stored.append_files(DELETED)
    if not names:
        return no_edges()
    rows = written_deleted(stored, names)
    edges, since = (rows.column(name).to_numpy() for name in ("_edge", "_append"))
    return np.sort(edges[since <= stored.number])


def written_deleted(stored: StoredGraph, names: Sequence[str]) -> pa.Table:
    """What some files say of deleted edges: `_edge`, and `_append`, the append that did it."""
    schema = pa.schema([("_edge", _number_type(stored)), ("_append", pa.int64())])
    return pa.concat_tables([stored.generation.table(name, schema=schema) for name in names])


def live_edges(stored: StoredGraph, most: int | None = None) -> EdgeIds:
    """The numbers of the edges that are there, sorted: all of them, or the first so many."""
    deleted = deleted_edges(stored)
    last = stored.numbers if most is None else min(stored.numbers, most + len(deleted))
    every = np.arange(last, dtype=stored.number_type)
    edges = np.delete(every, deleted[: np.searchsorted(deleted, last)])
    return edges[:most]


class Changed:
    """Rows that appends changed: their numbers, sorted, and the rows in that order."""

    def __init__(self, numbers: NDArray[np.integer], rows: pa.Table) -> None:
        self.numbers = numbers
        self.rows = rows


def changed_rows(
    stored: StoredGraph, table: TableName, columns: Sequence[str] | None = None
) -> Changed | None:
    """The rows of a table that appends have changed, as they are now; None where there are none."""
    names = stored.append_files(CHANGED[table])
    if not names:
        return None
    key = KEYS[table]
    wanted = None if columns is None else list(dict.fromkeys([key, *columns]))
    rows = pa.concat_tables([read_rows(stored, name, wanted) for name in names])
    newest_first = rows.column(key).to_numpy()[::-1]
    numbers, places = np.unique(newest_first, return_index=True)
    rows = rows.take(pa.array(len(newest_first) - 1 - places))
    return Changed(numbers, rows if columns is None else rows.select(list(columns)))


def put_changed(table: pa.Table, changed: Changed | None, first: int) -> pa.Table:
    """Rows whose numbers begin with `first`, with those among them that have been changed."""
    if changed is None:
        return table
    low, high = np.searchsorted(changed.numbers, [first, first + table.num_rows])
    if low == high:
        return table
    places = np.arange(table.num_rows)
    places[changed.numbers[low:high] - first] = table.num_rows + np.arange(high - low)
    rows = changed.rows.slice(low, high - low).cast(table.schema)
    return pa.concat_tables([table, rows]).take(pa.array(places))


def table_schema(stored: StoredGraph, table: TableName) -> pa.Schema:
    """The columns of a table as its base has them, so that what is added can be read with it."""
    parts = stored.generation.parts(table)
    if parts:
        path = stored.generation.file(parts[0][0])
        schema = _unmarked(pq.read_schema(path))
        return numbered_by(schema, _number_type(stored)) if table == "edges" else schema
    fixed = [("_vertex", pa.int32()), ("_id", ARROW_TYPES[stored.schema.id_type])]
    if table == "edges":
        fixed = [("_edge", _number_type(stored)), ("_src", pa.int32()), ("_dst", pa.int32())]
    properties = stored.schema.vertex if table == "vertices" else stored.schema.edge
    named = [(item.name, ARROW_TYPES[item.type]) for item in properties]
    return pa.schema([*fixed, ("_label", pa.string()), *named])


def numbered_by(schema: pa.Schema, type_: pa.DataType) -> pa.Schema:
    """The columns of a table of edges, with numbers of that type."""
    return schema.set(schema.get_field_index("_edge"), pa.field("_edge", type_))


def _number_type(stored: StoredGraph) -> pa.DataType:
    return pa.int64() if stored.has_wide_numbers else pa.int32()


def _unmarked(schema: pa.Schema) -> pa.Schema:
    return pa.schema([item.with_nullable(True).remove_metadata() for item in schema])
