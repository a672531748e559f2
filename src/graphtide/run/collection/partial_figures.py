"""Figures of a result in one view: of all vertices at once, or told by tasks of their own ones.

The ends of a type are its infinities, or the greatest and the least int: what `Min` and `Max` have
where nothing is sent. An end that most vertices have without edges stands for what is not reached.
Other ends of floats, and NaN, are not finite; other ends of ints are numbers like any other.

What tasks tell is small and exact, so that joined figures are those of the whole results, to the
last bit: sums travel as whole numbers of any length, rounded once when all are together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.plan.program_bounds import MOST_VERTICES

Figure = dict[str, int | float | None]
Partial = dict[str, Any]

_INT_ENDS = (2**63 - 1, -(2**63))

_UNIT_BITS = 1126
"""Every float is a whole number of units of one part in 2 to this."""

_LOWEST, _CHUNK = -1073, 1 << 20


def partial_figure(values: NDArray[Any], base: NDArray[Any]) -> Partial:
    """What there is to tell of some vertices: their values, and those without any edge."""
    if values.dtype == np.bool_:
        return {"true": int(np.count_nonzero(values))}
    usual = values[_between_ends(values)]
    ends = [usual.min().item(), usual.max().item()] if usual.size else [None, None]
    return {
        "count": values.size,
        "at_ends": _at_ends(values),
        "without": [base.size, *_at_ends(base)],
        "usual": usual.size,
        "ends": ends,
        "sum": hex(exact_sum(usual)),
    }


def partial_names(values: NDArray[Any]) -> Partial:
    """How many of some vertices name a vertex by its number; other numbers name nobody."""
    return {"named": int(np.count_nonzero((values >= 0) & (values < MOST_VERTICES)))}


def _ends(values: NDArray[Any]) -> tuple[float, float]:
    return (np.inf, -np.inf) if values.dtype.kind == "f" else _INT_ENDS


def _between_ends(values: NDArray[Any]) -> NDArray[np.bool_]:
    """True for the finite floats, or the ints between the least and the greatest."""
    most, least = _ends(values)
    between: NDArray[np.bool_] = (values != most) & (values != least) & np.isfinite(values)
    return between


def _at_ends(values: NDArray[Any]) -> list[int]:
    """How many values are the greatest of their type, and how many the least."""
    if values.dtype == np.bool_:
        return [0, 0]
    return [int(np.count_nonzero(values == end)) for end in _ends(values)]


def exact_sum(values: NDArray[Any]) -> int:
    """The sum of finite numbers without rounding: of floats in units of one part in 2**1126."""
    flat, total = values.reshape(-1), 0
    for first in range(0, flat.size, _CHUNK):
        some = flat[first : first + _CHUNK]
        total += _sum_of_floats(some) if some.dtype.kind == "f" else _sum_of_whole(some)
    return total


def _sum_of_whole(values: NDArray[Any]) -> int:
    wide = values.astype(np.int64)
    return (int((wide >> 32).sum()) << 32) + int((wide & 0xFFFFFFFF).sum())


def _sum_of_floats(values: NDArray[Any]) -> int:
    """By exponents: up to 2**20 halves of mantissas are added up in a float without rounding."""
    shares, exponents = np.frexp(values.astype(np.float64))
    mantissas = np.ldexp(shares, 53).astype(np.int64)
    places = (exponents - _LOWEST).astype(np.int64)
    high, low = (np.bincount(places, half) for half in (mantissas >> 26, mantissas & 0x3FFFFFF))
    used = np.flatnonzero((high != 0) | (low != 0)).tolist()
    return sum(((int(high[at]) << 26) + int(low[at])) << at for at in used)


def joined(partials: Sequence[Partial]) -> Partial:
    """What some tell of their vertices, as one who has all of these would."""
    names = partials[0]
    if "count" not in names:
        sums = {name: sum(item[name] for item in partials) for name in names}
        largest = [item["largest"] for item in partials if "largest" in names]
        return {**sums, "largest": max(largest)} if largest else sums
    ends = [item["ends"] for item in partials if item["usual"]]
    least = min((item for item, _ in ends), default=None)
    greatest = max((item for _, item in ends), default=None)
    return {
        **{name: sum(item[name] for item in partials) for name in ("count", "usual")},
        **{name: _added(item[name] for item in partials) for name in ("at_ends", "without")},
        "ends": [least, greatest],
        "sum": hex(sum(int(item["sum"], 16) for item in partials)),
    }


def _added(lists: Iterable[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*lists, strict=True)]


def figure_of(told: Partial, *, whole: bool) -> Figure:
    """What sums up a result of all vertices; `whole` where it has whole numbers."""
    if "count" not in told:
        return dict(told)
    missing, figure = missing_end(told), Figure()
    unreached = 0 if missing is None else told["at_ends"][missing]
    if missing is not None:
        figure["reached"] = told["count"] - unreached
    count, total = told["usual"], int(told["sum"], 16)
    ends = [end for end in told["ends"] if end is not None]
    if whole:
        for at, (end, there) in enumerate(zip(_INT_ENDS, told["at_ends"], strict=True)):
            if there and at != missing:
                count, total, ends = count + there, total + end * there, [*ends, end]
    figure["least"], figure["greatest"] = min(ends, default=None), max(ends, default=None)
    unit = 1 if whole else 1 << _UNIT_BITS
    figure["mean"] = mean_of(total, count, unit, whole=whole) if count else None
    return figure | {"not_finite": told["count"] - count - unreached}


def missing_end(told: Partial) -> int | None:
    """What stands for no way, by what was told of the vertices without edges.

    0 where it is the greatest value of the type, 1 where it is the least one.
    """
    size, *counts = told.get("without", (0, 0, 0))
    return next((at for at, count in enumerate(counts) if 2 * count >= size > 0), None)


def unreached(base: NDArray[Any]) -> float | None:
    """The end of a type that stands for no way, where most vertices have it without edges."""
    at = missing_end({"without": [base.size, *_at_ends(base)]})
    return None if at is None else _ends(base)[at]


def difference(after: NDArray[Any], before: NDArray[Any], count: int = 1) -> float:
    """The sum of the one without that of the other, over a count, rounded once."""
    unit = count << (_UNIT_BITS if before.dtype.kind == "f" else 0)
    total = exact_sum(after) - exact_sum(before)
    try:
        return total / unit
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def mean_of(total: int, count: int, unit: int, *, whole: bool) -> float:
    """The mean of `count` numbers whose sum is told without rounding, in parts of one `unit`."""
    if whole:
        return total / (count * unit)
    try:
        return (total / unit) / count
    except OverflowError:
        return total / (count * unit)
