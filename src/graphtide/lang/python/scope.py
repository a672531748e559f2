"""What is known while one function of a program is read: names, their meaning and their types.

Local names have one type in the whole function. Where an int later receives a float, the name is
widened and the function is read again: `total = 0` may be followed by `total += e.weight`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from graphtide.lang.python.fields import Fields
from graphtide.model.errors import LanguageError
from graphtide.plan.expressions import FLOAT, INT, Call, Const, EdgeProperty, Expression, ValueType

TYPE_WORDS = {
    ValueType.INT: "an int",
    ValueType.FLOAT: "a float",
    ValueType.BOOL: "a truth value",
    ValueType.TEXT: "a text",
    ValueType.DATE: "a date",
    ValueType.TIMESTAMP: "a timestamp",
}
_DECLARED = {ValueType.DATE: "gt.Date", ValueType.TIMESTAMP: "gt.Timestamp"}
COMPARED_ONLY = (
    "texts are compared with == and !=, or `in` a tuple of them; number what it stands for"
)


class WidenedError(Exception):
    """A local name turned out to be a float after it was read as an int: read again."""


class ErrorSource(Protocol):
    """What knows the place of a node in the user's text."""

    def error(self, node: ast.AST, what: str, hint: str | None = None) -> LanguageError:
        """The error for a mistake at a node, to be raised by the caller."""


@dataclass
class Scope:
    """One function as it is being read.

    `me` is what the user calls `self`; `vertices` and `edges` are the names of those at hand, and
    what the plan calls each. `types` outlives a second reading; `assigned` are the local names that
    surely have a value at the point that is being read, and `values` are those whose value stands
    in their place.
    """

    source: ErrorSource
    fields: Fields
    function: str
    me: str
    vertices: dict[str, str]
    edges: dict[str, str]
    around: Mapping[str, object]
    values: dict[str, Expression] = field(default_factory=dict)
    types: dict[str, ValueType] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    loops: list[str] = field(default_factory=list)

    def error(self, node: ast.AST, what: str, hint: str | None = None) -> LanguageError:
        """The error for a mistake at a node, to be raised by the caller."""
        return self.source.error(node, what, hint)

    def is_self(self, node: ast.AST) -> bool:
        """Whether a node is the bare `self`."""
        return isinstance(node, ast.Name) and node.id == self.me

    def vertex(self, node: ast.AST) -> str | None:
        """What the plan calls the vertex that a node is; None for anything else."""
        return self.vertices.get(node.id) if isinstance(node, ast.Name) else None

    def edge(self, node: ast.AST) -> str | None:
        """What the plan calls the edge that a node is; None for anything else."""
        return self.edges.get(node.id) if isinstance(node, ast.Name) else None

    def is_given(self, name: str) -> bool:
        """Whether a name has its value from the function's arguments or loops over edges."""
        return name == self.me or name in self.vertices or name in self.edges

    def at_hand(self) -> list[str]:
        """The vertices and edges that can be used here."""
        return [*self.vertices, *self.edges]

    def assign(self, node: ast.AST, name: str, value: Expression) -> Expression:
        """Give a local name a value: the value converted to the name's type."""
        known = self.types.setdefault(name, value.type)
        if known is INT and value.type is FLOAT:
            self.types[name] = FLOAT
            raise WidenedError
        self.assigned.add(name)
        return self.convert(node, value, known, f"'{name}'")

    def convert(self, node: ast.AST, value: Expression, to: ValueType, what: str) -> Expression:
        """The value as what a target holds; ints become floats, all else must match."""
        if value.type is to:
            return value
        if value.type is INT and to is FLOAT:
            return as_float(value)
        hint = f"write {to}(...) around it to convert it"
        if ValueType.TEXT in (to, value.type):
            hint = COMPARED_ONLY
        elif value.type.is_moment:
            hint = "write int(...) around it to get its number"
        elif to is INT:
            hint = f"declare {what} as float, or write int(...) around the value"
        raise self.error(
            node, f"{what} is {TYPE_WORDS[to]}, and this is {TYPE_WORDS[value.type]}", hint
        )

    def undeclared(self, value: Expression, wanted: ValueType) -> str | None:
        """How to declare a property of edges that is no float; None of any other value."""
        if not isinstance(value, EdgeProperty) or value.name in self.fields.properties:
            return None
        if value.type is not FLOAT or not value.name.isidentifier():
            return None
        kind = _DECLARED.get(wanted, wanted.value)
        return (
            f"a property of edges is a float unless the class says otherwise: "
            f"`{value.name} = gt.Property({kind})`"
        )

    @contextmanager
    def loop(self, variable: str) -> Iterator[None]:
        """Inside of a loop its variable has a value; after it, neither it nor what it assigned."""
        before = set(self.assigned)
        self.types[variable] = INT
        self.assigned.add(variable)
        self.loops.append(variable)
        yield
        self.loops.pop()
        self.assigned = before


def as_float(value: Expression) -> Expression:
    """An int as a float: constants at once, all else by a call."""
    if isinstance(value, Const):
        return Const(float(value.value), FLOAT)
    return Call("float", (value,), FLOAT)
