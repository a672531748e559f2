"""Vertices that an advance lists: their ids and properties, as the graph has them.

They enter with the advance, with or without edges. What is known of a vertex that is there already
does not change: programs take the properties of vertices for granted.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.model.schema import closest
from graphtide.run.live.entering import NOBODY, EnteringVertices
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.vertex_ids import id_column, named_rows
from graphtide.run.views.given_columns import given_vertices
from graphtide.run.views.typed_columns import property_type


def entering_vertices(known: KnownEdges, given: Any) -> EnteringVertices:
    """What `vertices=` of an advance says; InputError where it names vertices that are there."""
    if given is None:
        return NOBODY
    if isinstance(given, int):
        raise InputError(
            f"the vertices of an advance cannot be {given!r}",
            hint="list their ids, or give a table with a column 'id'",
        )
    listed = given_vertices(given)
    ids = id_column(listed.ids, "`vertices`")
    _check_ids(known, ids)
    return EnteringVertices(ids, _rows(known.vertex_columns.table, listed.columns, len(ids)))


def _check_ids(known: KnownEdges, ids: Any) -> None:
    there = known.ids.numbers(ids) >= 0
    if there.any():
        bad = there.nonzero()[0].tolist()
        raise InputError(
            "`vertices` lists vertices that are already there",
            where=named_rows(bad, lambda at: repr(ids[at])),
            hint="list those that enter with this advance: properties of a vertex never change. "
            "For other values make another graph",
        )
    listed = ids.tolist()
    if len(set(listed)) < len(listed):
        first: dict[Any, int] = {}
        bad = [at for at, item in enumerate(listed) if first.setdefault(item, at) != at]
        raise InputError(
            "`vertices` lists a vertex twice",
            where=named_rows(bad, lambda at: repr(ids[at])),
            hint="list each vertex once",
        )


def _rows(table: pa.Table, given: pa.Table, count: int) -> pa.Table:
    """Rows with the columns of the graph's table, in its types; missing where nothing is given.

    A column without values has any type, so that the first that come give it theirs.
    """
    for name in given.column_names:
        if name not in table.column_names:
            near = closest(name, table.column_names)
            known = ", ".join(table.column_names) or "none"
            raise InputError(
                f"the vertices of the graph have no property '{name}'",
                hint=f"did you mean `{near}`?" if near else f"they have: {known}",
            )
    return pa.table({name: _column(given, table, name, count) for name in table.column_names})


def _column(given: pa.Table, table: pa.Table, name: str, count: int) -> pa.ChunkedArray:
    known = table.column(name)
    if name not in given.column_names or given.column(name).null_count == count:
        return pa.chunked_array([pa.nulls(count, known.type)])
    column = given.column(name)
    if column.type == known.type or known.null_count == len(known):
        return column
    if not _widens(column.type, known.type):
        raise InputError(
            f"the property '{name}' of vertices holds values of type {property_type(known)}, "
            f"and `vertices` gives {property_type(column)}",
            hint="give values of the same type",
        )
    return column.cast(known.type, safe=False)


def _widens(given: pa.DataType, wanted: pa.DataType) -> bool:
    return bool(pa.types.is_integer(given) and pa.types.is_floating(wanted))
