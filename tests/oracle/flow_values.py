"""Values of expressions over columns, in plain Python: what `col.a + 1` is for one record.

`value` evaluates the very text that a dataflow is built from, with operands that overload the
operators. Ints are int64 and wrap around; int division by zero is 0; there is one zero and one NaN
among floats, and NaN equals itself and comes after all numbers. An operation on None is None, but
for what asks about it, and for truths that the other side decides.
"""

from __future__ import annotations

import datetime
import functools
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

NAN = math.nan
"""The one NaN: as the same object everywhere it is a key of dictionaries like any other."""


def plain(item: Any) -> Any:
    """A value as records hold it: ints wrapped around, one zero, one NaN."""
    if item is None or isinstance(item, bool | str | Decimal | datetime.date):
        return item
    if isinstance(item, float):
        return NAN if item != item else item + 0.0
    return (int(item) + (1 << 63)) % (1 << 64) - (1 << 63)


def order(item: Any) -> Any:
    """What values sort by: nulls first, NaN last."""
    if item is None:
        return (-1,)
    if isinstance(item, float):
        return (1, 0.0) if item != item else (0, item)
    return (0, item)


def _strict(function: Any) -> Any:
    """A method that gives None where one of its operands is None."""

    @functools.wraps(function)
    def checked(self: Operand, *others: Any) -> Operand:
        given = [operand(other).item for other in others]
        if self.item is None or None in given:
            return Operand(None)
        return Operand(function(self.item, *given))

    return checked


def _compared(test: Any) -> Any:
    return _strict(lambda one, other: test(*map(order, _alike(one, other))))


def _calculated(function: Any) -> Any:
    return _strict(lambda one, other: function(*_alike(one, other)))


def _swapped(name: str) -> Any:
    return lambda self, other: getattr(operand(other), name)(self)


def _plus(one: Any, other: Any, sign: int = 1) -> Any:
    """Numbers, or a day and so many days; the distance of two days."""
    if isinstance(one, datetime.date) and isinstance(other, datetime.date):
        return (one - other).days
    if isinstance(other, datetime.date):
        one, other = other, one
    if isinstance(one, datetime.date):
        return one + datetime.timedelta(days=sign * other)
    return one + sign * other


def _divided(one: Any, other: Any) -> float:
    left, right = real(one), real(other)
    if right == 0:
        return NAN if left == 0 or left != left else math.copysign(math.inf, left)
    return left / right


def real(item: Any) -> float:
    """A number as a float: a decimal as its digits, divided by a power of ten."""
    if isinstance(item, Decimal):
        digits = -int(item.as_tuple().exponent)
        return float(int(item * 10**digits)) / 10.0**digits
    return float(item)


def is_like(text: str, pattern: str) -> bool:
    """By hand: % is any text, _ any character."""
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(is_like(text[start:], pattern[1:]) for start in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and is_like(text[1:], pattern[1:])


class Operand:
    """A value with the operators that expressions know."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, item: Any) -> None:
        self.item = plain(item)

    __eq__ = _compared(lambda one, other: one == other)
    __ne__ = _compared(lambda one, other: one != other)
    __lt__ = _compared(lambda one, other: one < other)
    __le__ = _compared(lambda one, other: one <= other)
    __gt__ = _compared(lambda one, other: one > other)
    __ge__ = _compared(lambda one, other: one >= other)

    def __and__(self, other: Any) -> Operand:
        both = (self.item, operand(other).item)
        return Operand(False if False in both else None if None in both else True)

    def __or__(self, other: Any) -> Operand:
        both = (self.item, operand(other).item)
        return Operand(True if True in both else None if None in both else False)

    __invert__ = _strict(lambda one: not one)
    __add__ = _calculated(_plus)
    __sub__ = _calculated(lambda one, other: _plus(one, other, -1))
    __mul__ = _calculated(lambda one, other: one * other)
    __floordiv__ = _strict(lambda one, by: one // by if by else 0)
    __mod__ = _strict(lambda one, by: one % by if by else 0)
    __truediv__ = _strict(_divided)
    __neg__ = _strict(lambda one: -one)
    __radd__ = _swapped("__add__")
    __rsub__ = _swapped("__sub__")
    __rmul__ = _swapped("__mul__")
    __rfloordiv__ = _swapped("__floordiv__")
    __rmod__ = _swapped("__mod__")
    __rtruediv__ = _swapped("__truediv__")

    as_int = _strict(lambda one: int(one) if not isinstance(one, float) or abs(one) < 9e18 else 0)
    as_float = _strict(real)
    year = _strict(lambda one: one.year)
    month = _strict(lambda one: one.month)
    day = _strict(lambda one: one.day)
    like = _strict(is_like)
    contains = _strict(lambda one, part: part in one)
    starts_with = _strict(lambda one, part: one[: len(part)] == part)
    ends_with = _strict(lambda one, part: one[len(one) - len(part) :] == part)
    substr = _strict(lambda one, first, length: one[first : first + length])
    cat = _strict(lambda one, other: f"{one}{other}")
    length = _strict(lambda one: sum(1 for _ in one))
    upper = _strict(lambda one: "".join(sign.upper() for sign in one))
    lower = _strict(lambda one: "".join(sign.lower() for sign in one))

    def is_null(self) -> Operand:
        return Operand(self.item is None)

    def or_else(self, other: Any) -> Operand:
        return operand(other) if self.item is None else self


def operand(item: Any) -> Operand:
    return item if isinstance(item, Operand) else Operand(item)


def _alike(left: Any, right: Any) -> tuple[Any, Any]:
    """Two values of one type: a number that meets a float becomes one."""
    if isinstance(left, float) or isinstance(right, float):
        return real(left), real(right)
    return left, right


class _Row:
    """`col.name` for one record."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row

    def __getattr__(self, name: str) -> Operand:
        return Operand(self._row[name])


def _chosen(one: Any, other: Any, which: Any) -> Operand:
    given = operand(one).item, operand(other).item
    return Operand(None if None in given else which(_alike(*given), key=order))


_FUNCTIONS = {
    "least": lambda one, other: _chosen(one, other, min),
    "most": lambda one, other: _chosen(one, other, max),
    "where": lambda test, one, other: operand(one if test.item else other),
    "bits": lambda item: Operand(max(operand(item).item, 0).bit_length()),
    "Decimal": Decimal,
    "datetime": datetime,
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
