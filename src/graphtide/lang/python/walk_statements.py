"""The `traverse` of a walk program: nested loops, conditions, and what is sent or reported where.

Loops go to neighbours, along edges, either of them so many times over, and over numbers. `continue`
leaves out what follows it in its loop, so what follows an `if` that holds one is read into both of
its branches. A name that is assigned stands for its value. Rows of matches are reported by
`self.rings(u, v, e.time)` or `self.rings(path.vertices[:-1])`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from graphtide.lang.python.expressions import (
    bind_turns,
    each_vertex,
    read_comprehension,
    read_condition,
    read_expression,
    read_items,
    read_turns,
)
from graphtide.lang.python.mistakes import bad_target, called_outside, uncallable, unsupported
from graphtide.lang.python.scope import OVER, WalkPath, WalkScope, unknown_attribute
from graphtide.lang.python.statements import read_range, sent_values
from graphtide.model.schema import name_hint
from graphtide.plan import walks as w
from graphtide.plan.expressions import (
    BOOL,
    FLOAT,
    INT,
    Compare,
    Const,
    Expression,
    ParameterRef,
    Unary,
    ValueType,
    VertexFact,
)
from graphtide.plan.programs import Accumulator, Direction, Size
from graphtide.plan.walks import Matches, Report

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
    path = WalkPath(scope.fresh(name), over.origin, end, over.edges, length)
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
        return VertexFact(vertex, "id") if vertex else _vertex_number(node, column, scope)
    if scope.vertex(node) is not None:
        raise scope.error(
            node,
            f"'{column}' holds numbers, and this is a vertex",
            f"declare it as `{column}=gt.Vertex`",
        )
    return scope.convert(node, read_expression(node, scope), kind, f"'{column}'")


def _vertex_number(node: ast.expr, column: str, scope: WalkScope) -> Expression:
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
    listed = read_comprehension(node, "each", scope)
    if isinstance(kind, ValueType):
        value = scope.convert(node, listed.value, kind, f"'{column}'")
        return replace(listed, value=value)
    if isinstance(listed.value, VertexFact) and listed.value.fact == "id":
        return listed
    raise scope.error(node, f"'{column}' takes vertices", "write path.vertices")


_TYPES = {"int": INT, "float": FLOAT, "bool": BOOL}
Walk = tuple[w.WalkStatement, ...]


def read_walk(nodes: list[ast.stmt], scope: WalkScope) -> Walk:
    """The statements of a block; what it binds has no value behind it."""
    with scope.block():
        return tuple(_read_block(nodes, scope))


def _read_block(nodes: list[ast.stmt], scope: WalkScope) -> Iterator[w.WalkStatement]:
    for at, node in enumerate(nodes):
        if isinstance(node, ast.Continue):
            return
        if isinstance(node, ast.If) and _continues(node):
            yield from _read_if(node, nodes[at + 1 :], scope)
            return
        yield from _read_statement(node, scope)


def _continues(node: ast.stmt) -> bool:
    """Whether a `continue` of the loop around a statement stands in it."""
    match node:
        case ast.Continue():
            return True
        case ast.If(body=body, orelse=orelse):
            return any(map(_continues, (*body, *orelse)))
        case _:
            return False


def _read_statement(node: ast.stmt, scope: WalkScope) -> Walk:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
            return ()
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            scope.define(node, name, read_expression(value, scope))
            return ()
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            scope.define(node, name, _declared(node, name, read_expression(value, scope), scope))
            return ()
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
            raise _no_assignment(node, target, scope)
        case ast.If():
            return _read_if(node, [], scope)
        case ast.For():
            return (_read_for(node, scope),)
        case ast.Expr(value=ast.Call() as call):
            return _read_call(call, scope)
        case ast.Expr():
            raise scope.error(node, "this does nothing", "send it: v.x(...)")
        case ast.Assign() | ast.AnnAssign():
            raise bad_target(node, scope)
        case _:
            raise unsupported(node, scope)


def _declared(node: ast.AnnAssign, name: str, value: Expression, scope: WalkScope) -> Expression:
    declared = _TYPES.get(ast.unparse(node.annotation))
    if declared is None:
        raise scope.error(
            node.annotation,
            f"'{name}' cannot have this type here",
            "a name in a function is int, float or bool",
        )
    return scope.convert(node, value, declared, f"'{name}'")


def _no_assignment(node: ast.stmt, target: ast.expr, scope: WalkScope) -> Exception:
    if isinstance(node, ast.AugAssign) and isinstance(target, ast.Name):
        return scope.error(
            node,
            f"'{target.id}' keeps its value in a walk",
            "send what is to be added up: v.total(...), with `total = gt.Sum(float)` in the class",
        )
    owner = target.value if isinstance(target, ast.Subscript) else target
    if isinstance(owner, ast.Attribute) and scope.vertex(owner.value) is not None:
        return scope.error(
            target,
            "traverse cannot assign: many walks meet at one vertex",
            "send to an accumulator, v.best(...), and assign in `update`",
        )
    return bad_target(target, scope)


def _read_if(node: ast.If, rest: list[ast.stmt], scope: WalkScope) -> Walk:
    condition = read_condition(node.test, scope)
    then = read_walk([*node.body, *rest], scope)
    otherwise = read_walk([*node.orelse, *rest], scope)
    if then:
        return (w.When(condition, then, otherwise),)
    return (w.When(_negated(condition), otherwise),) if otherwise else ()


def _negated(condition: Expression) -> Expression:
    """The opposite: `v == u` of `v != u`. Orders of floats have none, because of NaN."""
    match condition:
        case Unary("not", operand):
            return operand
        case Compare("==" | "!=" as operator, left, right):
            return Compare("!=" if operator == "==" else "==", left, right)
        case _:
            return Unary("not", condition)


def _read_for(node: ast.For, scope: WalkScope) -> w.WalkStatement:
    if node.orelse:
        raise scope.error(node, "a loop has no else", "write what follows behind the loop")
    turns = read_turns(node.iter, scope)
    if turns is not None:
        with scope.block():
            names = bind_turns(node.target, turns, scope)
            return w.Along(names, turns.items, read_walk(node.body, scope), turns.every)
    if is_range(node.iter):
        return _read_numbers(node, scope)
    over = read_over(node.iter, scope)
    with scope.block():
        vertex, along = bind_targets(node, over, scope)
        body = read_walk(node.body, scope)
    if over.length is None:
        return w.Step(over.origin, over.way, vertex, along, body)
    assert along is not None
    return w.Paths(over.origin, over.way, vertex, along, over.edges, over.length, body)


def _read_numbers(node: ast.For, scope: WalkScope) -> w.WalkStatement:
    if not isinstance(node.target, ast.Name):
        raise scope.error(node, "a loop over numbers is `for k in range(...)`", "with one name")
    variable = node.target.id
    if scope.is_given(variable) or variable in scope.assigned or variable in scope.values:
        raise scope.error(
            node.target, f"'{variable}' has a value already", "use another name for the loop"
        )
    start, stop, step = read_numbers(node, scope)
    with scope.loop(variable):
        body = read_walk(node.body, scope)
    return w.ForEach(variable, start, stop, body, step)


def _read_call(node: ast.Call, scope: WalkScope) -> Walk:
    target, index = node.func, None
    if isinstance(node.func, ast.Subscript):
        target, index = node.func.value, node.func.slice
    if called_outside(node, scope):
        raise uncallable(node, scope)
    if not isinstance(target, ast.Attribute):
        raise scope.error(
            node,
            "a call that stands alone sends, or reports a row",
            "write v.found(1), self.total(1) or self.rings(u, v)",
        )
    if scope.is_self(target.value):
        return _read_own(node, target, index, scope)
    vertex = scope.vertex(target.value)
    if vertex is None and isinstance(target.value, ast.Name) and not scope.edge(target.value):
        raise scope.not_reached(target.value)
    item = _accumulator(target, scope)
    sent = sent_values(node, index, item, scope)
    assert vertex is not None
    return tuple(w.SendAt(vertex, item.name, value, at) for value, at in sent)


def _accumulator(target: ast.Attribute, scope: WalkScope) -> Accumulator:
    name = target.attr
    if scope.vertex(target.value) is None:
        raise scope.error(target, "only vertices are sent to", f"write v.{name}(...)")
    if name in scope.fields.state:
        raise scope.error(
            target, f"'{name}' is state, and only accumulators are sent to", "assign it in `update`"
        )
    if name not in scope.fields.accumulators:
        raise unknown_attribute(target, scope)
    return scope.fields.accumulators[name]


def _read_own(
    node: ast.Call, target: ast.Attribute, index: ast.expr | None, scope: WalkScope
) -> Walk:
    """`self.total(1)` or `self.rings(u, v)`."""
    name, fields = target.attr, scope.fields
    if name in fields.globals:
        sent = sent_values(node, index, fields.globals[name], scope)
        return tuple(w.SendGlobal(name, value, at) for value, at in sent)
    if name in fields.matches and index is None:
        return (read_report(node, fields.matches[name], scope),)
    if name in fields.accumulators:
        hint = f"'{name}' belongs to a vertex: write v.{name}(...), "
        hint += f"or declare `{name} = gt.Global(...)`"
    else:
        hint = name_hint(
            name, [*fields.globals, *fields.matches], f"declare `{name} = gt.Global(gt.Sum(int))`"
        )
    raise scope.error(target, f"nothing of the whole graph is called '{name}'", hint)
