"""Rows of a stream that an advance would refuse, each with its reason: the others can go in.

An advance takes all of its rows or none. Whoever sets rows aside must know them before: those whose
values are not of the type that the graph has, and those that a program or a query on the graph
cannot take, such as a negative cost, or a vertex without a property that is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.engine.edge_data import NO_MOMENT
from graphtide.plan.expressions import ValueType
from graphtide.run.durable.shape import ON_DISK, Shape
from graphtide.run.live.edge_rows import property_column
from graphtide.run.live.vertex_columns import moment_numbers
from graphtide.run.live.vertex_ids import id_column
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.views.typed_columns import typed_column

Mask = NDArray[np.bool_]

_EXACT = 2.0**53
"""From here on floats do not tell all whole numbers apart."""

_IS_OF = {
    "string": lambda t: pa.types.is_string(t) or pa.types.is_large_string(t) or _is_view(t),
    "int": lambda t: pa.types.is_integer(t) and t != pa.uint64(),
    "float": lambda t: _is_number(t),
    "bool": pa.types.is_boolean,
    "date": pa.types.is_date,
    "timestamp": pa.types.is_timestamp,
}
_WORDS = {
    "string": "a text",
    "int": "a whole number of 64 bits",
    "float": "a number",
    "bool": "a truth value",
    "date": "a date",
    "timestamp": "a timestamp",
}


_IDS = {"string": "texts", "int": "whole numbers"}


def in_type(
    column: pa.ChunkedArray, name: str, kind: str, *, of_ids: bool
) -> tuple[pa.ChunkedArray, Any]:
    """A column as the graph takes it, missing where a value is not of its type; and what is wrong
    with each of those values, None where nothing is wrong with any.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _IS_OF[kind](column.type) or pa.types.is_null(column.type):
        return column, None
    fits = np.zeros(len(column), np.bool_)
    if kind == "int" and _is_number(column.type):
        floats = column.cast(pa.float64(), safe=False).to_numpy()
        fits = (floats == np.floor(floats)) & (np.abs(floats) < _EXACT)
        if pa.types.is_integer(column.type):
            fits = np.asarray(pc.less(column, pa.scalar(2**63, pa.uint64())).fill_null(False))
    fitting = pc.if_else(pa.array(fits), column, pa.scalar(None, column.type))
    wrong = np.asarray(pc.is_valid(column)) & ~fits
    taken = pa.nulls(len(column), ON_DISK[kind]) if not fits.any() else fitting.cast(pa.int64())
    wanted = f"the ids of this graph are {_IDS[kind]}" if of_ids else f"is to be {_WORDS[kind]}"
    texts = np.full(len(column), "", object)
    for at in np.flatnonzero(wrong).tolist():
        texts[at] = f"'{name}' is {column[at].as_py()!r}, and {wanted}"
    return pa.chunked_array([taken]) if isinstance(taken, pa.Array) else taken, texts


def kind_of_ids(graph: MemoryGraph, shape: Shape, given: pa.ChunkedArray) -> str:
    """The type of the ids of a graph; of one that has none yet, that of those that come first."""
    if len(graph._known.ids):
        return shape.ids
    return "int" if _is_number(given.type) else "string"


def refused(graph: MemoryGraph, shape: Shape, rows: Mapping[str, Any]) -> NDArray[Any]:
    """Why programs and queries on a graph refuse rows that come, empty where they take them."""
    count = len(rows[shape.src])
    reasons = np.full(count, "", object)
    bare: Mask | None = None
    for follower in graph._followers.all():
        conditions = follower.conditions
        if not conditions.properties and conditions.refuses_bare() is None:
            continue
        columns = {}
        for name, type_ in conditions.properties.items():
            none = pa.nulls(count, ON_DISK[shape.edge_types[name]])
            columns[name] = _as_read(graph, name, type_, rows.get(name, none))
        for fault in conditions.faults(columns):
            reasons[fault.rows & (reasons == "")] = fault.what
        if (why := conditions.refuses_bare()) is not None:
            bare = _bring_vertices(graph, shape, rows) if bare is None else bare
            reasons[bare & (reasons == "")] = why
    return reasons


def _as_read(graph: MemoryGraph, name: str, type_: ValueType, values: Any) -> NDArray[Any]:
    """A property as conditions check it, in the words of `KnownEdges.columns`."""
    if type_ is ValueType.TEXT:
        return np.zeros(len(values), np.int64)  # Any text will do, and none.
    if type_.is_moment:
        column = typed_column(values)
        assert column is not None, "rows are in the types of the graph"
        numbers = moment_numbers(column).cast(pa.int64()).fill_null(NO_MOMENT)
        moments: NDArray[Any] = numbers.to_numpy(zero_copy_only=False)
        return moments
    read = property_column(values, name, "the stream")
    dtype = graph._resident.dtypes[name]
    return read if read.dtype == dtype else read.astype(dtype)


def _bring_vertices(graph: MemoryGraph, shape: Shape, rows: Mapping[str, Any]) -> Mask:
    """Which rows name a vertex that is not there yet."""
    ids = graph._known.ids
    ends = [ids.numbers(id_column(rows[name], name)) < 0 for name in (shape.src, shape.dst)]
    return ends[0] | ends[1]


def _is_number(type_: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_)
    )


def _is_view(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(type_))
