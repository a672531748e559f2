"""Which leaders of a view are newcomers: in the view before they had what no edge gives.

A vertex without edges has the value of the empty version, and shares it with all others that have
none. Which place it had among those says nothing: somebody who was not there did not rise by
twenty thousand places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.reading import numpy_column

Int64 = NDArray[np.int64]
Truths = NDArray[np.bool_]


def newcomers(contents: RunContents, field: str, best: Int64, values: NDArray[Any]) -> Truths:
    """True for each leader, a row a view, that has a value of its own only since this view.

    Nobody is a newcomer in the first view. O(differences), and a little for each leader.
    """
    base = contents.base[field]
    candidates = differ(values, base[best])
    candidates[:1] = False
    new = np.zeros(best.shape, np.bool_)
    views, at = np.nonzero(candidates)
    if len(views):
        steps = contents.step_of[contents.finished_views()][views - 1]
        vertices = best[views, at]
        new[views, at] = ~differ(values_of(contents, field, steps, vertices), base[vertices])
    return new


def values_of(contents: RunContents, field: str, steps: Int64, vertices: Int64) -> NDArray[Any]:
    """The value of each vertex at the step beside it. O(differences), and a little for each."""
    step, vertex, new = _rows_of(contents, field, np.unique(vertices))
    starts, stops = (np.searchsorted(vertex, vertices, side=side) for side in ("left", "right"))
    values, end = contents.base[field][vertices].copy(), contents.steps.end
    for at, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        rows = step[start:stop]
        # The last change on the way from the first version down to the step.
        above = np.flatnonzero((rows <= steps[at]) & (steps[at] < end[rows]))
        if len(above):
            values[at] = new[start + above[-1]]
    return values


def _rows_of(contents: RunContents, field: str, wanted: Int64) -> tuple[Int64, Int64, NDArray[Any]]:
    """The differences of some vertices, by vertex and step: the steps, the vertices, new values."""
    parts = contents.differences.parts
    steps, vertices = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    values = [contents.base[field][:0]]
    for part in range(len(parts)):
        table = parts.differences(part, field)
        vertex = table.column("vertex").to_numpy()
        rows = np.flatnonzero(np.isin(vertex, wanted))
        steps.append(table.column("step").to_numpy()[rows])
        vertices.append(vertex[rows])
        values.append(numpy_column(table.column("new"))[rows])
    step, vertex = np.concatenate(steps), np.concatenate(vertices)
    order = np.lexsort((step, vertex))
    return step[order], vertex[order], np.concatenate(values)[order]


def differ(one: NDArray[Any], other: NDArray[Any]) -> Truths:
    """True where two values are not the same; NaN is the same as NaN."""
    differs: Truths = (one != other) & ((one == one) | (other == other))
    return differs
