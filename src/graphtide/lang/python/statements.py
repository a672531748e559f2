"""The functions of a vertex program: Python statements to those of the plan, and what they send.

`v.best(value)`, `v.votes[k](value)` and `v.moments([a, b, c])` send to accumulators: one statement
of the plan for each element. Walks have statements of their own (`walk_statements`), and send
alike.
"""

from __future__ import annotations

import ast

from graphtide.lang.python.expressions import (
    is_infinite,
    read_binary,
    read_condition,
    read_expression,
    read_index,
)
from graphtide.lang.python.mistakes import (
    bad_target,
    called_outside,
    no_change,
    uncallable,
    unsupported,
)
from graphtide.lang.python.scope import (
    OVER,
    FunctionScope,
    WidenedError,
    check_index,
    unknown_attribute,
)
from graphtide.lang.python.source import function_name, look_up
from graphtide.model.limits import BLOCKS, DEPTH, nested_deeper
from graphtide.plan.expressions import BOOL, FLOAT, INT, Const, Expression, ValueType
from graphtide.plan.programs import (
    Accumulator,
    AccumulatorKind,
    AssignLocal,
    AssignState,
    Body,
    ForRange,
    If,
    Send,
    Statement,
)


def read_send(node: ast.Call, scope: FunctionScope) -> Body:
    """The statements for a call that stands alone: one for each element that is sent to."""
    attribute, index_node = _target(node, scope)
    item = _accumulator(node, attribute, scope)
    sent = sent_values(node, index_node, item, scope)
    return tuple(Send(item.name, value, index) for value, index in sent)


def sent_values(
    node: ast.Call, index_node: ast.expr | None, item: Accumulator, scope: FunctionScope
) -> list[tuple[Expression, Expression | None]]:
    """The values that one call sends, each with the element that it goes to."""
    if node.keywords or any(isinstance(value, ast.Starred) for value in node.args):
        raise scope.error(node, "sending takes one plain value", f"write v.{item.name}(value)")
    if index_node is None and len(node.args) == 1 and isinstance(node.args[0], ast.List):
        return _send_list(node.args[0], item, scope)
    index = None if index_node is None else read_index(index_node, scope)
    place = node.func.value if isinstance(node.func, ast.Subscript) else node.func
    check_index(place, item, index, scope)
    return [(_sent(node, item, scope), index)]


def _target(node: ast.Call, scope: FunctionScope) -> tuple[ast.Attribute, ast.expr | None]:
    match node.func:
        case ast.Attribute(value=owner) as attribute if scope.vertex(owner) is not None:
            return attribute, None
        case ast.Subscript(value=ast.Attribute(value=owner) as attribute, slice=index) if (
            scope.vertex(owner) is not None
        ):
            return attribute, index
        case _ if called_outside(node, scope):
            raise uncallable(node, scope)
        case _:
            raise scope.error(
                node,
                "a call that stands alone can only send to an accumulator",
                "write v.best(value) with `best = gt.Min(float)` in the class",
            )


def _accumulator(node: ast.Call, attribute: ast.Attribute, scope: FunctionScope) -> Accumulator:
    name = attribute.attr
    if name in scope.fields.state:
        raise scope.error(
            node, f"'{name}' is state, and only accumulators are sent to", "assign it in `update`"
        )
    if name not in scope.fields.accumulators:
        raise unknown_attribute(attribute, scope)
    if scope.function != "traverse":
        raise scope.error(node, f"{scope.function} cannot send", "send in `traverse`")
    if scope.vertex(attribute.value) != "v":
        target = next(name for name, plan in scope.vertices.items() if plan == "v")
        raise scope.error(
            node,
            "messages go the way the edge is traversed",
            f'send to {target}; set `direction = "in"` to turn the edges round',
        )
    return scope.fields.accumulators[name]


def _sent(node: ast.Call, item: Accumulator, scope: FunctionScope) -> Expression:
    if item.kind is AccumulatorKind.COUNT:
        if node.args:
            raise scope.error(
                node, "a count is sent nothing", f"write v.{item.name}(), or use gt.Sum(int)"
            )
        return Const(1, INT)
    if len(node.args) != 1:
        raise scope.error(node, "one value is sent at a time", f"write v.{item.name}(value)")
    return _converted(node.args[0], item, scope)


def _converted(node: ast.expr, item: Accumulator, scope: FunctionScope) -> Expression:
    value = read_expression(node, scope)
    if item.type is INT and is_infinite(value):
        raise scope.error(
            node,
            f"v.{item.name} holds ints, and ints have no infinity",
            f"declare {item.name} with float",
        )
    return scope.convert(node, value, item.type, f"v.{item.name}")


def _send_list(
    node: ast.List, item: Accumulator, scope: FunctionScope
) -> list[tuple[Expression, Expression | None]]:
    if item.size != len(node.elts):
        held = "no array" if item.size is None else f"an array of {item.size}"
        raise scope.error(
            node,
            f"'{item.name}' is {held}, and {len(node.elts)} values are sent",
            "send one value to each element",
        )
    return [(_converted(value, item, scope), Const(at, INT)) for at, value in enumerate(node.elts)]


_TYPES = {"int": INT, "float": FLOAT, "bool": BOOL}


def read_body(nodes: list[ast.stmt], scope: FunctionScope) -> Body:
    """The statements of a whole function; read again as long as local names widen."""
    check_nesting(nodes, scope)
    while True:
        scope.assigned.clear()
        scope.loops.clear()
        try:
            return read_statements(nodes, scope)
        except WidenedError:
            continue


def check_nesting(nodes: list[ast.stmt], scope: FunctionScope) -> None:
    """Refuse what is nested deeper than those who read and compile it go."""
    for node in nodes:
        deep = nested_deeper(node)
        if deep is not None:
            hint = "give parts of it a name of their own: `part = ...`"
            raise scope.error(deep, f"this is nested more than {DEPTH} deep", hint)
        deep = nested_deeper(node, BLOCKS, _blocks_below)
        if deep is not None:
            hint = "join conditions with `and`"
            raise scope.error(deep, f"these blocks are nested more than {BLOCKS} deep", hint)
    going_on = [item for node in nodes for item in ast.walk(node) if isinstance(item, ast.Continue)]
    if len(going_on) > BLOCKS:  # What stands behind each is a block of its own.
        hint = "join their conditions with `or`"
        raise scope.error(going_on[BLOCKS], f"there are more than {BLOCKS} `continue` here", hint)


def _blocks_below(node: ast.stmt) -> list[ast.stmt]:
    """The statements within a statement; an `elif` goes no deeper."""
    below: list[ast.stmt] = []
    while True:
        below += getattr(node, "body", ())
        orelse = getattr(node, "orelse", [])
        if len(orelse) != 1 or not isinstance(orelse[0], ast.If):
            return below + orelse
        node = orelse[0]


def read_statements(nodes: list[ast.stmt], scope: FunctionScope) -> Body:
    """Statements one after the other; `pass` and texts are none."""
    return tuple(statement for node in nodes for statement in _read_statement(node, scope))


def _read_statement(node: ast.stmt, scope: FunctionScope) -> Body:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
            return ()
        case ast.Assign(targets=[target], value=value):
            return (_assign(target, read_expression(value, scope), value, scope),)
        case ast.AugAssign(target=ast.Attribute() as target, value=value) if (
            scope.function == "traverse" and target.attr in scope.fields.accumulators
        ):
            raise scope.error(
                target,
                f"the accumulator '{target.attr}' cannot be read in traverse",
                f"send to it: {ast.unparse(target)}({ast.unparse(value)}); a gt.Sum adds that up",
            )
        case ast.AugAssign(target=target, op=op, value=value):
            return (_assign(target, _changed(node, target, op, value, scope), value, scope),)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            _declare(node, name, scope)
            return (_assign(node.target, read_expression(value, scope), value, scope),)
        case ast.If(test=test, body=body, orelse=orelse):
            return (_read_if(test, body, orelse, scope),)
        case ast.For():
            return (_read_for(node, scope),)
        case ast.Expr(value=ast.Call() as call):
            return read_send(call, scope)
        case ast.Expr():
            raise scope.error(node, "this does nothing", "assign it, or send it: v.x(...)")
        case ast.Assign() | ast.AnnAssign():
            raise bad_target(node, scope)
        case _:
            raise unsupported(node, scope)


def _changed(
    node: ast.AST, target: ast.expr, op: ast.operator, value: ast.expr, scope: FunctionScope
) -> Expression:
    """The new value of `target op= value`."""
    if not isinstance(target, ast.Name | ast.Attribute | ast.Subscript):
        raise bad_target(target, scope)
    if (
        isinstance(target, ast.Name)
        and target.id not in scope.types
        and not scope.is_given(target.id)
    ):
        raise no_change(target, scope)
    return read_binary(
        node, op, read_expression(target, scope), read_expression(value, scope), scope
    )


def _declare(node: ast.AnnAssign, name: str, scope: FunctionScope) -> None:
    """`x: float = 0`: the type of a local name, in words."""
    declared = _TYPES.get(ast.unparse(node.annotation))
    if declared is None or scope.types.setdefault(name, declared) is not declared:
        raise scope.error(
            node.annotation,
            f"'{name}' cannot have this type here",
            "a name in a function is int, float or bool, and the same everywhere",
        )


def _assign(target: ast.expr, value: Expression, node: ast.expr, scope: FunctionScope) -> Statement:
    match target:
        case ast.Name(id=name):
            _check_local(target, name, scope)
            return AssignLocal(name, scope.assign(node, name, value))
        case ast.Attribute(value=owner) if _is_owner(owner, scope):
            return _assign_state(target, None, value, node, scope)
        case ast.Subscript(value=ast.Attribute(value=owner) as field) if _is_owner(owner, scope):
            if field.attr not in scope.fields.state:
                return _assign_state(field, None, value, node, scope)
            index = read_index(target.slice, scope)
            return _assign_state(field, index, value, node, scope)
        case _:
            raise bad_target(target, scope)


def _is_owner(node: ast.expr, scope: FunctionScope) -> bool:
    """Whether a node is something whose attributes one may want to assign."""
    return scope.is_self(node) or scope.vertex(node) is not None or scope.edge(node) is not None


def _check_local(target: ast.expr, name: str, scope: FunctionScope) -> None:
    if scope.is_given(name) or name in scope.loops:
        raise scope.error(
            target, f"'{name}' cannot be assigned: it has its value already", "use another name"
        )


def _assign_state(
    target: ast.Attribute,
    index: Expression | None,
    value: Expression,
    node: ast.expr,
    scope: FunctionScope,
) -> AssignState:
    _check_owner(target, scope)
    name = target.attr
    if name not in scope.fields.state:
        raise _no_state(target, scope)
    field = scope.fields.state[name]
    check_index(target, field, index, scope)
    if field.type is INT and is_infinite(value):
        raise _no_infinity(node, name, scope)
    return AssignState(name, scope.convert(node, value, field.type, f"v.{name}"), index)


def _check_owner(target: ast.Attribute, scope: FunctionScope) -> None:
    if scope.function == "traverse":
        raise scope.error(
            target,
            "traverse cannot assign: many edges meet at one vertex",
            "send to an accumulator, v.best(...), and assign in `update`",
        )
    if scope.is_self(target.value):
        raise scope.error(
            target, "parameters keep their value", f"state is assigned on a vertex: v.{target.attr}"
        )


def _no_state(target: ast.Attribute, scope: FunctionScope) -> Exception:
    name = target.attr
    if name in scope.fields.accumulators:
        return scope.error(
            target,
            f"'{name}' is an accumulator and cannot be assigned",
            f"send to it in `traverse`: v.{name}(...)",
        )
    if name in scope.fields.vertex_properties:
        return scope.error(
            target,
            f"'{name}' is a property of the data and cannot be assigned",
            f"declare state of another name, and start it with v.{name} in `initialize`",
        )
    if name in ("id", "out_degree", "in_degree", "degree"):
        return scope.error(target, f"'{name}' is what the graph says", "assign to state")
    return unknown_attribute(target, scope)


def _no_infinity(node: ast.expr, name: str, scope: FunctionScope) -> Exception:
    return scope.error(
        node,
        f"v.{name} is an int, and ints have no infinity",
        f"declare {name} as float, or use a number that is large enough",
    )


def _read_if(
    test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], scope: FunctionScope
) -> Statement:
    condition = read_condition(test, scope)
    before = set(scope.assigned)
    then = read_statements(body, scope)
    after_then, scope.assigned = scope.assigned, before
    otherwise = read_statements(orelse, scope)
    scope.assigned &= after_then
    return If(condition, then, otherwise)


def _read_for(node: ast.For, scope: FunctionScope) -> Statement:
    if not isinstance(node.target, ast.Name) or node.orelse:
        raise scope.error(node, "a loop is `for k in range(...)`", "with one name and no else")
    variable = node.target.id
    if scope.is_given(variable) or variable in scope.assigned:
        raise scope.error(
            node.target, f"'{variable}' has a value already", "use another name for the loop"
        )
    start, stop, step = read_range(node.iter, scope)
    if scope.types.get(variable, INT) is not INT:
        raise scope.error(node.target, f"'{variable}' is also a float", "use another name")
    with scope.loop(variable):
        body = read_statements(node.body, scope)
    return ForRange(variable, start, stop, body, step)


def read_range(node: ast.expr, scope: FunctionScope) -> tuple[Expression, Expression, int]:
    if not (
        isinstance(node, ast.Call)
        and function_name(look_up(node.func, scope.around)) == "range"
        and 1 <= len(node.args) <= 3
        and not node.keywords
    ):
        if isinstance(node, ast.Attribute) and node.attr in OVER:
            raise scope.error(
                node,
                "a vertex does not go over its neighbours here: they send to it",
                "`traverse(self, u, e, v)` is carried out for every edge; loops over neighbours "
                "stand in a walk, `def traverse(self, u)`",
            )
        raise scope.error(
            node, "a loop goes over a range", "write range(8), range(self.rank) or range(len(v.x))"
        )
    bounds = [read_index(item, scope) for item in node.args[:2]]
    start = bounds[0] if len(bounds) == 2 else Const(0, ValueType.INT)
    return start, bounds[-1], _read_step(node, scope)


def _read_step(node: ast.Call, scope: FunctionScope) -> int:
    if len(node.args) < 3:
        return 1
    step = read_expression(node.args[2], scope)
    if isinstance(step, Const) and step.type is INT and step.value != 0:
        return int(step.value)
    raise scope.error(node.args[2], "the step of a range is a fixed int", "for example 2 or -1")
