"""A batch as users give it, brought to what a graph in memory takes: rows in, edges out.

An update becomes edges that go and edges that come with other values; a vertex that goes takes its
edges along; what has expired goes with the batch that brought the later time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.durable.expiry import Expiry, Keep, times_of
from graphtide.run.durable.named_edges import check_match, numbers_of
from graphtide.run.durable.shape import Shape
from graphtide.run.durable.state import BatchId
from graphtide.run.durable.steps import chosen_edges, edges_at, inside_numbers
from graphtide.run.live.batches import edge_numbers
from graphtide.run.live.id_looks import plain_id
from graphtide.run.live.named_edges import found_by_texts
from graphtide.run.live.vertex_ids import id_column, named_rows
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.views.inserted_columns import KeptRows

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class GivenBatch:
    """What an advance of a live graph is given."""

    insert: Any = None
    delete: Any = None
    vertices: Any = None
    update: Any = None
    remove: Any = None
    match: tuple[str, ...] = ()
    id: BatchId | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the log says of it besides, such as how far a stream has come by it."""


@dataclass
class Prepared:
    """What the graph is to take, and what the log says of it besides.

    `times` are those of the rows to come, in their order.
    """

    insert: Any
    delete: Any
    vertices: Any
    facts: dict[str, Any] = field(default_factory=dict)
    times: NDArray[Any] | None = None


def prepared(
    graph: MemoryGraph, given: GivenBatch, shape: Shape, expiry: Expiry | None
) -> Prepared:
    """What a batch comes to; InputError if it cannot be. The graph stays as it is."""
    refuse_numbers(given.insert)
    gone = found_by_texts(graph._known, "delete", given.delete)
    batch = Prepared(given.insert, gone, given.vertices, _facts(given))
    changed = _NONE
    if given.update is not None:
        changed = _update(graph, given, shape, batch)
    elif given.match:
        raise InputError("match is given without update", hint="it says what names the rows of it")
    if given.remove is not None:
        numbers = _vertex_numbers(graph, given.remove)
        gone = edges_at(graph, numbers)
        _refuse_both(changed, gone, "are edges of vertices that `remove` takes out")
        _delete(graph, batch, gone)
        batch.facts["left"] = numbers.tolist()
    if expiry is not None:
        _expire(graph, batch, shape, expiry)
    return batch


def refuse_numbers(insert: Any) -> None:
    """Refuse edges by number: one that has left a live graph does not come back."""
    if insert is not None and edge_numbers("insert", insert) is not None:
        raise InputError(
            "a live graph takes no edge numbers to insert",
            hint="give rows: every inserted row is an edge of its own, with a new number",
        )


def _facts(given: GivenBatch) -> dict[str, Any]:
    match given.id:
        case None:
            return dict(given.facts)
        case str():
            return {**given.facts, "id": given.id}
        case stream, number:
            return {**given.facts, "stream": {stream: number}}


def _update(
    graph: MemoryGraph, given: GivenBatch, shape: Shape, found: Prepared
) -> NDArray[np.int64]:
    """Let edges go and come with other values; the numbers of those that go."""
    check_match(shape, given.match)
    columns = KeptRows(graph._names, graph._kept).columns("update", given.update)
    known = (shape.src, shape.dst, *given.match)
    if columns is None or any(name not in columns for name in known):
        raise InputError(
            "update has rows that name no edges",
            hint=f"a row gives {', '.join(known)}, and new values for other properties",
        )
    changed = {name: values for name, values in columns.items() if name not in known}
    if not changed:
        raise InputError("update gives no new values", hint="give some, or leave the rows out")
    numbers = numbers_of(graph, "update", {name: columns[name] for name in known})
    if found.delete is not None:
        found.delete = numbers_of(graph, "delete", found.delete)
        _refuse_both(numbers, found.delete, "are edges that `delete` takes out")
    _insert(graph, found, {**chosen_edges(graph, numbers, shape), **changed})
    _delete(graph, found, numbers)
    return numbers


def _refuse_both(changed: NDArray[np.int64], gone: NDArray[np.int64], problem: str) -> None:
    """Refuse a batch that gives edges other values and takes them out as well."""
    rows = np.flatnonzero(np.isin(changed, gone)).tolist()
    if rows:
        raise InputError(
            f"rows of `update` {problem}",
            where=named_rows(rows, lambda at: f"edge {changed[at]}"),
            hint="leave them out of one of the two; of edges with the same ends, say which is "
            "meant: by `match`, or by their numbers in `delete`",
        )


def _insert(graph: MemoryGraph, found: Prepared, rows: dict[str, Any]) -> None:
    """More rows behind those that come already."""
    if found.insert is None:
        found.insert = rows
        return
    first = _columns(graph, found.insert)
    if not first:
        found.insert = rows
        return
    KeptRows(graph._names, graph._kept).check_numbers(first)
    missing = [None] * len(next(iter(first.values())))
    found.insert = {
        name: [*_listed(first.get(name, missing)), *_listed(values)]
        for name, values in rows.items()
    }


def _delete(graph: MemoryGraph, found: Prepared, numbers: NDArray[np.int64]) -> None:
    """More edges that go, besides those that go already."""
    if not len(numbers):
        return
    if found.delete is not None:
        before = numbers_of(graph, "delete", found.delete)
        if len(np.unique(before)) < len(before):
            return  # The graph says which edge is listed twice.
        numbers = np.unique(np.concatenate([before, numbers]))
    found.delete = numbers


def _expire(graph: MemoryGraph, found: Prepared, shape: Shape, expiry: Expiry) -> None:
    time = expiry.keep.time
    columns = {} if found.insert is None else _columns(graph, found.insert)
    found.times = times_of(columns.get(time, []), time)
    if len(columns) and time not in columns:
        raise InputError(f"insert gives no time in '{time}'", hint="give every edge its time")
    expiry.see(found.times)
    stays = found.times >= expiry.border
    if not stays.all():
        found.facts["late"] = found.facts.get("late", 0) + int((~stays).sum())
        places = np.flatnonzero(stays)
        found.insert = {name: _taken(values, places) for name, values in columns.items()}
        found.times = found.times[stays]
    found.facts["latest"] = expiry.latest
    due = expiry.take_due()
    _delete(graph, found, due[graph._resident.are_live(inside_numbers(graph, due))])


def _columns(graph: MemoryGraph, given: Any) -> dict[str, Any]:
    columns = KeptRows(graph._names, graph._kept).columns("insert", given)
    if columns is not None:
        return columns
    if isinstance(given, Mapping) or (hasattr(given, "__len__") and not len(given)):
        return {}
    raise InputError("insert holds no rows", hint="give rows, columns by name, or a frame")


def _vertex_numbers(graph: MemoryGraph, given: Any) -> NDArray[np.int32]:
    ids = id_column(given, "`remove`")
    numbers = graph._known.ids.numbers(ids)
    missing = np.flatnonzero(numbers < 0).tolist()
    if missing:
        raise InputError(
            "`remove` lists vertices that are not there",
            where=named_rows(missing, lambda at: repr(plain_id(ids[at]))),
            hint="list vertices by their ids",
        )
    return np.unique(numbers)


def _listed(values: Any) -> list[Any]:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return list(values.to_pylist())
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _taken(values: Any, places: NDArray[np.int64]) -> Any:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values.take(pa.array(places))
    if isinstance(values, np.ndarray):
        return values[places]
    listed = list(values)
    return [listed[at] for at in places.tolist()]


def expiry_of(graph: MemoryGraph, shape: Shape, keep: Keep, latest: float | int | None) -> Expiry:
    """The times of all edges that are there."""
    expiry = Expiry(keep, latest)
    inside = graph._resident.live_edges()
    numbers = np.sort(graph._outside(inside)).astype(np.int64)
    if len(numbers):
        times = times_of(chosen_edges(graph, numbers, shape)[keep.time], keep.time)
        expiry.see(times)
        expiry.enter_numbered(times, numbers)
    return expiry
