"""Numbers that compute as docs/reference/programs.md says: int64 and float64, and nothing raises.

`Int` wraps around at 64 bits, `Float` divides by zero. An int beside a float becomes a float,
in comparisons too. Truth values are Python's own. What the documentation leaves undefined raises
`UndefinedError`, so that nobody is measured against it.
"""

from __future__ import annotations

import math
from typing import Any, Self

FIRST, LAST = -(2**63), 2**63 - 1


class UndefinedError(Exception):
    """The documentation does not say what comes out here."""


def _wrapped(value: int) -> Int:
    return Int((int(value) - FIRST) % 2**64 + FIRST)


class _Ordered:
    """Comparisons, with an int beside a float as a float."""

    def __lt__(self, other: Any) -> bool:
        return bool(_plain(self, other) < _plain(other, self))

    def __le__(self, other: Any) -> bool:
        return bool(_plain(self, other) <= _plain(other, self))

    def __gt__(self, other: Any) -> bool:
        return bool(_plain(self, other) > _plain(other, self))

    def __ge__(self, other: Any) -> bool:
        return bool(_plain(self, other) >= _plain(other, self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Int | Float):
            return NotImplemented
        return bool(_plain(self, other) == _plain(other, self))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


class Int(_Ordered, int):
    """A whole number of 64 bits."""

    def __add__(self, other: Any) -> Any:
        return float_of(self) + other if _is_float(other) else _wrapped(int(self) + int(other))

    def __sub__(self, other: Any) -> Any:
        return float_of(self) - other if _is_float(other) else _wrapped(int(self) - int(other))

    def __mul__(self, other: Any) -> Any:
        return float_of(self) * other if _is_float(other) else _wrapped(int(self) * int(other))

    def __truediv__(self, other: Any) -> Float:
        return float_of(self) / float_of(other)

    def __floordiv__(self, other: Any) -> Any:
        if _is_float(other):
            return float_of(self) // other
        return Int(0) if int(other) == 0 else _wrapped(int(self) // int(other))

    def __mod__(self, other: Any) -> Any:
        if _is_float(other):
            return float_of(self) % other
        return Int(0) if int(other) == 0 else _wrapped(int(self) % int(other))

    def __neg__(self) -> Int:
        return _wrapped(-int(self))

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Int:
        return _wrapped(abs(int(self)))


class Float(_Ordered, float):
    """A floating number of 64 bits."""

    def __add__(self, other: Any) -> Float:
        return Float(float(self) + float(other))

    def __sub__(self, other: Any) -> Float:
        return Float(float(self) - float(other))

    def __mul__(self, other: Any) -> Float:
        return Float(float(self) * float(other))

    def __truediv__(self, other: Any) -> Float:
        one, by = float(self), float(other)
        if by != 0:
            return Float(one / by)
        if one == 0 or math.isnan(one):
            return Float(math.nan)
        return Float(math.copysign(math.inf, one) * math.copysign(1.0, by))

    def __floordiv__(self, other: Any) -> Float:
        if float(other) == 0:
            return self / other
        return Float(float(self) // float(other))

    def __mod__(self, other: Any) -> Float:
        if float(other) == 0:
            return Float(math.nan)
        return Float(float(self) % float(other))

    def __neg__(self) -> Float:
        return Float(-float(self))

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Float:
        return Float(abs(float(self)))


Number = Int | Float | bool


def _is_float(value: object) -> bool:
    return isinstance(value, float)


def _plain(value: Any, beside: Any) -> int | float:
    return float(value) if _is_float(value) or _is_float(beside) else int(value)


def number(value: Any) -> Number:
    """A Python number as the program sees it."""
    if isinstance(value, bool):
        return value
    return Float(value) if isinstance(value, float) else _wrapped(value)


def of_type(kind: type, value: Any) -> Number:
    """What a field, an accumulator or a local name of that type holds of a value."""
    if kind is float:
        return Float(value)
    return bool(value) if kind is bool else _wrapped(value)


def float_of(value: Any) -> Float:
    return Float(value)


def int_of(value: Any) -> Int:
    """`int(...)`: cuts towards zero."""
    if isinstance(value, bool | int):
        return _wrapped(int(value))
    return _whole(value, math.trunc)


def floor_of(value: Any) -> Int:
    return value if isinstance(value, Int) else _whole(value, math.floor)


def ceil_of(value: Any) -> Int:
    return value if isinstance(value, Int) else _whole(value, math.ceil)


def _whole(value: float, cut: Any) -> Int:
    if not math.isfinite(value) or not FIRST <= cut(float(value)) <= LAST:
        raise UndefinedError(f"{value} as an int")
    return Int(cut(float(value)))


def least(*values: Any) -> Number:
    """`min`: the first, unless a later one is less."""
    return _extreme(values, lambda one, other: one < other)


def greatest(*values: Any) -> Number:
    """`max`: the first, unless a later one is greater."""
    return _extreme(values, lambda one, other: one > other)


def _extreme(values: tuple[Any, ...], better: Any) -> Any:
    if any(map(_is_float, values)):
        values = tuple(map(Float, values))
    found = values[0]
    for value in values[1:]:
        if better(value, found):
            found = value
    return found


def power(base: Any, exponent: Any, whole: bool) -> Number:
    """`**`; whole where both are ints and the exponent is written as a number of at least 0."""
    if whole:
        return _wrapped(pow(int(base), int(exponent), 2**64))
    one, other = float(base), float(exponent)
    try:
        return Float(math.pow(one, other))
    except OverflowError:
        odd = other.is_integer() and other % 2 == 1
        return Float(-math.inf if one < 0 and odd else math.inf)
    except ValueError:
        if one != 0:
            return Float(math.nan)
        odd = other.is_integer() and other % 2 == 1
        return Float(math.copysign(math.inf, one) if odd else math.inf)


def square_root(value: Any) -> Float:
    return Float(math.sqrt(float(value)) if float(value) >= 0 else math.nan)


def exponential(value: Any) -> Float:
    try:
        return Float(math.exp(float(value)))
    except OverflowError:
        return Float(math.inf)


def logarithm(value: Any) -> Float:
    one = float(value)
    if one == 0:
        return Float(-math.inf)
    return Float(math.log(one) if one > 0 else math.nan)
