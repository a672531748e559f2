"""`in`: whether a vertex is in a set that a parameter lists, or a text one of several."""

from __future__ import annotations

import ast
from collections.abc import Callable

from graphtide.lang.python.scope import TYPE_WORDS, Scope
from graphtide.plan.expressions import TEXT, Boolean, Compare, Expression, Member
from graphtide.plan.programs import ParameterKind

Read = Callable[[ast.expr, Scope], Expression]
"""`read_expression`, handed down because both sides may hold expressions."""


def read_member(
    node: ast.Compare, left: ast.expr, right: ast.expr, scope: Scope, read: Read
) -> Expression:
    """`v in self.sources`, or `v.kind in ("a", "b")`; LanguageError for any other question."""
    match right:
        case ast.Attribute(value=owner, attr=name) if scope.role(owner) == "self":
            parameter = scope.fields.parameters.get(name)
            role = scope.role(left)
            sets = parameter is not None and parameter.kind is ParameterKind.VERTICES
            if sets and role in ("u", "v"):
                return Member(role, name)
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) if items:
            if scope.role(left) is None:
                return _one_of(read(left, scope), left, items, scope, read)
    raise scope.error(
        node,
        "`in` asks whether a vertex is in a set of vertices, or a text one of several",
        "declare `sources: gt.Vertices` and write `v in self.sources`, "
        'or write `v.kind in ("a", "b")`',
    )


def _one_of(
    value: Expression, place: ast.expr, items: list[ast.expr], scope: Scope, read: Read
) -> Expression:
    """A text that equals one of several; the same as comparisons joined by `or`."""
    _check_text(value, place, scope)
    found: list[Expression] = []
    for item in items:
        other = read(item, scope)
        _check_text(other, item, scope)
        found.append(Compare("==", value, other))
    return found[0] if len(found) == 1 else Boolean("or", tuple(found))


def _check_text(value: Expression, place: ast.expr, scope: Scope) -> None:
    if value.type is not TEXT:
        raise scope.error(
            place,
            f"`in` looks for a text among texts, and this is {TYPE_WORDS[value.type]}",
            "write comparisons with == and join them by `or`",
        )
