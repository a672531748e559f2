"""What names mean: the properties of a graph and the loop variables around a predicate.

A bare name that is a loop variable in scope is the variable, even where the graph has a
property of that name; in backticks, or behind `src.` or `dst.`, it is the property. Properties
are found by their exact name, or else by the only name that differs in case alone.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo

from graphtide.lang.diagnostics import Span, language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.calendar import (
    is_whole_days,
    localise,
    move_date,
    move_time,
    step_of,
    write_time,
)
from graphtide.model.errors import LanguageError
from graphtide.model.schema import ENDS, GraphSchema, PropertyType, closest
from graphtide.plan.predicates import Owner, PropertyRef, Value

_HOLE = re.compile(r"\{([^\W\d]\w*)\}")
_LISTED = 12
_VERTEX_NUMBER = {"_vertex": PropertyType.INT}
_EDGE_NUMBER = {"_edge": PropertyType.INT}
_ENDS = {"src": "src", "source": "src", "dst": "dst", "target": "dst"}


@dataclass(frozen=True)
class Scope:
    """The names that a predicate may use, and the time zone its timestamps are in.

    With `vertex_only`, a bare name is a property of a vertex, to be found on `src`.
    """

    edge: Mapping[str, PropertyType]
    vertex: Mapping[str, PropertyType]
    zone: ZoneInfo
    variables: Mapping[str, Value] = field(default_factory=dict)
    vertex_only: bool = False
    ends: tuple[str, str] = ENDS

    @classmethod
    def of(cls, schema: GraphSchema, timezone: str = "UTC") -> Scope:
        """The scope of a graph's predicates, outside of any loop."""
        edge, vertex = schema.edge_properties(), schema.vertex_properties()
        return cls(edge, vertex, find_zone(timezone), ends=schema.ends)

    def bind(self, variable: str, value: Value) -> Scope:
        """This scope inside a loop."""
        return replace(self, variables={**self.variables, variable: value})


def find_zone(name: str, span: Span | None = None) -> ZoneInfo:
    """The time zone of a name such as `Europe/Berlin`."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise language_error(
            f"unknown time zone '{name}'", span, "use a name such as UTC or Europe/Berlin"
        ) from None


def find_property(node: tree.PropertyName, scope: Scope) -> PropertyRef:
    """The property that a name means."""
    owner = _owner(node, scope)
    name = node.name if node.quoted else fill_holes(node.name, scope, {}, node.span)
    known = scope.edge if owner == "edge" else scope.vertex
    numbers = _EDGE_NUMBER if owner == "edge" else _VERTEX_NUMBER
    if name in known:
        return PropertyRef(owner, name, known[name])
    if name in numbers:
        return PropertyRef(owner, name, numbers[name])
    same = [item for item in known if item.lower() == name.lower()]
    if len(same) == 1:
        return PropertyRef(owner, same[0], known[same[0]])
    raise _unknown_property(node, name, owner, scope)


def _owner(node: tree.PropertyName, scope: Scope) -> Owner:
    if not scope.vertex_only:
        return node.owner
    if node.owner == "edge":
        return "src"
    raise language_error(
        f"'{node.owner}.' has no meaning for a vertex",
        node.span,
        f"write `{node.name}`: bare names are the vertex's own properties here",
    )


def _unknown_property(
    node: tree.PropertyName, name: str, owner: Owner, scope: Scope
) -> LanguageError:
    known, other = (scope.edge, scope.vertex) if owner == "edge" else (scope.vertex, scope.edge)
    of = "edges have" if owner == "edge" else "vertices have"
    near = closest(name, known)
    if node.span is not None and node.span.text.endswith('"'):
        hint = f"double quotes are for names; strings take single quotes: '{name}'"
    elif owner == "edge" and (end := _end(name, scope)) is not None:
        hint = f"write `{end}.id` for the id of that end, or a property of it: `{end}.NAME`"
    elif name in other and not scope.vertex_only:
        hint = f"write `src.{name}` or `dst.{name}`" if owner == "edge" else f"write `{name}`"
    else:
        listed = sorted(known)
        names = ", ".join(listed[:_LISTED]) + (", ..." if len(listed) > _LISTED else "")
        hint = (f"did you mean `{near}`? " if near else "") + f"{of} {names}"
    return language_error(f"{of} no property '{name}'", node.span, hint)


def _end(name: str, scope: Scope) -> str | None:
    """The end of an edge that a name means, in our words or in the user's."""
    own = dict(zip(scope.ends, ENDS, strict=True))
    return own.get(name, _ENDS.get(name.lower()))


def value_of(node: tree.Operand, scope: Scope) -> Value | None:
    """The constant that an operand stands for; None if it is a property."""
    match node:
        case tree.Literal():
            return _literal(node, scope)
        case tree.Variable(name):
            return _variable(name, node.span, scope)
        case tree.PropertyName(name, "edge", False) if name in scope.variables:
            return scope.variables[name]
        case tree.PropertyName():
            return None
        case tree.Shifted(base, count, unit):
            return _shift(_variable(base.name, base.span, scope), count, unit, node, scope)


def _literal(node: tree.Literal, scope: Scope) -> Value:
    if node.value is None:
        hint = "nothing equals null; write `... is null` or `... is not null`"
        raise language_error("null cannot be compared", node.span, hint)
    if isinstance(node.value, dt.datetime):
        return moment_of(node.value, scope, node.span)
    return node.value


def moment_of(local: dt.datetime, scope: Scope, span: Span | None) -> dt.datetime:
    """The moment in UTC of a time that may have no offset."""
    try:
        return localise(local, scope.zone)
    except OverflowError:
        raise language_error("in UTC this leaves the years 1 to 9999", span) from None


def _variable(name: str, span: Span | None, scope: Scope) -> Value:
    if name in scope.variables:
        return scope.variables[name]
    known = ", ".join(scope.variables)
    hint = f"the loops around it have {known}" if known else "it stands in no loop"
    raise language_error(f"there is no loop variable '{name}'", span, hint)


def _shift(
    value: Value, count: int, unit: tree.Unit | None, node: tree.Shifted, scope: Scope
) -> Value:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        if unit is None and number:
            return value + count  # type: ignore[operator]
        if unit is not None and isinstance(value, dt.datetime):
            return move_time(value, step_of(count, unit), scope.zone)
        if unit is not None and isinstance(value, dt.date) and is_whole_days(unit):
            return move_date(value, step_of(count, unit))
    except OverflowError:
        raise language_error("this moves it too far to be written", node.span) from None
    raise language_error(
        f"{describe(value)} cannot be moved like this",
        node.span,
        "add a whole number to a number, or `1 month` to a date or a timestamp",
    )


def describe(value: Value) -> str:
    """What kind of value it is, for errors."""
    match value:
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case dt.datetime():
            return "a timestamp"
        case dt.date():
            return "a date"


def fill_holes(text: str, scope: Scope, extra: Mapping[str, str], span: Span | None) -> str:
    """The text with each `{variable}` replaced by its value."""
    if "{" not in text:
        return text

    def fill(match: re.Match[str]) -> str:
        name = match.group(1)
        if name in extra:
            return extra[name]
        if name in scope.variables:
            return write_value(scope.variables[name], scope.zone)
        known = [f"{{{item}}}" for item in (*extra, *scope.variables)]
        hint = f"known here: {', '.join(known)}" if known else "there is nothing to fill in here"
        raise language_error(f"nothing is called {match.group()} here", span, hint)

    return _HOLE.sub(fill, text)


def write_value(value: Value, zone: ZoneInfo) -> str:
    """A value as it stands in the name of a view."""
    match value:
        case bool():
            return "true" if value else "false"
        case dt.datetime():
            return write_time(value, zone)
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return str(value)
