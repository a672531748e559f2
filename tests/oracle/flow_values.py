"""Values of expressions over columns, in plain Python: what `col.a + 1` is for one record.

`value` evaluates the very text that a dataflow is built from, with operands that overload the
operators. Ints are int64 and wrap around; int division by zero is 0; there is one zero and one NaN
among floats, and NaN equals itself and comes after all numbers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

NAN = math.nan
"""The one NaN: as the same object everywhere it is a key of dictionaries like any other."""


def plain(item: Any) -> Any:
    """A value as records hold it: ints wrapped around, one zero, one NaN."""
    if isinstance(item, bool | str):
        return item
    if isinstance(item, float):
        return NAN if item != item else item + 0.0
    return (int(item) + (1 << 63)) % (1 << 64) - (1 << 63)


def order(item: Any) -> Any:
    """What values sort by."""
    if isinstance(item, float):
        return (1, 0.0) if item != item else (0, item)
    return (0, item)


class Operand:
    """A value with the operators that expressions know."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, item: Any) -> None:
        self.item = plain(item)

    def __eq__(self, other: object) -> Any:
        one, two = _alike(self, other)
        return Operand(order(one) == order(two))

    def __ne__(self, other: object) -> Any:
        one, two = _alike(self, other)
        return Operand(order(one) != order(two))

    def __lt__(self, other: Any) -> Any:
        one, two = _alike(self, other)
        return Operand(order(one) < order(two))

    def __le__(self, other: Any) -> Any:
        one, two = _alike(self, other)
        return Operand(order(one) <= order(two))

    def __gt__(self, other: Any) -> Any:
        return operand(other) < self

    def __ge__(self, other: Any) -> Any:
        return operand(other) <= self

    def __and__(self, other: Any) -> Any:
        return Operand(self.item and operand(other).item)

    def __or__(self, other: Any) -> Any:
        return Operand(self.item or operand(other).item)

    def __invert__(self) -> Any:
        return Operand(not self.item)

    def __add__(self, other: Any) -> Any:
        one, two = _alike(self, other)
        return Operand(one + two)

    def __sub__(self, other: Any) -> Any:
        one, two = _alike(self, other)
        return Operand(one - two)

    def __mul__(self, other: Any) -> Any:
        one, two = _alike(self, other)
        return Operand(one * two)

    def __floordiv__(self, other: Any) -> Any:
        by = operand(other).item
        return Operand(self.item // by if by else 0)

    def __mod__(self, other: Any) -> Any:
        by = operand(other).item
        return Operand(self.item % by if by else 0)

    def __truediv__(self, other: Any) -> Any:
        one, two = float(self.item), float(operand(other).item)
        if two == 0:
            return Operand(NAN if one == 0 or one != one else math.copysign(math.inf, one))
        return Operand(one / two)

    def __neg__(self) -> Any:
        return Operand(-self.item)

    def __radd__(self, other: Any) -> Any:
        return operand(other) + self

    def __rsub__(self, other: Any) -> Any:
        return operand(other) - self

    def __rmul__(self, other: Any) -> Any:
        return operand(other) * self

    def __rfloordiv__(self, other: Any) -> Any:
        return operand(other) // self

    def __rmod__(self, other: Any) -> Any:
        return operand(other) % self

    def __rtruediv__(self, other: Any) -> Any:
        return operand(other) / self

    def as_int(self) -> Any:
        whole = isinstance(self.item, int) or abs(self.item) < 9.2e18
        return Operand(int(self.item) if whole else 0)

    def as_float(self) -> Any:
        return Operand(float(self.item))


def operand(item: Any) -> Operand:
    return item if isinstance(item, Operand) else Operand(item)


def _alike(one: Any, other: Any) -> tuple[Any, Any]:
    """Two values of one type: an int that meets a float becomes one."""
    left, right = operand(one).item, operand(other).item
    if isinstance(left, float) or isinstance(right, float):
        return float(left), float(right)
    return left, right


class _Row:
    """`col.name` for one record."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row

    def __getattr__(self, name: str) -> Operand:
        return Operand(self._row[name])


def _least(one: Any, other: Any) -> Operand:
    left, right = map(Operand, _alike(one, other))
    return left if (left <= right).item else right


def _most(one: Any, other: Any) -> Operand:
    left, right = map(Operand, _alike(one, other))
    return left if (right <= left).item else right


_FUNCTIONS = {
    "least": _least,
    "most": _most,
    "where": lambda test, one, other: operand(one if test.item else other),
    "bits": lambda item: Operand(max(operand(item).item, 0).bit_length()),
    "inf": math.inf,
    "nan": NAN,
}


@functools.cache
def _compiled(text: str) -> Any:
    return compile(text, "<expression>", "eval")


def value(text: str, row: Mapping[str, Any]) -> Any:
    """The value of an expression for a record."""
    found = eval(_compiled(text), {"col": _Row(row), **_FUNCTIONS})
    return operand(found).item
