"""NetworkX graphs and lists of rows as Arrow tables.

NetworkX is never imported here: a graph is known by its module. Nodes of one type keep it;
others become their text. An undirected edge is loaded once, as NetworkX lists it.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.model.mixed_values import mixed_values
from graphtide.spark.ingest.source import GraphSource, Kind, TableSource

_ID_TYPES = (int, str, float, dt.date, dt.datetime)


def is_networkx(data: Any) -> bool:
    """True of a NetworkX graph; false without looking if NetworkX was never imported."""
    module = sys.modules.get("networkx")
    return module is not None and isinstance(data, module.Graph)


def networkx_source(graph: Any, drop: Collection[str]) -> GraphSource:
    """The nodes and edges of a NetworkX graph, with their attributes, as two Arrow tables."""
    nodes = [{"id": node, **data} for node, data in graph.nodes(data=True)]
    if graph.is_multigraph():
        edges = [
            {"src": src, "dst": dst, **({"key": key} | data)}
            for src, dst, key, data in graph.edges(keys=True, data=True)
        ]
    else:
        edges = [{"src": src, "dst": dst, **data} for src, dst, data in graph.edges(data=True)]
    if _same_type(row["id"] for row in nodes) not in _ID_TYPES:
        nodes = [row | {"id": str(row["id"])} for row in nodes]
        edges = [row | {"src": str(row["src"]), "dst": str(row["dst"])} for row in edges]
    return GraphSource(
        edges=_table_of_mappings(TableSource("edges", edges), drop),
        vertices=_table_of_mappings(TableSource("vertices", nodes), drop),
    )


def is_row_list(data: Any) -> bool:
    """True of a list whose items are rows: mappings, tuples or lists."""
    return isinstance(data, Sequence) and all(
        isinstance(row, Mapping | tuple | list) for row in data
    )


def table_of_rows(table: TableSource, drop: Collection[str]) -> pa.Table:
    """A list of mappings, or of tuples whose first items are the id or the endpoints."""
    rows = table.data
    if all(isinstance(row, Mapping) for row in rows):
        return _table_of_mappings(table, drop)
    if any(isinstance(row, Mapping) for row in rows):
        raise InputError(f"{table.name}: rows are partly mappings and partly tuples")
    keys = _keys(table.kind)
    width = max(len(keys), *map(len, rows))
    names = [*keys, *(f"p{place}" for place in range(len(keys), width))]
    columns = [[row[i] if i < len(row) else None for row in rows] for i in range(width)]
    return _table(table.name, dict(zip(names, columns, strict=True)), drop)


def _table_of_mappings(table: TableSource, drop: Collection[str]) -> pa.Table:
    """A column for each key that any of the mappings has; without rows, those of the kind."""
    rows: Sequence[Mapping[Any, Any]] = table.data
    keys = dict.fromkeys(key for row in rows for key in row) or dict.fromkeys(_keys(table.kind))
    columns = {str(key): [row.get(key) for row in rows] for key in keys}
    return _table(table.name, columns, drop)


def _table(what: str, columns: Mapping[str, list[Any]], drop: Collection[str]) -> pa.Table:
    return pa.table(
        {
            name: pa.nulls(len(values)) if name in drop else _array(what, name, values)
            for name, values in columns.items()
        }
    )


def _array(what: str, name: str, values: list[Any]) -> pa.Array:
    if _same_type(values) is float:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError) as error:
        raise InputError(
            f"{what}: the values of '{name}' are of different types: {error}",
            where=mixed_values(values),
            hint="give all values one type (whole numbers as int, as str(2.0) is not str(2)), "
            f"or leave the column out with drop=['{name}']",
        ) from None


def _same_type(values: Iterable[Any]) -> type | None:
    """The one type of all values that are there; float if they are ints and floats."""
    types = {type(value) for value in values if value is not None}
    if types == {int, float}:
        return float
    return types.pop() if len(types) == 1 else None


def _keys(kind: Kind) -> tuple[str, ...]:
    return ("id",) if kind == "vertices" else ("src", "dst")
