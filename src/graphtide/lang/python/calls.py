"""Calls of the few functions that programs know.

The function is known by what it is, not by its name: `math.sqrt`, `sqrt` imported from math and
`from math import sqrt as root` are all the same, and a user's own `sqrt` is none.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from types import FunctionType

from graphtide.lang.python.declarations import distinct
from graphtide.lang.python.inlined import read_inlined
from graphtide.lang.python.mistakes import OVER_MANY, comprehension, uncallable
from graphtide.lang.python.references import array_length
from graphtide.lang.python.scope import COMPARED_ONLY, TYPE_WORDS, Scope, as_float
from graphtide.lang.python.values import function_name, look_up
from graphtide.plan import expressions as x

_OF_OTHERS = {*sys.stdlib_module_names, "numpy", "scipy", "pandas"} - {"__main__"}
"""Packages whose functions are named in errors, and not read."""

Read = Callable[[ast.expr, Scope], x.Expression]
"""`read_expression`, handed down because arguments hold expressions again."""


def read_call(node: ast.Call, scope: Scope, read: Read) -> x.Expression:
    """The plan's expression for a call; LanguageError if the function is not known."""
    function = _own_function(node, scope)
    if function is not None:
        return read_inlined(node, function, scope, read)
    name = _called(node, scope)
    if name in OVER_MANY and comprehension(node) is not None:
        raise uncallable(node, scope)
    if node.keywords or any(isinstance(item, ast.Starred) for item in node.args):
        raise scope.error(node, f"{name}() takes plain arguments only", "write them out one by one")
    if name == "len":
        return array_length(_single(node, "len", scope), scope)
    if name == "float" and (infinite := _written_infinity(node)) is not None:
        return infinite
    if name in ("min", "max"):
        return _extreme(node, name, scope, read)
    if name == "**":
        return _power(node, scope, read)
    return _of_one(node, name, read(_single(node, name, scope), scope), scope)


def _own_function(node: ast.Call, scope: Scope) -> FunctionType | None:
    """The function of the user's own that is called; None where it is another thing."""
    if isinstance(node.func, ast.Name) and (
        node.func.id in scope.types or scope.is_given(node.func.id)
    ):
        return None
    value = look_up(node.func, scope.around)
    if not isinstance(value, FunctionType) or value is distinct:
        return None
    package = (value.__module__ or "").split(".")[0]
    return None if package in _OF_OTHERS else value


def _called(node: ast.Call, scope: Scope) -> str:
    if isinstance(node.func, ast.Attribute) and scope.vertex(node.func.value) is not None:
        if node.func.attr not in scope.fields.accumulators:
            raise scope.error(
                node,
                f"a vertex has no function '{node.func.attr}'",
                "it has state, properties and degrees; a walk asks `w in u.neighbours`",
            )
        raise scope.error(
            node,
            "sending to an accumulator has no value",
            "write it as a statement of its own, in `traverse`",
        )
    name = None
    if not (isinstance(node.func, ast.Name) and node.func.id in scope.types):
        name = function_name(look_up(node.func, scope.around))
    if name is None or name == "range":
        raise uncallable(node, scope)
    return name


def _single(node: ast.Call, name: str, scope: Scope) -> ast.expr:
    if len(node.args) == 1:
        return node.args[0]
    hint = "write log(x) / log(2.0)" if name == "log" else None
    raise scope.error(node, f"{name}() takes one argument here, not {len(node.args)}", hint)


def _written_infinity(node: ast.Call) -> x.Expression | None:
    match node.args:
        case [ast.Constant(value="inf" | "+inf" | "-inf" as text)]:
            return x.Const(float(text), x.FLOAT)
        case _:
            return None


def _extreme(node: ast.Call, name: str, scope: Scope, read: Read) -> x.Expression:
    if len(node.args) < 2:
        raise scope.error(node, f"{name}() needs two or more numbers here", f"write {name}(a, b)")
    numbers = [_number(item, read(item, scope), scope) for item in node.args]
    if any(item.type is x.FLOAT for item in numbers):
        numbers = [item if item.type is x.FLOAT else as_float(item) for item in numbers]
    return x.Call("min" if name == "min" else "max", tuple(numbers), numbers[0].type)


def _power(node: ast.Call, scope: Scope, read: Read) -> x.Expression:
    if len(node.args) != 2:
        raise scope.error(node, "pow() takes two arguments here", "write a ** b")
    base, exponent = (_number(item, read(item, scope), scope) for item in node.args)
    return x.Binary("**", _floating(base), _floating(exponent))


def _of_one(node: ast.Call, name: str, value: x.Expression, scope: Scope) -> x.Expression:
    match name:
        case "int" | "float" | "bool":
            return _conversion(node, name, value, scope)
        case "abs":
            return x.Call("abs", (_number(node.args[0], value, scope),), value.type)
        case "sqrt" | "exp" | "log":
            return x.Call(name, (_floating(_number(node.args[0], value, scope)),), x.FLOAT)
        case "floor" | "ceil":
            number = _number(node.args[0], value, scope)
            return number if number.type is x.INT else x.Call(name, (number,), x.INT)
        case _:
            raise AssertionError(f"not a function of programs: {name}")


def _conversion(node: ast.Call, name: str, value: x.Expression, scope: Scope) -> x.Expression:
    to = x.ValueType(name)
    if value.type is x.TEXT:
        raise scope.error(node, "a text cannot be converted", COMPARED_ONLY)
    if value.type.is_moment and to is not x.INT:
        raise scope.error(
            node,
            f"{TYPE_WORDS[value.type]} cannot be made a {to}",
            f"write {to}(int(...)), which is made of its number",
        )
    if value.type is to:
        return value
    if to is x.FLOAT and value.type is x.INT:
        return as_float(value)
    return x.Call("int" if to is x.INT else "float" if to is x.FLOAT else "bool", (value,), to)


def _floating(value: x.Expression) -> x.Expression:
    return value if value.type is x.FLOAT else as_float(value)


def _number(node: ast.expr, value: x.Expression, scope: Scope) -> x.Expression:
    if value.type.is_number:
        return value
    raise scope.error(
        node,
        f"a number is expected here, and this is {TYPE_WORDS[value.type]}",
        COMPARED_ONLY if value.type is x.TEXT else "write int(...)",
    )
