"""What a graph in memory is made of: from columns, frames, NetworkX graphs and stored graphs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.model.mixed_values import text_notes
from graphtide.model.schema import name_hint
from graphtide.run.live.edge_rows import EdgeRows, edge_columns, frame_columns, holds_numbers
from graphtide.run.views.given_columns import (
    GivenVertices,
    given_properties,
    given_vertices,
    kept_table,
    vertex_columns,
)
from graphtide.run.views.snapshot import free_name
from graphtide.run.views.typed_columns import typed_column
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_rows, vertex_rows


def is_networkx(data: Any) -> bool:
    """Whether it is a graph of NetworkX, which is not imported to tell."""
    return hasattr(data, "nodes") and hasattr(data, "edges") and hasattr(data, "is_multigraph")


def check_two_columns(src: Any, dst: Any) -> None:
    """Refuse a table, a graph or a list of edges in place of two columns: say what takes it."""
    if dst is not None:
        return
    if hasattr(src, "columns") or hasattr(src, "column_names"):
        hint = "give the table to gt.Graph.from_frame(table, src='...', dst='...')"
    elif hasattr(src, "nodes") and hasattr(src, "edges"):
        hint = "give the NetworkX graph to gt.Graph.from_networkx(graph)"
    elif isinstance(src, str | PathLike):
        hint = "gt.read_csv(path) reads a file; gt.session().load(name, edges=...) stores the graph"
    elif isinstance(src, Sequence) and src and isinstance(src[0], Sequence):
        hint = "for a list of pairs: gt.Graph([src for src, dst in pairs], [dst for ...])"
    else:
        hint = "give both ends of the edges: gt.Graph(src, dst)"
    raise InputError("a graph is made of two columns, src and dst", hint=hint)


@dataclass(frozen=True)
class Source:
    """Edges as programs read them, what views read of them besides, and the vertices."""

    rows: EdgeRows
    kept: pa.Table
    vertices: GivenVertices
    names: tuple[str, str] = ("src", "dst")
    timezone: str = "UTC"
    directed: bool = True


def column_source(
    src: Any, dst: Any, vertices: Any, properties: Mapping[str, Any], *, directed: bool
) -> Source:
    """Columns that are given one by one."""
    check_directed(directed)
    given = given_properties(properties)
    rows = edge_columns("the graph", src, dst, given.numbers)
    kept = kept_table("the graph", given.kept, len(rows))
    return Source(rows, kept, given_vertices(vertices), directed=directed)


def given_ends(
    src: str | None, dst: str | None, source: str | None, target: str | None
) -> tuple[str, str]:
    """The columns of the ends, which a user may call by either of two words."""
    for word, name, one, other in (
        ("source", "src", source, src),
        ("target", "dst", target, dst),
    ):
        if one is not None and other is not None:
            raise InputError(
                f"{word}={one!r} and {name}={other!r} say the same thing", hint="give one of them"
            )
    return src or source or "src", dst or target or "dst"


def check_directed(given: object) -> None:
    """Refuse what is no truth value: a text would be true whatever it says."""
    if not isinstance(given, bool):
        raise InputError(f"directed cannot be {given!r}", hint="give directed=True or False")


def frame_source(frame: Any, src: str, dst: str, vertices: Any, *, directed: bool) -> Source:
    """The rows of a frame; columns that no property can hold are left out."""
    check_directed(directed)
    if not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(
            f"{type(frame).__name__} is no frame",
            hint="give a pandas, Polars or Arrow table, or use gt.Graph(src, dst)",
        )
    columns = frame_columns("the frame", frame)
    for note in text_notes(columns):
        warnings.warn(note, UserWarning, stacklevel=3)
    for name in (src, dst):
        if name not in columns:
            known = ", ".join(columns) or "none"
            end = "src" if name == src else "dst"
            hint = name_hint(name, columns, f"say which it is: {end}='...'")
            raise InputError(f"the frame has no column '{name}'", hint=f"{hint}; it has: {known}")
    ends = columns.pop(src), columns.pop(dst)
    given = given_vertices(vertices)
    return _source("the frame", ends, columns, given, (src, dst), directed=directed)


def _source(
    what: str,
    ends: tuple[Any, Any],
    columns: Mapping[str, Any],
    vertices: GivenVertices,
    names: tuple[str, str] = ("src", "dst"),
    *,
    directed: bool,
) -> Source:
    """Edges with those of the columns that a property can hold."""
    given = given_properties(columns)
    numbers = {name: column for name, column in given.numbers.items() if holds_numbers(column)}
    rows = edge_columns(what, *ends, numbers)
    kept = kept_table(what, given.kept, len(rows))
    return Source(rows, kept, vertices, names, directed=directed)


def networkx_source(graph: Any) -> Source:
    """The nodes and the edges, with every attribute that a property can hold; an undirected edge
    is one edge, and the graph undirected.

    An attribute that some edges lack is missing there. One that is called as an end or as the id
    gets an underscore behind its name, as in the catalog.
    """
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise InputError(f"{type(graph).__name__} is no NetworkX graph")
    edges = list(graph.edges(data=True))
    names = dict.fromkeys(name for _, _, data in edges for name in data)
    columns = {name: [data.get(name) for _, _, data in edges] for name in names}
    ends = [edge[0] for edge in edges], [edge[1] for edge in edges]
    described = _with_free_names(columns, ("src", "dst"))
    vertices, directed = _networkx_vertices(graph), bool(graph.is_directed())
    return _source("the NetworkX graph", ends, described, vertices, directed=directed)


def _with_free_names(columns: Mapping[Any, Any], taken: tuple[str, ...]) -> dict[str, Any]:
    named = {str(name): values for name, values in columns.items()}
    return {
        free_name(name, {*taken, *named}) if name in taken else name: values
        for name, values in named.items()
    }


def _networkx_vertices(graph: Any) -> GivenVertices:
    nodes = list(graph.nodes(data=True))
    names = dict.fromkeys(name for _, data in nodes for name in data)
    given = {name: [data.get(name) for _, data in nodes] for name in names}
    columns = _with_free_names(given, ("id",))
    usable = {name: values for name, values in columns.items() if typed_column(values) is not None}
    return GivenVertices([node for node, _ in nodes], vertex_columns(usable, len(nodes)))


def stored_source(stored: StoredGraph) -> Source:
    """A stored graph, read by Arrow, in the order of its numbers.

    Where vertices have several labels, an id is the pair of its label and its id; views know
    both apart.
    """
    several = len(stored.schema.vertex_labels) > 1
    vertices, columns = vertex_rows(stored), frame_columns("the graph", edge_rows(stored, None))
    ids = vertices.column("id").to_pylist()
    names = stored.schema.ends
    ends: list[Any] = [columns.pop(name) for name in names]
    if several:
        ids = list(zip(vertices.column("label").to_pylist(), ids, strict=True))
        labels = [columns.pop(f"{name}_label") for name in names]
        ends = [
            list(zip(label.to_pylist(), end.to_pylist(), strict=True))
            for label, end in zip(labels, ends, strict=True)
        ]
    read = {name: typed_column(column) for name, column in frame_columns("", vertices).items()}
    if not several:
        del read["id"]
    given = GivenVertices(ids, pa.table(read))
    made = _source("the graph", (ends[0], ends[1]), columns, given, names, directed=stored.directed)
    return replace(made, timezone=stored.timezone)
