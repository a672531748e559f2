"""Rows of matches: `self.rings(u, v, e.time)`, `self.rings(path.vertices[:-1])`."""

from __future__ import annotations

import ast
from dataclasses import replace

from graphtide.lang.python.expressions import read_expression
from graphtide.lang.python.walk_paths import each_vertex, read_comprehension, read_items
from graphtide.lang.python.walk_scope import WalkScope
from graphtide.plan.expressions import Expression, ValueType, VertexFact
from graphtide.plan.walks import Matches, Report


def read_report(node: ast.Call, matches: Matches, scope: WalkScope) -> Report:
    """The statement for a call that reports a row: a value for each column, in order."""
    names = [name for name, _ in matches.columns]
    plain = not node.keywords and not any(isinstance(item, ast.Starred) for item in node.args)
    if not plain or len(node.args) != len(names):
        raise scope.error(
            node,
            f"a row of '{matches.name}' has {len(names)} values",
            f"write self.{matches.name}({', '.join(names)})",
        )
    sizes = dict(matches.sizes)
    read = zip(node.args, matches.columns, strict=True)
    values = (
        _read_list(item, name, kind, scope)
        if name in sizes
        else _read_value(item, name, kind, scope)
        for item, (name, kind) in read
    )
    return Report(matches.name, tuple(values))


def _read_value(node: ast.expr, column: str, kind: ValueType | str, scope: WalkScope) -> Expression:
    if not isinstance(kind, ValueType):
        vertex = scope.vertex(node)
        return VertexFact(vertex, "id") if vertex else _vertex(node, column, scope)
    if scope.vertex(node) is not None:
        raise scope.error(
            node,
            f"'{column}' holds numbers, and this is a vertex",
            f"declare it as `{column}=gt.Vertex`",
        )
    return scope.convert(node, read_expression(node, scope), kind, f"'{column}'")


def _vertex(node: ast.expr, column: str, scope: WalkScope) -> Expression:
    """The number of a vertex, spelled out: `v.id`."""
    reference = None if isinstance(node, ast.Name) else read_expression(node, scope)
    if isinstance(reference, VertexFact) and reference.fact == "id":
        return reference
    raise scope.error(
        node,
        f"'{column}' takes a vertex that the walk has reached",
        f"here it has {', '.join(scope.vertices)}",
    )


def _read_list(node: ast.expr, column: str, kind: ValueType | str, scope: WalkScope) -> Expression:
    items = read_items(node, scope)
    if items is not None and items.kind == "vertices" and not isinstance(kind, ValueType):
        return each_vertex(items, scope)
    if not isinstance(node, ast.ListComp):
        raise scope.error(
            node,
            f"'{column}' takes as many values as it has columns",
            "write path.vertices, path.vertices[1:] or [e.time for e in path.edges]",
        )
    listed = read_comprehension(node, "each", scope, read_expression)
    if isinstance(kind, ValueType):
        value = scope.convert(node, listed.value, kind, f"'{column}'")
        return replace(listed, value=value)
    if isinstance(listed.value, VertexFact) and listed.value.fact == "id":
        return listed
    raise scope.error(node, f"'{column}' takes vertices", "write path.vertices")
