"""Expressions of a plan as L_NGA writes them, with as few parentheses as it can do with."""

from __future__ import annotations

import math
import re

from graphtide.plan import expressions as x

_CHOICE, _OR, _AND, _NOT, _COMPARE, _SUM, _TERM, _SIGN, _POWER, _ATOM = range(10)
_BINARY = {"+": _SUM, "-": _SUM, "*": _TERM, "/": _TERM, "%": _TERM, "**": _POWER}
_CALLS = {"float": "Double"}
NEIGHBOURS = {"out": "out_nbrs", "in": "in_nbrs", "both": "nbrs"}
_NAME = re.compile(r"[^\W\d]\w*")


class UnspeakableError(Exception):
    """A part of a plan that L_NGA has no words for; the text says which."""


def expression_text(expression: x.Expression) -> str:
    """The expression as text; UnspeakableError where L_NGA has none."""
    return _text(expression)[0]


def number_text(value: x.Number) -> str:
    """A constant: `true`, `3`, `0.5`, `-Infinity`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def index_text(index: x.Expression | None) -> str:
    """`[k]`, or nothing where there is no index."""
    return "" if index is None else f"[{expression_text(index)}]"


def word_text(name: str) -> str:
    """The name of a property, in quotes where it is no plain name."""
    if '"' in name or "\n" in name or not name:
        raise UnspeakableError(f"the property {name!r}")
    return name if _NAME.fullmatch(name) else f'"{name}"'


def _text(expression: x.Expression) -> tuple[str, int]:
    match expression:
        case x.Const(value):
            text = number_text(value)
            return text, _SIGN if text.startswith("-") else _ATOM
        case x.Unary("-", operand):
            return f"-{_within(operand, _SIGN)}", _SIGN
        case x.Unary(_, operand):
            return f"Not {_within(operand, _NOT)}", _NOT
        case x.Binary("//", left, right):
            return f"Div({expression_text(left)}, {expression_text(right)})", _ATOM
        case x.Binary("**", left, right):
            return f"{_within(left, _ATOM)} ** {_within(right, _SIGN)}", _POWER
        case x.Binary(operator, left, right):
            level = _BINARY[operator]
            return f"{_within(left, level)} {operator} {_within(right, level + 1)}", level
        case x.Compare(operator, left, right):
            return f"{_within(left, _SUM)} {operator} {_within(right, _SUM)}", _COMPARE
        case x.Boolean(operator, terms):
            level = _AND if operator == "and" else _OR
            word = operator.capitalize()
            return f" {word} ".join(_within(term, level + 1) for term in terms), level
        case x.Choice(condition, yes, no):
            head = f"{_within(condition, _OR)} ? {_within(yes, _CHOICE)}"
            return f"{head} : {_within(no, _CHOICE)}", _CHOICE
        case x.Member(vertex, parameter):
            return f"{vertex} in {parameter}", _COMPARE
        case x.Joined(source, target, way):
            return f"{target} in {source}.{NEIGHBOURS[way]}", _COMPARE
        case _:
            return _atom_text(expression), _ATOM


def _atom_text(expression: x.Expression) -> str:
    match expression:
        case x.ParameterRef(name) | x.Local(name):
            return name
        case x.PairSource(parameter):
            return f"{parameter}.source"
        case x.Text(value):
            if '"' in value or "\n" in value or not value:
                raise UnspeakableError(f"the text {value!r}")
            return f'"{value}"'
        case x.GlobalRef(name, _, index):
            return f"{name}{index_text(index)}"
        case x.StateRef(vertex, name, _, index):
            return f"{vertex}.{name}{index_text(index)}"
        case x.AccumulatorRef(name, _, index):
            return f"v.{name}{index_text(index)}"
        case x.EdgeProperty(name, _, edge):
            return f"{edge}.{word_text(name)}"
        case x.VertexProperty(vertex, name):
            return f"{vertex}.{word_text(name)}"
        case x.VertexFact(vertex, fact):
            return f"{vertex}.{fact}"
        case x.Iteration():
            return "Superstep"
        case x.Call(function, arguments):
            word = _CALLS.get(function, function.capitalize())
            return f"{word}({', '.join(map(expression_text, arguments))})"
        case _:
            raise UnspeakableError("what holds along a path")


def _within(expression: x.Expression, least: int) -> str:
    text, level = _text(expression)
    return text if level >= least else f"({text})"
