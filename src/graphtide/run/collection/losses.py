"""What was lost in each view, beside a baseline: one line a view, the worst first.

What a loss is follows from what the results mean, as figures do. Of components, vertices are cut
off that are no longer with the greatest part of their former component. Of distances, vertices are
lost that are no longer reached. Of truth values, those that are no longer true. Of other numbers,
the sum is less. Every view is read whole: O(vertices) a view.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.partial_figures import unreached

Row = dict[str, int | float | None]
Values = NDArray[Any]


def losses_table(contents: RunContents, field: str, baseline: int) -> pa.Table:
    """A row a finished view but the baseline; of the same loss, in the order of the views."""
    if contents.empty(field).ndim == 2:
        raise InputError(f"'{field}' is an array, which has no losses", hint="see run.changes()")
    before = contents.values(baseline)[field].copy()
    edges = contents.steps.edges[contents.step_of]
    views = [view for view in contents.finished_views() if view != baseline]
    rows: dict[int, Row] = {}
    for view in sorted(views, key=lambda view: int(contents.step_of[view])):
        lost: Row = {"edges_lost": int(edges[baseline] - edges[view])}
        rows[view] = lost | _losses(contents, field, before, contents.values(view)[field])
    names = list(next(iter(rows.values()), {}))
    order = sorted(views, key=lambda view: _severity(rows[view]), reverse=True)
    columns: dict[str, Any] = {"view": [contents.steps.names[view] for view in order]}
    return pa.table(columns | {name: [rows[view][name] for view in order] for name in names})


def _severity(row: Row) -> tuple[float, ...]:
    """What views are sorted by: the figures behind the edges, one after the other."""
    return tuple(0.0 if value is None else float(value) for value in list(row.values())[1:])


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
    """Vertices that are not with the greatest part of what was their component."""
    keys, sizes = np.unique(np.stack([before, after]), axis=1, return_counts=True)
    greatest: dict[int, int] = {}
    for label, size in zip(keys[0].tolist(), sizes.tolist(), strict=True):
        greatest[label] = max(greatest.get(label, 0), size)
    more = len(np.unique(after)) - len(np.unique(before))
    return {"cut_off": len(before) - sum(greatest.values()), "components_more": more}


def _unreached(before: Values, after: Values, missing: float) -> Row:
    """Vertices without a way, and how much farther the others are (for widths, narrower)."""
    both = (before != missing) & (after != missing)
    with np.errstate(invalid="ignore"):  # The source of widths is infinite in all views.
        worse = (after[both] - before[both]) * (1 if missing > 0 else -1)
    usual = worse[np.isfinite(worse)]
    mean = math.fsum(usual.tolist()) / len(usual) if len(usual) else None
    return {
        "lost": _count((before != missing) & (after == missing)),
        "worse": _count(worse > 0),
        "mean_worse": mean,
    }


def _less(before: Values, after: Values) -> Row:
    """How much less there is in all, in how many vertices, and of one vertex at most."""
    if before.dtype.kind == "f":
        usual = np.isfinite(before) & np.isfinite(after)
        less = before[usual] - after[usual]
        total: int | float = math.fsum(less.tolist())
        return {"lost": total, "lower": _count(less > 0), "most": float(less.max(initial=0.0))}
    total = sum(before.tolist()) - sum(after.tolist())
    pairs = zip(before.tolist(), after.tolist(), strict=True)
    most = max((one - other for one, other in pairs), default=0)
    return {"lost": total, "lower": _count(before > after), "most": max(0, most)}


def _count(truths: Values) -> int:
    return int(np.count_nonzero(truths))
