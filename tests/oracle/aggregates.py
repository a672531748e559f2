"""Aggregates by their definition: nulls as SQL has them, exact sums, any multiplicities."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

Record = tuple[Any, ...]
Group = list[tuple[Any, int]]
"""Values of one column with their multiplicities."""
WORD = 1 << 63


class Part(NamedTuple):
    """One aggregate: what it is, of which column, and whether that may be null."""

    kind: str
    column: int
    nullable: bool


class BeyondWordError(Exception):
    """A sum of ints or decimals does not fit into 64 bits: no answer is right."""


def aggregates(
    rows: Mapping[Record, int], keys: Sequence[int], parts: Sequence[Part]
) -> set[Record]:
    """One record for each key that has all its aggregates: the key, then those in order."""
    groups: dict[Record, list[tuple[Record, int]]] = {}
    for record, count in rows.items():
        groups.setdefault(tuple(record[at] for at in keys), []).append((record, count))
    found = set()
    for key, members in groups.items():
        columns = [[(record[part.column], n) for record, n in members] for part in parts]
        values = [part_of(part, column) for part, column in zip(parts, columns, strict=True)]
        if all(value is not _ABSENT for value in values):
            found.add((*key, *values))
    return found


def part_of(part: Part, group: Group) -> Any:
    """What an aggregate of a group is; _ABSENT where the group is none for it."""
    if part.kind in ("count", "total", "mean"):
        return _weighed(part, group)
    times: dict[Any, int] = {}
    for value, count in group:
        times[value] = times.get(value, 0) + count
    there = [value for value, count in times.items() if count > 0]
    if not there:
        return _ABSENT
    values = [value for value in there if value is not None]
    if part.kind == "distinct":
        return len(values)
    chosen: Callable[..., Any] = min if part.kind == "least" else max
    return chosen(values, key=_place) if values else None


def _weighed(part: Part, group: Group) -> Any:
    if sum(count for _, count in group) == 0:
        return _ABSENT
    given = [(value, count) for value, count in group if value is not None]
    counted = sum(count for _, count in given)
    if part.kind == "count":
        return counted
    whole = _sum(given)
    if part.nullable and counted == 0:
        return None
    if part.kind == "total":
        if part.nullable and whole == -WORD:
            raise BeyondWordError
        return whole
    return _quotient(whole, counted)


def _sum(given: Group) -> Any:
    if any(isinstance(value, float) for value, _ in given):
        return _float_sum(given)
    whole = sum((value * count for value, count in given), 0)
    digits = whole * 100 if isinstance(whole, Decimal) else whole
    if not -WORD <= digits < WORD:
        raise BeyondWordError
    return whole


def _float_sum(given: Group) -> float:
    rising = sum(n for value, n in given if value == math.inf)
    falling = sum(n for value, n in given if value == -math.inf)
    lost = sum(n for value, n in given if math.isnan(value))
    rises, falls = rising > 0 or falling < 0, rising < 0 or falling > 0
    if lost != 0 or (rises and falls):
        return NAN
    if rises or falls:
        return math.inf if rises else -math.inf
    whole = sum((Fraction(value) * n for value, n in given if math.isfinite(value)), Fraction())
    try:
        return float(whole)
    except OverflowError:
        return math.inf if whole > 0 else -math.inf


def _quotient(whole: Any, counted: int) -> float:
    number = float(int(whole * 100)) / 100 if isinstance(whole, Decimal) else float(whole)
    if counted:
        return one_nan(number / counted)
    return NAN if number == 0 or number != number else math.copysign(math.inf, number)


def one_nan(value: Any) -> Any:
    """A value as records hold it: one zero, and one object for all NaNs."""
    if isinstance(value, float):
        return NAN if value != value else value + 0.0
    return value


def _place(value: Any) -> tuple[int, Any]:
    """NaN comes behind all numbers."""
    return (1, 0) if value != value else (0, value)


NAN = math.nan
_ABSENT = object()
