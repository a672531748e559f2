"""What a text of L_NGA says: declarations, and functions as syntax trees of Python.

L_NGA says in its own words what a program class says in Python's, so its functions have the same
trees: `v.sum.Accumulate(x)` is the call `v.sum(x)`, `Where (c)` an `if`, a parameter `root` is
`self.root`. Every node remembers the characters that it was read from, so that whoever refuses one
points at the text of the user.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from graphtide.lang.diagnostics import Span

SELF = "self"
"""What parameters and global variables are attributes of, in trees."""


@dataclass(frozen=True)
class TypeName:
    """`double`, `Accm<double, SUM>`, or an array of either."""

    word: str
    span: Span
    operation: str | None = None
    size: int | str | None = None


@dataclass(frozen=True)
class Attribute:
    """One name within the parentheses of a declaration, with what stands behind it."""

    name: str
    span: Span
    type: TypeName | None
    default: int | float | bool | None


@dataclass(frozen=True)
class Setting:
    """`Iterations (10)`: a number, or the name of a parameter."""

    value: int | float | str
    span: Span


@dataclass
class Function:
    """`Initialize (u): ...`, with the name that it gives its vertex."""

    name: str
    vertex: str
    span: Span
    body: list[ast.stmt]


@dataclass
class ProgramText:
    """A whole text. Each kind of declaration may stand several times; they add up."""

    name: str | None = None
    documentation: str = ""
    vertex: list[Attribute] = field(default_factory=list)
    globals: list[Attribute] = field(default_factory=list)
    parameters: list[Attribute] = field(default_factory=list)
    edge: list[Attribute] = field(default_factory=list)
    settings: dict[str, Setting] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    whole: Span | None = None


@dataclass(frozen=True)
class Loop:
    """What a loop over neighbours said, kept at its `ast.For`."""

    word: str
    via: str | None
    distinct: bool


def span_of(node: ast.AST) -> Span | None:
    """Where a node stands in the text; None for one that no text says."""
    span = getattr(node, "span", None)
    return span if isinstance(span, Span) else None
