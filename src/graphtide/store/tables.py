"""The tables of a stored graph as Arrow, without Spark: whole, in batches, or some rows by number.

The row of a vertex or an edge stands at its number, whatever the state. So the table of edges
holds the rows of deleted edges; `live_edges` says which are there. Rows that appends changed are
taken from the last append that did. A view's edges are taken by position, and so are the ids of
their ends.

Every file is compared with the manifest before it is read. What need not be read is not: parts
and row groups without any of the wanted rows, and bounds that the footers of the files state.
Batches keep what is read of a large graph from filling the memory.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.model.column_types import ARROW_TYPES, is_stored_as
from graphtide.model.delta import EdgeIds, no_edges
from graphtide.model.schema import CHANGED, DELETED, ENDS, KEYS, PropertyType
from graphtide.store.files import READ_EDGES, READ_VERTICES, Damage, unreadable, within
from graphtide.store.graph import StoredGraph

TableName = Literal["vertices", "edges"]


def vertex_table(stored: StoredGraph, columns: Sequence[str] | None = None) -> pa.Table:
    """All vertices, each at its number."""
    table = read_rows(stored, "vertices", columns).slice(0, stored.vertices)
    READ_VERTICES.add(table.num_rows)
    return put_changed(table, changed_rows(stored, "vertices", columns), 0)


def edge_table(stored: StoredGraph, columns: Sequence[str] | None = None) -> pa.Table:
    """All edges, each at its number, with the deleted ones."""
    table = read_rows(stored, "edges", columns).slice(0, stored.numbers)
    READ_EDGES.add(table.num_rows)
    check_ends(stored, table)
    return put_changed(table, changed_rows(stored, "edges", columns), 0)


def check_ends(stored: StoredGraph, edges: pa.Table) -> None:
    """DamagedError for edges between vertices that do not exist: kernels check no bounds."""
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
    """The rows with a nullable schema, after a check that their columns are those of the graph."""
    properties = stored.schema.vertex if table == "vertices" else stored.schema.edge
    tests = dict.fromkeys(_NUMBERS[table], pa.types.is_integer)
    types = {"_id": stored.schema.id_type, "_label": PropertyType.STRING}
    types |= {item.name: item.type for item in properties}
    tests |= {name: partial(is_stored_as, kind) for name, kind in types.items()}
    needed = [*_NUMBERS[table], *(item.name for item in properties)] if columns is None else columns
    wrong = [
        name
        for name in needed
        if rows.column_names.count(name) != 1
        or (name in tests and not tests[name](rows.schema.field(name).type))
    ]
    if wrong:
        problem = f"has no column '{wrong[0]:.40}' of the type that the schema names"
        raise stored.generation.damaged(Damage(stored.path / table, problem))
    return pa.Table.from_arrays(rows.columns, schema=_unmarked(rows.schema))


_NUMBERS: dict[TableName, tuple[str, ...]] = {
    "vertices": ("_vertex",),
    "edges": ("_edge", "_src", "_dst"),
}


def deleted_edges(stored: StoredGraph) -> EdgeIds:
    """The numbers of the edges that are deleted, sorted."""
    names = stored.append_files(DELETED)
    if not names:
        return no_edges()
    rows = written_deleted(stored, names)
    edges, since = (rows.column(name).to_numpy() for name in ("_edge", "_append"))
    return np.sort(edges[since <= stored.number])


def written_deleted(stored: StoredGraph, names: Sequence[str]) -> pa.Table:
    """What some files say of deleted edges: `_edge`, and `_append`, the append that deleted it."""
    schema = pa.schema([("_edge", _number_type(stored)), ("_append", pa.int64())])
    return pa.concat_tables([stored.generation.table(name, schema=schema) for name in names])


def live_edges(stored: StoredGraph, most: int | None = None) -> EdgeIds:
    """The numbers of the edges that are there, sorted: all, or the first `most`."""
    deleted = deleted_edges(stored)
    last = stored.numbers if most is None else min(stored.numbers, most + len(deleted))
    every = np.arange(last, dtype=stored.number_type)
    edges = np.delete(every, deleted[: np.searchsorted(deleted, last)])
    return edges[:most]


class ChangedRows:
    """Rows that appends changed: their numbers, sorted, and the rows in that order."""

    def __init__(self, numbers: NDArray[np.integer], rows: pa.Table) -> None:
        self.numbers = numbers
        self.rows = rows


def changed_rows(
    stored: StoredGraph, table: TableName, columns: Sequence[str] | None = None
) -> ChangedRows | None:
    """The rows of a table that appends have changed, in their present state; or None."""
    names = stored.append_files(CHANGED[table])
    if not names:
        return None
    key = KEYS[table]
    wanted = None if columns is None else list(dict.fromkeys([key, *columns]))
    rows = pa.concat_tables([read_rows(stored, name, wanted) for name in names])
    newest_first = rows.column(key).to_numpy()[::-1]
    numbers, places = np.unique(newest_first, return_index=True)
    rows = rows.take(pa.array(len(newest_first) - 1 - places))
    return ChangedRows(numbers, rows if columns is None else rows.select(list(columns)))


def put_changed(table: pa.Table, changed: ChangedRows | None, first: int) -> pa.Table:
    """The rows whose numbers begin with `first`, with changed rows in their places."""
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
    """The columns of a table as its base has them, so that appended rows can be read with it."""
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
    """The schema of an edge table with edge numbers of this type."""
    return schema.set(schema.get_field_index("_edge"), pa.field("_edge", type_))


def _number_type(stored: StoredGraph) -> pa.DataType:
    return pa.int64() if stored.has_wide_numbers else pa.int32()


def _unmarked(schema: pa.Schema) -> pa.Schema:
    return pa.schema([item.with_nullable(True).remove_metadata() for item in schema])


_OURS = ("_edge", "_src", "_dst", "_label")


def edge_rows(stored: StoredGraph, edges: EdgeIds | None) -> pa.Table:
    """Edges as users know them: both ends by their own ids and names, label, properties.

    Where vertices have several labels, `src_label` and `dst_label` tell their ids apart, or what
    the ends are called in place of `src` and `dst`.
    `edges` are sorted numbers; None stands for all that are there. Reads only the parts that hold
    them.
    """
    table = edge_table_rows(stored, edges)
    several = len(stored.schema.vertex_labels) > 1
    known = {"_id": "", "_label": "_label"} if several else {"_id": ""}
    vertices = vertex_table(stored, list(known))
    columns = {
        end + suffix: vertices.column(name).combine_chunks().take(table.column(f"_{side}"))
        for name, suffix in known.items()
        for side, end in zip(ENDS, stored.schema.ends, strict=True)
    }
    if stored.schema.edge_labels:
        columns["label"] = table.column("_label")
    rest = [name for name in table.column_names if name not in _OURS]
    return pa.table({**columns, **{name: table.column(name) for name in rest}})


def vertex_rows(stored: StoredGraph) -> pa.Table:
    hidden = ["_vertex"] if stored.schema.vertex_labels else ["_vertex", "_label"]
    table = vertex_table(stored).drop_columns(hidden)
    names = {"_id": "id", "_label": "label"}
    return table.rename_columns([names.get(name, name) for name in table.column_names])


def vertex_ids(stored: StoredGraph) -> pa.Array:
    """The users' ids of all vertices, in the order of their numbers."""
    column = vertex_table(stored, ["_id"]).column("_id")
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def edge_table_rows(
    stored: StoredGraph, edges: EdgeIds | None, columns: Sequence[str] | None = None
) -> pa.Table:
    """Rows of the edge table by sorted numbers; None stands for all that are there."""
    if edges is None and stored.has_gaps:
        edges = live_edges(stored)
    if edges is None:
        return edge_table(stored, columns).combine_chunks()
    table = pa.concat_tables(list(_chosen_rows(stored, edges, columns))).combine_chunks()
    check_ends(stored, table)
    return table


def edge_bounds(stored: StoredGraph, column: str) -> tuple[Any, Any] | None:
    """Smallest and largest value of a property of the edges.

    From the footers of their files, where no edge was deleted or changed. None where a footer does
    not say, or not exactly: strings may be cut short there, and floats leave out NaN at will; and
    where so many edges would have to be read that Spark had better do it.
    """
    generation = stored.generation
    if stored.has_gaps or stored.append_files(CHANGED["edges"]) or not stored.is_latest:
        if stored.has_wide_numbers:
            return None
        return _exact_bounds(edge_table_rows(stored, None, [column]).column(column))
    low: list[Any] = []
    high: list[Any] = []
    names = [name for name, _ in generation.parts("edges")]
    generation.compare(names)
    for name in names:
        footer = pq.read_metadata(generation.path / name)
        at = footer.schema.names.index(column)
        for group in range(footer.num_row_groups):
            statistics = footer.row_group(group).column(at).statistics
            rows = footer.row_group(group).num_rows
            if statistics is None or not (statistics.has_min_max or statistics.null_count == rows):
                return None
            if statistics.has_min_max:
                low.append(statistics.min)
                high.append(statistics.max)
    if not low or not isinstance(low[0], int | dt.date):
        return None
    return min(low), max(high)


def _exact_bounds(values: pa.ChunkedArray) -> tuple[Any, Any] | None:
    """The bounds of the values; None for types whose bounds footers do not tell either."""
    if pa.types.is_floating(values.type) or not values.drop_null():
        return None
    bounds = pc.min_max(values)
    low, high = bounds["min"].as_py(), bounds["max"].as_py()
    return (low, high) if isinstance(low, int | dt.date) else None


def _chosen_rows(
    stored: StoredGraph, edges: EdgeIds, columns: Sequence[str] | None
) -> Iterator[pa.Table]:
    start, changed = 0, changed_rows(stored, "edges", columns)
    for name, rows in stored.generation.parts("edges"):
        first, last = np.searchsorted(edges, [start, start + rows])
        if first < last or start == 0:
            READ_EDGES.add(rows)
            part = put_changed(read_rows(stored, name, columns), changed, start)
            yield part.take(edges[first:last].astype(np.int64) - start)
        start += rows


BATCH_ROWS = 1 << 22
"""About this many rows are read at once: 100 MB with their ends and two columns."""


def edge_batches(
    stored: StoredGraph, columns: Sequence[str], rows: int | None = None
) -> Iterator[pa.Table]:
    """The edges that are there, in the order of their numbers and in their present state."""
    deleted, changed = deleted_edges(stored), changed_rows(stored, "edges", columns)
    first = 0
    for batch in written_batches(stored, "edges", columns, rows or BATCH_ROWS):
        table = batch.slice(0, max(0, stored.numbers - first))
        READ_EDGES.add(table.num_rows)
        check_ends(stored, table)
        table = put_changed(table, changed, first)
        low, high = np.searchsorted(deleted, [first, first + table.num_rows])
        first += table.num_rows
        if low < high:
            there = np.ones(table.num_rows, np.bool_)
            there[deleted[low:high] - (first - table.num_rows)] = False
            table = table.filter(pa.array(there))
        yield table


def end_batches(stored: StoredGraph) -> Iterator[tuple[int, NDArray[Any], NDArray[Any]]]:
    """The ends of all edges, deleted ones too: first number, sources, destinations."""
    first = 0
    for batch in written_batches(stored, "edges", ["_src", "_dst"], BATCH_ROWS):
        table = batch.slice(0, max(0, stored.numbers - first))
        READ_EDGES.add(table.num_rows)
        check_ends(stored, table)
        src, dst = (table.column(name).to_numpy() for name in ("_src", "_dst"))
        yield first, src, dst
        first += table.num_rows


def written_batches(
    stored: StoredGraph, table: TableName, columns: Sequence[str], rows: int
) -> Iterator[pa.Table]:
    """All rows of the files of a table, in order."""
    for name, _ in stored.generation.parts(table):
        for page in stored.generation.pages(name, columns, rows):
            yield without_marks(stored, table, page, columns)


Wanted = Callable[[int, int], bool]
"""Whether rows from one number to before another are to be read."""


def vertices_at(
    stored: StoredGraph, columns: Sequence[str], numbers: NDArray[Any], rows: int | None = None
) -> pa.Table:
    """The rows of some vertices, in the order of the numbers."""
    order, changed = np.argsort(numbers, kind="stable"), changed_rows(stored, "vertices", columns)
    wanted = numbers[order]
    pages = [table_schema(stored, "vertices").empty_table().select(list(columns))]

    def among(first: int, behind: int) -> bool:
        low, high = np.searchsorted(wanted, [first, behind])
        return bool(low < high)

    for first, page in _pages(stored, columns, among, rows or BATCH_ROWS):
        low, high = np.searchsorted(wanted, [first, first + page.num_rows])
        if low < high:
            table = put_changed(page, changed, first)
            pages.append(table.take(pa.array(wanted[low:high] - first)).cast(pages[0].schema))
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return pa.concat_tables(pages).take(pa.array(places))


def vertices_with_id(
    stored: StoredGraph, columns: Sequence[str], id_: pa.Scalar, rows: int | None = None
) -> tuple[NDArray[np.int64], pa.Table]:
    """The numbers and rows of the vertices that have an id. Ids never change."""
    numbers, pages = [np.empty(0, np.int64)], []
    wanted = list(dict.fromkeys(["_id", *columns]))
    changed = changed_rows(stored, "vertices", wanted)
    every: Wanted = lambda first, behind: first < stored.vertices  # noqa: E731
    for first, page in _pages(stored, wanted, every, rows or BATCH_ROWS, id_.as_py()):
        there = pc.equal(page.column("_id"), id_).to_numpy()
        places = np.flatnonzero(there[: max(0, stored.vertices - first)])
        if len(places):
            numbers.append(first + places)
            pages.append(put_changed(page, changed, first).take(pa.array(places)))
    schema = table_schema(stored, "vertices").empty_table().select(wanted)
    whole = pa.concat_tables([schema, *(item.cast(schema.schema) for item in pages)])
    return np.concatenate(numbers), whole.select(list(columns))


def _pages(
    stored: StoredGraph, columns: Sequence[str], wanted: Wanted, rows: int, id_: Any = None
) -> Iterator[tuple[int, pa.Table]]:
    """Rows of the vertex table as written, page by page, each with its first number."""
    generation, first = stored.generation, 0
    for name, count in generation.parts("vertices"):
        if wanted(first, first + count):
            path = generation.file(name)
            try:
                with pq.ParquetFile(path) as file:
                    for begin, page in _pages_of(file, columns, first, wanted, rows, id_):
                        READ_VERTICES.add(page.num_rows)
                        yield begin, without_marks(stored, "vertices", page, columns)
            except (OSError, pa.ArrowException, KeyError) as error:
                raise generation.damaged(unreadable(path, error)) from None
        first += count


def _pages_of(
    file: pq.ParquetFile, columns: Sequence[str], first: int, wanted: Wanted, rows: int, id_: Any
) -> Iterator[tuple[int, pa.Table]]:
    for at in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(at)
        behind = first + group.num_rows
        if wanted(first, behind) and _may_have(group, id_):
            begin = first
            for batch in file.iter_batches(rows, row_groups=[at], columns=list(columns)):
                yield begin, pa.Table.from_batches([batch])
                begin += batch.num_rows
        first = behind


def _may_have(group: Any, id_: Any) -> bool:
    """False if the statistics of a row group rule an id out."""
    if id_ is None:
        return True
    for at in range(group.num_columns):
        column = group.column(at)
        statistics = column.statistics if column.path_in_schema == "_id" else None
        if statistics is not None and statistics.has_min_max:
            return bool(statistics.min <= id_ <= statistics.max)
    return True
