"""Where the rows of a graph come from: one table, or one table per label.

A graph is given as `edges`, or `edges` and `vertices`. Either is a table (a path, paths, a glob,
a folder, a DataFrame, anything with `__arrow_c_stream__`, a list of rows), or a mapping from
labels to tables: `{"Person": ...}` for vertices, `{"knows": ...}` or
`{("Person", "knows", "Person"): ...}` for edges. The last form says of which labels the endpoints
are, so that ids need be unique within a label only: a label is then also an *id space*.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graphtide.model.errors import InputError

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
        """How messages call it."""
        return f"{self.kind} '{self.label}'" if self.label else f"the {self.kind}"


@dataclass(frozen=True)
class GraphSource:
    """The tables of a graph, as the user gives them."""

    edges: Any
    vertices: Any = None

    def tables(self) -> tuple[TableSource, ...]:
        """All tables: vertices first, each kind in the order given."""
        tables = [*_vertex_tables(self.vertices), *_edge_tables(self.edges)]
        if not any(table.kind == "edges" for table in tables):
            raise InputError("a graph needs edges", hint="give edges= a file or a table")
        return tuple(tables)

    def describe(self) -> str:
        """In words, for the manifest."""
        return "; ".join(f"{table.name} from {describe(table.data)}" for table in self.tables())


@dataclass(frozen=True)
class DerivedSource(GraphSource):
    """The tables of a graph that a statement makes of another one."""

    statement: str = ""

    def describe(self) -> str:
        """The statement, for the manifest."""
        return self.statement


def describe(data: Any) -> str:
    """A table in a few words: its path or its type."""
    if isinstance(data, str | os.PathLike):
        return os.fspath(data)
    if is_path_list(data):
        return f"{os.fspath(data[0])}" + (f" and {len(data) - 1} more" if len(data) > 1 else "")
    return f"a {type(data).__module__.split('.')[0]} {type(data).__name__}"


def is_path_list(data: Any) -> bool:
    """True of a list whose items are all paths."""
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
