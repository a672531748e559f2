"""From one mask a view over the rows of a table to classes, without a table of rows x views.

Rows are the distinct signatures of a graph, or its edges. This module keeps only the bounds of each
mask. Rows between two neighbouring bounds of all views are in the same views. To tell other rows
apart, it gives each view a random number of 128 bits and adds up, for each row, the numbers of the
views that hold it. Two rows that differ have the same sum once in 10**28 collections of a hundred
thousand rows. The numbers are the same in every process, so classes are too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.plan.thresholds import SAMPLED_VIEWS, check_memory, runs_bytes
from graphtide.plan.view_runs import Int64, Lists, ViewRuns, first_equal, offsets_of

_SEED = 20261116


class RowClasses(NamedTuple):
    """The class of each row, or -1 where no view holds it, and the views over the classes."""

    of_row: NDArray[np.int32]
    views: ViewRuns


def collect_runs(views: int, rows: int, bounds_of_view: Callable[[int], Int64]) -> Lists:
    """The bounds of all views over the rows, asking for one view at a time.

    LimitError if they would not fit, judged by those of a few views, before any is kept.
    """
    sampled = np.linspace(0, views - 1, min(SAMPLED_VIEWS, views)).astype(int).tolist()
    seen = [len(bounds_of_view(view)) for view in sampled]
    check_memory(runs_bytes(views, rows, int(np.mean(seen) * views)), views, rows)
    # Narrow while there are a hundred thousand arrays of them.
    bounds = [bounds_of_view(view).astype(np.int32) for view in range(views)]
    lengths = np.array([len(item) for item in bounds], np.int64)
    return Lists(offsets_of(lengths), np.concatenate(bounds).astype(np.int64))


def merge_rows(bounds: Lists, counts: Int64) -> RowClasses:
    """Rows in the same views become one class, numbered by where its first row stands.

    `counts` are the edges of each row.
    """
    group, first = _equal_rows(bounds, len(counts))
    held = ViewRuns(bounds, np.ones(len(counts), np.int64)).cover()[first] > 0
    number = np.where(held, np.cumsum(held) - 1, -1)
    weights = np.zeros(len(first), np.int64)
    np.add.at(weights, group, counts)
    boundaries = np.zeros(len(counts) + 1, np.int64)
    boundaries[first[held] + 1] = 1
    moved = _without_pairs(bounds, np.cumsum(boundaries))
    return RowClasses(number[group].astype(np.int32), ViewRuns(moved, weights[held]))


def _equal_rows(bounds: Lists, rows: int) -> tuple[Int64, Int64]:
    """The group of each row, numbered by their first rows, and those first rows."""
    random = np.random.default_rng(_SEED)
    change = np.zeros((2, rows + 1), np.uint64)
    owners = bounds.owners()
    for half in change:
        number = random.integers(0, 2**64, len(bounds), dtype=np.uint64)[owners]
        np.negative(number[1::2], out=number[1::2])
        np.add.at(half, bounds.values, number)
    same = first_equal(np.cumsum(change, axis=1)[:, :-1])
    first, group = np.unique(same, return_inverse=True)
    return group, first


def _without_pairs(bounds: Lists, place: Int64) -> Lists:
    """The bounds at their new places, without those that meet there and cancel."""
    width = int(place[-1]) + 1
    keys = bounds.owners() * width + place[bounds.values]
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    odd = np.diff(begins, append=len(keys)) % 2 == 1
    owners, values = np.divmod(keys[begins[odd]], width)
    return Lists(offsets_of(np.bincount(owners, minlength=len(bounds))), values)
