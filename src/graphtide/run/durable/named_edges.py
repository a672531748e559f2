"""The edges that the rows of a batch name, by number: those that go, or get other values.

Rows that give numbers alone are matched by the kernel that brings batches in. Where they give a
text or a moment, they are joined with the edges between the same ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.schema import closest
from graphtide.run.durable.find_edges import find_edges
from graphtide.run.durable.shape import Shape
from graphtide.run.live.batches import NO_SUCH_EDGES, NOTHING, edge_numbers, read_delete, refuse
from graphtide.run.live.edge_rows import EdgeRows
from graphtide.run.live.entering import bring_in, take_out
from graphtide.run.live.vertex_ids import id_column
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.turns import uninterrupted
from graphtide.run.views.inserted_columns import KeptRows
from graphtide.run.views.typed_columns import property_type, typed_column

Numbers = NDArray[np.int64]


def numbers_of(graph: MemoryGraph, shape: Shape, what: str, given: Any) -> Numbers:
    """The numbers of the edges that rows name, each another one; the graph stays as it is."""
    found = edge_numbers(what, given)
    if found is not None:
        return found
    columns = KeptRows(graph._names, graph._kept).columns(what, given)
    if columns is not None and names_texts(shape, columns):
        return _joined(graph, shape, what, columns)
    known = graph._known
    named = read_delete(known, given if columns is None else columns, what)
    with uninterrupted():
        done = bring_in(known, NOTHING, named)
        try:
            return graph._outside(done.delta.deleted).astype(np.int64)
        finally:
            take_out(known, done)


def found_by_texts(graph: MemoryGraph, shape: Shape, what: str, given: Any) -> Any:
    """Numbers of edges in place of rows that a graph in memory does not find; others as given."""
    if given is None or edge_numbers(what, given) is not None:
        return given
    columns = KeptRows(graph._names, graph._kept).columns(what, given)
    if columns is None or not names_texts(shape, columns):
        return given
    return _joined(graph, shape, what, columns)


def names_texts(shape: Shape, columns: Mapping[str, Any]) -> bool:
    """Whether rows give a property that is no array of numbers, or one of rounded numbers:
    whole numbers of which some are missing are floats there.
    """
    numbers = {name for name, _ in shape.numbers if shape.seen.get(name) != "int"}
    return any(name in shape.seen and name not in numbers for name in columns)


def check_match(shape: Shape, match: tuple[str, ...]) -> None:
    """Refuse what is no property of edges."""
    for name in match:
        if name not in shape.edge_types:
            near = closest(str(name), shape.edge_types)
            known = ", ".join(shape.edge_types) or "none"
            raise InputError(
                f"match names '{name}', which is no property of edges",
                hint=f"did you mean `{near}`?" if near else f"they have: {known}",
            )


def _joined(graph: MemoryGraph, shape: Shape, what: str, columns: Mapping[str, Any]) -> Numbers:
    ends = [name for name in (shape.src, shape.dst) if name not in columns]
    if ends:
        raise InputError(f"{what} has no column '{ends[0]}'", hint="name both ends of each edge")
    rows = {name: id_column(columns[name], name) for name in (shape.src, shape.dst)}
    given: dict[str, Any] = {
        name: _typed(what, name, values, shape)
        for name, values in columns.items()
        if name not in rows
    }
    lengths = {name: len(values) for name, values in {**rows, **given}.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InputError(f"the columns of {what} differ in length: {each}")
    found = find_edges(graph, shape, {**rows, **given})
    told = {name: np.array(column.to_pylist(), object) for name, column in given.items()}
    edges = EdgeRows(what, rows[shape.src], rows[shape.dst], told)
    refuse(edges, found < 0, *NO_SUCH_EDGES)
    return found


def _typed(what: str, name: str, values: Any, shape: Shape) -> pa.Array:
    """The values of a property in the type that it has on disk; a whole number is a number."""
    wanted, kind, found = shape.edges.field(name).type, shape.edge_types[name], typed_column(values)
    if found is not None:
        given = "none" if found.null_count == len(found) else str(property_type(found))
        same = given in (kind, "none") or {given, kind} == {"int", "float"}
        with suppress(pa.ArrowException):
            if same:
                return found.cast(wanted)
    raise InputError(
        f"{what}: the property '{name}' holds values of type {kind}, and the rows give others",
        hint="give values of the same type",
    )
