"""The cheapest tree over the versions of a collection, with all distances between them.

The distance of two versions is the number of edges in one but not in the other: |a| + |b| -
2 |a and b|, and all intersections together are one weighted matrix product. Three things keep it
exact and quick:

- Flipping a whole row changes no distance, so every row is flipped to its rarer value. A row that
  never differs then drops out, and a row with few ones (one branch out of service, say) touches
  only the few pairs it tells apart and is added by hand.
- The other rows go through BLAS in blocks whose weights sum to less than 2**24 (float32) or, where
  a single class is heavier than that, 2**53 (float64): every partial sum is an integer that the
  type holds, so nothing is ever rounded.
- Only strips of the upper triangle are multiplied, so that memory stays near the result itself.

The cheapest tree in which every version is reached from another is a minimum spanning tree of the
distances, found exactly by Prim in O(points**2), one vector operation a point. A chain is a
spanning tree too, so the tree is never dearer than the best chain. Points are numbered 0 for the
empty version, then the views, then stepping stones; a tree is the parent of each point and an order
in which every parent stands before its children. In a `Cloud`, stones come and go behind the given
points, and only distances that changed are computed again.

An `Arrangement` is one way to reach all views, with its cost, whichever search found it. Its steps
are the points depth first, the dearest way down last: a depth-first visit undoes all steps but
those on the way to its last one, so this order undoes least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.plan.collection import EMPTY_VERSION, Classes, PlanKind, PlanStep, ViewMatrix

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


NO_PARENT = -1

STONE_PRICE = 1
"""Differences that a stepping stone must save, and more, since it is one more advance."""

Numbers = NDArray[np.intp]


class Tree(NamedTuple):
    """A rooted tree over points; point 0 is the root and its parent is NO_PARENT."""

    parents: Numbers
    order: Numbers


def minimum_spanning_tree(distance: Distances, discount: int = 0) -> Tree:
    """The spanning tree of least total distance, exact.

    `discount` is taken off every distance to the root, which all of them must exceed or equal.
    Of equally near parents the one joined last is taken, which turns ties into paths: nested
    windows come out as a plain chain, and a chain built on the tree has fewer odd vertices.
    """
    points = len(distance)
    parents = np.full(points, NO_PARENT, dtype=np.intp)
    order = np.zeros(points, dtype=np.intp)
    waiting = np.ones(points, dtype=np.bool_)
    far = np.iinfo(distance.dtype).max
    nearest = np.full(points, far, dtype=distance.dtype)
    row = distance[0] - distance.dtype.type(discount)
    point = 0
    for at in range(points):
        order[at] = point
        waiting[point] = False
        nearest[point] = far
        row = distance[point] if at else row
        nearer = row <= nearest
        nearer &= waiting
        np.copyto(nearest, row, where=nearer)
        parents[nearer] = point
        point = int(nearest.argmin())
    return Tree(parents, order)


def edge_lengths(distance: Distances, tree: Tree) -> NDArray[np.int64]:
    """The distance of every point but the root to its parent."""
    below = np.arange(1, len(tree.parents))
    return distance[below, tree.parents[1:]].astype(np.int64)


def path_tree(sequence: Numbers) -> Tree:
    """The tree without branches that visits the points in this order, from the root on."""
    order = np.concatenate([np.zeros(1, dtype=np.intp), sequence])
    parents = np.full(len(order), NO_PARENT, dtype=np.intp)
    parents[order[1:]] = order[:-1]
    return Tree(parents, order)


def bypass_idle_stones(tree: Tree, terminals: int) -> tuple[Tree, Numbers]:
    """The tree without stones that join nothing, renumbered, and the points it keeps.

    A stone without children leads nowhere; a stone with one child only makes the way longer, by
    the triangle inequality. One pass from the leaves up finds them all. Points below `terminals`
    always stay.
    """
    parents = tree.parents.copy()
    children = np.bincount(parents[1:], minlength=len(parents))
    only_child = np.full(len(parents), NO_PARENT, dtype=np.intp)
    used = np.ones(len(parents), dtype=np.bool_)
    for point in tree.order[:0:-1].tolist():
        above = parents[point]
        if point >= terminals and children[point] <= 1:
            used[point] = False
            children[above] -= 1
            if not children[point]:
                continue
            point = only_child[point]
            parents[point] = above
            children[above] += 1
        only_child[above] = point
    return _renumbered(Tree(parents, tree.order), used)


def _renumbered(tree: Tree, kept: NDArray[np.bool_]) -> tuple[Tree, Numbers]:
    number = np.cumsum(kept) - 1
    points = np.flatnonzero(kept)
    parents = np.append(number, NO_PARENT)[tree.parents[points]]
    return Tree(parents, number[tree.order[kept[tree.order]]]), points


Int64 = NDArray[np.int64]


class ViewArrangement(NamedTuple):
    """A tree over the empty version, the views and stones.

    `lengths` are the distances of every point but the root to its parent; `steps` makes the steps
    of a plan of it.
    """

    kind: PlanKind
    tree: Tree
    lengths: Int64
    stones: int
    steps: Callable[[], tuple[PlanStep, ...]]

    @property
    def differences(self) -> int:
        """All edges that enter or leave, loading the first version included."""
        return int(self.lengths.sum())

    @property
    def price(self) -> int:
        """What plans are chosen by: the differences, and the price of the stones."""
        return self.differences + STONE_PRICE * self.stones


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points (rows over the classes), their distances, and how many of them are given."""

    points: Points
    distance: Distances
    weights: NDArray[np.int64]
    terminals: int

    @property
    def stones(self) -> int:
        """How many of the points are stepping stones."""
        return len(self.points) - self.terminals

    def with_stones(self, stones: Points) -> Cloud:
        """More stones at the end; those that stand on a known point are left out."""
        known = len(self.points)
        points = np.concatenate([self.points, stones])
        rows = distances_between(stones, points, self.weights)
        fresh = ~np.tril(rows == 0, known - 1).any(axis=1)
        rows = rows[fresh][:, np.concatenate([np.ones(known, dtype=np.bool_), fresh])]
        distance = np.empty((known + len(rows),) * 2, dtype=self.distance.dtype)
        distance[:known, :known] = self.distance
        distance[known:] = rows
        distance[:known, known:] = rows[:, :known].T
        return replace(self, points=np.concatenate([self.points, stones[fresh]]), distance=distance)

    def keeping(self, points: Numbers) -> Cloud:
        """Only these points, in this order; all terminals must be among them, first."""
        if len(points) == len(self.points):
            return self
        distance = self.distance[np.ix_(points, points)]
        return replace(self, points=self.points[points], distance=distance)


def cloud_of_views(matrix: ViewMatrix, distance: Distances) -> Cloud:
    """The empty version and the views, without stones."""
    points = np.zeros((matrix.views + 1, matrix.classes), dtype=np.bool_)
    points[1:] = matrix.membership.T
    return Cloud(points, distance, matrix.weights, matrix.views + 1)


Lengths = NDArray[np.int64]


Delta = Callable[[int], tuple[Classes, Classes]]
"""The classes that enter and leave on the way from a point's parent to the point."""


def plan_steps(
    tree: Tree, lengths: Lengths, terminals: int, names: Mapping[int, str], delta: Delta
) -> tuple[PlanStep, ...]:
    """One step for every point but the empty version, depth first; `names` are those of stones.

    `lengths` are the distances of every point but the root to its parent.
    """
    step_of = {0: EMPTY_VERSION}
    steps: list[PlanStep] = []
    for point in visiting_order(lengths, tree):
        step_of[point] = len(steps)
        above = step_of[int(tree.parents[point])]
        view = point - 1 if point < terminals else None
        steps.append(PlanStep(view, names.get(point), above, *delta(point)))
    return tuple(steps)


def cloud_steps(cloud: Cloud, tree: Tree) -> tuple[PlanStep, ...]:
    lengths = edge_lengths(cloud.distance, tree)

    def delta(point: int) -> tuple[Classes, Classes]:
        before, after = cloud.points[tree.parents[point]], cloud.points[point]
        inserted = np.flatnonzero(after & ~before).astype(np.int32)
        return inserted, np.flatnonzero(before & ~after).astype(np.int32)

    return plan_steps(tree, lengths, cloud.terminals, stone_names(cloud), delta)


def stone_names(cloud: Cloud) -> dict[int, str]:
    """What each stone is: whole graph, union, intersection, or a majority of its own."""
    views = cloud.points[1 : cloud.terminals]
    known = {
        views.all(axis=0).tobytes(): "intersection",
        views.any(axis=0).tobytes(): "union",
        np.ones(views.shape[1], dtype=np.bool_).tobytes(): "whole graph",
    }
    names: dict[int, str] = {}
    for stone in range(cloud.terminals, len(cloud.points)):
        majority = f"majority {stone - cloud.terminals + 1}"
        names[stone] = known.get(cloud.points[stone].tobytes(), majority)
    return names


def dearest_ways_down(lengths: Lengths, tree: Tree) -> Numbers:
    """For each point the distances from its parent down to the farthest leaf below it."""
    below = [0] * len(tree.parents)
    parents, far = tree.parents.tolist(), lengths.tolist()
    for point in tree.order[:0:-1].tolist():
        above = parents[point]
        below[point] += far[point - 1]
        below[above] = max(below[above], below[point])
    return np.array(below, np.intp)


def visiting_order(lengths: Lengths, tree: Tree) -> list[int]:
    """All points but the root, depth first, the child with the dearest way down last."""
    way_down = dearest_ways_down(lengths, tree).tolist()
    children: dict[int, list[int]] = {}
    for point in sorted(tree.order[1:].tolist(), key=lambda point: (way_down[point], point)):
        children.setdefault(int(tree.parents[point]), []).append(point)
    visit: list[int] = []
    waiting = [0]
    while waiting:
        point = waiting.pop()
        visit.append(point)
        waiting.extend(reversed(children.get(point, [])))
    return visit[1:]
