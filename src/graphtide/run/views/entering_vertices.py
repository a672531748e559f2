"""Vertices that an advance lists: their ids and properties, as the graph has them.

They enter with the advance, with or without edges. On a live graph, a vertex that is there already
gets the values that are given; on others its properties never change.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint
from graphtide.run.live.entering import ChangedVertices, EnteringVertices
from graphtide.run.live.id_looks import plain_id
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.vertex_ids import id_column, named_rows
from graphtide.run.views.given_columns import given_vertices
from graphtide.run.views.typed_columns import property_type


def entering_vertices(
    known: KnownEdges, given: Any, *, may_change: bool = False
) -> EnteringVertices:
    """What `vertices=` of an advance says.

    InputError where it names vertices that are there, unless these may get other values.
    """
    if isinstance(given, int):
        raise InputError(
            f"the vertices of an advance cannot be {given!r}",
            hint="list their ids, or give a table with a column 'id'",
        )
    listed = given_vertices(given)
    ids = id_column(listed.ids, "`vertices`")
    numbers = known.ids.numbers(ids)
    _check_ids(numbers, ids, may_change)
    table, new = known.vertex_columns.table, numbers < 0
    if new.all():
        return EnteringVertices(ids, _rows(table, listed.columns, len(ids)))
    if not listed.columns.num_columns:
        raise InputError(
            "`vertices` lists vertices that are already there, and gives them no values",
            where=named_rows((~new).nonzero()[0].tolist(), lambda at: repr(plain_id(ids[at]))),
            hint="leave them out, or give a table with the properties that change",
        )
    # Both together, so that a column without values so far gets one type.
    rows = _rows(table, listed.columns, len(ids))
    values = rows.select(listed.columns.column_names).filter(pa.array(~new))
    changed = ChangedVertices(numbers[~new].astype(np.int64), values)
    return EnteringVertices(ids[new], rows.filter(pa.array(new)), changed)


def _check_ids(numbers: NDArray[np.int32], ids: Any, may_change: bool) -> None:
    there = numbers >= 0
    if there.any() and not may_change:
        bad = there.nonzero()[0].tolist()
        raise InputError(
            "`vertices` lists vertices that are already there",
            where=named_rows(bad, lambda at: repr(plain_id(ids[at]))),
            hint="list those that enter with this advance: properties of a vertex never change. "
            "For other values make another graph, or a live one: gt.live(folder, graph)",
        )
    listed = ids.tolist()
    if len(set(listed)) < len(listed):
        first: dict[Any, int] = {}
        bad = [at for at, item in enumerate(listed) if first.setdefault(item, at) != at]
        raise InputError(
            "`vertices` lists a vertex twice",
            where=named_rows(bad, lambda at: repr(plain_id(ids[at]))),
            hint="list each vertex once",
        )


def _rows(table: pa.Table, given: pa.Table, count: int) -> pa.Table:
    """Rows with the columns of the graph's table, in its types; missing where nothing is given.

    A column without values has any type, so that the first that come give it theirs.
    """
    for name in given.column_names:
        if name not in table.column_names:
            known = ", ".join(table.column_names) or "none"
            raise InputError(
                f"the vertices of the graph have no property '{name}'",
                hint=name_hint(name, table.column_names, f"they have: {known}"),
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
