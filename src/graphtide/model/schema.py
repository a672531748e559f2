"""The schema of a property graph, the types of its properties, and its tables.

A graph has vertices (an id of any one type, a label, properties) and edges (src, dst, a label,
properties). Inside, a vertex is its dense int32 number and an edge its edge number, in the order
of the input.

Four names are always there and need no declaration: `id` and `label` of an endpoint, and `id` and
`label` of an edge. They take precedence over properties of the same names, which a load calls
`id_` and `label_`; but an edge's `id` is its number only if the input has no edge property of
that name.

A `GraphSummary` says what a load has written. The folders of a stored graph beside its two tables
hold what appends delete and change; `spark` and `store` both read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from graphtide.model.errors import InputError
from graphtide.model.names import distance

ENDS = ("src", "dst")
"""The ends of an edge, and what their columns are called where a user calls them nothing else."""


class PropertyType(StrEnum):
    """The types a property can have. Every one of them also has the missing value."""

    STRING = "string"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def is_number(self) -> bool:
        """True for int and float, which can be compared with each other."""
        return self in (PropertyType.INT, PropertyType.FLOAT)

    @property
    def is_time(self) -> bool:
        """True for dates and timestamps."""
        return self in (PropertyType.DATE, PropertyType.TIMESTAMP)


@dataclass(frozen=True)
class Property:
    """The name and type of one property."""

    name: str
    type: PropertyType

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


@dataclass(frozen=True, repr=False)
class GraphSchema:
    """What a graph's rows carry.

    `vertex` and `edge` list the declared properties, without ids, endpoints and labels.
    `vertex_labels` and `edge_labels` are empty where the graph has no labels. `ends` are what the
    user calls the columns of the two ends of an edge. Edges lead from src to dst, or, where they
    are not `directed`, join the two.
    """

    id_type: PropertyType
    vertex: tuple[Property, ...] = ()
    edge: tuple[Property, ...] = ()
    vertex_labels: tuple[str, ...] = ()
    edge_labels: tuple[str, ...] = ()
    ends: tuple[str, str] = ENDS
    directed: bool = True

    def __str__(self) -> str:
        rows = {
            "edges": [] if self.directed else ["undirected"],
            "ids": [self.id_type.value],
            "ends of edges": [] if self.ends == ENDS else list(self.ends),
            "vertex properties": list(map(str, self.vertex)) or ["none"],
            "edge properties": list(map(str, self.edge)) or ["none"],
            "vertex labels": list(self.vertex_labels),
            "edge labels": list(self.edge_labels),
        }
        return "\n".join(f"{title}: {', '.join(items)}" for title, items in rows.items() if items)

    def __repr__(self) -> str:
        return f"<schema: {'; '.join(str(self).splitlines())}>"

    def vertex_properties(self) -> dict[str, PropertyType]:
        """All names that a predicate may use on an endpoint, with built-in ones."""
        built_in = {"id": self.id_type}
        if self.vertex_labels:
            built_in["label"] = PropertyType.STRING
        return {item.name: item.type for item in self.vertex} | built_in

    def edge_properties(self) -> dict[str, PropertyType]:
        """All names that a predicate may use on an edge, with built-in ones."""
        label = {"label": PropertyType.STRING} if self.edge_labels else {}
        number = {"id": PropertyType.INT}
        return number | {item.name: item.type for item in self.edge} | label


def parse_property_type(text: str) -> PropertyType:
    """The type that a user's word means: `integer`, `LONG`, `str`, `datetime`, ..."""
    try:
        return _TYPE_WORDS[text.strip().lower()]
    except KeyError:
        raise InputError(
            f"unknown property type '{text}'",
            hint="use one of " + ", ".join(item.value for item in PropertyType),
        ) from None


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like a misspelt one; None if none is near. O(known)."""
    scored = ((distance(name, item), item) for item in known)
    near = [(score, at, item) for at, (score, item) in enumerate(scored) if score is not None]
    return min(near)[2] if near else None


def name_hint(name: object, known: Iterable[str], otherwise: str, quote: str = "`") -> str:
    """The hint for an unknown name: the known name most like it, or `otherwise`."""
    near = closest(str(name), known)
    return f"did you mean {quote}{near}{quote}?" if near else otherwise


_TYPE_WORDS = {
    "string": PropertyType.STRING,
    "str": PropertyType.STRING,
    "text": PropertyType.STRING,
    "varchar": PropertyType.STRING,
    "int": PropertyType.INT,
    "integer": PropertyType.INT,
    "long": PropertyType.INT,
    "bigint": PropertyType.INT,
    "short": PropertyType.INT,
    "byte": PropertyType.INT,
    "float": PropertyType.FLOAT,
    "double": PropertyType.FLOAT,
    "bool": PropertyType.BOOL,
    "boolean": PropertyType.BOOL,
    "date": PropertyType.DATE,
    "timestamp": PropertyType.TIMESTAMP,
    "datetime": PropertyType.TIMESTAMP,
}


@dataclass(frozen=True)
class GraphSummary:
    """Schema and sizes of tables just written; `source` says in words where they came from.

    `timezone` is the zone in which timestamps without an offset were read. The first `listed`
    vertices are those of vertex tables, and the others are known from edges alone; None if all
    are of tables. `notes` are what a user should know of columns whose types were found,
    `files` those of its first table.
    """

    schema: GraphSchema
    vertices: int
    edges: int
    quarantined: int
    source: str
    timezone: str = "UTC"
    listed: int | None = None
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


DELETED = "deleted"
"""The folder of the edges that appends delete: `_edge`, and `_append`, the number of the append."""

CHANGED = {"vertices": "changed-vertices", "edges": "changed-edges"}
"""The folders of the rows that appends put in place of others, by table."""

KEYS = {"vertices": "_vertex", "edges": "_edge"}
"""The column that holds the number of a row."""
