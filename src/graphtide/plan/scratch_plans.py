"""A plan that shares nothing: every view from the empty version, in the order of the plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from graphtide.plan.collection import EMPTY_VERSION, CollectionPlan, PlanStep


def from_scratch(plan: CollectionPlan) -> CollectionPlan:
    """The views of a plan without its stepping stones, each loaded from nothing. O(plan)."""
    none = np.empty(0, np.int32)
    steps = tuple(
        PlanStep(step.view, None, EMPTY_VERSION, np.flatnonzero(held).astype(np.int32), none)
        for step, held in zip(plan.steps, _memberships(plan), strict=True)
        if step.view is not None
    )
    return replace(plan, steps=steps)


def live_classes(plan: CollectionPlan) -> list[NDArray[np.bool_]]:
    """The classes that each step of a plan from scratch holds."""
    every = []
    for step in plan.steps:
        held = np.zeros(max(1, plan.classes), np.bool_)
        held[step.inserted] = True
        every.append(held)
    return every


def _memberships(plan: CollectionPlan) -> list[NDArray[np.bool_]]:
    return [plan.membership(at) for at in range(len(plan.steps))]
