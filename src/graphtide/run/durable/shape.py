"""The columns of a live graph: what its log and its checkpoints hold, and as what memory has it.

A property is one column on disk. In memory it may be two: an array for programs, and a column for
views, where it is a text or a moment, or a whole number that may be missing (`run.views`). So the
shape says for each property what it is for; what is read back is then what was there, whatever
values there are at the moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.model.errors import InputError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.run.live.edge_rows import ColumnNames
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.vertex_ids import VertexIds
from graphtide.run.views.inserted_columns import user_names
from graphtide.run.views.typed_columns import ARROW_TYPES, property_type

Named = tuple[tuple[str, str], ...]

ON_DISK = {
    "string": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}
_OF_KIND = {"i": "int", "f": "float", "b": "bool"}
_OURS = ("src", "dst", "src_label", "dst_label")


@dataclass(frozen=True)
class Shape:
    """Names and types: `numbers` are arrays for programs, `kept` and `vertex` columns for views."""

    src: str
    dst: str
    ids: str
    numbers: Named
    kept: Named
    vertex: Named
    simple: bool
    directed: bool = True

    @property
    def names(self) -> ColumnNames:
        """How users call the columns of edges."""
        return ColumnNames(self.src, self.dst, tuple(name for name, _ in self.numbers))

    @cached_property
    def edge_types(self) -> dict[str, str]:
        """The properties of edges as they are on disk."""
        return {**{name: _OF_KIND[np.dtype(kind).kind] for name, kind in self.numbers}, **self.seen}

    @cached_property
    def seen(self) -> dict[str, str]:
        """The properties that views have columns of."""
        return dict(self.kept)

    @cached_property
    def edges(self) -> pa.Schema:
        """Rows of edges: ends by number, and properties."""
        ends = [("_src", pa.int32()), ("_dst", pa.int32())]
        return pa.schema([*ends, *((n, ON_DISK[kind]) for n, kind in self.edge_types.items())])

    @cached_property
    def vertices(self) -> pa.Schema:
        """Rows of vertices: the id, and properties."""
        properties = [(name, ON_DISK[kind]) for name, kind in self.vertex]
        return pa.schema([("_id", ON_DISK[self.ids]), *properties])

    @cached_property
    def changed(self) -> pa.Schema:
        """Rows of vertices with other values: the number, and all properties."""
        return pa.schema([("_vertex", pa.int32()), *list(self.vertices)[1:]])

    @cached_property
    def memory_types(self) -> list[pa.DataType]:
        """The types of the properties of vertices in memory."""
        return [ARROW_TYPES[PropertyType(kind)] for _, kind in self.vertex]

    @cached_property
    def schema(self) -> GraphSchema:
        """The same for the catalog."""
        return GraphSchema(
            id_type=PropertyType(self.ids),
            vertex=_declared(self.vertex),
            edge=_declared(self.edge_types.items()),
            ends=(self.src, self.dst),
            directed=self.directed,
        )

    def to_json(self) -> dict[str, Any]:
        """As logs and manifests hold it."""
        listed = {
            name: [list(item) for item in getattr(self, name)]
            for name in ("numbers", "kept", "vertex")
        }
        plain = {name: getattr(self, name) for name in ("src", "dst", "ids", "simple", "directed")}
        return {**plain, **listed}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Shape:
        """The shape that a manifest holds."""

        def named(entry: str) -> Named:
            return tuple((item[0], item[1]) for item in data[entry])

        return cls(
            src=data["src"],
            dst=data["dst"],
            ids=data["ids"],
            numbers=named("numbers"),
            kept=named("kept"),
            vertex=named("vertex"),
            simple=data["simple"],
            directed=data.get("directed", True),
        )


def shape_of(known: KnownEdges, kept: pa.Table) -> Shape:
    """The shape of a graph in memory; InputError where it cannot be kept on disk."""
    names, vertices = user_names(known.names), known.vertex_columns.table
    shape = Shape(
        src=names.src,
        dst=names.dst,
        ids=_id_type(known.ids),
        numbers=tuple((name, str(known.resident.dtypes[name])) for name in names.properties),
        kept=_typed(kept),
        vertex=_typed(vertices),
        simple=known.simple,
        directed=known.resident.directed,
    )
    _check_names([*shape.edge_types, *(name for name, _ in shape.vertex)])
    return shape


def _id_type(ids: VertexIds) -> str:
    if ids.are_whole:
        return "int"
    other = next((ids[at] for at in range(len(ids)) if not isinstance(ids[at], str)), None)
    if other is not None:
        raise InputError(
            "the ids of a live graph are whole numbers below 2**63, or else texts",
            where=f"the id {other!r}",
            hint="give all ids as texts",
        )
    return "string"


def _typed(table: pa.Table) -> Named:
    return tuple((name, property_type(table.column(name)).value) for name in table.column_names)


def _declared(items: Any) -> tuple[Property, ...]:
    return tuple(Property(name, PropertyType(kind)) for name, kind in items)


def _check_names(names: list[str]) -> None:
    bad = [name for name in names if name.startswith("_") or name in _OURS]
    if bad:
        raise InputError(
            f"no property of a live graph can be called '{bad[0]}'",
            hint="rename it: names that begin with '_', and 'src' and 'dst', are taken on disk",
        )
