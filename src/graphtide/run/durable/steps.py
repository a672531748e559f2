"""One record after the other on a graph in memory: written down by one, and followed by another.

`record_of` says what an advance has come to; `follow_record` does the same to a graph that is where
the first one was. Between them is the log. Numbers are those that users know edges by.

A reader opens a live graph while another process writes it. It takes no lock, and sees what the
writer has told somebody of, and nothing that the writer may yet take back. Files may go while it
reads: then it looks again.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import DamagedError, InputError
from graphtide.run.durable.records import (
    BATCH,
    COMPACT,
    GraphShape,
    LiveState,
    LogRecord,
    described_shape,
    read_record,
    shape_of,
)
from graphtide.run.durable.replay import (
    LIVE,
    NumberedTables,
    Replay,
    memory_of,
    open_checkpoint,
    recovered,
)
from graphtide.run.live.named_graph import NamedGraph, column_between
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.turns import changing, uninterrupted
from graphtide.store.files import CURRENT, well_formed
from graphtide.store.log import LoggedRecord, first_logged, log_bytes, read_log

Ends = tuple[NDArray[np.int32], NDArray[np.int32]]
"""The numbers of the vertices that edges leave, and of those that they enter."""


class Counts(NamedTuple):
    """How many vertices and edges are known, those that have left included."""

    vertices: int
    edges: int


def counts_of(graph: MemoryGraph) -> Counts:
    return Counts(graph._resident.vertices, graph._resident.edges)


def current_shape(graph: MemoryGraph, before: GraphShape) -> GraphShape:
    """The shape of a graph that had another: only vertices can have changed it."""
    known = graph._known
    ids = "int" if known.ids.are_whole else "string"
    same = known.vertex_columns.table.schema.types == before.memory_types
    return before if ids == before.ids and same else shape_of(known, graph._kept)


def record_of(
    graph: MemoryGraph, before: Counts, shape: GraphShape, facts: dict[str, Any]
) -> LogRecord:
    """The log record of the last advance; `before` are the counts when it began."""
    now, done = counts_of(graph), graph._versions.last
    # Every row that came is an edge of its own, in their order: the delta has its ends at hand.
    came = now.edges - before.edges
    ends = done.delta.sources[:came], done.delta.targets[:came]
    return LogRecord(
        {"kind": BATCH, **facts},
        vertex_rows(graph, before.vertices, now.vertices, shape),
        edge_rows(graph, before.edges, now.edges, shape, ends),
        np.ascontiguousarray(graph._resident.outside(done.delta.deleted), np.int32),
        None if done.changed is None else changed_rows(graph, done.changed.numbers, shape),
    )


def changed_rows(graph: MemoryGraph, numbers: NDArray[Any], shape: GraphShape) -> pa.RecordBatch:
    table, places = graph._known.vertex_columns.table, pa.array(numbers)
    columns = {name: table.column(name).take(places).combine_chunks() for name, _ in shape.vertex}
    return _batch({"_vertex": pa.array(numbers), **columns}, shape.changed)


def values_before(graph: MemoryGraph) -> pa.Table | None:
    """The earlier values of vertices that the last advance changed, by id."""
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


def vertex_rows(
    graph: MemoryGraph, first: int, stop: int, shape: GraphShape
) -> pa.RecordBatch | None:
    if first == stop:
        return None
    table = graph._known.vertex_columns.table
    columns = {"_id": graph._known.ids.taken(np.arange(first, stop))}
    columns |= {name: column_between(table, name, first, stop) for name, _ in shape.vertex}
    return _batch(columns, shape.vertices)


def edge_rows(
    graph: MemoryGraph, first: int, stop: int, shape: GraphShape, ends: Ends | None = None
) -> pa.RecordBatch | None:
    """The edges from one number to another; their ends are looked up unless they are given."""
    if first == stop:
        return None
    numbers = np.arange(first, stop)
    seen = {name: column_between(graph._kept, name, first, stop) for name in shape.seen}
    return _edge_rows(graph, numbers, seen, shape, ends)


def chosen_edges(graph: MemoryGraph, numbers: NDArray[Any], shape: GraphShape) -> dict[str, Any]:
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
    shape: GraphShape,
    ends: Ends | None = None,
) -> pa.RecordBatch:
    inside = graph._resident.inside(numbers)
    sources, targets = graph._resident.ends(inside) if ends is None else ends
    columns: dict[str, Any] = {"_src": pa.array(sources), "_dst": pa.array(targets), **seen}
    properties = graph._resident.properties
    for name in shape.edge_types:
        if name not in seen:
            columns[name] = pa.array(properties[name][inside], from_pandas=True)
    return _batch(columns, shape.edges)


def edges_at(graph: MemoryGraph, vertices: NDArray[Any]) -> NDArray[np.int64]:
    parts = []
    for slabs in graph._resident.adjacency:
        for vertex in vertices.tolist():
            first = slabs.start[vertex]
            parts.append(slabs.edge[first : first + slabs.live[vertex]])
    touched = np.unique(np.concatenate([np.empty(0, np.int32), *parts]))
    return graph._resident.outside(touched).astype(np.int64)


def _batch(columns: dict[str, Any], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [
        column if column.type == item.type else column.cast(item.type)
        for item, column in ((item, columns[item.name]) for item in schema)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def follow_record(graph: MemoryGraph, record: LogRecord, shape: GraphShape) -> None:
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


def _listed(graph: MemoryGraph, record: LogRecord) -> pa.Table | None:
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


class ReplacedRows(NamedTuple):
    """Who stood on the rows of a graph that others have taken the place of, and what a query has
    raised whose vertices are gone.
    """

    held: list[Any]
    failed: BaseException | None


def put_in_place(graph: MemoryGraph, known: NamedGraph) -> None:
    """Put other rows in place of those of a graph; programs on it begin anew."""
    with uninterrupted():
        replaced = put_rows(graph, known)
    begin_on_rows(graph, replaced)


def put_rows(graph: MemoryGraph, known: NamedGraph) -> ReplacedRows:
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
            return ReplacedRows(held, error)
    return ReplacedRows(held, None)


def begin_on_rows(graph: MemoryGraph, replaced: ReplacedRows) -> None:
    """Start everything that followed the old rows, and raise the first error afterwards."""
    failed = replaced.failed
    try:
        if graph._asked is not None:
            graph._asked.begin()
    except BaseException as error:
        failed = failed or error
    _begin_all(replaced.held, failed)


def tables_at(graph: MemoryGraph, shape: GraphShape) -> NumberedTables:
    """All vertices and edges, each at its number, those that are gone included."""
    resident = graph._resident
    inside = graph._resident.inside(np.arange(resident.edges))
    gone = np.flatnonzero(~resident.are_live(inside)).astype(np.int32)
    return NumberedTables(
        as_table(vertex_rows(graph, 0, resident.vertices, shape), shape.vertices),
        as_table(edge_rows(graph, 0, resident.edges, shape), shape.edges),
        gone,
    )


def as_table(rows: pa.RecordBatch | None, schema: pa.Schema) -> pa.Table:
    return schema.empty_table() if rows is None else pa.Table.from_batches([rows])


def can_be_replaced(graph: MemoryGraph) -> bool:
    """Whether all that follow a graph could begin anew."""
    return all(
        item is graph or (hasattr(item, "_begin") and hasattr(item, "_leave"))
        for item in graph._followers.holders()
    )


def _begin_all(held: Iterable[Any], failed: BaseException | None) -> None:
    """Start all of them, and raise the first error afterwards."""
    for item in held:
        try:
            item._begin()
        except BaseException as error:
            failed = failed or error
    if failed is not None:
        raise failed


_LOOKS, _MOST_KNOWN = 5, 100
_CHECKPOINTS: dict[Path, tuple[tuple[int, int], int, dict[str, Any]]] = {}
"""What was read of checkpoints, with the time of the pointer to each."""


def read_committed(folder: Path, name: str, what: str) -> Replay:
    for look in range(_LOOKS):
        try:
            stored = open_checkpoint(folder, name, what)
            return recovered(folder, stored, what, promised=True)
        except DamagedError:
            if look == _LOOKS - 1:
                raise
            time.sleep(0.01)
    raise AssertionError


def committed_since(folder: Path, what: str, state: LiveState) -> list[LoggedRecord] | None:
    """The records behind a state; None where the log does not go back so far."""
    for look in range(_LOOKS):
        if first_logged(folder) > state.sequence + 1:
            return None
        try:
            return read_log(folder, what, state.sequence, state.graph, promised=True)
        except DamagedError:
            if look == _LOOKS - 1:
                raise
            time.sleep(0.01)
    return None


def check_as_on_disk(graph: MemoryGraph, disk: Replay) -> None:
    """Compare a graph in memory with what its checkpoint and log come to, row by row.

    AssertionError at the first difference. Both directions of the adjacency are looked at.
    """
    resident, tables = graph._resident, disk.tables()
    here = tables_at(graph, disk.shape)
    inside = graph._resident.inside(np.arange(resident.edges))
    ends = resident.ends(np.arange(resident.edges, dtype=np.int32))
    apart = np.zeros(resident.edges, np.bool_) if resident.directed else np.equal(*ends)
    live = np.zeros(resident.edges, np.bool_)
    for slabs in resident.adjacency:
        live &= apart  # These are in the first direction alone.
        for start, count in zip(slabs.start.tolist(), slabs.live.tolist(), strict=True):
            live[slabs.edge[start : start + count]] = True
        differ = np.setxor1d(np.flatnonzero(~live[inside]), tables.gone)
        if len(differ):
            raise AssertionError(f"edge {differ[0]} is there in memory or on disk, but not in both")
    _check_rows("vertex", here.vertices, tables.vertices)
    _check_rows("edge", here.edges, tables.edges)


def _check_rows(what: str, here: pa.Table, there: pa.Table) -> None:
    for name in there.column_names:
        both = zip_longest(*(side.column(name).to_pylist() for side in (here, there)))
        for row, (one, other) in enumerate(both):
            if one != other and (one == one or other == other):  # NaN is the same as NaN.
                raise AssertionError(
                    f"{what} {row} has {name} = {one!r} in memory, and {other!r} on disk"
                )


def follow_logged(graph: MemoryGraph, state: LiveState, item: LoggedRecord) -> GraphShape:
    """Bring a graph, whose programs follow, and what is known of it behind one more record.

    The columns that it has from then on.
    """
    with well_formed("the log"):
        shape = described_shape(item.description)
        record = read_record(item.data, shape)
    if record.kind == BATCH:
        _follow_batch(graph, state, record, item)
    elif record.kind == COMPACT:
        tables = tables_at(graph, shape).compacted(state.leaving_by(record))
        made = memory_of(tables, shape)
        with uninterrupted(), changing(graph._turns):
            replaced = put_rows(graph, made)
            state.take(record, item.sequence)
        begin_on_rows(graph, replaced)
    else:
        state.take(record, item.sequence)
    return shape


def _follow_batch(
    graph: MemoryGraph, state: LiveState, record: LogRecord, item: LoggedRecord
) -> None:
    """Follow a record in the graph and in the state, or in neither."""
    before = graph._versions.current
    try:
        follow_record(graph, record, described_shape(item.description))
        with uninterrupted(), changing(graph._turns):
            graph._versions.forget()
            state.take(record, item.sequence)
    except BaseException:
        with uninterrupted():
            while state.sequence < item.sequence and graph._versions.current > before:
                graph._versions.rollback()
        raise


def disk_facts(folder: Path, name: str, what: str, state: LiveState) -> dict[str, Any]:
    """How large the log is and how many records it has behind the checkpoint, and that itself."""
    current = (folder / CURRENT).stat()
    stamp = current.st_mtime_ns, current.st_ino
    known = _CHECKPOINTS.get(folder)
    if known is None or known[0] != stamp:
        stored = open_checkpoint(folder, name, what)
        with well_formed(stored.generation.what, stored.generation.path):
            then = LiveState.from_json(stored.generation.manifest[LIVE]["state"])
        facts = {
            "bytes": sum(item.size for item in stored.generation.files.values()),
            "version": then.version,
            "when": stored.created.astimezone(dt.UTC).isoformat(timespec="seconds"),
        }
        if len(_CHECKPOINTS) >= _MOST_KNOWN:
            _CHECKPOINTS.clear()
        known = _CHECKPOINTS[folder] = stamp, then.sequence, facts
    _, sequence, checkpoint = known
    log = {"bytes": log_bytes(folder), "records": max(0, state.sequence - sequence)}
    return {"log": log, "checkpoint": checkpoint}
