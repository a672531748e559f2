"""`in`: whether a vertex is in a set or among neighbours, or a text one of several."""

from __future__ import annotations

import ast
from collections.abc import Callable

from graphtide.lang.python.scope import TYPE_WORDS, Scope
from graphtide.lang.python.walk_scope import OVER, is_walk
from graphtide.plan.expressions import TEXT, Boolean, Compare, Expression, Joined, Member
from graphtide.plan.programs import Direction, ParameterKind

Read = Callable[[ast.expr, Scope], Expression]
"""`read_expression`, handed down because both sides may hold expressions."""


def read_member(
    node: ast.Compare, left: ast.expr, right: ast.expr, scope: Scope, read: Read
) -> Expression:
    """`v in self.sources`, `v.kind in ("a", "b")`, or in a walk `w in u.neighbours`.

    LanguageError for any other question.
    """
    vertex = scope.vertex(left)
    match right:
        case ast.Attribute(value=owner, attr=name) if scope.is_self(owner):
            parameter = scope.fields.parameters.get(name)
            sets = parameter is not None and parameter.kind is ParameterKind.VERTICES
            if sets and vertex is not None:
                return Member(vertex, name)
        case ast.Attribute() if is_walk(scope):
            return _read_joined(left, right, scope)
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) if items:
            if vertex is None:
                return _one_of(read(left, scope), left, items, scope, read)
    if vertex is not None and is_walk(scope):
        raise scope.error(
            node,
            "`in` asks whether a vertex is among neighbours, or in a set of vertices that is given",
            "write `w in u.neighbours`, `w == u or w == v`, "
            "or declare `sources: gt.Vertices` and write `v in self.sources`",
        )
    raise scope.error(
        node,
        "`in` asks whether a vertex is in a set of vertices, or a text one of several",
        "declare `sources: gt.Vertices` and write `v in self.sources`, "
        'or write `v.kind in ("a", "b")`',
    )


def _read_joined(left: ast.expr, right: ast.Attribute, scope: Scope) -> Expression:
    """`w in u.out_neighbours`: whether an edge leads from u to w."""
    source, target = scope.vertex(right.value), scope.vertex(left)
    way, edges = OVER.get(right.attr, (Direction.BOTH, True))
    for node, vertex in ((right.value, source), (left, target)):
        if vertex is None:
            raise scope.error(
                node,
                "the walk has not reached such a vertex here",
                f"here it has {', '.join(scope.vertices)}",
            )
    if edges:
        raise scope.error(
            right,
            "a vertex can be among the neighbours of another",
            "write `w in u.neighbours`, `w in u.out_neighbours` or `w in u.in_neighbours`",
        )
    assert source is not None
    assert target is not None
    return Joined(source, target, way.value)


def _one_of(
    value: Expression, place: ast.expr, items: list[ast.expr], scope: Scope, read: Read
) -> Expression:
    """A text that equals one of several; the same as comparisons joined by `or`."""
    _check_text(value, place, scope)
    comparisons: list[Expression] = []
    for item in items:
        other = read(item, scope)
        _check_text(other, item, scope)
        comparisons.append(Compare("==", value, other))
    return comparisons[0] if len(comparisons) == 1 else Boolean("or", tuple(comparisons))


def _check_text(value: Expression, place: ast.expr, scope: Scope) -> None:
    if value.type is not TEXT:
        raise scope.error(
            place,
            f"`in` looks for a text among texts, and this is {TYPE_WORDS[value.type]}",
            scope.undeclared(value, TEXT) or "write comparisons with == and join them by `or`",
        )
