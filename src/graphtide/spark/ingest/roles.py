"""Which column is what: id, endpoints, label, and the properties that are left.

A column gets its role by the option that names it, else by a typed header, else by its usual
name, else by one of the well-known pairs of names, if exactly one is there, else by its place, if
the header has types. The load never guesses between two columns: its error lists them and names
the option to give.

A typed header says more than names: `id:ID(Person)|name:STRING`, `from_id:start_id,amount:int`.
Two dialects are read: Neo4j's and LDBC's (`:START_ID(Comment)`, `:LABEL`, `:TYPE`, `:IGNORE`) and
Graphsurge's (`to_id:end_id`, or types alone: `sid,eid,year:int`). In both a column without a type
is a string. A header is typed if some column of it is an id, an endpoint or of a known type; any
other colon in a name means nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType, closest, parse_property_type
from graphtide.spark.ingest.options import IngestOptions, TypeSpec, given_spec, key_spec
from graphtide.spark.ingest.source import Kind, TableSource

Role = Literal["id", "src", "dst", "label", "ignore", "property"]

_COLUMN = re.compile(r"(?P<name>[^:]*)(?::(?P<word>[A-Za-z_]+(?:\[\])?)(?:\((?P<space>.*)\))?)?")
_ROLES: dict[str, Role] = {
    "id": "id",
    "start_id": "src",
    "end_id": "dst",
    "label": "label",
    "type": "label",
    "ignore": "ignore",
}
_KEYS = {"id", "start_id", "end_id"}
# Types of Neo4j's import that are kept as the text they are, and its names for timestamps.
_TEXT = {"char", "point", "duration", "time", "localtime"}
_TIMES = {"localdatetime", "datetime"}


@dataclass(frozen=True)
class DeclaredColumn:
    """One column of a typed header; `space` is the id space in parentheses.

    A `bare` column says nothing but its name.
    """

    name: str
    role: Role
    type: PropertyType | None = None
    space: str | None = None
    bare: bool = False


def parse_typed_header(columns: Sequence[str]) -> tuple[DeclaredColumn, ...] | None:
    """The columns of a typed header; None if the header is plain."""
    matches = [_COLUMN.fullmatch(column.strip()) for column in columns]
    words = {(item["word"] or "").lower() for item in matches if item}
    if None in matches or not (words & _KEYS or any(map(_is_type, words))):
        return None
    return tuple(_declared(item, place) for place, item in enumerate(matches) if item)


def places_by_order(
    declared: Sequence[DeclaredColumn], names: Sequence[str]
) -> tuple[int, ...] | None:
    """The first columns as the keys of those names: Graphsurge's rule where a mark is missing.

    None unless each of them is bare or has the mark of its key, and no later column has one.
    """
    first, later = declared[: len(names)], declared[len(names) :]
    fits = len(first) == len(names) and all(
        item.bare or item.role == name for item, name in zip(first, names, strict=True)
    )
    if not fits or any(item.role in names for item in later):
        return None
    return tuple(range(len(names)))


def _declared(found: re.Match[str], place: int) -> DeclaredColumn:
    bare = not found["word"]
    word = (found["word"] or "string").lower()
    name = found["name"] or _name_of(word, place)
    if word in _ROLES:
        return DeclaredColumn(name, _ROLES[word], space=found["space"])
    return DeclaredColumn(name, "property", _type_of(word, found[0]), bare=bare)


def _name_of(word: str, place: int) -> str:
    return {"id": "id", "start_id": "src", "end_id": "dst"}.get(word, f"p{place}")


def _is_type(word: str) -> bool:
    """Whether a word behind a colon is a type beyond doubt: `at:time` may be a name."""
    try:
        parse_property_type(word.removesuffix("[]"))
    except InputError:
        return False
    return True


def _type_of(word: str, column: str) -> PropertyType:
    if word in _TEXT or word.endswith("[]"):
        return PropertyType.STRING
    if word in _TIMES:
        return PropertyType.TIMESTAMP
    try:
        return parse_property_type(word)
    except InputError as error:
        raise InputError(f"{error.what} in the header", where=column, hint=error.hint) from None


RESERVED = {"_vertex", "_id", "_label", "_edge", "_src", "_dst", "_space", "_ends"}
_SINGULAR: dict[Kind, str] = {"vertices": "vertex", "edges": "edge"}
_ID_NAMES = ("vertex", "node", "vertex_id", "node_id", "vertexid", "nodeid")
_ENDPOINT_NAMES = (
    ("source", "target"),
    ("source", "destination"),
    ("source_id", "target_id"),
    ("src_id", "dst_id"),
    ("from", "to"),
    ("from_id", "to_id"),
    ("fromnodeid", "tonodeid"),
    ("start", "end"),
    ("u", "v"),
)


@dataclass(frozen=True)
class PropertyColumn:
    """A property: the column it stands in, and its type if that is not to be inferred."""

    place: int
    name: str
    spec: TypeSpec | None


@dataclass(frozen=True)
class Roles:
    """The columns of one table by what they are; places count from zero.

    `keys` holds the id column of vertices, or src and dst of edges; `spaces` their id spaces.
    """

    keys: tuple[PropertyColumn, ...]
    spaces: tuple[str | None, ...]
    label: int | None
    properties: tuple[PropertyColumn, ...]


def assign_roles(
    table: TableSource,
    columns: Sequence[str],
    options: IngestOptions,
    declared: Sequence[DeclaredColumn] | None = None,
) -> Roles:
    """The role of every column of a table; InputError if that is not clear."""
    _check_unique(table, columns, options)
    keys = _key_places(table, columns, options, declared)
    label = _label_place(table, columns, options, declared)
    taken = {*keys, label}
    properties = [
        _property(table.kind, place, columns, options, declared)
        for place in range(len(columns))
        if place not in taken and not _is_dropped(place, columns, table.kind, options, declared)
    ]
    _check_reserved(table, properties, options)
    return Roles(
        tuple(
            PropertyColumn(place, columns[place], key_spec(options, table.kind, columns[place]))
            for place in keys
        ),
        _spaces(table, keys, declared),
        label,
        tuple(properties),
    )


def _key_places(
    table: TableSource,
    columns: Sequence[str],
    options: IngestOptions,
    declared: Sequence[DeclaredColumn] | None,
) -> tuple[int, ...]:
    names = ("id",) if table.kind == "vertices" else ("src", "dst")
    given = [getattr(options, name) for name in names]
    if any(given):
        return tuple(
            _place_of(table, column or name, columns, options, name)
            for name, column in zip(names, given, strict=True)
        )
    if declared is not None:
        roles: list[str] = [item.role for item in declared]
        if all(name in roles for name in names):
            return tuple(roles.index(name) for name in names)
    usual = _known_places(columns, options) if len(names) == 2 else []
    usual = usual or _usual_places(columns, names)
    if len(usual) == 1:
        return usual[0]
    if declared is not None and (by_order := places_by_order(declared, names)) is not None:
        return by_order
    problem = "more than one possible" if usual else "no"
    said = " ".join(options.said(name, "...") for name in names)
    raise InputError(
        f"{table.name}: {problem} column for {' and '.join(names)}",
        where=f"columns found: {', '.join(columns)}",
        hint=f"say which it is with {said}",
    )


def _known_places(columns: Sequence[str], options: IngestOptions) -> list[tuple[int, ...]]:
    """Both ends by the names that the appended graph has for them."""
    ends = () if options.known is None else options.known.ends
    found = all(end in columns for end in ends)
    return [tuple(columns.index(end) for end in ends)] if ends and found else []


def usual_ends(columns: Sequence[str]) -> list[tuple[str, str]]:
    """The columns of both ends as their names tell: several pairs where more than one may be."""
    places = _usual_places(columns, ("src", "dst"))
    return [(columns[src], columns[dst]) for src, dst in places]


def _usual_places(columns: Sequence[str], names: tuple[str, ...]) -> list[tuple[int, ...]]:
    """Places by well-known names: an exact match, or all candidates."""
    lower = [column.lower() for column in columns]
    if all(name in lower for name in names):
        return [tuple(lower.index(name) for name in names)]
    known = _ENDPOINT_NAMES if len(names) == 2 else tuple((name,) for name in _ID_NAMES)
    usual = [option for option in known if all(name in lower for name in option)]
    return [tuple(lower.index(name) for name in option) for option in usual]


def _place_of(
    table: TableSource, column: str, columns: Sequence[str], options: IngestOptions, option: str
) -> int:
    if column in columns:
        return columns.index(column)
    lower = [item.lower() for item in columns]
    if lower.count(column.lower()) == 1:
        return lower.index(column.lower())
    near = closest(column, columns)
    raise InputError(
        f"{table.name}: there is no column '{column}'",
        where=f"columns found: {', '.join(columns)}",
        hint=f"did you mean {options.said(option, near)}?"
        if near
        else f"name one of them with {options.said(option, '...')}",
    )


def _label_place(
    table: TableSource,
    columns: Sequence[str],
    options: IngestOptions,
    declared: Sequence[DeclaredColumn] | None,
) -> int | None:
    option = "label" if table.kind == "vertices" else "edge_label"
    if (column := getattr(options, option)) is not None:
        return _place_of(table, column, columns, options, option)
    roles = [item.role for item in declared or ()]
    return roles.index("label") if "label" in roles else None


def _property(
    kind: Kind,
    place: int,
    columns: Sequence[str],
    options: IngestOptions,
    declared: Sequence[DeclaredColumn] | None,
) -> PropertyColumn:
    name = columns[place]
    spec = given_spec(options, kind, name)
    if spec is None and declared is not None and (type_ := declared[place].type) is not None:
        spec = TypeSpec(type_)
    return PropertyColumn(place, name, spec)


def _is_dropped(
    place: int,
    columns: Sequence[str],
    kind: Kind,
    options: IngestOptions,
    declared: Sequence[DeclaredColumn] | None,
) -> bool:
    if declared is not None and declared[place].role == "ignore":
        return True
    return bool({columns[place], f"{kind}.{columns[place]}"} & set(options.drop))


def _spaces(
    table: TableSource, keys: tuple[int, ...], declared: Sequence[DeclaredColumn] | None
) -> tuple[str | None, ...]:
    by_header = [declared[place].space if declared else None for place in keys]
    if table.kind == "vertices":
        return (by_header[0] or table.label,)
    return (table.src_space or by_header[0], table.dst_space or by_header[1])


def _check_unique(table: TableSource, columns: Sequence[str], options: IngestOptions) -> None:
    names = [name for name in columns if name not in options.drop]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(
            f"{table.name}: the column '{repeated[0]}' is there more than once",
            where=f"columns found: {', '.join(columns)}",
            hint="rename one in the input, or give other names for all of them: "
            + options.said(f"{_SINGULAR[table.kind]}_columns", ("...",)),
        )
    lower = Counter(name.lower() for name in names)
    alike = [name for name in names if lower[name.lower()] > 1]
    if alike:
        raise InputError(
            f"{table.name}: the columns {' and '.join(alike)} differ by case only",
            hint=f"rename one, or leave one out: {options.said('drop', (alike[-1],))}",
        )


def _check_reserved(
    table: TableSource, properties: Sequence[PropertyColumn], options: IngestOptions
) -> None:
    for item in properties:
        if item.name.lower() in RESERVED:
            raise InputError(
                f"{table.name}: the name '{item.name}' is one of Graphtide's own",
                hint=f"rename the column, or leave it out: {options.said('drop', (item.name,))}",
            )
