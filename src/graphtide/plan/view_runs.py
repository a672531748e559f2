"""Views as runs of classes: what a matrix of classes x views would hold, without the matrix.

A hundred thousand windows over a hundred thousand classes are 10**10 cells, but each window is one
run of classes, and a view that lacks two lines is three runs, in whatever order the views stand. A
view is therefore the sorted numbers of the classes at which it begins or ceases to hold classes:
its *bounds*, an even number of them. Two facts make this enough to plan with:

- the bounds of what tells two views apart are the bounds of both, put together and sorted;
- the edges of a view are an alternating sum, over its bounds, of the edges of all classes before.

Kept true: the bounds of a view are strictly increasing and lie in 0 .. classes. The memory is that
of the bounds. This form loses where views follow no order of the classes, so planning looks at
the number of bounds first.

`row_classes` finds the classes of rows, given one mask per view; rows are the distinct signatures
of a graph, or the edges of one in memory. Where the answers of all views on all rows are few, they
are packed into a matrix. Else only the bounds of each mask are kept: rows between two neighbouring
bounds of all views are in the same views. To tell other rows apart, each view gets a random number
of 128 bits, and each row the sum of the numbers of the views that hold it. Two rows that differ
have the same sum once in 10**28 collections of a hundred thousand rows. The numbers are the same
in every process, so classes are too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.plan.collection import (
    EXACT_VIEWS,
    MATRIX_CELLS,
    PACKED_BYTES,
    SAMPLED_VIEWS,
    ViewMatrix,
    check_memory,
    runs_bytes,
)

Int64 = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of numbers, one behind the other: list i is values[offsets[i] : offsets[i + 1]]."""

    offsets: Int64
    values: Int64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self) -> Int64:
        return np.diff(self.offsets)

    def taken(self, numbers: NDArray[np.integer]) -> Lists:
        lengths = self.lengths()[numbers]
        offsets = offsets_of(lengths)
        places = np.repeat(self.offsets[numbers] - offsets[:-1], lengths)
        places += np.arange(len(places))
        return Lists(offsets, self.values[places])

    def owners(self) -> Int64:
        """For each number the list that it is in."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths())


def offsets_of(lengths: NDArray[np.integer]) -> Int64:
    """Where lists of these lengths begin, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def join_lists(*parts: Lists) -> Lists:
    """The lists of all parts, one part behind the other."""
    lengths = np.concatenate([part.lengths() for part in parts])
    return Lists(offsets_of(lengths), np.concatenate([part.values for part in parts]))


def bounds_of(mask: Mask) -> Int64:
    inside = np.flatnonzero(mask[1:] != mask[:-1]) + 1
    if not len(mask):
        return inside
    first = [0] if mask[0] else []
    last = [len(mask)] if mask[-1] else []
    return np.concatenate([np.array(first, np.int64), inside, np.array(last, np.int64)])


@dataclass(frozen=True, eq=False)
class ViewRuns:
    """Views over weighted classes, by their bounds."""

    bounds: Lists
    weights: Int64

    def __post_init__(self) -> None:
        if np.any(self.weights < 1) or np.any(self.bounds.lengths() % 2):
            raise InputError(
                "runs of classes need two bounds each, and classes at least one edge",
                hint="leave out the classes that hold no edge",
            )

    @property
    def classes(self) -> int:
        return len(self.weights)

    @property
    def views(self) -> int:
        return len(self.bounds)

    @cached_property
    def edges_before(self) -> Int64:
        """The edges of all classes before each class, and at the end those of all."""
        return offsets_of(self.weights)

    def sizes(self) -> Int64:
        return run_weights(self.bounds, self.edges_before)

    def held(self, view: int) -> Mask:
        start, stop = self.bounds.offsets[view : view + 2]
        changes = np.zeros(self.classes + 1, np.int8)
        changes[self.bounds.values[start:stop]] = 1
        return np.logical_xor.accumulate(changes.astype(np.bool_))[:-1]

    def keeping(self, views: NDArray[np.integer]) -> ViewRuns:
        return ViewRuns(self.bounds.taken(views), self.weights)

    def cover(self) -> Int64:
        """How many views hold each class."""
        starts, stops = self.bounds.values[0::2], self.bounds.values[1::2]
        change = np.bincount(starts, minlength=self.classes + 1)
        change -= np.bincount(stops, minlength=self.classes + 1)
        return np.cumsum(change)[:-1]


def runs_of_matrix(membership: Mask, weights: Int64) -> ViewRuns:
    columns = [bounds_of(column) for column in membership.T]
    lengths = np.array([len(bounds) for bounds in columns], np.int64)
    values = np.concatenate([np.empty(0, np.int64), *columns])
    return ViewRuns(Lists(offsets_of(lengths), values), weights)


def run_weights(bounds: Lists, edges_before: Int64) -> Int64:
    """The edges of each list of runs; equal bounds next to each other cancel."""
    values = edges_before[bounds.values]
    np.negative(values[0::2], out=values[0::2])
    sums = offsets_of(values)
    return sums[bounds.offsets[1:]] - sums[bounds.offsets[:-1]]


def combine_runs(
    parts: Sequence[tuple[Lists, int]], wanted: Callable[[Int64], Mask], limit: int
) -> Lists:
    """Runs of the places where the sum of the parts' numbers, over those that hold it, is wanted.

    All parts have equally many lists, and bounds of at most `limit`; nothing held must never be
    wanted. So `a and not b` is (a, 1), (b, 2), wanted where the sum is 1.
    """
    keys = np.concatenate([part.owners() * (limit + 1) + part.values for part, _ in parts])
    steps = np.concatenate([_steps(len(part.values), number) for part, number in parts])
    order = np.argsort(keys, kind="stable")
    keys, sums = keys[order], np.cumsum(steps[order])
    last = np.ones(len(keys), np.bool_)
    last[:-1] = keys[1:] != keys[:-1]
    keys, inside = keys[last], wanted(sums[last])
    inside &= sums[last] != 0
    turns = inside.copy()
    turns[1:] = inside[1:] != inside[:-1]
    owners, values = np.divmod(keys[turns], limit + 1)
    counts = np.bincount(owners, minlength=len(parts[0][0]))
    return Lists(offsets_of(counts), values)


def _steps(count: int, number: int) -> Int64:
    """What each bound adds to the sum: the number where a run begins, less it where it ends."""
    steps = np.full(count, number, np.int64)
    np.negative(steps[1::2], out=steps[1::2])
    return steps


def expand_runs(bounds: Lists) -> Lists:
    starts, stops = bounds.values[0::2], bounds.values[1::2]
    lengths = stops - starts
    before = offsets_of(lengths)
    values = np.repeat(starts - before[:-1], lengths)
    values += np.arange(len(values))
    return Lists(before[bounds.offsets // 2], values)


def first_equal(sums: NDArray[np.uint64]) -> Int64:
    """For each column of two numbers the place of the first column that is equal to it."""
    order = np.lexsort((sums[1], sums[0]))
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (sums[:, order[1:]] != sums[:, order[:-1]]).any(axis=0)
    first = np.empty(len(order), np.int64)
    first[order] = order[begins][np.cumsum(begins) - 1]
    return first


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
