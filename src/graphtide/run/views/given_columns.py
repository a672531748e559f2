"""Columns that a graph in memory is given, apart by where they stand.

Numbers and truth values of edges are columns of the graph, by which rows are matched with edges.
Texts, dates and timestamps, and properties of vertices, stand in Arrow tables beside the graph, a
row an edge or a vertex by its number. Views read these, and programs codes and numbers of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.model.schema import closest
from graphtide.model.wording import shortened
from graphtide.run.live.edge_rows import frame_columns
from graphtide.run.views.snapshot import NO_COLUMNS
from graphtide.run.views.typed_columns import for_programs, typed_column, views_only


class GivenProperties(NamedTuple):
    """Properties of edges: columns for programs as they were given, and columns for views."""

    numbers: dict[str, Any]
    kept: dict[str, pa.Array]


class GivenVertices(NamedTuple):
    """All ids, or how many there are, or None; and what views read of vertices."""

    ids: Any
    columns: pa.Table = NO_COLUMNS


def given_properties(properties: Mapping[str, Any]) -> GivenProperties:
    """Properties of edges, apart for programs and for views."""
    numbers: dict[str, Any] = {}
    columns: dict[str, pa.Array] = {}
    for name, given in properties.items():
        values = _column(name, given)
        column = views_only(values)
        rounded = values if column is None else for_programs(column)
        if rounded is not None:
            numbers[name] = rounded
        if column is not None:
            columns[name] = column
    return GivenProperties(numbers, columns)


def _column(name: str, given: Any) -> Any:
    """The values of a property, one an edge; refuses what has none, or has them in no order."""
    if isinstance(given, Set | Mapping | str | bytes) or not isinstance(given, Iterable):
        raise InputError(
            f"the property '{name}' of the graph is no column of values",
            where=shortened(f"{name}={given!r}"),
            hint=f"give a value an edge, in the order of the edges: {name}=[...]; settings of a "
            "graph are simple, vertices, queries, budget, landmarks and undo",
        )
    return list(given) if _is_passing(given) else given


def kept_table(what: str, kept: Mapping[str, pa.Array], edges: int) -> pa.Table:
    """The columns for views of so many edges."""
    for name, column in kept.items():
        if len(column) != edges:
            lengths = f"{name} {len(column):,}, and there are {edges:,} edges"
            raise InputError(f"the columns of {what} differ in length: {lengths}")
    return pa.table(dict(kept))


def given_vertices(vertices: Any) -> GivenVertices:
    """What `vertices=` of a graph says: how many, all ids, or a frame with a column `id`."""
    if isinstance(vertices, Mapping):
        columns: Mapping[str, Any] = vertices
    elif (frame := _as_frame(vertices)) is not None:
        columns = frame
    else:
        return GivenVertices(vertices)
    if "id" not in columns:
        near = closest("id", columns)
        known = ", ".join(map(str, columns)) or "none"
        hint = f"rename `{near}`, or another column" if near else "rename the column of the ids"
        raise InputError("`vertices` has no column 'id'", hint=f"{hint}; it has: {known}")
    ids = columns["id"]
    ids = list(ids) if _is_passing(ids) else ids
    return GivenVertices(ids, vertex_columns(columns, len(ids)))


def vertex_columns(columns: Mapping[str, Any], vertices: int) -> pa.Table:
    """The properties of so many vertices for views: all columns but `id`."""
    arrays: dict[str, pa.Array] = {}
    for name, values in columns.items():
        if name == "id":
            continue
        column = typed_column(values)
        if column is None:
            raise InputError(
                f"the property '{name}' of `vertices` holds what no property can hold",
                hint="give numbers, truth values, texts, dates or timestamps, or leave it out",
            )
        if len(column) != vertices:
            raise InputError(
                f"`vertices` has {vertices:,} ids, and {len(column):,} values of '{name}'"
            )
        arrays[str(name)] = column
    return pa.table(arrays)


def _as_frame(vertices: Any) -> dict[str, Any] | None:
    """The columns of a table; None for whatever else, a column of ids included."""
    if isinstance(vertices, pa.Array | pa.ChunkedArray):
        return None
    if not isinstance(vertices, pa.Table) and not hasattr(vertices, "columns"):
        return None
    if not hasattr(vertices, "__arrow_c_stream__"):
        return None
    return frame_columns("`vertices`", vertices)


def _is_passing(values: Any) -> bool:
    """Whether values can be looked at once only."""
    return isinstance(values, Iterable) and not hasattr(values, "__len__")
