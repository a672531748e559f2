"""The functions of a class over machine numbers: types first, then each number in its place.

Python leaves three things open that the documentation fixes, and all three are types that must be
known beforehand: a local name has one type in the whole function, `a if c else b` has the type of
both, and `**` of ints is whole where the exponent is written as a number.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.oracle.class_texts import ClassText

_FLOATS, _INTS = ("float", "sqrt", "exp", "log", "pow"), ("int", "len", "floor", "ceil")


class LocalTypes:
    """The type of every expression in one function."""

    def __init__(
        self, function: ast.FunctionDef, loaded: ClassText, around: dict[str, Any]
    ) -> None:
        self.loaded, self.around = loaded, around
        self.arguments = [item.arg for item in function.args.args]
        self.local: dict[str, type] = {}
        while self._widened(function):
            pass

    def _widened(self, function: ast.FunctionDef) -> bool:
        before = dict(self.local)
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._join(name, self.of(value))
                case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                    self._join(name, self._arithmetic(op, ast.Name(name), value))
                case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id=kind)):
                    self._join(name, {"int": int, "float": float, "bool": bool}[kind])
                case ast.For(target=ast.Name(id=name)):
                    self._join(name, int)
        return before != self.local

    def _join(self, name: str, kind: type) -> None:
        if self.local.get(name) is not float:
            self.local[name] = kind

    def of(self, node: ast.expr) -> type:
        match node:
            case ast.Constant(value=value):
                return type(value)
            case ast.Name(id=name):
                return self.local.get(name) or type(self.around.get(name, 0))
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in self.arguments:
                return self._attribute(owner, name)
            case ast.Attribute(value=ast.Attribute()):
                return int  # self.pairs.source
            case ast.Attribute():
                return float  # math.pi and its like
            case ast.Subscript(value=ast.Attribute(attr=name)):
                return {**self.loaded.state, **self.loaded.accumulators}[name].type
            case ast.Subscript(slice=ast.Constant(value=name)):
                return self.loaded.properties.get(str(name), float)
            case ast.UnaryOp(op=ast.Not()) | ast.Compare() | ast.BoolOp():
                return bool
            case ast.UnaryOp(operand=operand):
                return self.of(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return self._arithmetic(op, left, right)
            case ast.IfExp(body=body, orelse=orelse):
                return self._wider(body, orelse)
            case ast.Call(func=called, args=arguments):
                return self._called(called, arguments)
        raise AssertionError(ast.dump(node))

    def _attribute(self, owner: str, name: str) -> type:
        fields = {**self.loaded.state, **self.loaded.accumulators}
        if owner == self.arguments[0]:
            found = self.loaded.parameters.get(name, int)
            return found if isinstance(found, type) else int
        if len(self.arguments) == 4 and owner == self.arguments[2]:
            return self.loaded.properties.get(name, float)
        fields |= self.loaded.vertex_properties
        return fields[name].type if name in fields else int

    def _arithmetic(self, op: ast.operator, left: ast.expr, right: ast.expr) -> type:
        whole = isinstance(op, ast.Pow) and self.whole_power(left, right)
        if self.of(left).__name__ == self.of(right).__name__ == "Day":
            return int
        if isinstance(op, ast.Div) or (isinstance(op, ast.Pow) and not whole):
            return float
        return self._wider(left, right)

    def whole_power(self, left: ast.expr, right: ast.expr) -> bool:
        written = _written(right, self.around)
        return float not in (self.of(left), self.of(right)) and written is not None and written >= 0

    def _wider(self, *nodes: ast.expr) -> type:
        kinds = [self.of(node) for node in nodes]
        return float if float in kinds else kinds[0]

    def _called(self, called: ast.expr, arguments: list[ast.expr]) -> type:
        name = called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)
        if name in _FLOATS or name in _INTS:
            return float if name in _FLOATS else int
        return bool if name == "bool" else self._wider(*arguments)


def _written(node: ast.expr, around: dict[str, Any]) -> Any:
    """The value of a number that stands in the text, or comes from outside of the class."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            found = around.get(name)
            return found if isinstance(found, int | float) else None
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _written(operand, around)
            return None if inner is None else -inner
    return None


class Rewriting(ast.NodeTransformer):
    """The same function over machine numbers."""

    def __init__(self, types: LocalTypes) -> None:
        self.types = types

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        plain = isinstance(node.value, int | float) and not isinstance(node.value, bool)
        return _call("_number", node) if plain else node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = node.id in self.types.local or node.id in self.types.arguments
        return node if known else _call("_number", node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        outside = isinstance(node.value, ast.Name) and node.value.id not in self.types.arguments
        return _call("_number", node) if outside else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Attribute):
            node.slice = self.visit(node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        outside = isinstance(owner, ast.Name) and owner.id not in self.types.arguments
        if isinstance(node.func, ast.Name) or outside:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            if name == "float" and isinstance(node.args[0], ast.Constant):
                return _call("_number", _call("_float", node.args[0]))
            node.func = ast.Name(f"_call_{name}", ast.Load())
        else:
            node.func = self.visit(node.func)
        node.args = [self.visit(item) for item in node.args]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        kinds = [self.types.of(node.body), self.types.of(node.orelse)]
        node.test, node.body, node.orelse = map(self.visit, (node.test, node.body, node.orelse))
        if float in kinds:
            node.body, node.orelse = (_typed(float, item) for item in (node.body, node.orelse))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if not isinstance(node.op, ast.Pow):
            return self.generic_visit(node)  # type: ignore[return-value]
        whole = self.types.whole_power(node.left, node.right)
        return _call("_power", self.visit(node.left), self.visit(node.right), ast.Constant(whole))

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        target, value = node.targets[0], self.visit(node.value)
        if isinstance(target, ast.Name):
            value = _typed(self.types.local[target.id], value)
        else:
            target = self.visit(target)
        return ast.Assign([target], value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        assert node.value is not None
        return self.visit_Assign(ast.Assign([node.target], node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        return self.visit_Assign(ast.Assign([node.target], ast.BinOp(read, node.op, node.value)))

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        return node


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _typed(kind: type, value: ast.expr) -> ast.expr:
    return _call("_of_type", ast.Name(f"_{kind.__name__}", ast.Load()), value)
