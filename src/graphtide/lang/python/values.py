"""What names outside of a program stand for: constants by their value, functions by what they are.

A name is looked up where Python would look it up, at the moment the class is read. A number or text
that it finds becomes a constant of the plan; nothing else of the surroundings gets into a program.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import math
from collections.abc import Mapping
from types import ModuleType

from graphtide.lang.python.declarations import distinct
from graphtide.plan.expressions import BOOL, FLOAT, INT, Const
from graphtide.plan.programs import INT_MAX, INT_MIN

_FUNCTIONS: tuple[tuple[object, str], ...] = (
    (builtins.min, "min"),
    (builtins.max, "max"),
    (builtins.abs, "abs"),
    (builtins.int, "int"),
    (builtins.float, "float"),
    (builtins.bool, "bool"),
    (builtins.len, "len"),
    (builtins.range, "range"),
    (math.sqrt, "sqrt"),
    (math.exp, "exp"),
    (math.log, "log"),
    (math.floor, "floor"),
    (math.ceil, "ceil"),
    (math.fabs, "abs"),
    (math.pow, "**"),
)
_WITHOUT_IMPORT = {
    "inf": math.inf,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "floor": math.floor,
    "ceil": math.ceil,
    "pairwise": itertools.pairwise,
    "combinations": itertools.combinations,
    "distinct": distinct,
}
CALLABLE = "min, max, abs, int, float, bool, len, and sqrt, exp, log, floor, ceil, pow of math"


class Missing:
    """The answer for a name that stands for nothing."""


MISSING = Missing()


def look_up(node: ast.expr, around: Mapping[str, object]) -> object:
    """The value of `name` or `module.name`; MISSING if there is none.

    Attributes are followed through modules only, so that looking never runs anybody's code.
    """
    if isinstance(node, ast.Name):
        return around.get(node.id, _WITHOUT_IMPORT.get(node.id, MISSING))
    if isinstance(node, ast.Attribute):
        owner = look_up(node.value, around)
        if isinstance(owner, ModuleType):
            return getattr(owner, node.attr, MISSING)
    return MISSING


def function_name(value: object) -> str | None:
    """The name of a function that programs know; `**` for math.pow; None for any other object."""
    for function, name in _FUNCTIONS:
        if value is function:
            return name
    return None


def constant(value: object) -> Const | None:
    """The constant for a Python number; None for anything else, NaN and ints beyond 64 bits."""
    if isinstance(value, bool):
        return Const(value, BOOL)
    if isinstance(value, int):
        return Const(int(value), INT) if INT_MIN <= value <= INT_MAX else None
    if isinstance(value, float):
        return None if math.isnan(value) else Const(float(value), FLOAT)
    return None
