"""Python that programs do not know, by name, each with what can be written instead."""

from __future__ import annotations

import ast
import builtins
from types import FunctionType, ModuleType

from graphtide.lang.python.scope import FunctionScope
from graphtide.lang.python.source import CALLABLE, MISSING, look_up
from graphtide.model.errors import LanguageError

_LOOPS = "loops are `for k in range(...)`"
_ARRAYS = "arrays are declared: `x = gt.State(float, size=8)`, and used one element at a time"
_PLACES = "assign one name at a time: `v.x = ...`, `v.x[k] = ...` or `name = ...`"

_GLOBALS = "numbers from outside can be read as they are, and what is counted is sent: gt.Sum(int)"
OVER_MANY = {
    "sum": "gt.Sum(float)",
    "max": "gt.Max(float)",
    "min": "gt.Min(float)",
    "any": "gt.Or()",
    "all": "gt.And()",
    "len": "gt.Count()",
}
"""The accumulators that do over many edges what these functions of Python do over many values."""

_MOMENT = 'give it as a parameter, `since: gt.Date = "2024-01-31"`, and write self.since'
_INSTEAD = {
    "round": "write floor(x + 0.5), or int(...)",
    "log2": "write log(x) / log(2.0)",
    "log10": "write log(x) / log(10.0)",
    "log1p": "write log(1.0 + x)",
    "expm1": "write exp(x) - 1.0",
    "square": "write x * x",
    "cbrt": "write x ** (1.0 / 3.0)",
    "hypot": "write sqrt(x * x + y * y)",
    "isnan": "write x != x",
    "isinf": "write abs(x) == inf",
    "isfinite": "write abs(x) < inf",
    "where": "write `a if condition else b`",
    "clip": "write min(max(x, low), high)",
    "sign": "write `1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0`",
    "sigmoid": "write 1.0 / (1.0 + exp(-x))",
    "tanh": "write 1.0 - 2.0 / (exp(2.0 * x) + 1.0)",
    "minimum": "write min(a, b)",
    "maximum": "write max(a, b)",
    "fmin": "write min(a, b)",
    "fmax": "write max(a, b)",
    "absolute": "write abs(x)",
    "power": "write a ** b",
    "pow": "write a ** b",
    "date": _MOMENT,
    "datetime": _MOMENT,
    "today": _MOMENT,
    "now": _MOMENT,
    "time": _MOMENT,
    "get": 'write e.weight, or e["my weight"]',
    "mean": "add up and count, `total = gt.Sum(float)` and `count = gt.Count()`, and divide",
    "print": "a program is compiled and prints nothing: look at live.table()",
    "str": "texts are compared and not made",
    "format": "texts are compared and not made",
    "sorted": "an accumulator keeps the least or the greatest: gt.Min(float), gt.Max(float)",
    "list": "arrays are declared: `x = gt.State(float, size=8)`",
    "dict": "put what is looked up on edges or vertices, as a property",
    "set": "sets of vertices are parameters: `sources: gt.Vertices`",
    "random": "give vertices or edges a property with random numbers",
}
"""What to write for functions that people reach for, by their names in Python or NumPy."""

_OF_MATH = ("sqrt", "exp", "log", "floor", "ceil", "pow")

_WORDS: dict[type[ast.AST], tuple[str, str]] = {
    ast.While: ("`while`", _LOOPS),
    ast.Break: ("`break`", "put what follows under an `if`"),
    ast.Continue: ("`continue`", "put what follows under an `if`"),
    ast.Return: ("`return`", "assign to the state of v, and use if and else"),
    ast.Import: ("`import`", "import above the class; math functions are known"),
    ast.ImportFrom: ("`import`", "import above the class; math functions are known"),
    ast.Try: ("`try`", "arithmetic never raises: 1.0 / 0.0 is inf"),
    ast.Raise: ("`raise`", "leave the check out; bad values are refused before a run"),
    ast.Assert: ("`assert`", "leave the check out; bad values are refused before a run"),
    ast.With: ("`with`", "only assignments, if, for and sending can stand here"),
    ast.Delete: ("`del`", "only assignments, if, for and sending can stand here"),
    ast.Global: ("`global`", _GLOBALS),
    ast.Nonlocal: ("`nonlocal`", _GLOBALS),
    ast.FunctionDef: ("a function inside of a function", "define it above the class, and call it"),
    ast.ClassDef: ("a class inside of a function", "declare state in the program's class"),
    ast.Match: ("`match`", "use if, elif and else"),
    ast.Lambda: ("`lambda`", "give it a name above the class, `half = lambda x: x / 2`"),
    ast.List: ("a list", _ARRAYS),
    ast.Tuple: ("a tuple", _ARRAYS),
    ast.Set: ("a set", "sets of vertices are parameters: `sources: gt.Vertices`"),
    ast.Dict: ("a dictionary", _ARRAYS),
    ast.ListComp: ("a comprehension", _LOOPS),
    ast.SetComp: ("a comprehension", _LOOPS),
    ast.DictComp: ("a comprehension", _LOOPS),
    ast.GeneratorExp: ("a comprehension", _LOOPS),
    ast.NamedExpr: ("`:=`", "assign on a line of its own"),
    ast.Await: ("`await`", "programs only compute"),
    ast.Yield: ("`yield`", "send with v.accumulator(...)"),
    ast.YieldFrom: ("`yield`", "send with v.accumulator(...)"),
    ast.JoinedStr: ("an f-string", "programs make no texts: they compare those that data have"),
    ast.Starred: ("`*`", "write the values out one by one"),
    ast.Slice: ("a slice", "take elements one at a time, in a loop"),
}


def unsupported(node: ast.AST, scope: FunctionScope) -> LanguageError:
    """The error for a piece of Python that has no meaning in a program."""
    usual = (f"{type(node).__name__}", "only assignments, if, for and sending can stand here")
    what, hint = _WORDS.get(type(node), usual)
    return scope.error(node, f"{what} cannot be used in a program", hint)


def bad_target(node: ast.AST, scope: FunctionScope) -> LanguageError:
    return scope.error(node, "nothing can be assigned to this", _PLACES)


def uncallable(node: ast.Call, scope: FunctionScope) -> LanguageError:
    """The error for a call of what programs cannot call, with what does the same."""
    text = ast.unparse(node.func)
    name = text.split(".")[-1]
    value = look_up(node.func, scope.around)
    over = comprehension(node)
    if over is not None and name in OVER_MANY and value is getattr(builtins, name, None):
        return _over_many(node, name, over, scope)
    what, hint = f"a program cannot call {text}()", _INSTEAD.get(name)
    if isinstance(node.func, ast.Attribute) and scope.is_self(node.func.value):
        hint = f"define it above the class, with numbers for arguments, and call it: {name}(...)"
    elif value is MISSING and isinstance(node.func, ast.Name) and not hasattr(builtins, text):
        what = f"nothing here is called '{text}'"
        hint = "define the function above the class; it is read from its source"
    elif (module := _unknown_module(node.func, scope)) is not None:
        what = f"nothing here is called '{module}'"
        hint = f"write {name}(...), or import math above the class" if name in _OF_MATH else hint
    elif (owner := _owner_outside(node.func, scope)) is not None:
        return outside(*owner, scope)
    elif value is MISSING and isinstance(node.func, ast.Attribute):
        hint = hint or "numbers and texts of data have no methods: prepare the column before"
    elif _is_numpy(value):
        hint = f"write math.{name}, which is for one number" if name in _OF_MATH else hint
    return scope.error(node.func, what, hint or f"it can call {CALLABLE}, and functions of yours")


def called_outside(node: ast.Call, scope: FunctionScope) -> bool:
    """Whether a call that stands alone is one of print() and the like, which send nothing."""
    value = look_up(node.func, scope.around)
    return value is not MISSING and not isinstance(value, FunctionType)


def comprehension(node: ast.Call) -> ast.GeneratorExp | ast.ListComp | None:
    """What a call goes over, as in `sum(n.rank for n in v.neighbours)`; None of other calls."""
    match node.args:
        case [ast.GeneratorExp() | ast.ListComp() as over] if len(over.generators) == 1:
            return over
        case _:
            return None


def _over_many(
    node: ast.Call, name: str, over: ast.GeneratorExp | ast.ListComp, scope: FunctionScope
) -> LanguageError:
    """The error for `sum(n.rank for n in v.neighbours)`: messages add up, and a vertex does not."""
    accumulator = OVER_MANY[name]
    sent = "" if name == "len" else "u.rank"
    match over:
        case ast.GeneratorExp(elt=item) | ast.ListComp(elt=item) if name != "len":
            bound = over.generators[0].target
            sent = ast.unparse(item)
            if isinstance(bound, ast.Name):
                along = ast.unparse(over.generators[0].iter).endswith("edges")
                renamed = _Renamed(bound.id, "e" if along else "u")
                sent = ast.unparse(renamed.visit(ast.parse(sent, mode="eval").body))
    return scope.error(
        node,
        f"a vertex does not go over its neighbours with {name}(): they send to it",
        f"declare `total = {accumulator}`, send in `traverse`, v.total({sent}), "
        "and read v.total in `update`",
    )


class _Renamed(ast.NodeTransformer):
    """A neighbour, whatever it was called, as the source of an edge; or an edge as that."""

    def __init__(self, name: str, other: str) -> None:
        self.name, self.other = name, other

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.other, node.ctx) if node.id == self.name else node


def _owner_outside(node: ast.expr, scope: FunctionScope) -> tuple[ast.expr, object] | None:
    """What stands before the dot, where it is a dict, an array or the like outside of the class."""
    if not isinstance(node, ast.Attribute):
        return None
    value = look_up(node.value, scope.around)
    plain = value is MISSING or isinstance(value, ModuleType | type | int | float | str)
    return None if plain else (node.value, value)


def _unknown_module(node: ast.expr, scope: FunctionScope) -> str | None:
    """The name before the dot, where nothing at all is called so."""
    match node:
        case ast.Attribute(value=ast.Name(id=name) as owner):
            at_hand = scope.is_given(name) or name in {**scope.values, **scope.types}
            return name if not at_hand and look_up(owner, scope.around) is MISSING else None
        case _:
            return None


def _is_numpy(value: object) -> bool:
    module = getattr(value, "__module__", None) or type(value).__module__
    return str(module).split(".")[0] == "numpy"


def outside(node: ast.expr, value: object, scope: FunctionScope) -> LanguageError:
    """The error for what stands outside of the class and is neither a number nor a text."""
    text, kind = ast.unparse(node), type(value).__name__
    if callable(value):
        hint = f"call it: {text}(...)"
        return scope.error(node, f"'{text}' is a function, and not a value", hint)
    if isinstance(value, float):
        return scope.error(
            node, f"'{text}' is not a number", "what is not there is not sent: put it under an `if`"
        )
    if isinstance(value, int):
        return scope.error(node, f"'{text}' does not fit into 64 bits", "make it a float")
    hint = "put it on edges or vertices as a property, or give it as a parameter"
    if isinstance(value, dict):
        hint = "make a column of what it says, or write a choice: 2.0 if e.kind == 'a' else 1.0"
    return scope.error(
        node,
        f"'{text}' is no number and no text but a {kind}, and nothing else comes into a program "
        "from outside",
        hint,
    )


def no_change(target: ast.Name, scope: FunctionScope) -> LanguageError:
    """The error for `counter += 1` of a name that has no value in the function."""
    name = target.id
    if look_up(target, scope.around) is MISSING:
        return scope.error(target, f"'{name}' has no value here", f"give it one: {name} = ...")
    return scope.error(
        target,
        f"'{name}' stands outside of the program, and cannot be changed",
        "what is counted is sent: `count = gt.Count()` in the class, and v.count() in `traverse`",
    )
