"""Exact distances between the versions of a collection: the edges in one but not in the other.

The distance of two columns of the edge-boolean matrix is |a| + |b| - 2 |a and b|, and all
intersections together are one weighted matrix product. Three things keep it exact and quick:

- Flipping a whole row changes no distance, so every row is flipped to its rarer value. A row that
  never differs then drops out, and a row with few ones (one branch out of service, say) touches
  only the few pairs it tells apart and is added by hand.
- The other rows go through BLAS in blocks whose weights sum to less than 2**24 (float32) or, where
  a single class is heavier than that, 2**53 (float64): every partial sum is an integer that the
  type holds, so nothing is ever rounded.
- Only strips of the upper triangle are multiplied, so that memory stays near the result itself.

Left to others: which distances are worth having. The matrix takes O(views**2) memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.plan.collection import ViewMatrix

Distances = NDArray[np.signedinteger[Any]]
Float = type[np.floating[Any]]
Points = NDArray[np.bool_]
"""Versions as rows over the classes."""

STRIP = 1024
"""Columns multiplied at a time: 80 MB of partial sums at 10,000 views."""

LIGHT_SHARE = 32
"""A row with fewer than 1/32 ones is cheaper by hand than by BLAS (measured at 4,582 views)."""


def view_distances(matrix: ViewMatrix) -> Distances:
    """Distances among the empty version (number 0) and the views (1, 2, ...), symmetric.

    int32 where the edges allow it, else int64: widen before adding distances up.
    """
    rare = np.zeros((matrix.classes, matrix.views + 1), dtype=np.bool_)
    rare[:, 1:] = matrix.membership
    counts = np.count_nonzero(rare, axis=1)
    flip = 2 * counts > rare.shape[1]
    rare[flip] = ~rare[flip]
    counts = np.where(flip, rare.shape[1] - counts, counts)
    light = counts * LIGHT_SHARE < rare.shape[1]
    common = _empty_products(rare.shape[1], int(matrix.weights.sum()))
    heavy = np.flatnonzero(~light)
    _multiply_heavy_rows(rare, matrix.weights, heavy, common)
    _add_light_rows(rare, matrix.weights, np.flatnonzero(light & (counts > 0)), common)
    return _as_distances(common)


def distances_between(left: Points, right: Points, weights: NDArray[np.int64]) -> Distances:
    """Distances of every point on the left to every point on the right, exact int64.

    In float32 where the edges number less than 2**24, else in float64; strips of both sides at
    a time, so that no float copy of all points is ever made. One product a strip: on a machine
    with other work each call of BLAS may wait for a core (measured: 100 small calls took 1.3 s
    beside a busy Spark, and 0.1 s alone).
    """
    kind: Float = np.float32 if weights.sum() < 2**24 else np.float64
    price = weights.astype(kind)
    distances = np.empty((len(left), len(right)), dtype=np.int64)
    for first in range(0, len(right), STRIP):
        columns = slice(first, first + STRIP)
        other = right[columns].astype(kind)
        sizes = (other * price).sum(axis=1)
        for start in range(0, len(left), STRIP):
            rows = slice(start, start + STRIP)
            weighed = left[rows] * price
            both = weighed.sum(axis=1)[:, None].astype(np.int64) + sizes.astype(np.int64)
            distances[rows, columns] = both - 2 * (weighed @ other.T).astype(np.int64)
    return distances


def _empty_products(points: int, edges: int) -> Distances:
    kind = np.int32 if edges < 2**31 else np.int64
    return np.zeros((points, points), dtype=kind)


def _multiply_heavy_rows(
    rare: Points, weights: NDArray[np.int64], heavy: NDArray[np.intp], common: Distances
) -> None:
    """Add the products of these rows to the upper strips of `common`, then mirror them."""
    points = len(common)
    for rows, kind in _exact_blocks(weights, heavy):
        block = rare[rows].astype(kind)
        weighed = block * weights[rows].astype(kind)[:, None]
        for first in range(0, points, STRIP):
            strip = slice(first, first + STRIP)
            product = block[:, strip].T @ weighed[:, first:]
            common[strip, first:] += product.astype(common.dtype)
    for first in range(0, points, STRIP):
        common[first + STRIP :, first : first + STRIP] = common[
            first : first + STRIP, first + STRIP :
        ].T


def _exact_blocks(
    weights: NDArray[np.int64], rows: NDArray[np.intp], most: int = 2048
) -> Iterator[tuple[NDArray[np.intp], Float]]:
    """The rows in blocks, each with the narrowest float that adds its weights exactly."""
    single = weights[rows] >= 2**22
    kinds: tuple[tuple[NDArray[np.intp], int, Float], ...] = (
        (rows[~single], 2**24, np.float32),
        (rows[single], 2**53, np.float64),
    )
    for chosen, limit, kind in kinds:
        start, total = 0, 0
        for at, weight in enumerate(weights[chosen].tolist()):
            if total + weight >= limit or at - start == most:
                yield chosen[start:at], kind
                start, total = at, 0
            total += weight
        if start < len(chosen):
            yield chosen[start:], kind


def _add_light_rows(
    rare: Points, weights: NDArray[np.int64], light: NDArray[np.intp], common: Distances
) -> None:
    """Add rows with few ones pair by pair; a single one only counts for its own size."""
    for row in light:
        ones = np.flatnonzero(rare[row])
        common[np.ix_(ones, ones)] += common.dtype.type(weights[row])


def _as_distances(common: Distances) -> Distances:
    """Turn intersections into distances, in place, one strip at a time."""
    sizes = common.diagonal().astype(np.int64)
    for first in range(0, len(common), STRIP):
        strip = slice(first, first + STRIP)
        wide = sizes[strip, None] + sizes[None, :] - 2 * common[strip].astype(np.int64)
        common[strip] = wide
    return common
