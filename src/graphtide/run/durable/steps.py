"""One record after the other on a graph in memory: told of an advance, and followed by another.

`record_of` says what an advance has come to; `follow_record` does the same to a graph that is where
the first one was. Between them is the log. Numbers are those that users know edges by.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.durable.records import BATCH, Record
from graphtide.run.durable.shape import Shape, shape_of
from graphtide.run.durable.tables import GraphTables
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.vertex_columns import column_between
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.turns import changing, uninterrupted

Ends = tuple[NDArray[np.int32], NDArray[np.int32]]
"""The numbers of the vertices that edges leave, and of those that they enter."""


class Counts(NamedTuple):
    """How many vertices and edges are known, those that have left included."""

    vertices: int
    edges: int


def counts_of(graph: MemoryGraph) -> Counts:
    """How far a graph has come."""
    return Counts(graph._resident.vertices, graph._resident.edges)


def current_shape(graph: MemoryGraph, before: Shape) -> Shape:
    """The shape of a graph that had another: only vertices can have changed it."""
    known = graph._known
    ids = "int" if known.ids.are_whole else "string"
    same = known.vertex_columns.table.schema.types == before.memory_types
    return before if ids == before.ids and same else shape_of(known, graph._kept)


def record_of(graph: MemoryGraph, before: Counts, shape: Shape, facts: dict[str, Any]) -> Record:
    """What the last advance, which began with so many vertices and edges, has come to."""
    now, done = counts_of(graph), graph._versions.last
    # Every row that came is an edge of its own, in their order: the delta has its ends at hand.
    came = now.edges - before.edges
    ends = done.delta.sources[:came], done.delta.targets[:came]
    return Record(
        {"kind": BATCH, **facts},
        vertex_rows(graph, before.vertices, now.vertices, shape),
        edge_rows(graph, before.edges, now.edges, shape, ends),
        np.ascontiguousarray(graph._outside(done.delta.deleted), np.int32),
        None if done.changed is None else changed_rows(graph, done.changed.numbers, shape),
    )


def changed_rows(graph: MemoryGraph, numbers: NDArray[Any], shape: Shape) -> pa.RecordBatch:
    """All properties of some vertices, as they are now."""
    table, places = graph._known.vertex_columns.table, pa.array(numbers)
    columns = {name: table.column(name).take(places).combine_chunks() for name, _ in shape.vertex}
    return _batch({"_vertex": pa.array(numbers), **columns}, shape.changed)


def values_before(graph: MemoryGraph) -> pa.Table | None:
    """What the vertices that the last advance gave other values had before, by their ids."""
    done = graph._versions.last
    if done.changed is None:
        return None
    ids = graph._known.ids.taken(done.changed.numbers)
    columns = {
        name: column_between(done.before, name, 0, done.vertices).take(
            pa.array(done.changed.numbers)
        )
        for name in done.names
    }
    return pa.table({"id": ids, **columns})


def vertex_rows(graph: MemoryGraph, first: int, stop: int, shape: Shape) -> pa.RecordBatch | None:
    """The vertices from one number to another."""
    if first == stop:
        return None
    table = graph._known.vertex_columns.table
    columns = {"_id": graph._known.ids.taken(np.arange(first, stop))}
    columns |= {name: column_between(table, name, first, stop) for name, _ in shape.vertex}
    return _batch(columns, shape.vertices)


def edge_rows(
    graph: MemoryGraph, first: int, stop: int, shape: Shape, ends: Ends | None = None
) -> pa.RecordBatch | None:
    """The edges from one number to another; their ends are looked up unless they are given."""
    if first == stop:
        return None
    numbers = np.arange(first, stop)
    seen = {name: column_between(graph._kept, name, first, stop) for name in shape.seen}
    return _edge_rows(graph, numbers, seen, shape, ends)


def chosen_edges(graph: MemoryGraph, numbers: NDArray[Any], shape: Shape) -> dict[str, Any]:
    """Some edges as columns that an advance takes: ends by their ids, and properties."""
    places = pa.array(numbers)
    seen = {name: graph._kept.column(name).take(places).combine_chunks() for name in shape.seen}
    rows = _edge_rows(graph, numbers, seen, shape)
    ends = (graph._known.ids.taken(rows.column(at).to_numpy()) for at in (0, 1))
    columns: dict[str, Any] = dict(zip((shape.src, shape.dst), ends, strict=True))
    return columns | {name: rows.column(name) for name in shape.edge_types}


def _edge_rows(
    graph: MemoryGraph,
    numbers: NDArray[Any],
    seen: dict[str, Any],
    shape: Shape,
    ends: Ends | None = None,
) -> pa.RecordBatch:
    inside = inside_numbers(graph, numbers)
    sources, targets = graph._resident.ends(inside) if ends is None else ends
    columns: dict[str, Any] = {"_src": pa.array(sources), "_dst": pa.array(targets), **seen}
    properties = graph._resident.properties
    for name in shape.edge_types:
        if name not in seen:
            columns[name] = pa.array(properties[name][inside], from_pandas=True)
    return _batch(columns, shape.edges)


def edges_at(graph: MemoryGraph, vertices: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers of the live edges that touch some vertices, each once."""
    parts = []
    for slabs in graph._resident.adjacency:
        for vertex in vertices.tolist():
            first = slabs.start[vertex]
            parts.append(slabs.edge[first : first + slabs.live[vertex]])
    touched = np.unique(np.concatenate([np.empty(0, np.int32), *parts]))
    return graph._outside(touched).astype(np.int64)


def _batch(columns: dict[str, Any], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [
        column if column.type == item.type else column.cast(item.type)
        for item, column in ((item, columns[item.name]) for item in schema)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def follow_record(graph: MemoryGraph, record: Record, shape: Shape) -> None:
    """Bring a graph to the version that a batch led to."""
    insert: dict[str, Any] | None = None
    if record.edges is not None:
        new = None if record.vertices is None else record.vertices.column(0)
        ends = [_ids_at(graph, new, record.edges.column(at).to_numpy()) for at in (0, 1)]
        insert = dict(zip((shape.src, shape.dst), ends, strict=True))
        insert |= {name: record.edges.column(name) for name in shape.edge_types}
    entering = _listed(graph, record)
    deleted = record.deleted.astype(np.int64) if len(record.deleted) else None
    MemoryGraph._advance(graph, insert, deleted, entering)


def _listed(graph: MemoryGraph, record: Record) -> pa.Table | None:
    """The vertices that a batch brought, and those that it gave other values."""
    parts = []
    if record.vertices is not None:
        rows = pa.Table.from_batches([record.vertices])
        parts.append(rows.rename_columns(["id", *rows.column_names[1:]]))
    if record.changed is not None:
        ids = graph._known.ids.taken(record.changed.column(0).to_numpy())
        rows = pa.Table.from_batches([record.changed])
        parts.append(rows.set_column(0, "id", ids))
    if len(parts) == 2 and not parts[0].num_rows:
        return parts[1]
    return pa.concat_tables(parts) if parts else None


def _ids_at(graph: MemoryGraph, new: pa.Array | None, numbers: NDArray[np.int32]) -> Any:
    """The ids of vertices by number, those that are about to enter included."""
    ids, known = graph._known.ids, graph._resident.vertices
    old = numbers < known
    if new is None or old.all():
        return ids.taken(numbers)
    parts = pa.concat_arrays(
        [ids.taken(numbers[old]).cast(new.type), new.take(pa.array(numbers[~old] - known))]
    )
    places = np.empty(len(numbers), np.int64)
    places[np.concatenate([np.flatnonzero(old), np.flatnonzero(~old)])] = np.arange(len(numbers))
    return parts.take(pa.array(places))


class Replaced(NamedTuple):
    """Who stood on the rows of a graph that others have taken the place of, and what a query has
    raised whose vertices are gone.
    """

    held: list[Any]
    failed: BaseException | None


def put_in_place(graph: MemoryGraph, known: KnownEdges) -> None:
    """Put other rows in place of those of a graph; programs on it begin anew."""
    with uninterrupted():
        replaced = put_rows(graph, known)
    begin_on_rows(graph, replaced)


def put_rows(graph: MemoryGraph, known: KnownEdges) -> Replaced:
    """Put other rows in place of those of a graph; nobody has results on them yet.

    Short, and nothing to be interrupted: whoever does not come to begin behind it has failed.
    """
    held: list[Any] = [item for item in graph._followers.holders() if item is not graph]
    for item in held:
        item._leave()
        item._kept.failed = True
    queries = graph._asked
    known.timezone = graph._known.timezone
    with changing(graph._turns):
        graph._put(known)
        try:
            graph._keep_asking(queries)
        except InputError as error:
            return Replaced(held, error)
    return Replaced(held, None)


def begin_on_rows(graph: MemoryGraph, replaced: Replaced) -> None:
    """Begin all that stood on other rows, and then raise what the first that could not raised."""
    failed = replaced.failed
    try:
        if graph._asked is not None:
            graph._asked.begin()
    except BaseException as error:
        failed = failed or error
    _begin_all(replaced.held, failed)


def tables_at(graph: MemoryGraph, shape: Shape) -> GraphTables:
    """All vertices and edges, each at its number, those that are gone included."""
    resident = graph._resident
    inside = inside_numbers(graph, np.arange(resident.edges))
    gone = np.flatnonzero(~resident.are_live(inside)).astype(np.int32)
    return GraphTables(
        as_table(vertex_rows(graph, 0, resident.vertices, shape), shape.vertices),
        as_table(edge_rows(graph, 0, resident.edges, shape), shape.edges),
        gone,
    )


def as_table(rows: pa.RecordBatch | None, schema: pa.Schema) -> pa.Table:
    """Rows as a table; without rows where there are none."""
    return schema.empty_table() if rows is None else pa.Table.from_batches([rows])


def inside_numbers(graph: MemoryGraph, numbers: NDArray[Any]) -> NDArray[np.int32]:
    """The inside numbers of edges."""
    first = graph._resident.numbers
    inside = numbers.astype(np.int32)
    given = inside < len(first)
    inside[given] = first[inside[given]]
    return inside


def can_be_replaced(graph: MemoryGraph) -> bool:
    """Whether all that follow a graph could begin anew."""
    return all(item is graph or _can_begin(item) for item in graph._followers.holders())


def _begin_all(held: Iterable[Any], failed: BaseException | None) -> None:
    """Begin all of them, and then raise what the first that could not has raised."""
    for item in held:
        try:
            item._begin()
        except BaseException as error:
            failed = failed or error
    if failed is not None:
        raise failed


def _can_begin(holder: object) -> bool:
    return hasattr(holder, "_begin") and hasattr(holder, "_leave")
