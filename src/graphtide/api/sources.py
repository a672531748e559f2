"""The rows that a graph in memory is made of: from frames, NetworkX graphs and stored graphs."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from graphtide.model.errors import InputError
from graphtide.model.schema import closest
from graphtide.run.live.edge_rows import EdgeRows, edge_columns, frame_columns, holds_numbers
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_rows, vertex_rows


def check_two_columns(src: Any, dst: Any) -> None:
    """Refuse a table, a graph or a list of edges in place of two columns: say what takes it."""
    if dst is not None:
        return
    if hasattr(src, "columns") or hasattr(src, "column_names"):
        hint = "give the table to gt.Graph.from_frame(table, src='...', dst='...')"
    elif hasattr(src, "nodes") and hasattr(src, "edges"):
        hint = "give the NetworkX graph to gt.Graph.from_networkx(graph)"
    elif isinstance(src, str | PathLike):
        hint = "gt.session().load(name, edges=...) reads files; a graph in memory takes columns"
    elif isinstance(src, Sequence) and src and isinstance(src[0], Sequence):
        hint = "for a list of pairs: gt.Graph([src for src, dst in pairs], [dst for ...])"
    else:
        hint = "give both ends of the edges: gt.Graph(src, dst)"
    raise InputError("a graph is made of two columns, src and dst", hint=hint)


def frame_rows(frame: Any, src: str, dst: str) -> EdgeRows:
    """The rows of a frame; columns that hold neither numbers nor truth values are left out."""
    if not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(
            f"{type(frame).__name__} is no frame",
            hint="give a pandas, Polars or Arrow table, or use gt.Graph(src, dst)",
        )
    columns = frame_columns("the frame", frame)
    for name in (src, dst):
        if name not in columns:
            near = closest(name, columns)
            known = ", ".join(columns) or "none"
            hint = f"did you mean `{near}`?" if near else f"it has: {known}"
            raise InputError(f"the frame has no column '{name}'", hint=hint)
    ends = columns.pop(src), columns.pop(dst)
    numbers = {name: column for name, column in columns.items() if holds_numbers(column)}
    return edge_columns("the frame", *ends, numbers)


def networkx_rows(graph: Any) -> tuple[list[Any], EdgeRows]:
    """The nodes, and the edges with every attribute that is a number or a truth value.

    An attribute that some edges lack is missing (NaN) there.
    """
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise InputError(f"{type(graph).__name__} is no NetworkX graph")
    edges = list(graph.edges(data=True))
    if not graph.is_directed():
        edges += [(dst, src, data) for src, dst, data in edges if src != dst]
    names = dict.fromkeys(name for _, _, data in edges for name in data)
    columns = {name: [data.get(name) for _, _, data in edges] for name in names}
    numbers = {str(name): values for name, values in columns.items() if holds_numbers(values)}
    src, dst = ([edge[at] for edge in edges] for at in (0, 1))
    return list(graph.nodes), edge_columns("the NetworkX graph", src, dst, numbers)


def stored_rows(stored: StoredGraph) -> tuple[list[Any], EdgeRows]:
    """Ids and edges of a stored graph, read by Arrow, in the order of their numbers.

    Where vertices have several labels, an id is the pair of its label and its id.
    """
    several = len(stored.schema.vertex_labels) > 1
    vertices, columns = vertex_rows(stored), frame_columns("the graph", edge_rows(stored, None))
    ids = vertices.column("id").to_pylist()
    ends: list[Any] = [columns.pop(side) for side in ("src", "dst")]
    if several:
        ids = list(zip(vertices.column("label").to_pylist(), ids, strict=True))
        labels = [columns.pop(f"{side}_label") for side in ("src", "dst")]
        ends = [
            list(zip(label.to_pylist(), end.to_pylist(), strict=True))
            for label, end in zip(labels, ends, strict=True)
        ]
    numbers = {name: column for name, column in columns.items() if holds_numbers(column)}
    return ids, edge_columns("the graph", ends[0], ends[1], numbers)
