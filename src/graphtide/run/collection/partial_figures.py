"""Figures of a result in one view: of all vertices at once, or told by tasks of their own ones.

What tasks tell is small and exact, so that joined figures are those of the whole results, to the
last bit: sums travel as whole numbers of any length, rounded once when all are together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.plan.program_bounds import MOST_VERTICES

Figure = dict[str, int | float | None]
Partial = dict[str, Any]

INFINITIES = (np.inf, -np.inf)

_UNIT_BITS = 1126
"""Every float is a whole number of units of one part in 2 to this."""

_LOWEST, _CHUNK = -1073, 1 << 20


def partial_figure(values: NDArray[Any], base: NDArray[Any]) -> Partial:
    """What there is to tell of some vertices: their values, and those without any edge."""
    if values.dtype == np.bool_:
        return {"true": int(np.count_nonzero(values))}
    usual = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    ends = [usual.min().item(), usual.max().item()] if usual.size else [None, None]
    return {
        "count": values.size,
        "infinite": _infinite(values),
        "without": [base.size, *_infinite(base)],
        "usual": usual.size,
        "ends": ends,
        "sum": hex(exact_sum(usual)),
    }


def partial_names(values: NDArray[Any]) -> Partial:
    """How many of some vertices name a vertex by its number; other numbers name nobody."""
    return {"named": int(np.count_nonzero((values >= 0) & (values < MOST_VERTICES)))}


def _infinite(values: NDArray[Any]) -> list[int]:
    """How many values are each of the infinities."""
    if values.dtype.kind != "f":
        return [0, 0]
    return [int(np.count_nonzero(values == value)) for value in INFINITIES]


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
        **{name: _added(item[name] for item in partials) for name in ("infinite", "without")},
        "ends": [least, greatest],
        "sum": hex(sum(int(item["sum"], 16) for item in partials)),
    }


def _added(lists: Iterable[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*lists, strict=True)]


def figure_of(told: Partial, *, whole: bool) -> Figure:
    """What sums up a result of all vertices; `whole` where it has whole numbers."""
    if "count" not in told:
        return dict(told)
    missing, figure = missing_of(told), Figure()
    if missing is not None:
        figure["reached"] = told["count"] - told["infinite"][INFINITIES.index(missing)]
    figure["least"], figure["greatest"] = told["ends"]
    count, unit = told["usual"], 1 if whole else 1 << _UNIT_BITS
    figure["mean"] = mean_of(int(told["sum"], 16), count, unit, whole=whole) if count else None
    return figure


def missing_of(told: Partial) -> float | None:
    """What `unreached` says, by what was told of the vertices without edges."""
    size, *counts = told.get("without", (0, 0, 0))
    common = (at for at, count in zip(INFINITIES, counts, strict=True) if 2 * count >= size > 0)
    return next(common, None)


def unreached(base: NDArray[Any]) -> float | None:
    """The infinity that stands for no way, where most vertices have it without edges."""
    return missing_of({"without": [base.size, *_infinite(base)]})


def mean_of(total: int, count: int, unit: int, *, whole: bool) -> float:
    """The mean of `count` numbers whose sum is told without rounding, in parts of one `unit`."""
    if whole:
        return total / (count * unit)
    try:
        return (total / unit) / count
    except OverflowError:
        return total / (count * unit)
