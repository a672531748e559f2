"""A predicate on one row, by the book: three-valued logic with None for unknown."""

from __future__ import annotations

import math
import re
from typing import Any

from graphtide.plan import predicates as p

Row = dict[str, dict[str, Any]]  # {"edge": {...}, "src": {...}, "dst": {...}}


def holds(predicate: p.Predicate, row: Row) -> bool:
    return truth(predicate, row) is True


def truth(predicate: p.Predicate, row: Row) -> bool | None:
    match predicate:
        case p.Always(value):
            return value
        case p.Not(term):
            inner = truth(term, row)
            return None if inner is None else not inner
        case p.IsTrue(term):
            return truth(term, row) is True
        case p.And(terms):
            found = [truth(term, row) for term in terms]
            return False if False in found else None if None in found else True
        case p.Or(terms):
            found = [truth(term, row) for term in terms]
            return True if True in found else None if None in found else False
        case p.IsNull(item):
            return _get(item, row) is None
        case p.Like(item, pattern):
            value = _get(item, row)
            return None if value is None else _like(value, pattern)
        case p.InSet(item, constants):
            value = _get(item, row)
            if value is None:
                return None
            return any(_compare("=", value, constant.value) for constant in constants)
        case p.Comparison(operator, left, right):
            one = _get(left, row)
            other = right.value if isinstance(right, p.Constant) else _get(right, row)
            return None if one is None or other is None else _compare(operator, one, other)
    raise AssertionError(predicate)


def _get(item: p.PropertyRef, row: Row) -> Any:
    return row[item.owner].get(item.name)


def _compare(operator: str, one: Any, other: Any) -> bool:
    order = _order(one, other)
    return {
        "=": order == 0,
        "<>": order != 0,
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
    }[str(operator)]


def _order(one: Any, other: Any) -> int:
    one_nan = isinstance(one, float) and math.isnan(one)
    other_nan = isinstance(other, float) and math.isnan(other)
    if one_nan or other_nan:
        return one_nan - other_nan
    return (one > other) - (one < other)


def _like(value: str, pattern: str) -> bool:
    parts = []
    letters = iter(pattern)
    for letter in letters:
        if letter == "\\":
            parts.append(re.escape(next(letters)))
        else:
            parts.append({"%": ".*", "_": "."}.get(letter, re.escape(letter)))
    return re.fullmatch("".join(parts), value, re.DOTALL) is not None
