"""Edges that rows name by a text or a moment, by number.

Rows that give numbers alone are matched by the kernel that brings batches in. Where they give a
value that is in no array of numbers, or one that programs have rounded (whole numbers of which some
are missing are floats there), they are joined with the edges between the same ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType
from graphtide.run.live.batches import NO_SUCH_EDGES, edge_numbers, refuse
from graphtide.run.live.edge_rows import EdgeRows
from graphtide.run.live.find_edges import Numbers, find_edges
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.vertex_ids import id_column
from graphtide.run.views.inserted_columns import KeptRows
from graphtide.run.views.typed_columns import ARROW_TYPES, property_type, typed_column

_OF_KIND = {"i": PropertyType.INT, "f": PropertyType.FLOAT, "b": PropertyType.BOOL}


def found_by_texts(known: KnownEdges, what: str, given: Any) -> Any:
    """Numbers of edges in place of rows that only a join finds; others as columns, or as given."""
    if given is None or edge_numbers(what, given) is not None:
        return given
    columns = KeptRows(known.names, known.edge_columns.table).columns(what, given)
    if columns is None:
        return given
    return numbers_by_texts(known, what, columns) if names_texts(known, columns) else columns


def names_texts(known: KnownEdges, columns: Mapping[str, Any]) -> bool:
    """Whether rows give a property that is no array of numbers, or one of rounded numbers."""
    table, numbers = known.edge_columns.table, known.resident.dtypes
    return any(
        name in table.column_names
        and (name not in numbers or property_type(table.column(name)) is PropertyType.INT)
        for name in columns
    )


def numbers_by_texts(known: KnownEdges, what: str, columns: Mapping[str, Any]) -> Numbers:
    """The numbers of the edges that such rows name, each another one."""
    names = known.names.src, known.names.dst
    missing = [name for name in names if name not in columns]
    if missing:
        raise InputError(f"{what} has no column '{missing[0]}'", hint="name both ends of each edge")
    rows = {name: id_column(columns[name], name) for name in names}
    given: dict[str, Any] = {
        name: _typed(known, what, name, values)
        for name, values in columns.items()
        if name not in rows
    }
    lengths = {name: len(values) for name, values in {**rows, **given}.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InputError(f"the columns of {what} differ in length: {each}")
    numbers = find_edges(known, {**rows, **given})
    values = {name: np.array(column.to_pylist(), object) for name, column in given.items()}
    named = EdgeRows(what, rows[names[0]], rows[names[1]], values)
    refuse(named, numbers < 0, *NO_SUCH_EDGES)
    return numbers


def _typed(known: KnownEdges, what: str, name: str, values: Any) -> pa.Array:
    """The values of a property in the type that it has in the graph; a whole number is a number."""
    table, column = known.edge_columns.table, typed_column(values)
    kind = (
        property_type(table.column(name))
        if name in table.column_names
        else _OF_KIND[known.resident.dtypes[name].kind]
    )
    if column is not None:
        given = property_type(column)
        numbers = {PropertyType.INT, PropertyType.FLOAT}
        same = given is kind or column.null_count == len(column) or {given, kind} == numbers
        with suppress(pa.ArrowException):
            if same:
                return column.cast(ARROW_TYPES[kind])
    raise InputError(
        f"{what}: the property '{name}' holds values of type {kind}, and the rows give others",
        hint="give values of the same type",
    )
