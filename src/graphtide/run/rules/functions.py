"""Functions in rules, which Python computes: once for each combination of values that comes.

A function that has no value for its arguments, such as the number of a text that is none, returns
None: the rule derives nothing from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.plan.dataflow_expressions import BOOL, FLOAT, INT, TEXT, ColumnType

_WORD = 1 << 64
_DTYPES = {INT: np.int64, FLOAT: np.float64, BOOL: np.bool_, TEXT: object}
_NOTHING: dict[ColumnType, Any] = {INT: 0, FLOAT: 0.0, BOOL: False, TEXT: ""}
_KEPT = 1 << 16


def text_function(
    name: str, places: Sequence[int | ConstantArgument], kind: ColumnType
) -> Callable[..., tuple[NDArray[Any], ...]]:
    """A function from all columns to all columns, the result, and whether there is one.

    `places` are the numbers of the columns that it takes, or a `Given` value.
    """
    function = _FUNCTIONS[name]

    @lru_cache(_KEPT)
    def known(*values: Any) -> Any:
        return function(*values)

    def called(*columns: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        count = len(columns[0])
        given = [
            [place.value] * count
            if isinstance(place, ConstantArgument)
            else columns[place].tolist()
            for place in places
        ]
        results = [known(*values) for values in zip(*given, strict=True)]
        there = np.array([item is not None for item in results], np.bool_)
        plain = [_NOTHING[kind] if item is None else item for item in results]
        return (*columns, np.array(plain, _DTYPES[kind]), there)

    called.__name__ = name
    return called


def called_once(name: str, values: Sequence[Any]) -> Any:
    """What a function says of some values; None where it has no value."""
    return _FUNCTIONS[name](*values)


class ConstantArgument:
    """A value among the arguments of a function."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _cat(*texts: str) -> str:
    return "".join(texts)


def _substr(text: str, start: int, length: int) -> str:
    """Some characters, from 0; nothing where they are not there."""
    return text[start : start + length] if start >= 0 and length >= 0 else ""


def _contains(part: str, text: str) -> bool:
    return part in text


def _match(pattern: str, text: str) -> bool | None:
    compiled = _pattern(pattern)
    return None if compiled is None else compiled.fullmatch(text) is not None


@lru_cache(1024)
def _pattern(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except re.error:
        return None


def plain_digits(text: str) -> str:
    """A text that may be a number; ValueError for digits that Python alone takes for some."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return text


def _to_number(text: str) -> int | None:
    try:
        number = int(plain_digits(text))
    except ValueError:
        return None
    return number if -(_WORD >> 1) <= number < _WORD >> 1 else None


def _to_float(text: str) -> float | None:
    try:
        return float(plain_digits(text))
    except ValueError:
        return None


def _power(base: Any, exponent: Any) -> Any:
    """Numbers modulo 2^64, as they are multiplied; no value for a negative exponent."""
    if isinstance(base, float):
        try:
            power = base**exponent
        except (OverflowError, ZeroDivisionError):
            return None
        return power if isinstance(power, float) else None
    if exponent < 0:
        return None
    power = pow(base % _WORD, exponent, _WORD)
    return power - _WORD if power >= _WORD >> 1 else power


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cat": _cat,
    "substr": _substr,
    "strlen": len,
    "contains": _contains,
    "match": _match,
    "to_number": _to_number,
    "to_float": _to_float,
    "to_string": str,
    "^": _power,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
}
