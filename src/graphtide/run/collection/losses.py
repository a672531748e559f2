"""What was lost in each view, beside a baseline: one line a view, the worst first.

What a loss is follows from what the results mean, as figures do. Of components, vertices are cut
off that are no longer with the greatest part of their former component. Of distances, vertices are
lost that are no longer reached. Of truth values, those that are no longer true. Of other numbers,
the sum is less. A vertex that is taken out of a view is no loss there: it is not compared. Every
view is read whole: O(vertices) a view.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.newcomers import differ
from graphtide.run.collection.partial_figures import (
    difference,
    exact_sum,
    unreached,
)

Row = dict[str, int | float | None]
Values = NDArray[Any]


def losses_table(contents: RunContents, field: str, baseline: int) -> pa.Table:
    """A row a finished view but the baseline; of the same loss, in the order of the views.

    `not_finite` is there where some values are infinite or no numbers, and so count for nothing.
    """
    if contents.empty(field).ndim == 2:
        raise InputError(f"'{field}' is an array, which has no losses", hint="see run.changes()")
    before = contents.values(baseline)[field].copy()
    edges = contents.steps.edges[contents.step_of]
    views = [view for view in contents.finished_views() if view != baseline]
    rows: dict[int, Row] = {}
    for view in sorted(views, key=lambda view: int(contents.step_of[view])):
        lost: Row = {"edges_lost": int(edges[baseline] - edges[view])}
        both = [before, contents.values(view)[field]]
        away = sorted({*contents.removed(baseline), *contents.removed(view)})
        both = [np.delete(item, away) for item in both] if away else both
        rows[view] = lost | _losses(contents, field, *both)
    order = sorted(views, key=lambda view: _severity(rows[view]), reverse=True)
    nothing: Row = {"edges_lost": 0} | _losses(contents, field, before, before)
    columns = {"view": pa.array([contents.steps.names[view] for view in order], pa.string())}
    for name, least in nothing.items():
        column = [rows[view][name] for view in order]
        if name != "not_finite" or any(column):
            columns[name] = _column(column, isinstance(least, int))
    return pa.table(columns)


def _column(values: list[int | float | None], whole: bool) -> pa.Array:
    """Ints as decimals where 64 bits do not hold them: sums may be greater than all values."""
    if not whole:
        return pa.array(values, pa.float64())
    wide = any(value is not None and not -(2**63) <= value < 2**63 for value in values)
    return pa.array(values, pa.decimal128(38) if wide else pa.int64())


def _severity(row: Row) -> tuple[float, ...]:
    """What views are sorted by: the figures behind the edges, one after the other."""
    return tuple(0 if value is None else value for value in list(row.values())[1:])


def _losses(contents: RunContents, field: str, before: Values, after: Values) -> Row:
    if contents.facts.labels == field:
        return _cut_off(before, after)
    if contents.named_by(field) is not None:
        return {"changed": _count(before != after)}
    if before.dtype == np.bool_:
        return {"lost": _count(before & ~after), "gained": _count(after & ~before)}
    missing = unreached(contents.base[field])
    if missing is not None:
        return _unreached(before, after, missing)
    return _less(before, after)


def _cut_off(before: Values, after: Values) -> Row:
    """Vertices that are not with the greatest part of what was their component.

    Components are named by numbers of vertices, so that two fit one number of 64 bits.
    """
    keys, sizes = np.unique((before.astype(np.int64) << 32) | after, return_counts=True)
    labels = keys >> 32
    first = np.flatnonzero(np.diff(labels, prepend=-1))
    greatest = np.maximum.reduceat(sizes, first) if len(first) else sizes
    more = _count(np.bincount(after)) - len(first)
    return {"cut_off": len(before) - int(greatest.sum()), "components_more": more}


def _unreached(before: Values, after: Values, missing: float) -> Row:
    """Vertices without a way, and how much farther the others are (for widths, narrower)."""
    both = (before != missing) & (after != missing)
    one, other = (before, after) if missing > 0 else (after, before)
    usual = both & np.isfinite(before) & np.isfinite(after)
    count = _count(usual)
    return {
        "lost": _count((before != missing) & (after == missing)),
        "worse": _count(both & (other > one)),
        "mean_worse": difference(other[usual], one[usual], count) if count else None,
        "not_finite": _count(both & ~usual & differ(before, after)),
    }


def _less(before: Values, after: Values) -> Row:
    """How much less there is in all, in how many vertices, and of one vertex at most."""
    if before.dtype.kind == "f":
        usual = np.isfinite(before) & np.isfinite(after)
        one, other = before[usual], after[usual]
        with np.errstate(over="ignore"):  # What is lost in one vertex may be beyond the floats.
            most: int | float = float((one - other).max(initial=0.0))
        lost: int | float = difference(one, other)
    else:
        usual = np.ones(len(before), np.bool_)
        pairs = zip(before.tolist(), after.tolist(), strict=True)
        most = max(0, max((one - other for one, other in pairs), default=0))
        lost = exact_sum(before) - exact_sum(after)
    return {
        "lost": lost,
        "lower": _count(usual & (before > after)),
        "most": most,
        "not_finite": _count(~usual & differ(before, after)),
    }


def _count(truths: Values) -> int:
    return int(np.count_nonzero(truths))
