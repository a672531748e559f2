"""From a tree over points to the steps of a plan, in the order in which they are visited.

Children are visited so that the dearest way down comes last: a depth-first visit undoes all steps
but those on the way to its last one, so this order undoes least.
"""

from __future__ import annotations

import numpy as np

from graphtide.optimize.cloud import Cloud
from graphtide.optimize.tree import Numbers, Tree
from graphtide.plan.collection import EMPTY_VERSION, Classes, PlanStep


def plan_steps(cloud: Cloud, tree: Tree) -> tuple[PlanStep, ...]:
    """One step for every point but the empty version, depth first."""
    names = stone_names(cloud)
    visit = _visiting_order(cloud, tree)
    step_of = {0: EMPTY_VERSION}
    steps: list[PlanStep] = []
    for point in visit:
        step_of[point] = len(steps)
        above = int(tree.parents[point])
        view = point - 1 if point < cloud.terminals else None
        delta = _delta(cloud, above, point)
        steps.append(PlanStep(view, names.get(point), step_of[above], *delta))
    return tuple(steps)


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


def dearest_ways_down(cloud: Cloud, tree: Tree) -> Numbers:
    """For each point the distances from its parent down to the farthest leaf below it."""
    below = np.zeros(len(tree.parents), dtype=np.intp)
    for point in tree.order[:0:-1].tolist():
        above = tree.parents[point]
        below[point] += int(cloud.distance[point, above])
        below[above] = max(below[above], below[point])
    return below


def _delta(cloud: Cloud, above: int, point: int) -> tuple[Classes, Classes]:
    before, after = cloud.points[above], cloud.points[point]
    inserted = np.flatnonzero(after & ~before).astype(np.int32)
    return inserted, np.flatnonzero(before & ~after).astype(np.int32)


def _visiting_order(cloud: Cloud, tree: Tree) -> list[int]:
    """All points but the root, depth first, the child with the dearest way down last."""
    way_down = dearest_ways_down(cloud, tree)
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
