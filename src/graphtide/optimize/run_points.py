"""Versions as runs of classes, with distances for the pairs that are asked for.

The twin of `cloud` for many views: nothing here is in proportion to the square of the versions,
nor to versions x classes. A distance costs the sorting of the bounds of both versions.

Kept true: point 0 is the empty version, the first `terminals` points are that and the views, and
no two stones are equal, nor is a stone equal to a view.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from graphtide.optimize.tree import Numbers
from graphtide.plan.view_runs import (
    Int64,
    Lists,
    ViewRuns,
    combine_runs,
    expand_runs,
    first_equal,
    join_lists,
    offsets_of,
    run_weights,
)

SORTED_AT_ONCE = 1 << 22
"""Bounds that are sorted together: about 150 MB."""

_SEED = 20261117


@dataclass(frozen=True, eq=False)
class RunPoints:
    """Points by their bounds, and how many of them are given."""

    bounds: Lists
    edges_before: Int64
    terminals: int

    def __len__(self) -> int:
        return len(self.bounds)

    @property
    def stones(self) -> int:
        """How many of the points are stepping stones."""
        return len(self) - self.terminals

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.edges_before) - 1

    def sizes(self) -> Int64:
        """The edges of each version."""
        return run_weights(self.bounds, self.edges_before)

    def distances(self, left: Numbers, right: Numbers) -> Int64:
        """The edges that tell each point on the left from the one on the right beside it."""
        distances = np.empty(len(left), np.int64)
        for part in self._parts(left, right):
            one, other = self.bounds.taken(left[part]), self.bounds.taken(right[part])
            distances[part] = run_weights(
                _sorted_together(one, other, self.classes), self.edges_before
            )
        return distances

    def majorities(self, triples: Numbers) -> Lists:
        """What at least two of three points hold, for each row of three."""
        stones = []
        for part in self._parts(*triples.T):
            members = [(self.bounds.taken(column), 1) for column in triples[part].T]
            stones.append(combine_runs(members, lambda held: held >= 2, self.classes))
        return join_lists(*stones) if stones else _no_lists()

    def deltas(self, before: Numbers, after: Numbers) -> Iterator[tuple[Lists, Lists]]:
        """The classes that enter and leave from point to point; as many pairs at once as fit."""
        for part in self._parts(before, after):
            one, other = self.bounds.taken(before[part]), self.bounds.taken(after[part])
            both = ((one, 2), (other, 1))
            entering = combine_runs(both, lambda held: held == 1, self.classes)
            leaving = combine_runs(both, lambda held: held == 2, self.classes)
            yield expand_runs(entering), expand_runs(leaving)

    def with_stones(self, stones: Lists) -> tuple[RunPoints, Numbers]:
        """More stones at the end, and the point that each of the given ones is.

        One that stands on a known point, or on another, is that point.
        """
        joined = join_lists(self.bounds, stones)
        same = _first_equal(joined, self.classes)
        fresh = np.flatnonzero(same == np.arange(len(joined)))
        fresh = fresh[fresh >= len(self)]
        points = np.concatenate([np.arange(len(self)), fresh])
        number = np.empty(len(joined), np.intp)
        number[points] = np.arange(len(points))
        return replace(self, bounds=joined.taken(points)), number[same[len(self) :]]

    def keeping(self, points: Numbers) -> RunPoints:
        """Only these points, in this order; all terminals must be among them, first."""
        return self if len(points) == len(self) else replace(self, bounds=self.bounds.taken(points))

    def _parts(self, *columns: Numbers) -> Iterator[slice]:
        """Rows of the columns, together as many as are sorted at once."""
        lengths = self.bounds.lengths()
        running = np.cumsum(sum(lengths[column] for column in columns))
        first = 0
        while first < len(columns[0]):
            done = running[first - 1] if first else 0
            last = int(np.searchsorted(running, done + SORTED_AT_ONCE, side="right"))
            yield slice(first, max(last, first + 1))
            first = max(last, first + 1)


def no_points(views: ViewRuns) -> RunPoints:
    """The empty version alone."""
    return RunPoints(_no_lists(1), views.edges_before, 1)


def points_of_views(views: ViewRuns) -> RunPoints:
    """The empty version and the views, without stones."""
    return RunPoints(join_lists(_no_lists(1), views.bounds), views.edges_before, views.views + 1)


def _sorted_together(one: Lists, other: Lists, limit: int) -> Lists:
    """The bounds of both lists in one, sorted: those of what tells the two apart."""
    keys = np.concatenate([part.owners() * (limit + 1) + part.values for part in (one, other)])
    keys.sort()
    lengths = one.lengths() + other.lengths()
    values = keys - np.repeat(np.arange(len(lengths)) * (limit + 1), lengths)
    return Lists(offsets_of(lengths), values)


def _first_equal(lists: Lists, limit: int) -> Int64:
    """For each list the first that is equal to it, compared by 128 random bits a bound."""
    random = np.random.default_rng(_SEED)
    sums = np.empty((2, len(lists)), np.uint64)
    for half in sums:
        number = random.integers(0, 2**64, limit + 1, dtype=np.uint64)
        running = np.zeros(len(lists.values) + 1, np.uint64)
        np.cumsum(number[lists.values], out=running[1:])
        half[:] = running[lists.offsets[1:]] - running[lists.offsets[:-1]]
    return first_equal(sums)


def _no_lists(count: int = 0) -> Lists:
    return Lists(np.zeros(count + 1, np.int64), np.empty(0, np.int64))
