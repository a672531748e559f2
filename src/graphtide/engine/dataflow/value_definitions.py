"""What expressions are by definition: one record at a time, in plain Python.

An operation on None is None, but for those that ask about nulls or know truths of three values.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from graphtide.engine.dataflow.columns import encode_column
from graphtide.engine.dataflow.python_operators import FUNCTIONS
from graphtide.engine.dataflow.texts import Texts
from graphtide.kernels.dataflow.numbers import first_limb, limb_part
from graphtide.plan.dataflow_expressions import FLOAT, Column, ColumnType, Constant, Expression

_NAN = math.nan
_EXACT = Context(prec=60)
_DAY, _MICROSECOND = datetime.timedelta(days=1), datetime.timedelta(microseconds=1)


def plain(value: Any, kind: ColumnType) -> Any:
    """A value as the records of a column hold it: ints of 64 bits, one zero, one NaN.

    The one NaN is one object, so that a record with it is a key like any other.
    """
    if value is None:
        return None
    match kind.kind:
        case "int":
            return wrapped(int(value))
        case "float":
            return _NAN if value != value else float(value) + 0.0
        case "bool":
            return bool(value)
        case "str":
            return str(value)
        case "decimal":
            return Decimal(value).quantize(Decimal(1).scaleb(-kind.scale), context=_EXACT)
    return value


def wrapped(number: int) -> int:
    """An int as 64 bits hold it."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def rank(value: Any) -> Any:
    """What values are compared by: nulls come first; NaN equals itself and comes last."""
    if value is None:
        return (0,)
    return (2,) if value != value else (1, value)


def one_nan(record: tuple[Any, ...]) -> tuple[Any, ...]:
    """A record whose NaNs are the one object that all others have, so that it equals its like."""
    return tuple(_NAN if item != item else item for item in record)


def exact_sum(values: Sequence[Any]) -> Any:
    """A sum of ints, or one of floats that is exact and rounded once."""
    if not any(isinstance(item, float) for item in values):
        return sum(values)
    beyond = {item for item in values if not math.isfinite(item)}
    if beyond:
        return beyond.pop() if len(beyond) == 1 else _NAN
    whole = sum(map(Fraction, values), Fraction())
    try:
        return float(whole)
    except OverflowError:
        return math.inf if whole > 0 else -math.inf


def number(value: Any) -> float:
    """A number as a float; a decimal as its digits, and the point moved."""
    if isinstance(value, Decimal):
        digits = -int(value.as_tuple().exponent)
        return float(int(value.scaleb(digits, _EXACT))) / float(10**digits)
    return float(value)


def _shifted(one: Any, other: Any, sign: int) -> Any:
    """A moment and so many days or microseconds, or the distance of two moments."""
    if isinstance(one, int):
        one, other = other, one
    unit = _MICROSECOND if isinstance(one, datetime.datetime) else _DAY
    return (one - other) // unit if isinstance(other, datetime.date) else one + sign * other * unit


def _is_moment(*values: Any) -> bool:
    return any(isinstance(value, datetime.date) for value in values)


def _and(one: Any, other: Any) -> Any:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _or(one: Any, other: Any) -> Any:
    if one is True or other is True:
        return True
    return None if one is None or other is None else False


def _part(place: int) -> Callable[[float], int]:
    return lambda value: int(limb_part(_float_word(value), place))


def _float_word(value: float) -> Any:
    return encode_column("", FLOAT, np.array([value]), Texts())[0]


_WITH_NULLS: dict[str, Callable[..., Any]] = {
    "and": _and,
    "or": _or,
    "is null": lambda a: a is None,
    "coalesce": lambda a, b: b if a is None else a,
    "where": lambda a, b, c: b if a else c,
    "or null": lambda a: a,
    "there": lambda a: a,
}
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: _shifted(a, b, 1) if _is_moment(a, b) else a + b,
    "-": lambda a, b: _shifted(a, b, -1) if _is_moment(a, b) else a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "/": lambda a, b: float(np.float64(number(a)) / np.float64(number(b))),
    "min": lambda a, b: a if rank(a) <= rank(b) else b,
    "max": lambda a, b: a if rank(a) >= rank(b) else b,
    "==": lambda a, b: rank(a) == rank(b),
    "!=": lambda a, b: rank(a) != rank(b),
    "<": lambda a, b: rank(a) < rank(b),
    "<=": lambda a, b: rank(a) <= rank(b),
    "not": lambda a: not a,
    "neg": lambda a: -a,
    "int": lambda a: int(a) if not isinstance(a, float) or -(2**63) <= a < 2**63 else 0,
    "float": number,
    "bits": lambda a: max(a, 0).bit_length(),
    "year": lambda a: a.year,
    "month": lambda a: a.month,
    "day": lambda a: a.day,
    "date": lambda a: a.date() if isinstance(a, datetime.datetime) else a,
    "limb": lambda a: int(first_limb(_float_word(a))),
    "part 0": _part(0),
    "part 1": _part(1),
    "part 2": _part(2),
    **FUNCTIONS,
}


def value_of(expression: Expression, row: Mapping[str, Any]) -> Any:
    """The value of an expression for one record."""
    if isinstance(expression, Column):
        return row[expression.name]
    if isinstance(expression, Constant):
        return plain(expression.value, expression.type)
    operands = [value_of(operand, row) for operand in expression.operands]
    if expression.name in _WITH_NULLS:
        return _WITH_NULLS[expression.name](*_alike(expression.name, operands))
    if any(operand is None for operand in operands):
        return None
    if expression.name == "word":
        return _word(operands[0])
    with np.errstate(all="ignore"):
        value = _OPERATIONS[expression.name](*_alike(expression.name, operands))
    if type(value) is int:
        return wrapped(value)
    return plain(value, FLOAT) if isinstance(value, float) else value


def _alike(name: str, operands: list[Any]) -> list[Any]:
    """Operands with numbers as floats where one is a float."""
    first = 1 if name == "where" else 0
    if not any(isinstance(item, float) for item in operands[first:]):
        return operands
    numbers = [number(i) if type(i) in (int, Decimal) else i for i in operands[first:]]
    return [*operands[:first], *numbers]


def _word(value: Any) -> int:
    """The word that a value stands in, of what is added up as ints."""
    if isinstance(value, Decimal):
        return int(value.scaleb(-int(value.as_tuple().exponent), _EXACT))
    return int(value)
