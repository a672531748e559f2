"""Headers that say more than names: `id:ID(Person)|name:STRING`, `from_id:start_id,amount:int`.

Two dialects are read: Neo4j's and LDBC's (`:START_ID(Comment)`, `:LABEL`, `:TYPE`, `:IGNORE`) and
Graphsurge's (`to_id:end_id`, or types alone: `sid,eid,year:int`). In both a column without a type
is a string. A header is typed if some column of it is an id, an endpoint or of a known type; any
other colon in a name means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType, parse_property_type

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
    """The columns of a typed header, or None if it is a plain one."""
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
    """Whether a word behind a colon is a type beyond doubt: `at:time` may well be a name."""
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
