"""Views as runs of classes: what a matrix of classes x views would hold, without the matrix.

A hundred thousand windows over a hundred thousand classes are 10**10 cells, but each window is one
run of classes, and a view that lacks two lines is three runs, in whatever order the views stand. A
view is therefore the sorted numbers of the classes at which it begins or ceases to hold classes:
its *bounds*, an even number of them. Two facts make this enough to plan with:

- the bounds of what tells two views apart are the bounds of both, put together and sorted;
- the edges of a view are an alternating sum, over its bounds, of the edges of all classes before.

Kept true: the bounds of a view are strictly increasing and lie in 0 .. classes. The memory is that
of the bounds. This form loses where views follow no order of the classes, so `thresholds` looks at
the number of bounds first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError

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
        """How many numbers each list has."""
        return np.diff(self.offsets)

    def taken(self, numbers: NDArray[np.integer]) -> Lists:
        """Some of the lists, in this order."""
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
    """Where a mask begins and ends to be true."""
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
        """How many classes there are."""
        return len(self.weights)

    @property
    def views(self) -> int:
        """How many views there are."""
        return len(self.bounds)

    @cached_property
    def edges_before(self) -> Int64:
        """The edges of all classes before each class, and at the end those of all."""
        return offsets_of(self.weights)

    def sizes(self) -> Int64:
        """The number of edges of each view."""
        return run_weights(self.bounds, self.edges_before)

    def held(self, view: int) -> Mask:
        """Which classes a view holds."""
        start, stop = self.bounds.offsets[view : view + 2]
        changes = np.zeros(self.classes + 1, np.int8)
        changes[self.bounds.values[start:stop]] = 1
        return np.logical_xor.accumulate(changes.astype(np.bool_))[:-1]

    def keeping(self, views: NDArray[np.integer]) -> ViewRuns:
        """Some of the views, in this order."""
        return ViewRuns(self.bounds.taken(views), self.weights)

    def cover(self) -> Int64:
        """How many views hold each class."""
        starts, stops = self.bounds.values[0::2], self.bounds.values[1::2]
        change = np.bincount(starts, minlength=self.classes + 1)
        change -= np.bincount(stops, minlength=self.classes + 1)
        return np.cumsum(change)[:-1]


def runs_of_matrix(membership: Mask, weights: Int64) -> ViewRuns:
    """The runs of a matrix of classes x views."""
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
    """Every class of every run, as lists of class numbers."""
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
