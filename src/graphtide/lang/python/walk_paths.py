"""What is said of many vertices or edges of a walk at once.

distinct(u, v, w)                                             no two are the same
distinct(path.vertices[1:])
all(e.amount > 100 for e in path.edges)                       also any, sum, min and max
all(a.time < b.time for a, b in pairwise(path.edges))         each two that follow each other
all(b in a.neighbours for a, b in combinations(path.vertices, 2))               any two of them
for x in path.vertices: ...                                   as a loop, too
[e.time for e in path.edges]                                  in a row of matches
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

from graphtide.lang.python.declarations import distinct
from graphtide.lang.python.scope import TYPE_WORDS, Scope
from graphtide.lang.python.values import look_up
from graphtide.lang.python.walk_scope import WalkScope, constant_int
from graphtide.plan import expressions as x
from graphtide.plan.walk_unrolling import different

Fold = Literal["all", "any", "sum", "min", "max", "each"]
Read = Callable[[ast.expr, Scope], x.Expression]
"""`read_expression`, handed down because what is said holds expressions again."""

_FOLDS: tuple[tuple[object, Fold], ...] = (
    (builtins.all, "all"),
    (builtins.any, "any"),
    (builtins.sum, "sum"),
    (builtins.min, "min"),
    (builtins.max, "max"),
)
_ITEMS = "write `for e in path.edges`, `for x in path.vertices[1:]`, "
_ITEMS += "`for a, b in pairwise(path.edges)` or `for a, b in combinations(path.vertices, 2)`"


def read_along(node: ast.Call, scope: WalkScope, read: Read) -> x.Expression | None:
    """The value of a call that speaks of many items; None of any other call."""
    called = look_up(node.func, scope.around)
    if called is distinct:
        return _read_distinct(node, scope)
    fold = next((name for function, name in _FOLDS if called is function), None)
    match node.args:
        case [ast.GeneratorExp() | ast.ListComp() as said] if fold is not None:
            return read_comprehension(said, fold, scope, read)
        case _:
            return None


def read_comprehension(
    node: ast.GeneratorExp | ast.ListComp, fold: Fold, scope: WalkScope, read: Read
) -> x.OverPath:
    """`... for a, b in pairwise(path.edges)`, of which the fold makes one value."""
    if len(node.generators) != 1 or node.generators[0].ifs or node.generators[0].is_async:
        raise scope.error(node, "one plain `for` stands in a comprehension", _ITEMS)
    loop = node.generators[0]
    turns = read_turns(loop.iter, scope)
    if turns is None:
        raise scope.error(loop.iter, "a comprehension goes over the items of a path", _ITEMS)
    with scope.block():
        names = bind_turns(loop.target, turns, scope)
        value = read(node.elt, scope)
    if len(names) == 2 and fold in ("min", "max"):
        raise scope.error(node, f"{fold}() of pairs may be of nothing", "use all, any or sum")
    _check_value(node, fold, value, scope)
    return x.OverPath(fold, names, turns.items, value, turns.every)


@dataclass(frozen=True)
class Turns:
    """What is gone over along a path: its items, each two that follow, or every two."""

    items: x.PathItems
    pairs: bool = False
    every: bool = False


def read_turns(node: ast.expr, scope: WalkScope) -> Turns | None:
    """`path.edges`, `pairwise(path.edges)` or `combinations(path.edges, 2)`; None of others."""
    inner, pairs, every = node, False, False
    match node:
        case ast.Call(func=function, args=[inner], keywords=[]) if (
            look_up(function, scope.around) is itertools.pairwise
        ):
            pairs = True
        case ast.Call(func=function, args=[inner, size], keywords=[]) if (
            look_up(function, scope.around) is itertools.combinations
        ):
            if constant_int(size) != 2:
                raise scope.error(size, "items are combined two at a time", _ITEMS)
            pairs = every = True
        case _:
            inner = node
    items = read_items(inner, scope)
    return None if items is None else Turns(items, pairs, every)


def bind_turns(target: ast.expr, turns: Turns, scope: WalkScope) -> tuple[str, ...]:
    """Bind what stands between `for` and `in`: the names that the plan has for it."""
    names = [item.id for item in _targets(target) if isinstance(item, ast.Name)]
    if len(names) != 1 + turns.pairs or len(_targets(target)) != len(names):
        wanted = "two names, as in `for a, b in`" if turns.pairs else "one name, as in `for e in`"
        raise scope.error(target, f"here stand {wanted}", _ITEMS)
    for name in names:
        _check_new(target, name, scope)
    if len(set(names)) < len(names):
        raise scope.error(target, "two different names stand here", _ITEMS)
    bind = scope.bind_vertex if turns.items.kind == "vertices" else scope.bind_edge
    return tuple(bind(name) for name in names)


def read_items(node: ast.expr, scope: WalkScope) -> x.PathItems | None:
    """`path.edges` or `path.vertices[1:]`; None of anything else."""
    match node:
        case ast.Attribute(attr="vertices" | "edges" as kind):
            path = scope.path_of(node, kind)
            return None if path is None else x.PathItems(path.name, _kind(kind))
        case ast.Subscript(
            value=ast.Attribute(attr="vertices" | "edges" as kind) as owner,
            slice=ast.Slice() as cut,
        ):
            path = scope.path_of(owner, kind)
            if path is None:
                return None
            return x.PathItems(path.name, _kind(kind), *_read_slice(cut, scope))
        case _:
            return None


def _read_slice(node: ast.Slice, scope: WalkScope) -> tuple[int | None, int | None]:
    ends = [constant_int(end) for end in (node.lower, node.upper)]
    written = [end for end in (node.lower, node.upper) if end is not None]
    if node.step is not None or len(written) != sum(end is not None for end in ends):
        raise scope.error(node, "a path is cut at fixed places", "write `[1:]`, `[:-1]` or `[1:3]`")
    return ends[0], ends[1]


def _read_distinct(node: ast.Call, scope: WalkScope) -> x.Expression:
    members: list[x.Vertex | x.PathItems] = []
    for item in node.args:
        vertex = scope.vertex(item)
        items = None if vertex is not None else read_items(item, scope)
        if vertex is not None:
            members.append(vertex)
        elif items is not None and items.kind == "vertices":
            members.append(items)
        else:
            raise scope.error(
                item,
                "distinct() takes vertices that the walk has reached",
                "write distinct(u, v, w) or distinct(path.vertices)",
            )
    if node.keywords or not members or (len(members) == 1 and isinstance(members[0], str)):
        raise scope.error(node, "distinct() takes two or more vertices", "write distinct(u, v, w)")
    plain = [item for item in members if isinstance(item, str)]
    return different(plain) if len(plain) == len(members) else x.Distinct(tuple(members))


def each_vertex(items: x.PathItems, scope: WalkScope) -> x.OverPath:
    """The numbers of vertices of a path, for a row of matches."""
    name = scope.fresh("x")
    return x.OverPath("each", (name,), items, x.VertexFact(name, "id"))


def _targets(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _check_new(node: ast.AST, name: str, scope: WalkScope) -> None:
    if scope.is_given(name) or name in scope.values or name in scope.assigned:
        raise scope.error(node, f"'{name}' has a value already", "use another name")


def _check_value(node: ast.AST, fold: Fold, value: x.Expression, scope: WalkScope) -> None:
    truth = fold in ("all", "any")
    if fold == "each" or truth == (value.type is x.BOOL):
        return
    wanted = "true or false" if truth else "numbers"
    raise scope.error(
        node,
        f"{fold}() is of {wanted}, and this is {TYPE_WORDS[value.type]}",
        "compare it, for example with `!= 0`" if truth else "write int(...) around it",
    )


def _kind(word: str) -> Literal["vertices", "edges"]:
    return cast(Literal["vertices", "edges"], word)
