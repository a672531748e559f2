"""Calls in programs: the few functions that programs know, and small functions of the user's own.

A function is known by what it is, not by its name: `math.sqrt`, `sqrt` imported from math and
`from math import sqrt as root` are all the same, and a user's own `sqrt` is none of them. A call of
a user's function stands for what it returns:

    def fade(amount, days):           v.best(fade(e.amount, e.age))
        if days > 30:
            return 0.0           is      v.best(0.0 if e.age > 30 else e.amount / (1 + e.age))
        return amount / (1 + days)

The function is found again by its source and never run. What it is called with stands in the place
of its arguments, its names stand for their values, and its ifs become choices: the plan is the one
that the same thing written out would have, so that proofs, engines and stored programs need to know
nothing of functions. It computes with what it is given, and with constants from around it; it has
no vertices and no edges of its own, and does not call itself.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FunctionType

from graphtide.lang.python.declarations import distinct
from graphtide.lang.python.fields import Fields
from graphtide.lang.python.mistakes import (
    OVER_MANY,
    comprehension,
    no_change,
    uncallable,
    unsupported,
)
from graphtide.lang.python.scope import (
    COMPARED_ONLY,
    TYPE_WORDS,
    FunctionScope,
    array_length,
    as_float,
)
from graphtide.lang.python.source import (
    FunctionSource,
    constant,
    find_function_source,
    function_name,
    look_up,
)
from graphtide.model.errors import LimitError
from graphtide.model.limits import DEPTH, Nested, nested_deeper
from graphtide.plan import expressions as x
from graphtide.plan.expressions import Expression, Text

ReadExpression = Callable[[ast.expr, FunctionScope], Expression]
"""`read_expression`, handed down because arguments hold expressions again."""

MOST_CALLS = 20
"""How deep functions may call each other."""
MOST_OPERATIONS = 1_000
"""Of what one call stands for: more take a minute to compile."""
_WAYS = "a function that a program calls holds assignments, ifs and `return`"


@dataclass
class InlinedScope(FunctionScope):
    """A function as it is being read: its names stand for values of the place of the call."""

    calls: tuple[FunctionType, ...] = field(default=(), kw_only=True)


def read_inlined(
    node: ast.Call, function: FunctionType, scope: FunctionScope, read: ReadExpression
) -> Expression:
    calls = (*getattr(scope, "calls", ()), function)
    name = function.__name__ if function.__name__ != "<lambda>" else ast.unparse(node.func)
    if function in calls[:-1]:
        raise scope.error(
            node, f"{name}() calls itself, and a program has no recursion", "write it as a loop"
        )
    if len(calls) > MOST_CALLS:
        raise scope.error(
            node, f"functions call each other more than {MOST_CALLS} deep", "join some of them"
        )
    source = find_function_source(function)
    if source is None:
        raise scope.error(
            node,
            f"the source of {name}() cannot be found, and a function is read from its source",
            "define it in a file or in a cell of a notebook",
        )
    given = _given(node, function, source, scope, read)
    known = Fields(properties=scope.fields.properties)
    inside = InlinedScope(source, known, name, "", {}, {}, source.around, given, calls=calls)
    try:
        value = _Body(inside, read, name).value(source)
    except LimitError as error:
        raise scope.error(node, error.what, error.hint) from None
    if isinstance(value, Nested) and (value.size > MOST_OPERATIONS or value.depth > DEPTH):
        raise scope.error(
            node,
            f"{name}() stands for {value.size:,} operations, {value.depth} deep: too many",
            "what is assigned in a function is put in wherever its name stands: "
            "make it shorter, or compute parts of it in the program",
        )
    return value


def _given(
    node: ast.Call,
    function: FunctionType,
    source: FunctionSource,
    scope: FunctionScope,
    read: ReadExpression,
) -> dict[str, Expression]:
    arguments = source.node.args
    if arguments.vararg or arguments.kwarg:
        raise source.error(
            source.node, "a function that a program calls names all its arguments", "leave out `*`"
        )
    places = [item.arg for item in (*arguments.posonlyargs, *arguments.args)]
    named = [*places[len(arguments.posonlyargs) :], *(item.arg for item in arguments.kwonlyargs)]
    wanted = list(dict.fromkeys((*places, *named)))
    for item in node.args:
        if isinstance(item, ast.Starred):
            raise scope.error(node, "arguments are written out one by one", "leave out `*`")
    values = dict(zip(places, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg not in named or keyword.arg in values:
            raise scope.error(node, _no_such(node, wanted), "call it as it is defined")
        values[keyword.arg] = keyword.value
    if len(node.args) > len(places):
        raise scope.error(node, _no_such(node, wanted), "call it as it is defined")
    found = {name: _argument(item, scope, read) for name, item in values.items()}
    defaults = dict(_defaults(function, places))
    for name in wanted:
        if name in found:
            continue
        if name not in defaults:
            raise scope.error(node, _no_such(node, wanted), f"give it '{name}'")
        default = constant(defaults[name])
        if default is None and not isinstance(defaults[name], str):
            raise source.error(
                source.node, f"the default of '{name}' is no number and no text", "give it a value"
            )
        found[name] = default or Text(str(defaults[name]))
    return found


def _no_such(node: ast.Call, wanted: list[str]) -> str:
    return f"{ast.unparse(node.func)}() takes {', '.join(wanted) or 'no arguments'}"


def _defaults(function: FunctionType, places: list[str]) -> Iterator[tuple[str, object]]:
    given = function.__defaults__ or ()
    yield from zip(places[len(places) - len(given) :], given, strict=True)
    yield from (function.__kwdefaults__ or {}).items()


def _argument(node: ast.expr, scope: FunctionScope, read: ReadExpression) -> Expression:
    if scope.vertex(node) is not None or scope.edge(node) is not None or scope.is_self(node):
        written, what = ast.unparse(node), "weight"
        if scope.vertex(node) is not None:
            what = next(iter(scope.fields.state), "id")
        elif scope.is_self(node):
            what = next(iter(scope.fields.parameters), "rate")
        raise scope.error(
            node,
            f"functions are handed numbers and texts, and '{written}' is neither",
            f"hand over what it needs of it: {written}.{what}",
        )
    return read(node, scope)


class _Body:
    """Reads statements one after the other; what names stand for is in the scope's `values`."""

    def __init__(self, scope: InlinedScope, read: ReadExpression, name: str) -> None:
        self.scope, self.read, self.name = scope, read, name

    def value(self, source: FunctionSource) -> Expression:
        node = source.node
        if isinstance(node, ast.Lambda):
            return self.read(node.body, self.scope)
        if node.decorator_list:
            raise source.error(
                node.decorator_list[0],
                "a function that a program calls takes no decorators",
                "remove it",
            )
        if isinstance(node, ast.AsyncFunctionDef):
            raise source.error(node, f"{self.name}() is asynchronous", "write `def`")
        for item in node.body:
            deep = nested_deeper(item)
            if deep is not None:
                raise source.error(deep, f"this is nested more than {DEPTH} deep", "split it up")
        returned = self.block(node.body)
        if returned is None:
            raise source.error(
                node, f"{self.name}() may end without a value", "end every way with `return ...`"
            )
        return returned

    def block(self, nodes: list[ast.stmt]) -> Expression | None:
        """What the statements return; None where they end without."""
        for at, node in enumerate(nodes):
            match node:
                case ast.Return(value=ast.expr() as value):
                    return self.read(value, self.scope)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.define(name, self.read(value, self.scope))
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self.define(name, self.read(value, self.scope))
                case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                    if name not in self.scope.values:
                        raise no_change(target, self.scope)
                    before = ast.copy_location(ast.Name(name, ast.Load()), target)
                    changed = ast.copy_location(ast.BinOp(before, op, value), node)
                    self.define(name, self.read(changed, self.scope))
                case ast.If():
                    if any(isinstance(item, ast.Return) for item in ast.walk(node)):
                        return self.branches(node, nodes[at + 1 :])
                    self.merge(node)
                case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                    pass
                case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                    raise self.scope.error(
                        node, "only names can be assigned in a function", f"{_WAYS}: `part = ...`"
                    )
                case ast.For() | ast.Expr() | ast.Return():
                    raise self.scope.error(node, f"this cannot stand in {self.name}()", _WAYS)
                case _:
                    error = unsupported(node, self.scope)
                    error.hint = _WAYS
                    raise error
        return None

    def define(self, name: str, value: Expression) -> None:
        self.scope.values[name] = value
        size = getattr(value, "size", 1)
        if isinstance(value, Nested) and size > MOST_OPERATIONS:
            raise LimitError(
                f"in {self.name}(), '{name}' stands for more than {MOST_OPERATIONS:,} operations",
                hint="what is assigned in a function is put in wherever its name stands",
            )

    def branches(self, node: ast.If, rest: list[ast.stmt]) -> Expression | None:
        """What an `if` returns, with what follows it put behind both of its ways."""
        condition = self.read(node.test, self.scope)
        before = dict(self.scope.values)
        ways: list[Expression] = []
        for body in (node.body, node.orelse):
            self.scope.values = dict(before)
            returned = self.block([*body, *rest])
            if returned is None:
                return None
            ways.append(returned)
        self.scope.values = before
        return self.choice(node, condition, *ways)

    def merge(self, node: ast.If) -> None:
        """Go on behind an `if` that returns nothing: names are choices between its two ways."""
        condition = self.read(node.test, self.scope)
        before = dict(self.scope.values)
        ways: list[dict[str, Expression]] = []
        for body in (node.body, node.orelse):
            self.scope.values = dict(before)
            self.block(body)
            ways.append(self.scope.values)
        then, otherwise = ways
        self.scope.values = before
        for name in {**then, **otherwise}:
            if name not in then or name not in otherwise:
                self.scope.types[name] = {**then, **otherwise}[name].type  # It may have none.
            elif then[name] is otherwise[name]:
                self.define(name, then[name])
            else:
                self.define(name, self.choice(node, condition, then[name], otherwise[name]))

    def choice(
        self, node: ast.If, condition: Expression, yes: Expression, no: Expression
    ) -> Expression:
        """A choice between values, read where the `if` stands so that types are made one."""
        names = [ast.copy_location(ast.Name(f"({at})", ast.Load()), node.test) for at in range(3)]
        keys = [item.id for item in names]
        self.scope.values.update(zip(keys, (condition, yes, no), strict=True))
        written = ast.copy_location(ast.IfExp(*names), node.test)
        chosen = self.read(written, self.scope)
        for key in keys:
            del self.scope.values[key]
        return chosen


_OF_OTHERS = {*sys.stdlib_module_names, "numpy", "scipy", "pandas"} - {"__main__"}
"""Packages whose functions are named in errors, and not read."""


def read_call(node: ast.Call, scope: FunctionScope, read: ReadExpression) -> x.Expression:
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


def _own_function(node: ast.Call, scope: FunctionScope) -> FunctionType | None:
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


def _called(node: ast.Call, scope: FunctionScope) -> str:
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


def _single(node: ast.Call, name: str, scope: FunctionScope) -> ast.expr:
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


def _extreme(node: ast.Call, name: str, scope: FunctionScope, read: ReadExpression) -> x.Expression:
    if len(node.args) < 2:
        raise scope.error(node, f"{name}() needs two or more numbers here", f"write {name}(a, b)")
    numbers = [_number(item, read(item, scope), scope) for item in node.args]
    if any(item.type is x.FLOAT for item in numbers):
        numbers = [item if item.type is x.FLOAT else as_float(item) for item in numbers]
    return x.Call("min" if name == "min" else "max", tuple(numbers), numbers[0].type)


def _power(node: ast.Call, scope: FunctionScope, read: ReadExpression) -> x.Expression:
    if len(node.args) != 2:
        raise scope.error(node, "pow() takes two arguments here", "write a ** b")
    base, exponent = (_number(item, read(item, scope), scope) for item in node.args)
    return x.Binary("**", _floating(base), _floating(exponent))


def _of_one(node: ast.Call, name: str, value: x.Expression, scope: FunctionScope) -> x.Expression:
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


def _conversion(
    node: ast.Call, name: str, value: x.Expression, scope: FunctionScope
) -> x.Expression:
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


def _number(node: ast.expr, value: x.Expression, scope: FunctionScope) -> x.Expression:
    if value.type.is_number:
        return value
    raise scope.error(
        node,
        f"a number is expected here, and this is {TYPE_WORDS[value.type]}",
        COMPARED_ONLY if value.type is x.TEXT else "write int(...)",
    )
