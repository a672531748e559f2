"""What sums up one result in every finished view, by what it means.

Labels of components are counted, and so is who names any other vertex; distances have vertices that
are reached; truth values are counted; numbers have a least, a greatest and a mean value. What is
not reached counts for none of these, and neither does what is infinite or no number: a column says
how many, where there are any. A mean is the sum without any rounding, rounded once, divided by how
many there are: it depends on the values alone, however they were reached.

The ends of a type are its infinities, or the greatest and the least int: what `Min` and `Max` have
where nothing is sent. An end that most vertices have without edges stands for what is not reached.
Other ends of floats, and NaN, are not finite; other ends of ints are numbers like any other.

Figures are kept from differences (`incremental_figures`), or computed anew here from the whole
results of each view: where there is little of them, so that nobody waits for kernels to be
compiled; for arrays; for numbers that a float cannot hold.

Figures are a fold over vertices. `partial_figure` begins it for some vertices, `joined` merges what
disjoint sets of vertices have, `figure_of` ends it. Here all vertices are one set; in a run on
shards each task begins with its own. Partial figures are small and exact, so that joined ones are
those of the whole results, to the last bit: sums travel as whole numbers of any length, rounded
once when all are together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.plan.program_proofs import MOST_VERTICES
from graphtide.run.collection.contents import THERE, ChosenVertices, RunContents
from graphtide.run.collection.differences import numpy_column
from graphtide.store.parts import PartsOnDisk
from graphtide.store.results import told

Int64 = NDArray[np.int64]
Truths = NDArray[np.bool_]


def newcomers(contents: RunContents, field: str, best: Int64, values: NDArray[Any]) -> Truths:
    """True for each leader, one row per view, that has a value of its own only since this view.

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


Figure = dict[str, int | float | None]
Partial = dict[str, Any]

_INT_ENDS = (2**63 - 1, -(2**63))

_UNIT_BITS = 1126
"""Every float is a whole number of units of one part in 2 to this."""

_LOWEST, _CHUNK = -1073, 1 << 20


def partial_figure(values: NDArray[Any], base: NDArray[Any]) -> Partial:
    """Begin the fold: the figures of some vertices, given what they have without edges too."""
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


def partial_components(sizes: NDArray[np.int64]) -> Partial:
    """Begin the fold for labels of components, given how many vertices have each label."""
    single, largest = int(np.count_nonzero(sizes == 1)), int(sizes.max(initial=0))
    return {"components": len(sizes), "largest": largest, "single": single}


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
    """Merge: the figures of all vertices from those of disjoint sets of them."""
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
    """End the fold: the figures that users see; `whole` where results are whole numbers."""
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
    """Which end of the type stands for `not reached`: what most vertices have without edges.

    0 where it is the greatest value of the type, 1 where it is the least one.
    """
    size, *counts = told.get("without", (0, 0, 0))
    return next((at for at, count in enumerate(counts) if 2 * count >= size > 0), None)


def unreached(base: NDArray[Any]) -> float | None:
    """The value that stands for `not reached`; None where there is none."""
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


Figures = dict[str, pa.Array]

_LITTLE = 1 << 20
_A_VIEW = 1_000


def is_little(contents: RunContents, field: str) -> bool:
    """True where looking at all values of all views takes 50 ms at most."""
    views = len(contents.finished_views())
    size = contents.count(field) * math.prod(contents.empty(field).shape[1:])
    return views * (size + _A_VIEW) <= _LITTLE


def whole_figures(contents: RunContents, field: str, chosen: ChosenVertices = THERE) -> Figures:
    """The figures of each view from its whole results. O(vertices) a view."""
    views = contents.finished_views()
    rows: list[Figure] = [{} for _ in views]
    for at in np.argsort(contents.step_of[views], kind="stable").tolist():
        values = chosen.of(contents, views[at], contents.values(views[at])[field])
        rows[at] = _figure(contents, field, values)
    return figure_columns(rows, contents.empty(field))


def figure_columns(rows: Sequence[Figure], empty: NDArray[Any]) -> Figures:
    """One column per figure of a result, whose type is that of `empty`."""
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
        partial = partial_components(np.unique(values, return_counts=True)[1])
    elif contents.named_by(field) is not None:
        partial = partial_names(values)
    else:
        partial = partial_figure(values, contents.base[field])
    return figure_of(partial, whole=values.dtype.kind in "iu")


FIGURES, LEADERS = "figures", "leaders"


def kept_figures(contents: RunContents, field: str) -> Figures | None:
    """The figures that tasks have stored with a run on shards; None where there are none."""
    views = kept_of_views(contents, FIGURES, field)
    if views is None:
        return None
    empty = contents.empty(field)
    rows = [figure_of(item, whole=empty.dtype.kind in "iu") for item in views]
    return figure_columns(rows, empty)


def kept_of_views(contents: RunContents, what: str, field: str) -> list[Partial] | None:
    """What tasks have stored of a result, per finished view; None where they have not."""
    parts = contents.differences.parts
    if not contents.facts.on_shards or not isinstance(parts, PartsOnDisk):
        return None
    partials: list[Any] = [
        told(parts, part).get(what, {}).get(field) for part in parts_of_views(contents)
    ]
    return None if any(item is None for item in partials) else partials


def parts_of_views(contents: RunContents) -> list[int]:
    """The part of each finished view, in the order of the views."""
    steps = contents.step_of[contents.finished_views()]
    places = np.searchsorted(contents.differences.first_steps, steps, side="right") - 1
    parts: list[int] = places.tolist()
    return parts
