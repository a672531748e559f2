"""A program as text, read without Python: what `unparse` writes comes back, and nothing is run.

Stores hold programs as text, and a store may have been made by somebody else. So the text is parsed
and never compiled or carried out. It is one class. What its body declares is made of a small
vocabulary: numbers and texts, the types, and what `gt` has for declarations. Its functions know the
functions of mathematics and no other names from outside. What is made of it went through every
check that a class of the user's own goes through.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

from graphtide.lang.python import declarations
from graphtide.lang.python.program import Program
from graphtide.lang.python.read import read_source
from graphtide.lang.python.source import FUNCTIONS, ClassSource
from graphtide.model.errors import LanguageError
from graphtide.model.syntax import parsed

_MOST_CHARACTERS = 1 << 20
_TYPES: dict[str, object] = {"int": int, "float": float, "bool": bool, "str": str}
_KINDS = ("Vertex", "Vertices", "Pairs", "Date", "Timestamp")
_CALLS = {"And", "Columns", "Count", "Global", "Matches", "Max", "Min", "Or", "Product"}
_CALLS |= {"Property", "State", "Sum", "VertexProperty"}
_FUNCTIONS = ("min", "max", "abs", "int", "float", "bool", "len", "range", "all", "any", "sum")
_AROUND: dict[str, object] = {name: getattr(builtins, name) for name in _FUNCTIONS}


def written_program(text: str) -> Program:
    """The program that a text says; LanguageError where it says none."""
    tree = _parsed(text)
    match tree.body:
        case [ast.ClassDef() as node]:
            return Program(_plan(node, text))
        case _:
            raise LanguageError("a program as text is one class, and nothing beside it")


def _parsed(text: str) -> ast.Module:
    if len(text) > _MOST_CHARACTERS:
        raise LanguageError(
            f"a program as text has at most {_MOST_CHARACTERS:,} characters, and this has "
            f"{len(text):,}"
        )
    try:
        return parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        reason = getattr(error, "msg", None) or str(error) or type(error).__name__
        raise LanguageError(f"a program as text cannot be read: {reason[:100]}") from None


def _plan(node: ast.ClassDef, text: str) -> Any:
    values: dict[str, object] = {}
    annotations: dict[str, object] = {}
    source = ClassSource(text, "stored program", node, values, annotations, _around)
    for decorator in node.decorator_list:
        if ast.unparse(decorator) != "gt.program":
            raise source.error(decorator, "a program as text has no decorators but @gt.program")
    try:
        for item in node.body:
            match item:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                    annotations[name] = ast.unparse(annotation)
                    if value is not None:
                        values[name] = _value(value, source)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    values[name] = _value(value, source)
        return read_source(source)
    except RecursionError:
        # Trees are walked by recursion, which Python ends after some hundred levels.
        raise source.error(
            node, "the program has an expression too long or too deeply nested to be read"
        ) from None


def _around(name: str) -> dict[str, object] | None:
    return _AROUND if name in FUNCTIONS else None


def _value(node: ast.expr, source: ClassSource) -> object:
    """What is declared: a number, a text, a type, or a declaration made of these."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = _value(operand, source)
            if isinstance(number, int | float) and not isinstance(number, bool):
                return -number
        case ast.Name(id="inf"):
            return declarations.inf
        case ast.Name(id=name) if name in _TYPES:
            return _TYPES[name]
        case ast.Attribute(value=ast.Name(id="gt"), attr=name) if name in _KINDS:
            return getattr(declarations, name)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="gt"), attr=name)) if name in _CALLS:
            return _declaration(node, getattr(declarations, name), source)
    raise source.error(node, "this is no part of a declaration in a program as text")


def _declaration(node: ast.Call, kind: Any, source: ClassSource) -> object:
    places = [_value(item, source) for item in node.args]
    names: dict[str, object] = {}
    for item in node.keywords:
        if item.arg is None:
            raise source.error(item, "`**` is no part of a declaration in a program as text")
        names[item.arg] = _value(item.value, source)
    try:
        return kind(*places, **names)
    except TypeError:  # It takes no such arguments.
        raise source.error(node, f"gt.{kind.__name__} is not declared so") from None
