"""Where the rows of a graph come from: one table, or one table per label.

A graph is given as `edges`, or `edges` and `vertices`. Either is a table (a path, paths, a glob,
a folder, a DataFrame, anything with `__arrow_c_stream__`, a list of rows), or a mapping from
labels to tables: `{"Person": ...}` for vertices, `{"knows": ...}` or `{("Person", "knows",
"Person"): ...}` for edges. The last form says of which labels the endpoints are, so that ids need
be unique within a label only: a label is then also an *id space*.

Lists of rows and NetworkX graphs become Arrow tables. NetworkX is never imported here: a graph is
known by its module. Nodes of one type keep it; others become their text. An undirected edge is
loaded once, as NetworkX lists it.
"""

from __future__ import annotations

import datetime as dt
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.model.mixed_values import mixed_values

Kind = Literal["vertices", "edges"]


@dataclass(frozen=True)
class TableSource:
    """One table of a graph, with what its place in a mapping says about it."""

    kind: Kind
    data: Any
    label: str | None = None
    src_space: str | None = None
    dst_space: str | None = None

    @property
    def name(self) -> str:
        """The name of the table in messages."""
        return f"{self.kind} '{self.label}'" if self.label else f"the {self.kind}"


@dataclass(frozen=True)
class GraphSource:
    """The tables of a graph, as the user gives them."""

    edges: Any
    vertices: Any = None

    def tables(self) -> tuple[TableSource, ...]:
        """All tables: vertices first, each kind in the given order."""
        tables = [*_vertex_tables(self.vertices), *_edge_tables(self.edges)]
        if not any(table.kind == "edges" for table in tables):
            raise InputError("a graph needs edges", hint="give edges= a file or a table")
        return tuple(tables)

    def describe(self) -> str:
        """The source in words, for the manifest."""
        return "; ".join(f"{table.name} from {describe(table.data)}" for table in self.tables())


@dataclass(frozen=True)
class DerivedSource(GraphSource):
    """The tables of a graph that a statement makes of another one."""

    statement: str = ""

    def describe(self) -> str:
        return self.statement


def describe(data: Any) -> str:
    """A table in a few words: its path or its type."""
    if isinstance(data, str | os.PathLike):
        return os.fspath(data)
    if is_path_list(data):
        return f"{os.fspath(data[0])}" + (f" and {len(data) - 1} more" if len(data) > 1 else "")
    return f"a {type(data).__module__.split('.')[0]} {type(data).__name__}"


def is_path_list(data: Any) -> bool:
    """True for a list of paths."""
    return (
        isinstance(data, Sequence)
        and not isinstance(data, str)
        and len(data) > 0
        and all(isinstance(item, str | os.PathLike) for item in data)
    )


def _vertex_tables(data: Any) -> list[TableSource]:
    if data is None:
        return []
    if not isinstance(data, Mapping):
        return [TableSource("vertices", data)]
    return [TableSource("vertices", table, _label(key)) for key, table in data.items()]


def _edge_tables(data: Any) -> list[TableSource]:
    if data is None:
        return []
    if not isinstance(data, Mapping):
        return [TableSource("edges", data)]
    return [_labelled_edges(key, table) for key, table in data.items()]


def _labelled_edges(key: Any, table: Any) -> TableSource:
    if isinstance(key, tuple) and len(key) == 3:
        src, label, dst = map(_label, key)
        return TableSource("edges", table, label, src, dst)
    return TableSource("edges", table, _label(key))


def _label(key: Any) -> str:
    if isinstance(key, str) and key:
        return key
    raise InputError(
        f"{key!r} is not a label",
        hint="vertices={'Person': ...}, edges={('Person', 'knows', 'Person'): ...}",
    )


_ID_TYPES = (int, str, float, dt.date, dt.datetime)


def is_networkx(data: Any) -> bool:
    """True for a NetworkX graph; False at once if NetworkX was never imported."""
    module = sys.modules.get("networkx")
    return module is not None and isinstance(data, module.Graph)


def networkx_source(graph: Any, drop: Collection[str]) -> GraphSource:
    """Nodes and edges of a NetworkX graph with their attributes, as two Arrow tables."""
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
    """True for a list of mappings, tuples or lists."""
    return isinstance(data, Sequence) and all(
        isinstance(row, Mapping | tuple | list) for row in data
    )


def table_of_rows(table: TableSource, drop: Collection[str]) -> pa.Table:
    """A table from mappings, or from tuples that begin with the id or the ends."""
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
    """A table with a column for each key; without rows, it has the key columns."""
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
    except OverflowError:
        raise InputError(
            f"{what}: '{name}' has whole numbers of more than 64 bits",
            where=mixed_values(values),
            hint="give them as texts",
        ) from None
    except pa.ArrowException as error:
        raise InputError(
            f"{what}: the values of '{name}' are of different types: {error}",
            where=mixed_values(values),
            hint="give all values one type (whole numbers as int, as str(2.0) is not str(2)), "
            f"or leave the column out with drop=['{name}']",
        ) from None


def _same_type(values: Iterable[Any]) -> type | None:
    """The one type of all present values; float if they are ints and floats."""
    types = {type(value) for value in values if value is not None}
    if types == {int, float}:
        return float
    return types.pop() if len(types) == 1 else None


def _keys(kind: Kind) -> tuple[str, ...]:
    return ("id",) if kind == "vertices" else ("src", "dst")
