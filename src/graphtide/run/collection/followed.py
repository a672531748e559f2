"""Figures of every view, kept from what changes between views. O(differences) for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.kernels.summaries.exact_sums import LIMBS, LOWEST_BIT
from graphtide.kernels.summaries.label_summary import follow_labels
from graphtide.kernels.summaries.number_summary import add_numbers, follow_numbers
from graphtide.kernels.summaries.records import FoundNumbers, Int64, LabelCounts, NumberTotals
from graphtide.kernels.summaries.value_blocks import blocks_of
from graphtide.run.collection.contents import RunContents
from graphtide.run.collection.figures import Figures, told_figures
from graphtide.run.collection.newcomers import values_of
from graphtide.run.collection.partial_figures import mean_of, unreached
from graphtide.run.collection.walks import Walk

_EXACT = 1 << 53


def followed_figures(contents: RunContents, field: str) -> Figures | None:
    """A column a figure, a row a finished view; None where kernels do not tell them."""
    base = contents.base[field]
    if contents.facts.labels == field:
        return _labels(contents, field) if _within(contents, field, 0, len(base) - 1) else None
    if contents.named_by(field) is not None:
        return None
    if base.dtype == np.bool_:
        return _truths(contents, field)
    return _numbers(contents, field) if holds_floats(contents, field) else None


def holds_floats(contents: RunContents, field: str) -> bool:
    """True where floats hold every value that there ever is."""
    whole = contents.base[field].dtype.kind in "iu"
    return not whole or _within(contents, field, -_EXACT, _EXACT)


def _within(contents: RunContents, field: str, low: int, high: int) -> bool:
    """True where no value that there ever is lies outside."""
    parts = contents.differences.parts
    differences = (
        parts.differences(at, field).column("new").to_numpy() for at in range(len(parts))
    )
    return all(
        low <= int(values.min(initial=low)) and int(values.max(initial=low)) <= high
        for values in (contents.base[field], *differences)
    )


def _labels(contents: RunContents, field: str) -> Figures:
    sizes = np.bincount(contents.base[field])
    away = _removed_counts(contents)
    count = len(contents.base[field])
    # Vertices that are taken out of a view have labels of their own there, behind all others.
    vertices = np.zeros(count + int(away.max(initial=0)), np.int64)
    vertices[: len(sizes)] = sizes
    labels = np.bincount(vertices, minlength=len(vertices) + 1)
    known = np.array([np.count_nonzero(sizes), sizes.max(initial=0)])
    figures = np.zeros((len(contents.finished_views()), 3), np.int64)
    counts = LabelCounts(vertices, labels, known)
    for part in Walk(contents, there=True).parts(field, np.int64):
        follow_labels(part.moves, part.old, part.new, counts, figures)
    figures[:, [0, 2]] -= away[:, None]
    figures[away == count, 1] = 0
    names = ("components", "largest", "single")
    return {name: pa.array(figures[:, at]) for at, name in enumerate(names)}


def _removed_counts(contents: RunContents) -> Int64:
    """How many vertices are taken out of each finished view."""
    return np.array([len(contents.removed(at)) for at in contents.finished_views()], np.int64)


def _truths(contents: RunContents, field: str) -> Figures:
    """How many are true: it adds up along the plan, without any kernel."""
    gained = np.zeros(contents.differences.finished, np.int64)
    for part in range(len(contents.differences.parts)):
        table = contents.differences.parts.differences(part, field)
        new = table.column("new").to_numpy(zero_copy_only=False)
        step = table.column("step").to_numpy()
        gained += np.bincount(step[new], minlength=len(gained))
        gained -= np.bincount(step[~new], minlength=len(gained))
    true, first = gained.tolist(), int(np.count_nonzero(contents.base[field]))
    for step, parent in enumerate(contents.steps.parent[: len(true)].tolist()):
        true[step] += first if parent < 0 else true[parent]
    views = contents.finished_views()
    steps, away = contents.step_of[views], [contents.removed(view) for view in views]
    taken = np.array([vertex for item in away for vertex in item], np.int64)
    place = np.repeat(np.arange(len(views)), [len(item) for item in away])
    there = values_of(contents, field, steps[place], taken)
    lost = np.bincount(place[there.astype(np.bool_)], minlength=len(views))
    return {"true": pa.array(np.array(true, np.int64)[steps] - lost)}


def _numbers(contents: RunContents, field: str) -> Figures:
    base, views = contents.base[field], len(contents.finished_views())
    missing = unreached(base)
    values = base.astype(np.float64)
    totals = NumberTotals(
        np.zeros(LIMBS, np.int64), np.zeros(2, np.int64), np.nan if missing is None else missing
    )
    add_numbers(values, totals)
    blocks = blocks_of(np.where(np.isfinite(values), values, np.nan))
    counts, extremes = np.zeros((views, 2), np.int64), np.zeros((views, 2))
    numbers = FoundNumbers(np.zeros((views, LIMBS), np.int64), counts, extremes)
    for part in Walk(contents, there=True).parts(field, np.float64):
        changes = part.vertices, part.old, part.new
        follow_numbers(part.moves, changes, totals, blocks, numbers)
    counts[:, 1] -= _removed_counts(contents)
    figures = _told(numbers, base.dtype.kind in "iu")
    if missing is None:
        del figures["reached"]
    return told_figures(figures)


def _told(found: FoundNumbers, whole: bool) -> Figures:
    figures: Figures = {"reached": pa.array(found.counts[:, 1])}
    count = found.counts[:, 0]
    kind = pa.int64() if whole else pa.float64()
    for at, name in enumerate(("least", "greatest")):
        known = np.where(count, found.extremes[:, at], 0)
        figures[name] = pa.array(known, mask=count == 0).cast(kind)
    mean = pa.array(_means(found.limbs, count, whole), pa.float64())
    return figures | {"mean": mean, "not_finite": pa.array(found.counts[:, 1] - count)}


def _means(limbs: Int64, counts: Int64, whole: bool) -> list[float | None]:
    """Exact sums as numbers of any length, over the counts."""
    used = np.flatnonzero(limbs.any(axis=0))
    lowest = int(used[0]) if len(used) else 0
    total: NDArray[Any] = np.zeros(len(limbs), object)
    for limb in used.tolist():
        total += limbs[:, limb].astype(object) << 32 * (limb - lowest)
    bits = 32 * lowest + LOWEST_BIT
    up, down = 1 << max(0, bits), 1 << max(0, -bits)
    pairs = zip((total * up).tolist(), counts.tolist(), strict=True)
    return [mean_of(sum_, count, down, whole=whole) if count else None for sum_, count in pairs]
