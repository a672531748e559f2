"""What sums up one result in every finished view, by what it means.

Labels of components are counted, and so is who names any other vertex; distances have vertices that
are reached; truth values are counted; numbers have a least, a greatest and a mean value. What is
not reached counts for none of these, and neither does what is infinite or no number: a column says
how many, where there are any. A mean is the sum without any rounding, rounded once, divided by how
many there are: it depends on the values alone, however they were reached.

Figures are kept from differences (`followed`), or computed anew here from the whole results of each
view: where there is little of them, so that nobody waits for kernels to be compiled; for arrays;
for numbers that a float cannot hold. Of a run on shards, tasks tell them (`kept_figures`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.run.collection.chosen_vertices import THERE, ChosenVertices
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.partial_figures import (
    Figure,
    figure_of,
    partial_figure,
    partial_names,
)

Figures = dict[str, pa.Array]

_LITTLE = 1 << 20
_A_VIEW = 1_000


def is_little(contents: RunContents, field: str) -> bool:
    """True where looking at all values of all views takes 50 ms at most."""
    views = len(contents.finished_views())
    size = contents.count(field) * math.prod(contents.empty(field).shape[1:])
    return views * (size + _A_VIEW) <= _LITTLE


def whole_figures(contents: RunContents, field: str, chosen: ChosenVertices = THERE) -> Figures:
    """The same, from the whole results of each view. O(vertices) a view."""
    views = contents.finished_views()
    rows: list[Figure] = [{} for _ in views]
    for at in np.argsort(contents.step_of[views], kind="stable").tolist():
        values = chosen.of(contents, views[at], contents.values(views[at])[field])
        rows[at] = _figure(contents, field, values)
    return figure_columns(rows, contents.empty(field))


def figure_columns(rows: Sequence[Figure], empty: NDArray[Any]) -> Figures:
    """A column a figure of a result, whose type is that of `empty`."""
    kind = pa.int64() if empty.dtype.kind in "iu" else pa.float64()
    kinds = {"least": kind, "greatest": kind, "mean": pa.float64()}
    names = rows[0] if rows else {}
    columns = {
        name: pa.array([row[name] for row in rows], kinds.get(name, pa.int64())) for name in names
    }
    return told_figures(columns)


def told_figures(figures: Figures) -> Figures:
    """All figures but how many are not finite, where all are."""
    if "not_finite" in figures and not any(figures["not_finite"].to_pylist()):
        del figures["not_finite"]
    return figures


def _figure(contents: RunContents, field: str, values: NDArray[Any]) -> Figure:
    if contents.facts.labels == field:
        sizes = np.unique(values, return_counts=True)[1]
        single = int(np.count_nonzero(sizes == 1))
        return {"components": len(sizes), "largest": int(sizes.max(initial=0)), "single": single}
    if contents.named_by(field) is not None:
        return figure_of(partial_names(values), whole=True)
    whole = values.dtype.kind in "iu"
    return figure_of(partial_figure(values, contents.base[field]), whole=whole)
