"""Cut points: every comparison of a property with a constant as `value >= cut`.

The values of a property type are totally ordered, and each type has a next value (the next
integer, day, microsecond, float, or the string with a zero character behind it). So
`v > c` is `v >= next(c)`, `v <= c` is its opposite, and all six comparisons come down to where
a value stands among sorted cuts. A constant that no value can reach gives no cut but `NEVER`,
one that all values reach `ALWAYS`. Comparisons of ints with floats are exact, not rounded.

NaN is the largest float and equal to itself, as in Spark.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from enum import Enum

from graphtide.model.schema import PropertyType
from graphtide.plan.predicates import Constant, Operator, Value


class Reach(Enum):
    """A cut that is not a value: no value reaches it, or every one does."""

    NEVER = "never"
    ALWAYS = "always"


Cut = Value | Reach
OrderingKey = tuple[int, int | float | str]

_INT_MIN, _INT_MAX = -(2**63), 2**63 - 1
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def cut_at(type_: PropertyType, constant: Constant) -> Cut:
    """The smallest value of the type that is >= the constant."""
    value = constant.value
    match type_:
        case PropertyType.INT:
            return _int_cut(value, math.ceil)
        case PropertyType.FLOAT:
            return _float_cut(value)
        case PropertyType.BOOL:
            return True if value else Reach.ALWAYS
        case _:
            return value


def cut_above(type_: PropertyType, constant: Constant) -> Cut:
    """The smallest value of the type that is > the constant."""
    value = constant.value
    match type_:
        case PropertyType.INT:
            return _int_cut(value, lambda number: math.floor(number) + 1)
        case PropertyType.FLOAT:
            return _next_float(value)
        case PropertyType.BOOL:
            return Reach.NEVER if value else True
        case PropertyType.STRING:
            return str(value) + "\0"
        case _:
            assert isinstance(value, dt.date)
            return _next_time(value)


def cuts_of(operator: Operator, type_: PropertyType, constant: Constant) -> list[Value]:
    """The cuts that decide one comparison: none, one, or both sides of the constant."""
    wanted: list[Cut] = []
    if operator not in (Operator.GT, Operator.LE):
        wanted.append(cut_at(type_, constant))
    if operator not in (Operator.GE, Operator.LT):
        wanted.append(cut_above(type_, constant))
    return [cut for cut in wanted if not isinstance(cut, Reach)]


def ordering_key(value: Value) -> OrderingKey:
    """A sort key that agrees with the order of the property's type, NaN last."""
    match value:
        case float():
            return (1, 0.0) if math.isnan(value) else (0, value)
        case dt.datetime():
            return 0, micros_of(value)
        case dt.date():
            return 0, value.toordinal()
        case _:
            return 0, value


def micros_of(moment: dt.datetime) -> int:
    """Microseconds since 1970 in UTC, exact (a float timestamp() is not)."""
    return (moment - _EPOCH) // dt.timedelta(microseconds=1)


def _int_cut(value: Value, to_int: Callable[[int | float], int]) -> Cut:
    assert isinstance(value, int | float)
    if isinstance(value, float) and not math.isfinite(value):
        return Reach.ALWAYS if value == -math.inf else Reach.NEVER
    cut = to_int(value)
    if cut > _INT_MAX:
        return Reach.NEVER
    return cut if cut > _INT_MIN else Reach.ALWAYS


def _float_cut(value: Value) -> float:
    """The smallest float >= an int or float."""
    assert isinstance(value, int | float)
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return near if math.isnan(near) or near >= value else math.nextafter(near, math.inf)


def _next_float(value: Value) -> Cut:
    """The smallest float > an int or float: past infinity that is NaN, past NaN nothing."""
    assert isinstance(value, int | float)
    at = _float_cut(value)
    if math.isnan(at):
        return Reach.NEVER
    if at > value:
        return at
    return math.nan if at == math.inf else math.nextafter(at, math.inf)


def _next_time(value: dt.date) -> Cut:
    step = dt.timedelta(microseconds=1) if isinstance(value, dt.datetime) else dt.timedelta(days=1)
    try:
        return value + step
    except OverflowError:
        return Reach.NEVER
