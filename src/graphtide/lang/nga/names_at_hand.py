"""The names that can be used at a place of a function, and the errors for those that cannot."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from graphtide.lang.diagnostics import language_error
from graphtide.lang.nga.declarations import FACTS, NEIGHBOURS
from graphtide.lang.nga.tree import SELF, Function, span_of
from graphtide.lang.python.fields import Fields
from graphtide.model.errors import LanguageError
from graphtide.model.schema import closest, name_hint

VERTICES = "V"
"""What the number of vertices is called."""
Made = TypeVar("Made", bound=ast.AST)


class NamesAtHand:
    """One function as its names are being resolved: what its loops and `Let` have bound."""

    def __init__(self, function: Function, fields: Fields) -> None:
        self.function, self.fields = function, fields
        self.vertices, self.edges, self.local = {function.vertex}, set[str](), set[str]()

    @property
    def word(self) -> str:
        """The function as users write it."""
        return self.function.name.capitalize()

    def check_new(self, node: ast.AST, name: str) -> None:
        """Refuse to bind a name that stands for something already."""
        known = {*self.vertices, *self.edges, *self.local}
        if name in known or name in {**self.fields.parameters, **self.fields.globals}:
            raise refused(node, f"'{name}' has a value already", "use another name")
        if name in (SELF, VERTICES):
            raise refused(node, f"'{name}' has a meaning of its own", "use another name")

    def no_attribute(self, node: ast.AST, name: str) -> LanguageError:
        """The error for a name that a vertex does not have."""
        known = [*self.fields.state, *self.fields.accumulators, *self.fields.vertex_properties]
        known += [*FACTS, *NEIGHBOURS]
        near = closest(name, known)
        hint = f"declare it: `Vertex ({name}: double)` or `Vertex ({name}: Accm<double, SUM>)`"
        if name == "active":
            hint = "list it: `Vertex (active, ...)`"
        elif name in {**self.fields.parameters, **self.fields.globals}:
            hint = f"'{name}' belongs to no vertex: write `{name}` alone"
        elif near:
            hint = f"did you mean `{near}`?"
        return refused(node, f"a vertex has no '{name}'", hint)

    def not_reached(self, node: ast.AST, name: str, asked: str | None = None) -> LanguageError:
        """The error for a vertex that no loop around this place binds; `asked` is what it has."""
        if name == SELF:
            hint = "parameters and global variables are written by their names alone"
            return refused(node, f"`{name}` is not L_NGA", hint)
        if asked in self.fields.properties and self.function.name == "traverse":
            hint = f"name the edge of a loop: `For v in u.nbrs Via {name}`"
            return refused(node, f"the walk has no edge '{name}' here", hint)
        return refused(
            node,
            f"the walk has not reached a vertex '{name}' here",
            f"here it has {', '.join(sorted(self.vertices))}; "
            f"go on to another with `For {name} in ...`",
        )

    def unknown(self, node: ast.AST, name: str) -> LanguageError:
        """The error for a name that stands for nothing."""
        known = [*self.local, *self.fields.parameters, *self.fields.globals]
        listed = ", ".join(sorted({*self.vertices, *self.edges, *known}))
        if name in {**self.fields.state, **self.fields.accumulators}:
            hint = f"'{name}' belongs to a vertex: write {self.function.vertex}.{name}"
        else:
            hint = name_hint(name, known, f"there are {listed}")
        return refused(node, f"nothing here is called '{name}'", hint)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is bound inside has no value behind it."""
        before = self.vertices, self.edges, self.local
        self.vertices, self.edges, self.local = (set(names) for names in before)
        yield
        self.vertices, self.edges, self.local = before


def own(node: ast.AST, name: str) -> ast.Attribute:
    """A parameter or global variable, in place of its bare name."""
    attribute = ast.Attribute(like(node, ast.Name(SELF)), name)
    return like(node, attribute)


def like(node: ast.AST, made: Made) -> Made:
    """A node that stands where another was read."""
    made.span = span_of(node)  # type: ignore[attr-defined]
    return made


def refused(node: ast.AST, what: str, hint: str) -> LanguageError:
    """The error for a mistake at a node, to be raised by the caller."""
    return language_error(what, span_of(node), hint)
