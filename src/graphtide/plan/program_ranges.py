"""Between which numbers an expression stays, its parameters known, whatever the graph.

Interval arithmetic, rounded to the nearest: whoever asks compares with 0, 1 or infinity, with room
for the last digit. An answer is right or all numbers; nothing here looks at data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphtide.plan import expressions as x
from graphtide.plan.program_values import VERTEX_COUNT, BoundProgram
from graphtide.plan.programs import Direction, ParameterKind

Values = Mapping[str, float]
_NUMBERS = (ParameterKind.INT, ParameterKind.FLOAT, ParameterKind.BOOL)
_MOST_VERTICES = 2.0**31
_EXACT = 2.0**53


@dataclass(frozen=True)
class Range:
    """All numbers from the least to the greatest; NaN is among them where both are infinite."""

    least: float = -math.inf
    greatest: float = math.inf

    @property
    def finite(self) -> bool:
        """Whether neither end is infinite."""
        return math.isfinite(self.least) and math.isfinite(self.greatest)


_ANY = Range()


def known_values(bound: BoundProgram) -> Values:
    """The parameters of a program that are numbers; no vertices, nor how many there are."""
    kinds = {item.name: item.kind for item in bound.program.parameters}
    numbers: dict[str, Any] = {
        name: value
        for name, value in bound.values
        if kinds[name] in _NUMBERS and value is not VERTEX_COUNT
    }
    return {name: float(value) for name, value in numbers.items()}


def range_of(expression: x.Expression, values: Values) -> Range:
    """Between which numbers it stays; all of them where nothing is known."""
    match expression:
        case x.Const(value):
            return Range(float(value), float(value))
        case x.ParameterRef(name) if name in values:
            return Range(values[name], values[name])
        case x.VertexFact():
            return Range(0.0, _MOST_VERTICES)
        case x.Unary("-", inner):
            range_ = range_of(inner, values)
            return Range(-range_.greatest, -range_.least)
        case x.Choice(_, yes, no):
            return _hull([range_of(yes, values), range_of(no, values)])
        case x.Call(function, arguments):
            return _call(function, [range_of(item, values) for item in arguments])
        case x.Binary(operator, left, right):
            return _binary(operator, range_of(left, values), range_of(right, values), left.type)
    if expression.type is x.ValueType.BOOL:
        return Range(0.0, 1.0)
    return _ANY


def covers(expression: x.Expression, direction: Direction, values: Values) -> bool:
    """True where it is no less than the edges along which a vertex u sends in that direction."""
    match expression:
        case x.VertexFact("u", fact):
            own = {Direction.OUT: "out_degree", Direction.IN: "in_degree"}
            return fact == "degree" or fact == own.get(direction)
        case x.Call("float", (inner,)):
            return covers(inner, direction, values)
        case x.Call("max", arguments):
            return any(covers(item, direction, values) for item in arguments)
        case x.Binary("+", left, right):
            return any(
                covers(one, direction, values) and _is_small(range_of(other, values))
                for one, other in ((left, right), (right, left))
            )
    return False


def _is_small(found: Range) -> bool:
    """Whether adding it makes nothing less, not even by wrapping around."""
    return found.least >= 0 and found.greatest < _EXACT


def _hull(found: list[Range]) -> Range:
    return Range(min(item.least for item in found), max(item.greatest for item in found))


def _call(function: str, found: list[Range]) -> Range:
    match function:
        case "float":
            return found[0]
        case "min":
            return Range(min(item.least for item in found), min(item.greatest for item in found))
        case "max":
            return Range(max(item.least for item in found), max(item.greatest for item in found))
        case "abs":
            ends = abs(found[0].least), abs(found[0].greatest)
            inside = found[0].least <= 0 <= found[0].greatest
            return Range(0.0 if inside else min(ends), max(ends))
    return _ANY


def _binary(operator: str, one: Range, other: Range, kind: x.ValueType) -> Range:
    if not (one.finite and other.finite):
        return _ANY
    range_ = _ANY
    match operator:
        case "+":
            range_ = Range(one.least + other.least, one.greatest + other.greatest)
        case "-":
            range_ = Range(one.least - other.greatest, one.greatest - other.least)
        case "*":
            range_ = _corners([a * b for a in _ends(one) for b in _ends(other)])
        case "/" if other.least > 0 or other.greatest < 0:
            range_ = _corners([a / b for a in _ends(one) for b in _ends(other)])
    wraps = kind is x.INT and max(abs(range_.least), abs(range_.greatest)) >= _EXACT
    return _ANY if wraps else range_


def _ends(found: Range) -> tuple[float, float]:
    return found.least, found.greatest


def _corners(products: list[float]) -> Range:
    return Range(min(products), max(products))
