"""Versions as runs of classes: distances for chosen pairs, candidate pairs, trees over them.

The twin of `tree.Cloud` for many views: nothing here is in proportion to the square of the
versions, nor to versions x classes. A distance costs the sorting of the bounds of both versions.
Kept true: point 0 is the empty version, the first `terminals` points are that and the views, and
no two stones are equal, nor is a stone equal to a view.

The cheapest tree over given edges is found by Boruvka: every part of the forest takes its cheapest
edge to another part, all at once, until there is one part; each round at least halves the parts,
and is a few vector operations over the edges that still join two of them. Edges of equal length are
told apart by their place, so that those given first are taken first, and the tree is the same every
time.

Candidate edges come from orders in which near versions stand next to each other, found without
distances. Views that lack the same line, and windows with one start, have bounds in common; nested
windows follow each other by size; and views without any such order still mostly agree on a few
classes picked at random. Each order costs a sort.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.tree import NO_PARENT, Numbers, Tree
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
        return len(self) - self.terminals

    @property
    def classes(self) -> int:
        return len(self.edges_before) - 1

    def sizes(self) -> Int64:
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


class CandidateEdges(NamedTuple):
    """Pairs of points, a row each, and their distances."""

    pairs: NDArray[np.intp]
    lengths: Int64

    def joined(self, *others: CandidateEdges) -> CandidateEdges:
        """These edges followed by those of others."""
        parts = (self, *others)
        pairs = np.concatenate([part.pairs for part in parts])
        return CandidateEdges(pairs, np.concatenate([part.lengths for part in parts]))

    def keeping(self, points: Numbers, count: int) -> CandidateEdges:
        """The edges among some of `count` points, which are numbered anew by their places."""
        number = np.full(count, NO_PARENT, np.intp)
        number[points] = np.arange(len(points))
        pairs = number[self.pairs]
        inside = (pairs != NO_PARENT).all(axis=1)
        return CandidateEdges(pairs[inside], self.lengths[inside])


def cheapest_forest(edges: CandidateEdges, points: int) -> NDArray[np.intp]:
    """The places of the edges of a minimum spanning forest."""
    order = np.argsort(edges.lengths, kind="stable")
    left, right = edges.pairs[order].T
    part = np.arange(points)
    chosen: list[NDArray[np.intp]] = []
    while True:
        ends = part[left], part[right]
        across = ends[0] != ends[1]
        order, left, right = order[across], left[across], right[across]
        if not len(order):
            return np.concatenate([np.empty(0, np.intp), *chosen])
        best = _cheapest_of_parts(ends[0][across], ends[1][across], points)
        chosen.append(order[np.unique(best[best < len(order)])])
        part = _joined_parts(part, best, (part[left], part[right]))


def _cheapest_of_parts(one: Numbers, other: Numbers, points: int) -> NDArray[np.intp]:
    """The first of the edges, which are sorted, at each part; one past the last where none is."""
    places = np.arange(len(one))[::-1]
    best = np.full((2, points), len(one))
    # Of several values for one place NumPy keeps the last: here the cheapest edge.
    best[0, one[::-1]] = places
    best[1, other[::-1]] = places
    cheapest: NDArray[np.intp] = best.min(axis=0)
    return cheapest


def _joined_parts(part: Numbers, best: NDArray[np.intp], ends: tuple[Numbers, Numbers]) -> Numbers:
    """The part of each point after every part has joined the one at its best edge."""
    leads = np.arange(len(part))
    going = np.flatnonzero(best < len(ends[0]))
    one, other = ends[0][best[going]], ends[1][best[going]]
    leads[going] = one + other - going
    mutual = leads[leads[going]] == going
    roots = going[mutual & (going < leads[going])]
    leads[roots] = roots
    while True:
        further = leads[leads]
        if np.array_equal(further, leads):
            parts: Numbers = leads[part]
            return parts
        leads = further


def rooted_tree(pairs: NDArray[np.intp], points: int) -> Tree:
    """The tree that these edges are, seen from point 0. All points must be joined by them."""
    ends = np.concatenate([pairs[:, 0], pairs[:, 1]])
    others = np.concatenate([pairs[:, 1], pairs[:, 0]])
    by_end = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[by_end], np.arange(points + 1)).tolist()
    around = others[by_end].tolist()
    parents = [NO_PARENT] * points
    order = [0]
    for point in order:
        above = parents[point]
        for other in around[starts[point] : starts[point + 1]]:
            if other != above:
                parents[other] = point
                order.append(other)
    return Tree(np.array(parents, np.intp), np.array(order, np.intp))


SORTED_BOUNDS = 10**8
"""Bounds that may be sorted for candidates, about a quarter of a minute, and for stones as many;
beyond, orders and rounds are left out."""

SAMPLED_ORDERS = 4
"""Orders by classes picked at random: for views that follow no order of the classes."""

SAMPLED_CLASSES = 62
"""Classes of one sample: a bit each in a positive integer."""

LOOKED_AT = 6
"""Bounds by which versions are put in order, from either end."""


def view_orders(points: RunPoints) -> list[Numbers]:
    """Orders of the views, the given one first; as many as may be sorted."""
    allowed = SORTED_BOUNDS // (2 * len(points.bounds.values) + 1)
    makers: list[Callable[[], Numbers]] = [
        lambda: np.arange(len(points)),
        lambda: order_by_bounds(points),
        lambda: np.argsort(points.sizes(), kind="stable"),
        lambda: order_by_bounds(points, backwards=True),
        *(partial(order_by_sample, points, seed) for seed in range(SAMPLED_ORDERS)),
    ]
    orders = [make() for make in makers[: max(1, allowed)]]
    return [order[order > 0].astype(np.intp) for order in orders]


def joined_pairs(order: Numbers) -> NDArray[np.intp]:
    """Each point of an order with the next, a row each."""
    return np.stack([order[:-1], order[1:]], axis=1)


def order_by_bounds(points: RunPoints, *, backwards: bool = False) -> Numbers:
    """The points by their first bounds, or by their last."""
    starts, ends = points.bounds.offsets[:-1], points.bounds.offsets[1:]
    nothing = len(points.bounds.values)
    values = np.append(points.bounds.values, -1)
    columns = []
    for place in range(LOOKED_AT):
        at = ends - 1 - place if backwards else starts + place
        columns.append(values[np.where((starts <= at) & (at < ends), at, nothing)])
    order: Numbers = np.lexsort(columns[::-1])
    return order


def order_by_sample(points: RunPoints, seed: int) -> Numbers:
    """The points by whether they hold some classes, picked at random by their edges.

    Points that few edges tell apart mostly hold the same of them, and then stand together.
    """
    random = np.random.default_rng(seed)
    picked = random.integers(0, max(1, int(points.edges_before[-1])), SAMPLED_CLASSES)
    classes = np.searchsorted(points.edges_before, picked, side="right") - 1
    width = points.classes + 1
    keys = points.bounds.owners() * width + points.bounds.values
    word = np.zeros(len(points), np.int64)
    first = np.arange(len(points)) * width
    for item in classes.tolist():
        passed = np.searchsorted(keys, first + item, side="right") - points.bounds.offsets[:-1]
        word = word << 1 | passed & 1
    return np.argsort(word, kind="stable")
