"""Sending to accumulators: `v.best(value)`, `v.votes[k](value)`, `v.moments([a, b, c])`."""

from __future__ import annotations

import ast

from graphtide.lang.python.expressions import is_infinite, read_expression, read_index
from graphtide.lang.python.mistakes import called_outside, uncallable
from graphtide.lang.python.references import check_index, unknown_attribute
from graphtide.lang.python.scope import Scope
from graphtide.plan.expressions import INT, Const, Expression
from graphtide.plan.programs import Accumulator, AccumulatorKind, Body, Send


def read_send(node: ast.Call, scope: Scope) -> Body:
    """The statements for a call that stands alone: one for each element that is sent to."""
    attribute, index_node = _target(node, scope)
    item = _accumulator(node, attribute, scope)
    sent = sent_values(node, index_node, item, scope)
    return tuple(Send(item.name, value, index) for value, index in sent)


def sent_values(
    node: ast.Call, index_node: ast.expr | None, item: Accumulator, scope: Scope
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


def _target(node: ast.Call, scope: Scope) -> tuple[ast.Attribute, ast.expr | None]:
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


def _accumulator(node: ast.Call, attribute: ast.Attribute, scope: Scope) -> Accumulator:
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


def _sent(node: ast.Call, item: Accumulator, scope: Scope) -> Expression:
    if item.kind is AccumulatorKind.COUNT:
        if node.args:
            raise scope.error(
                node, "a count is sent nothing", f"write v.{item.name}(), or use gt.Sum(int)"
            )
        return Const(1, INT)
    if len(node.args) != 1:
        raise scope.error(node, "one value is sent at a time", f"write v.{item.name}(value)")
    return _converted(node.args[0], item, scope)


def _converted(node: ast.expr, item: Accumulator, scope: Scope) -> Expression:
    value = read_expression(node, scope)
    if item.type is INT and is_infinite(value):
        raise scope.error(
            node,
            f"v.{item.name} holds ints, and ints have no infinity",
            f"declare {item.name} with float",
        )
    return scope.convert(node, value, item.type, f"v.{item.name}")


def _send_list(
    node: ast.List, item: Accumulator, scope: Scope
) -> list[tuple[Expression, Expression | None]]:
    if item.size != len(node.elts):
        held = "no array" if item.size is None else f"an array of {item.size}"
        raise scope.error(
            node,
            f"'{item.name}' is {held}, and {len(node.elts)} values are sent",
            "send one value to each element",
        )
    return [(_converted(value, item, scope), Const(at, INT)) for at, value in enumerate(node.elts)]
