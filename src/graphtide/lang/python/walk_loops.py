"""The loops of a walk: to neighbours, along edges, either so many times over, and over numbers."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from graphtide.lang.python.expressions import read_expression
from graphtide.lang.python.statements import read_range
from graphtide.lang.python.walk_scope import OVER, Path, WalkScope
from graphtide.model.schema import name_hint
from graphtide.plan.expressions import INT, Const, Expression, ParameterRef
from graphtide.plan.programs import Direction, Size

LOOPS = "write `for v in u.neighbours` or `for v, e in u.edges`; also out_neighbours, "
LOOPS += "in_neighbours, out_edges and in_edges"


@dataclass(frozen=True)
class Over:
    """What a loop goes over: from where, which way, along edges or not, how many times."""

    origin: str
    way: Direction
    edges: bool
    length: Size | None


def read_over(node: ast.expr, scope: WalkScope) -> Over:
    """What stands behind `in`; LanguageError where a walk cannot go."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="repeat")):
            over = read_over(inner, scope)
            return Over(over.origin, over.way, over.edges, _read_length(node, scope))
        case ast.Attribute(value=owner, attr=name) if (origin := scope.vertex(owner)) is not None:
            if name in OVER:
                return Over(origin, *OVER[name], None)
            hint = name_hint(name, list(OVER), LOOPS)
            raise scope.error(node, f"a walk cannot go over '{name}' of a vertex", hint)
        case ast.Attribute(value=ast.Name() as owner, attr=name) if name in OVER:
            raise scope.not_reached(owner)
        case _:
            raise scope.error(node, "a walk goes on to neighbours or along edges", LOOPS)


def bind_targets(node: ast.For, over: Over, scope: WalkScope) -> tuple[str, str | None]:
    """Bind what stands between `for` and `in`: the plan's names of the vertex and edge or path."""
    names = [item.id for item in _targets(node.target) if isinstance(item, ast.Name)]
    if len(names) != len(_targets(node.target)) or len(names) > 2:
        raise scope.error(node.target, "a loop of a walk binds plain names", LOOPS)
    for name in names:
        if scope.is_given(name) or name in scope.values or name in scope.assigned:
            raise scope.error(
                node.target, f"'{name}' has a value already", "use another name for the loop"
            )
    if len(set(names)) < len(names):
        raise scope.error(node.target, "two different names stand here", LOOPS)
    vertex = scope.bind_vertex(names[0])
    if over.length is not None:
        return vertex, _bind_path(names, vertex, over, over.length, scope)
    _check_edge(node, names, over, scope)
    return vertex, scope.bind_edge(names[1]) if over.edges else None


def read_numbers(node: ast.For, scope: WalkScope) -> tuple[Size, Size, int]:
    """The bounds of `for k in range(...)`: numbers and parameters, known before the walk begins."""
    start, stop, step = read_range(node.iter, scope)
    return _bound(node, start, scope), _bound(node, stop, scope), step


def is_range(node: ast.expr) -> bool:
    """Whether a loop goes over numbers, as it seems."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def _check_edge(node: ast.For, names: list[str], over: Over, scope: WalkScope) -> None:
    text = ast.unparse(node.iter)
    if over.edges and len(names) == 1:
        raise scope.error(
            node.target,
            "an edge comes with the vertex that it leads to",
            f"write `for {'v' if names[0] == 'e' else names[0]}, e in {text}`",
        )
    if not over.edges and len(names) == 2:
        raise scope.error(
            node.target,
            "neighbours come without their edges: there may be several to each",
            f"write `for {names[0]}, {names[1]} in {text.replace('neighbours', 'edges')}`",
        )


def _bind_path(names: list[str], end: str, over: Over, length: Size, scope: WalkScope) -> str:
    name = names[1] if len(names) == 2 else "path"
    path = Path(scope.fresh(name), over.origin, end, over.edges, length)
    if len(names) == 2:
        scope.paths[name] = path
    return path.name


def _read_length(node: ast.Call, scope: WalkScope) -> Size:
    if len(node.args) != 1 or node.keywords:
        raise scope.error(node, "repeat() takes the number of steps", "write `.repeat(3)`")
    length = read_expression(node.args[0], scope)
    match length:
        case Const(int(value)) if length.type is INT and value >= 1:
            return value
        case ParameterRef(name) if length.type is INT:
            return name
        case _:
            raise scope.error(
                node.args[0],
                "steps are repeated a fixed number of times",
                "write a number from 1 on, or an int parameter: `.repeat(self.length)`",
            )


def _bound(node: ast.For, value: Expression, scope: WalkScope) -> Size:
    match value:
        case Const(int(number)):
            return number
        case ParameterRef(name):
            return name
        case _:
            raise scope.error(
                node.iter,
                "the bounds of a range are known before the walk begins",
                "use numbers and int parameters: range(8), range(self.size), range(len(v.x))",
            )


def _targets(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]
