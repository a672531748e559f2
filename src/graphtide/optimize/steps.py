"""From a tree over points to the steps of a plan, in the order in which they are visited.

Children are visited so that the dearest way down comes last: a depth-first visit undoes all steps
but those on the way to its last one, so this order undoes least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.cloud import Cloud
from graphtide.optimize.tree import Numbers, Tree, edge_lengths
from graphtide.plan.collection import EMPTY_VERSION, Classes, PlanStep

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
    """The steps of a tree over a cloud."""
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
