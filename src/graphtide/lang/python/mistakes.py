"""Python that programs do not know, by name, each with what can be written instead."""

from __future__ import annotations

import ast

from graphtide.lang.python.scope import Scope
from graphtide.model.errors import LanguageError

_LOOPS = "loops are `for k in range(...)`"
_ARRAYS = "arrays are declared: `x = gt.State(float, size=8)`, and used one element at a time"
_PLACES = "assign one name at a time: `v.x = ...`, `v.x[k] = ...` or `name = ...`"

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
    ast.Global: ("`global`", "numbers from outside can be read as they are"),
    ast.Nonlocal: ("`nonlocal`", "numbers from outside can be read as they are"),
    ast.FunctionDef: ("a function inside of a function", "write its body where it is needed"),
    ast.ClassDef: ("a class inside of a function", "declare state in the program's class"),
    ast.Match: ("`match`", "use if, elif and else"),
    ast.Lambda: ("`lambda`", "write its body where it is needed"),
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
    ast.JoinedStr: ("text", "programs compute with int, float and bool only"),
    ast.Starred: ("`*`", "write the values out one by one"),
    ast.Slice: ("a slice", "take elements one at a time, in a loop"),
}


def unsupported(node: ast.AST, scope: Scope) -> LanguageError:
    """The error for a piece of Python that has no meaning in a program."""
    usual = (f"{type(node).__name__}", "only assignments, if, for and sending can stand here")
    what, hint = _WORDS.get(type(node), usual)
    return scope.error(node, f"{what} cannot be used in a program", hint)


def bad_target(node: ast.AST, scope: Scope) -> LanguageError:
    """The error for a place that nothing can be assigned to."""
    return scope.error(node, "nothing can be assigned to this", _PLACES)
