"""A plan cut into sub-plans: ranges of its steps, each with copies of the ancestors that it needs.

Several workers make the steps of one plan at once. A worker that begins in the middle of a plan
lacks the versions above. So a sub-plan begins with the empty version like any plan: its first step
inserts all that its version holds, and an ancestor that other steps of it hang on stands in it once
more, as a stepping stone. The sub-plans one after the other are a plan again, the cut plan:
every view is reached once, and its differences are those from its parent in its own sub-plan. What
runs, stores and reads plans need not know that one was cut, and no difference ever crosses a cut.

Kept true: the ancestors that a range of steps needs are on the way to its first step, because every
subtree is contiguous. Where to cut is left to `optimize.cutting`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphtide.plan.collection import EMPTY_VERSION, Classes, CollectionPlan, PlanStep


@dataclass(frozen=True)
class CutPlan:
    """The sub-plans of a plan in their order, and all of them as one plan.

    `firsts` holds the place of the first step of each sub-plan in `plan`, and the number of steps.
    """

    plan: CollectionPlan
    sub_plans: tuple[CollectionPlan, ...]
    firsts: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.sub_plans)


def cut_plan(plan: CollectionPlan, cuts: Sequence[int], names: Sequence[str]) -> CutPlan:
    """Cut a plan before each of the steps `cuts`, which are given in order. O(plan)."""
    bounds = [0, *cuts, len(plan.steps)]
    pieces = [_sub_steps(plan, first, behind, names) for first, behind in pairwise(bounds)]
    firsts = [0, *np.cumsum([len(piece) for piece in pieces]).tolist()]
    joined = [
        _shifted(step, first)
        for piece, first in zip(pieces, firsts, strict=False)
        for step in piece
    ]
    sub_plans = tuple(replace(plan, steps=tuple(piece)) for piece in pieces)
    return CutPlan(replace(plan, steps=tuple(joined)), sub_plans, tuple(firsts))


def needed_ancestors(plan: CollectionPlan, first: int, behind: int) -> list[int]:
    """The versions above a range of steps that have to be there, the one furthest up first.

    The parent of the first step is none of them where no other step hangs on it.
    """
    counts: dict[int, int] = {}
    for step in plan.steps[first:behind]:
        if EMPTY_VERSION < step.parent < first:
            counts[step.parent] = counts.get(step.parent, 0) + 1
    return sorted(at for at, count in counts.items() if count > 1 or at != plan.steps[first].parent)


def _sub_steps(
    plan: CollectionPlan, first: int, behind: int, names: Sequence[str]
) -> list[PlanStep]:
    """The steps of a sub-plan, their parents counted within it."""
    needed = needed_ancestors(plan, first, behind)
    steps = list(_copies(plan, needed, names))
    place = {ancestor: at for at, ancestor in enumerate(needed)}
    for at in range(first, behind):
        step = plan.steps[at]
        if step.parent >= first:
            step = replace(step, parent=step.parent - first + len(needed))
        elif step.parent in place:
            step = replace(step, parent=place[step.parent])
        elif step.parent != EMPTY_VERSION:
            # The first step, whose parent nobody else needs: it hangs on what stands before it.
            above = needed[-1] if needed else EMPTY_VERSION
            delta = _delta(plan.membership(above), plan.membership(at))
            step = PlanStep(step.view, step.stone, len(needed) - 1, *delta)
        steps.append(step)
    return steps


def _copies(
    plan: CollectionPlan, needed: Sequence[int], names: Sequence[str]
) -> Iterator[PlanStep]:
    """The ancestors as stepping stones, each below the one before it."""
    before = np.zeros(plan.classes, np.bool_)
    for at, (ancestor, held) in enumerate(_versions_along(plan, needed)):
        step = plan.steps[ancestor]
        label = step.stone if step.view is None else names[step.view]
        yield PlanStep(None, f"{label} again", at - 1, *_delta(before, held))
        before = held


def _versions_along(
    plan: CollectionPlan, needed: Sequence[int]
) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Some steps, all of them on the way to the last, and the classes of each. O(the way)."""
    held, wanted = np.zeros(plan.classes, np.bool_), set(needed)
    for at in plan.path(needed[-1]) if needed else ():
        held[plan.steps[at].inserted] = True
        held[plan.steps[at].deleted] = False
        if at in wanted:
            yield at, held.copy()


def _delta(before: NDArray[np.bool_], after: NDArray[np.bool_]) -> tuple[Classes, Classes]:
    """The classes that enter and those that leave."""
    inserted, deleted = np.flatnonzero(after & ~before), np.flatnonzero(before & ~after)
    return inserted.astype(np.int32), deleted.astype(np.int32)


def _shifted(step: PlanStep, by: int) -> PlanStep:
    return step if step.parent == EMPTY_VERSION else replace(step, parent=step.parent + by)
