"""What the names in an expression stand for."""

from __future__ import annotations

import ast
import builtins
import math

from graphtide.lang.nga.declarations import FACTS, NEIGHBOURS
from graphtide.lang.nga.names_at_hand import VERTICES, NamesAtHand, like, own, refused
from graphtide.model.schema import name_hint
from graphtide.plan.programs import Parameter, ParameterKind

FUNCTIONS = {
    "abs": builtins.abs,
    "min": builtins.min,
    "max": builtins.max,
    "int": builtins.int,
    "float": builtins.float,
    "bool": builtins.bool,
    "len": builtins.len,
    "range": builtins.range,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "floor": math.floor,
    "ceil": math.ceil,
    "pow": math.pow,
}
"""What functions may be called by, in trees."""

_SPELLED = {
    "Abs": "abs",
    "Min": "min",
    "Max": "max",
    "Sqrt": "sqrt",
    "Exp": "exp",
    "Log": "log",
    "Floor": "floor",
    "Ceil": "ceil",
    "Pow": "pow",
    "Int": "int",
    "Long": "int",
    "Float": "float",
    "Double": "float",
    "Bool": "bool",
    "Size": "len",
    "Div": "div",
}
_CALLED = {word.lower(): name for word, name in _SPELLED.items()}


class ExpressionNames(NamesAtHand):
    """Resolves the names of expressions, in place."""

    def expression(self, node: ast.expr) -> ast.expr:
        """An expression, its names resolved."""
        match node:
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript(value=owner, slice=index):
                node.value, node.slice = self._array(owner), self.expression(index)
            case ast.Call():
                return self._call(node)
            case ast.UnaryOp(operand=operand):
                node.operand = self.expression(operand)
            case ast.BinOp(left=left, right=right):
                node.left, node.right = self.expression(left), self.expression(right)
            case ast.BoolOp(values=values):
                node.values = [self.expression(item) for item in values]
            case ast.IfExp(test=test, body=body, orelse=orelse):
                node.test = self.expression(test)
                node.body, node.orelse = self.expression(body), self.expression(orelse)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                members = isinstance(operator, ast.In | ast.NotIn)
                node.left = self._compared(left)
                node.comparators = [self._members(right) if members else self._compared(right)]
        return node

    def _compared(self, node: ast.expr) -> ast.expr:
        """A side of a comparison, where a vertex may stand for itself."""
        if isinstance(node, ast.Name) and node.id in self.vertices:
            return node
        return self.expression(node)

    def _members(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Attribute(value=ast.Name(id=owner) as vertex, attr=word) if word in NEIGHBOURS:
                if owner not in self.vertices:
                    raise self.not_reached(vertex, owner)
                if self.function.name != "traverse":
                    raise refused(
                        node, "only Traverse asks for edges", "ask there, and send what it is"
                    )
                node.attr = NEIGHBOURS[word]
                return node
            case ast.Name(id=name) if name in self.fields.parameters:
                return own(node, name)
            case _:
                raise refused(
                    node,
                    "`in` asks whether a vertex is a neighbour, or one of a set",
                    "write `w in u.nbrs`, or declare `Parameter (sources: vertices)` "
                    "and write `u in sources`",
                )

    def _name(self, node: ast.Name, name: str) -> ast.expr:
        if name in self.local:
            return node
        if name in self.vertices:
            raise refused(
                node, f"'{name}' alone is no value", f"write {name}.id for the vertex's number"
            )
        if name in self.edges:
            raise refused(node, f"'{name}' alone is no value", f"write {name}.weight")
        if name in self.fields.parameters or name in self.fields.globals:
            self._check_global(node, name)
            return own(node, name)
        if name == VERTICES:
            self.fields.parameters[name] = Parameter(name, ParameterKind.INT)
            self.fields.places[name] = node  # type: ignore[assignment]
            return own(node, name)
        if name.lower() == "superstep":
            if self.function.name != "update":
                raise refused(node, "only Update knows the number of the superstep", "use it there")
            return own(node, "iteration")
        raise self.unknown(node, name)

    def _check_global(self, node: ast.expr, name: str) -> None:
        if name in self.fields.globals and self.function.name != "update":
            raise refused(
                node,
                f"'{name}' cannot be read in {self.word}",
                "it is complete, and can be read, in Update",
            )

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in self.vertices:
                self._check_read(node, name)
                return node
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in self.edges:
                if name not in self.fields.properties:
                    hint = f"declare it: `Edge ({name}: double)`"
                    raise refused(
                        node,
                        f"edges have no '{name}'",
                        name_hint(name, list(self.fields.properties), hint),
                    )
                return like(node, ast.Subscript(node.value, like(node, ast.Constant(name))))
            case ast.Attribute(value=ast.Name(id=owner), attr="source") if (
                owner in self.fields.parameters
            ):
                node.value = own(node.value, owner)
                return node
            case ast.Attribute(value=ast.Name(id=owner) as vertex, attr=name):
                raise self.not_reached(vertex, owner, name)
            case _:
                raise refused(
                    node, "this has no attributes", "attributes belong to vertices and edges"
                )

    def _check_read(self, node: ast.expr, name: str) -> None:
        if name in NEIGHBOURS:
            raise refused(
                node,
                f"'{name}' is a set, and no value",
                "loop over it, `For v in u.nbrs`, or ask `w in u.nbrs`",
            )
        if name in self.fields.accumulators and self.function.name != "update":
            raise refused(
                node,
                f"the accumulator '{name}' cannot be read in {self.word}",
                "it is complete, and can be read, in Update",
            )
        known = {*self.fields.state, *self.fields.accumulators, *self.fields.vertex_properties}
        if name not in FACTS and name not in known:
            raise self.no_attribute(node, name)

    def _array(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Attribute():
                return self._attribute(node)
            case ast.Name(id=name) if name in self.fields.globals:
                self._check_global(node, name)
                return own(node, name)
            case _:
                raise refused(
                    node,
                    "only arrays of a vertex or of the graph have elements",
                    "declare one: `Vertex (x: Array<double, 8>)`",
                )

    def _call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        name = _CALLED.get(node.func.id.lower())
        if name is None:
            raise refused(
                node.func,
                f"there is no function '{node.func.id}'",
                name_hint(node.func.id, list(_SPELLED), f"there are {', '.join(_SPELLED)}"),
            )
        given = [self.expression(item) for item in node.args]
        if name == "div":
            if len(given) != 2:
                raise refused(node, "Div takes two numbers", "write `Div(a, b)`")
            return like(node, ast.BinOp(given[0], ast.FloorDiv(), given[1]))
        node.func.id, node.args = name, given
        return node
