"""What sums up one result in every finished view, by what it means.

Labels of components are counted; distances have vertices that are reached; truth values are
counted; numbers have a least, a greatest and a mean value. Infinite ones count for nothing else
than not being reached. A mean is the sum without any rounding, rounded once, divided by how many
there are: it depends on the values alone, however they were reached.

Figures are kept from differences (`followed`), or computed anew here from the whole results of each
view: where there is little of them, so that nobody waits for kernels to be compiled; for arrays;
for numbers that a float cannot hold. Of a run on shards, tasks tell them (`kept_figures`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.run.collection.chosen_vertices import EVERY_VERTEX, ChosenVertices
from graphtide.run.collection.contents import RunContents

Figures = dict[str, pa.Array]
Figure = dict[str, int | float | None]

INFINITIES = (np.inf, -np.inf)
_LITTLE = 1 << 20
_A_VIEW = 1_000


def is_little(contents: RunContents, field: str) -> bool:
    """True where looking at all values of all views takes 50 ms at most."""
    views = len(contents.finished_views())
    size = contents.count(field) * math.prod(contents.empty(field).shape[1:])
    return views * (size + _A_VIEW) <= _LITTLE


def whole_figures(
    contents: RunContents, field: str, chosen: ChosenVertices = EVERY_VERTEX
) -> Figures:
    """The same, from the whole results of each view. O(vertices) a view."""
    views = contents.finished_views()
    rows: list[Figure] = [{} for _ in views]
    for at in np.argsort(contents.step_of[views], kind="stable").tolist():
        values = contents.values(views[at])[field]
        if not chosen.everything:
            values = values[chosen.mask(contents, views[at])]
        rows[at] = _figure(contents, field, values)
    return figure_columns(rows, contents.empty(field))


def figure_columns(rows: Sequence[Figure], empty: NDArray[Any]) -> Figures:
    """A column a figure of a result, whose type is that of `empty`."""
    kind = pa.int64() if empty.dtype.kind in "iu" else pa.float64()
    kinds = {"least": kind, "greatest": kind, "mean": pa.float64()}
    names = rows[0] if rows else {}
    return {
        name: pa.array([row[name] for row in rows], kinds.get(name, pa.int64())) for name in names
    }


def unreached(base: NDArray[Any]) -> float | None:
    """The infinity that stands for no way, where most vertices have it without edges."""
    if base.dtype.kind != "f":
        return None
    for value in INFINITIES:
        if 2 * np.count_nonzero(base == value) >= base.size > 0:
            return value
    return None


def _figure(contents: RunContents, field: str, values: NDArray[Any]) -> Figure:
    if contents.facts.labels == field:
        sizes = np.unique(values, return_counts=True)[1]
        single = int(np.count_nonzero(sizes == 1))
        return {"components": len(sizes), "largest": int(sizes.max(initial=0)), "single": single}
    if values.dtype == np.bool_:
        return {"true": int(np.count_nonzero(values))}
    figure: Figure = {}
    missing = unreached(contents.base[field])
    if missing is not None:
        figure["reached"] = int(np.count_nonzero(values != missing))
    usual = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    empty = usual.size == 0
    figure["least"] = None if empty else usual.min().item()
    figure["greatest"] = None if empty else usual.max().item()
    figure["mean"] = None if empty else _mean(usual.reshape(-1))
    return figure


def _mean(usual: NDArray[Any]) -> float:
    if usual.dtype.kind != "f":
        return float(sum(usual.tolist()) / usual.size)
    try:
        return math.fsum(usual.tolist()) / usual.size
    except OverflowError:
        return float(sum(map(Fraction, usual.tolist())) / usual.size)


def mean_of(total: int, count: int, unit: int, *, whole: bool) -> float:
    """The mean of `count` numbers whose sum is told without rounding, in parts of one `unit`."""
    if whole:
        return total / (count * unit)
    try:
        return (total / unit) / count
    except OverflowError:
        return total / (count * unit)
