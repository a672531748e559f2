"""What a graph in memory is made of: from columns, frames, NetworkX graphs and stored graphs.

Columns that a user gives are taken apart by where they stand. Numbers and truth values of edges are
columns of the graph, by which rows are matched with edges. Texts, dates and timestamps, and
properties of vertices, stand in Arrow tables beside the graph, one row per edge or vertex by its
number. Views read these, and programs codes and numbers of them.

Vertices that an advance lists enter with it, with or without edges. On a live graph, a vertex that
is there already gets the values that are given; on others its properties never change.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.column_types import property_type
from graphtide.model.columns import ColumnBatch, frame_columns, named_rows
from graphtide.model.errors import InputError, warn_user
from graphtide.model.mixed_values import text_notes
from graphtide.model.schema import closest, name_hint
from graphtide.model.text import shortened
from graphtide.run.live.batches import ChangedVertices, EnteringVertices
from graphtide.run.live.edge_rows import ColumnNames, holds_numbers, typed_edges
from graphtide.run.live.ids import plain_id
from graphtide.run.live.named_graph import NamedGraph
from graphtide.run.live.vertex_ids import id_column
from graphtide.run.views.snapshot import NO_COLUMNS, free_name
from graphtide.run.views.typed_columns import for_programs, typed_column, views_only
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_rows, vertex_rows


class EdgePropertyColumns(NamedTuple):
    """Properties of edges: columns for programs as they were given, and columns for views."""

    numbers: dict[str, Any]
    kept: dict[str, pa.Array]


class VertexInput(NamedTuple):
    """All ids, or how many there are, or None; and what views read of vertices."""

    ids: Any
    columns: pa.Table = NO_COLUMNS


def given_properties(properties: Mapping[str, Any]) -> EdgePropertyColumns:
    """Properties of edges, split into those for programs and those for views."""
    numbers: dict[str, Any] = {}
    columns: dict[str, pa.Array] = {}
    for name, given in properties.items():
        values = _given_column(name, given)
        column = views_only(values)
        rounded = values if column is None else for_programs(column)
        if rounded is not None:
            numbers[name] = rounded
        if column is not None:
            columns[name] = column
    return EdgePropertyColumns(numbers, columns)


def _given_column(name: str, given: Any) -> Any:
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


def given_vertices(vertices: Any) -> VertexInput:
    """What `vertices=` of a graph says: how many, all ids, or a frame with a column `id`."""
    if isinstance(vertices, Mapping):
        columns: Mapping[str, Any] = vertices
    elif (frame := _as_frame(vertices)) is not None:
        columns = frame
    else:
        return VertexInput(vertices)
    if "id" not in columns:
        near = closest("id", columns)
        known = ", ".join(map(str, columns)) or "none"
        hint = f"rename `{near}`, or another column" if near else "rename the column of the ids"
        raise InputError("`vertices` has no column 'id'", hint=f"{hint}; it has: {known}")
    ids = columns["id"]
    ids = list(ids) if _is_passing(ids) else ids
    return VertexInput(ids, vertex_columns(columns, len(ids)))


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
class MemoryGraphSource:
    """Edges as programs read them, what views read of them besides, and the vertices."""

    rows: ColumnBatch
    """Both ends first."""
    kept: pa.Table
    vertices: VertexInput
    names: tuple[str, str] = ("src", "dst")
    timezone: str = "UTC"
    directed: bool = True


def column_source(
    src: Any, dst: Any, vertices: Any, properties: Mapping[str, Any], *, directed: bool
) -> MemoryGraphSource:
    check_directed(directed)
    given = given_properties(properties)
    rows = _typed("the graph", (src, dst), given.numbers, ("src", "dst"))
    kept = kept_table("the graph", given.kept, len(rows))
    return MemoryGraphSource(rows, kept, given_vertices(vertices), directed=directed)


def _typed(
    what: str, ends: tuple[Any, Any], properties: Mapping[str, Any], names: tuple[str, str]
) -> ColumnBatch:
    rows = ColumnBatch(what, dict(zip(names, ends, strict=True)) | dict(properties))
    return typed_edges(rows, ColumnNames(*names, tuple(properties)))


def given_ends(
    src: str | None, dst: str | None, source: str | None, target: str | None
) -> tuple[str | None, str | None]:
    """The columns of the ends, by either of two words for them; None is to be found."""
    for word, name, one, other in (
        ("source", "src", source, src),
        ("target", "dst", target, dst),
    ):
        if one is not None and other is not None:
            raise InputError(
                f"{word}={one!r} and {name}={other!r} say the same thing", hint="give one of them"
            )
    return src or source, dst or target


def check_directed(given: object) -> None:
    """Refuse what is no truth value: a text would be true whatever it says."""
    if not isinstance(given, bool):
        raise InputError(f"directed cannot be {given!r}", hint="give directed=True or False")


def frame_source(
    frame: Any, src: str | None, dst: str | None, vertices: Any, *, directed: bool
) -> MemoryGraphSource:
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
    found = _ends_of(list(columns)) if (src, dst) == (None, None) else ("src", "dst")
    src, dst = src or found[0], dst or found[1]
    for name in (src, dst):
        if name not in columns:
            known = ", ".join(columns) or "none"
            end = "src" if name == src else "dst"
            hint = name_hint(name, columns, f"say which it is: {end}='...'")
            raise InputError(f"the frame has no column '{name}'", hint=f"{hint}; it has: {known}")
    ends = columns.pop(src), columns.pop(dst)
    given = given_vertices(vertices)
    return _source("the frame", ends, columns, given, (src, dst), directed=directed)


def _ends_of(columns: Sequence[str]) -> tuple[str, str]:
    """The columns of the ends by their names, as a load finds them."""
    if "src" in columns or "dst" in columns:
        return "src", "dst"
    # Imported here: most frames say which columns they are.
    from graphtide.spark.ingest.roles import usual_ends

    usual = usual_ends(columns)
    return usual[0] if len(usual) == 1 else ("src", "dst")


def _source(
    what: str,
    ends: tuple[Any, Any],
    columns: Mapping[str, Any],
    vertices: VertexInput,
    names: tuple[str, str] = ("src", "dst"),
    *,
    directed: bool,
) -> MemoryGraphSource:
    """Edges with those of the columns that a property can hold."""
    given = given_properties(columns)
    numbers = {name: column for name, column in given.numbers.items() if holds_numbers(column)}
    rows = _typed(what, ends, numbers, names)
    kept = kept_table(what, given.kept, len(rows))
    return MemoryGraphSource(rows, kept, vertices, names, directed=directed)


def networkx_source(graph: Any) -> MemoryGraphSource:
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
    described = _usable("edges", _with_free_names(columns, ("src", "dst")))
    vertices, directed = _networkx_vertices(graph), bool(graph.is_directed())
    return _source("the NetworkX graph", ends, described, vertices, directed=directed)


def _with_free_names(columns: Mapping[Any, Any], taken: tuple[str, ...]) -> dict[str, Any]:
    named = {str(name): values for name, values in columns.items()}
    return {
        free_name(name, {*taken, *named}) if name in taken else name: values
        for name, values in named.items()
    }


def _networkx_vertices(graph: Any) -> VertexInput:
    nodes = list(graph.nodes(data=True))
    names = dict.fromkeys(name for _, data in nodes for name in data)
    given = {name: [data.get(name) for _, data in nodes] for name in names}
    columns = _usable("nodes", _with_free_names(given, ("id",)))
    return VertexInput([node for node, _ in nodes], vertex_columns(columns, len(nodes)))


def _usable(what: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of nodes or edges that a property can hold; a warning names the others."""
    usable = {name: values for name, values in columns.items() if typed_column(values) is not None}
    for name in columns.keys() - usable.keys():
        types = sorted({type(value).__name__ for value in columns[name] if value is not None})
        told = f"the attribute '{name}' of {what} is left out: a property has values of one type"
        warn_user(f"{told}, and it has {' and '.join(types)}", UserWarning)
    return usable


def stored_source(stored: StoredGraph) -> MemoryGraphSource:
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
    given = VertexInput(ids, pa.table(read))
    made = _source("the graph", (ends[0], ends[1]), columns, given, names, directed=stored.directed)
    return replace(made, timezone=stored.timezone)


def entering_vertices(
    known: NamedGraph, given: Any, *, may_change: bool = False
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
        return EnteringVertices(ids, _entering_rows(table, listed.columns, len(ids)))
    if not listed.columns.num_columns:
        raise InputError(
            "`vertices` lists vertices that are already there, and gives them no values",
            where=named_rows((~new).nonzero()[0].tolist(), lambda at: repr(plain_id(ids[at]))),
            hint="leave them out, or give a table with the properties that change",
        )
    # Both together, so that a column without values so far gets one type.
    rows = _entering_rows(table, listed.columns, len(ids))
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


def _entering_rows(table: pa.Table, given: pa.Table, count: int) -> pa.Table:
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
    return pa.table(
        {name: _entering_column(given, table, name, count) for name in table.column_names}
    )


def _entering_column(given: pa.Table, table: pa.Table, name: str, count: int) -> pa.ChunkedArray:
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
