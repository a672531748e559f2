"""Rows that are in the same views, as classes: by a packed matrix where it is small, else by runs.

Rows are the distinct signatures of a graph, or the edges of one in memory.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphtide.plan.collection import ViewMatrix
from graphtide.plan.row_runs import collect_runs, merge_rows
from graphtide.plan.thresholds import EXACT_VIEWS, MATRIX_CELLS, PACKED_BYTES
from graphtide.plan.view_runs import Int64, Mask, ViewRuns, bounds_of

Packed = NDArray[np.uint8]
"""One row of bits a row, eight views a byte."""


def packs(views: int, rows: int) -> bool:
    """True where the answers of all views on all rows are few enough to be held at once."""
    return views <= EXACT_VIEWS and rows * -(-views // 8) <= PACKED_BYTES


def row_classes(
    views: int, rows: int, mask_of: Callable[[int], Mask]
) -> tuple[NDArray[np.int32], ViewMatrix | ViewRuns]:
    """The class of each row, or -1 where no view holds it, and the views over the classes.

    Asks for the mask of one view, or of eight, at a time.
    """
    counts = np.ones(rows, np.int64)
    if not packs(views, rows):
        return merge_rows(collect_runs(views, rows, lambda view: bounds_of(mask_of(view))), counts)
    packed = np.empty((rows, -(-views // 8)), np.uint8)
    for first in range(0, views, 8):
        strip = [mask_of(view) for view in range(first, min(first + 8, views))]
        packed[:, first // 8] = np.packbits(np.stack(strip, axis=1), axis=1)[:, 0]
    return merge_packed_rows(packed, counts, views)


def merge_packed_rows(
    rows: Packed, counts: Int64, views: int
) -> tuple[NDArray[np.int32], ViewMatrix | ViewRuns]:
    """Equal rows are one class, numbered in the order of the rows as binary numbers."""
    if not len(rows) or not views:
        nothing = ViewMatrix(np.zeros((0, views), np.bool_), np.zeros(0, np.int64))
        return np.full(len(counts), -1, np.int32), nothing
    keys = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    distinct = rows[first]
    weights = np.zeros(len(first), np.int64)
    np.add.at(weights, inverse, counts)
    wanted = distinct.any(axis=1)
    number = np.where(wanted, np.cumsum(wanted) - 1, -1).astype(np.int32)
    return number[inverse.ravel()], _matrix_or_runs(distinct[wanted], weights[wanted], views)


def _matrix_or_runs(rows: Packed, weights: Int64, views: int) -> ViewMatrix | ViewRuns:
    if len(rows) * views <= MATRIX_CELLS:
        return ViewMatrix(np.unpackbits(rows, axis=1, count=views).astype(np.bool_), weights)

    def bounds(view: int) -> Int64:
        return bounds_of((rows[:, view >> 3] & (0x80 >> (view & 7))) != 0)

    return ViewRuns(collect_runs(views, len(rows), bounds), weights)
