"""The `traverse` of a walk program: nested loops, conditions, and what is sent where.

`continue` leaves out what follows it in its loop, so what follows an `if` that holds one is read
into both of its branches. A name that is assigned stands for its value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphtide.lang.python.expressions import read_condition, read_expression
from graphtide.lang.python.mistakes import bad_target, called_outside, uncallable, unsupported
from graphtide.lang.python.references import unknown_attribute
from graphtide.lang.python.sending import sent_values
from graphtide.lang.python.walk_loops import bind_targets, is_range, read_numbers, read_over
from graphtide.lang.python.walk_paths import bind_turns, read_turns
from graphtide.lang.python.walk_reports import read_report
from graphtide.lang.python.walk_scope import WalkScope
from graphtide.model.schema import name_hint
from graphtide.plan import walks as w
from graphtide.plan.expressions import BOOL, FLOAT, INT, Compare, Expression, Unary
from graphtide.plan.programs import Accumulator

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
