"""The plan of a collection: in which order, and from which parent, each view is reached.

A collection is known here by its classes (edges that are in the same views) alone. A plan is a
tree over the views and a few stepping stones, rooted at the empty version and listed depth first:
advance to a step, visit its whole subtree, roll back. A chain is the tree without branches.

Kept true: the parent of a step stands before it, every subtree is contiguous, every view is
reached exactly once, and the deltas along the path from the root add up to the view itself. What
makes a plan cheap is left to `graphtide.optimize`, and which edges a class holds to the stores.

Other plans are made of a plan. `from_scratch` shares nothing: every view from the empty version.
`cut_plan` makes sub-plans for several workers. A worker that begins in the middle of a plan lacks
the versions above; so a sub-plan begins with the empty version like any plan, and an ancestor that
other steps of it need stands in it once more, as a stepping stone. The sub-plans one after the
other are a plan again: what runs, stores and reads plans need not know that one was cut, and no
difference ever crosses a cut. Where to cut is left to `optimize.cutting`. `grid_plans` takes the
views of a product of two generators as versions of two coordinates: a version (i, j) holds all
that comes at (a, b) with a <= i and b <= j, so the delta of a view is what it has beyond its
neighbours above and to the left, less what both bring already. An edge that is in all views from
some row and column on then costs one difference, where a chain pays for it in every row.

The limits at the top say where planning switches from one way to another, and what memory each
takes. Up to `EXACT_VIEWS` views over a matrix of `MATRIX_CELLS` a collection is planned over all
distances between views, in memory proportional to the square of the views. Beyond, views are runs
of classes, and distances are computed for candidates only. Either way estimates its memory before
it begins, and refuses if there is less.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError, LimitError
from graphtide.model.machine import MEMORY_SETTING, available_bytes, in_words
from graphtide.model.text import counted


def draw_tree(parents: Sequence[int], labels: Sequence[str]) -> list[str]:
    """One line a node, in the order of the nodes; -1 is the parent of a root.

    Nodes must be listed depth first, each after its parent.
    """
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(parent, []).append(node)
    lead: dict[int, str] = {-1: "  "}
    lines: list[str] = []
    for node, parent in enumerate(parents):
        siblings = children[parent]
        if len(siblings) == 1:
            bullet, lead[node] = "", lead[parent]
        elif node == siblings[-1]:
            bullet, lead[node] = "└─ ", lead[parent] + "   "
        else:
            bullet, lead[node] = "├─ ", lead[parent] + "│  "
        lines.append(lead[parent] + bullet + labels[node])
    return lines


EXACT_VIEWS = 5_000
"""All distances of 5,000 views take 100 MB, the tour beside them as much again; seconds in all.
Of 18,804 views they took 5.3 GB and 101 s."""

MATRIX_CELLS = 2**28
"""Planning holds three boolean copies of the matrix: 800 MB at this size."""

PACKED_BYTES = 2**29
"""Answers to all views on all signatures, packed; comparing rows needs them twice."""

ROWS_TIMES_VIEWS = 2**38
"""Views are evaluated on all signatures at a few GB/s: minutes at this size, hours beyond."""

SAMPLED_VIEWS = 64
"""Views whose runs are counted before those of all others are made."""

BYTES_A_VIEW, BYTES_A_CLASS, BYTES_A_BOUND = 4_000, 200, 80
"""What planning by runs takes, measured at 100,000 views of windows and outages, rounded up: the
steps of the plan and the candidates a view has, the tables over classes, and bounds sorted."""


def matrix_bytes(views: int, classes: int) -> int:
    """What planning over all distances takes: three matrices, and 20 bytes a pair of views."""
    return 3 * views * classes + 20 * views * views


def runs_bytes(views: int, classes: int, bounds: int) -> int:
    return BYTES_A_VIEW * views + BYTES_A_CLASS * classes + BYTES_A_BOUND * bounds


def check_memory(needed: int, views: int, classes: int) -> None:
    """LimitError if planning would need more memory than there is; before it takes any."""
    there = available_bytes()
    if needed <= there:
        return
    raise LimitError(
        f"planning {views:,} views over {classes:,} classes of edges needs about "
        f"{in_words(needed)} of memory, and {in_words(there)} are available",
        hint="make several collections of fewer views, use coarser views, "
        f"or allow more with {MEMORY_SETTING}, such as {MEMORY_SETTING}=16G",
    )


Classes = NDArray[np.int32]
PlanKind = Literal["chain", "tree", "manual"]

EMPTY_VERSION = -1
"""The parent of a step that is loaded from nothing."""

DRAWN_STEPS = 80
"""`explain` draws plans of up to this many steps."""


@dataclass(frozen=True, eq=False)
class ViewMatrix:
    """The compressed edge-boolean matrix: which class is in which view, and its number of edges.

    `membership` is classes x views; `weights` holds at least one edge a class.
    """

    membership: NDArray[np.bool_]
    weights: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.membership.ndim != 2 or self.membership.dtype != np.bool_:
            raise InputError(
                "the membership of classes in views must be a boolean matrix",
                where=f"shape {self.membership.shape}, type {self.membership.dtype}",
                hint="give one row a class and one column a view",
            )
        if self.weights.shape != self.membership.shape[:1] or np.any(self.weights < 1):
            raise InputError(
                "every class of a collection needs a weight of at least one edge",
                where=f"{len(self.weights)} weights for {self.classes} classes",
                hint="leave out the classes that hold no edge",
            )

    @property
    def classes(self) -> int:
        return int(self.membership.shape[0])

    @property
    def views(self) -> int:
        return int(self.membership.shape[1])

    def sizes(self) -> NDArray[np.int64]:
        sizes = np.zeros(self.views, dtype=np.int64)
        for first in range(0, self.views, 256):
            strip = self.membership[:, first : first + 256]
            sizes[first : first + 256] = self.weights @ strip.astype(np.int64)
        return sizes

    def held(self, view: int) -> NDArray[np.bool_]:
        column: NDArray[np.bool_] = self.membership[:, view]
        return column

    def cover(self) -> NDArray[np.int64]:
        """How many views hold each class."""
        counts: NDArray[np.int64] = np.count_nonzero(self.membership, axis=1)
        return counts

    def keeping(self, views: NDArray[np.integer]) -> ViewMatrix:
        return ViewMatrix(self.membership[:, views], self.weights)


@dataclass(frozen=True, eq=False)
class PlanStep:
    """One version that a plan reaches: a view, or a stepping stone that no user asked for.

    `parent` is the index of an earlier step or EMPTY_VERSION; `inserted` and `deleted` are the
    classes that tell this version from its parent's, sorted.
    """

    view: int | None
    stone: str | None
    parent: int
    inserted: Classes
    deleted: Classes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlanStep) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[int | None, str | None, int, bytes, bytes]:
        delta = self.inserted.tobytes(), self.deleted.tobytes()
        return self.view, self.stone, self.parent, *delta


@dataclass(frozen=True)
class PlanTotals:
    """Differences (edges in and out, loading the root included) of the ways to arrange the views.

    `chain` and `tree` are None where they were not worked out. No chain needs fewer than
    `chain_bound`, and no tree, whatever stepping stones it uses, fewer than `tree_bound`.
    """

    given: int
    chain: int | None
    tree: int | None
    chain_bound: int
    tree_bound: int


@dataclass(frozen=True)
class CollectionPlan:
    """The steps of a collection, depth first, and what the other arrangements would have cost."""

    kind: PlanKind
    steps: tuple[PlanStep, ...]
    totals: PlanTotals
    classes: int

    @property
    def stones(self) -> int:
        """How many steps are stepping stones."""
        return sum(step.view is None for step in self.steps)

    @cached_property
    def view_steps(self) -> dict[int, int]:
        """The index of the step that reaches each view."""
        return {step.view: at for at, step in enumerate(self.steps) if step.view is not None}

    def step_differences(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of edges in each step's delta."""
        sums = [weights[step.inserted].sum() + weights[step.deleted].sum() for step in self.steps]
        return np.array(sums, dtype=np.int64)

    def differences(self, weights: NDArray[np.int64]) -> int:
        """All differences of the plan."""
        return int(self.step_differences(weights).sum())

    def path(self, step: int) -> list[int]:
        """The steps from the root down to this one."""
        steps: list[int] = []
        while step != EMPTY_VERSION:
            steps.append(step)
            step = self.steps[step].parent
        return steps[::-1]

    def membership(self, step: int) -> NDArray[np.bool_]:
        """Which classes the version of a step holds, put together from the root."""
        held = np.zeros(self.classes, dtype=np.bool_)
        for at in self.path(step):
            held[self.steps[at].inserted] = True
            held[self.steps[at].deleted] = False
        return held

    def versions(self) -> Iterator[NDArray[np.bool_]]:
        """The membership of every step, in order. One array, changed in place: copy to keep.

        O(differences), in classes, whatever the depth: going back up undoes deltas.
        """
        held = np.zeros(self.classes, dtype=np.bool_)
        here = EMPTY_VERSION
        for at, step in enumerate(self.steps):
            while here != step.parent:
                held[self.steps[here].inserted] = False
                held[self.steps[here].deleted] = True
                here = self.steps[here].parent
            if held[step.inserted].any() or not held[step.deleted].all():
                raise _misfit(f"step {at} inserts what is there or deletes what is not")
            held[step.inserted] = True
            held[step.deleted] = False
            here = at
            yield held

    def memberships(self, views: Sequence[int] | None = None) -> NDArray[np.bool_]:
        """Which classes each of some views holds, or each of all: a row per view."""
        rows = {
            view: at for at, view in enumerate(sorted(self.view_steps) if views is None else views)
        }
        members = np.zeros((len(rows), self.classes), np.bool_)
        for step, held in zip(self.steps, self.versions(), strict=True):
            if step.view in rows:
                members[rows[step.view]] = held
        return members

    def explain(
        self, names: Sequence[str] | None = None, weights: NDArray[np.int64] | None = None
    ) -> str:
        """The plan as text: the totals, then the tree where it is small enough to read.

        Views go by their number, and deltas are counted in classes, unless names and weights
        are given.
        """
        views = len(self.steps) - self.stones
        lines = [f"{self.kind} of {counted(views, 'view')}"]
        if self.stones:
            lines[0] += f" and {counted(self.stones, 'stepping stone')}"
        lines += [f"  {text}" for text in _totals_as_text(self.totals)]
        if len(self.steps) > DRAWN_STEPS:
            return "\n".join([*lines, f"  {len(self.steps)} steps, too many to draw"])
        labels = [_label(step, names, weights) for step in self.steps]
        return "\n".join(lines + draw_tree([step.parent for step in self.steps], labels))


def check_depth_first(parents: Iterable[int]) -> None:
    """ValueError where the parent of a step is not on the way from the root to the step before."""
    path = [EMPTY_VERSION]
    for at, parent in enumerate(parents):
        while path and path[-1] != parent:
            path.pop()
        if not path:
            raise ValueError(f"the step {at} follows {parent!r:.40}, which is not on the way to it")
        path.append(at)


def _totals_as_text(totals: PlanTotals) -> Iterator[str]:
    yield f"given order: {totals.given:,} differences"
    for name, total, bound in (
        ("chain", totals.chain, totals.chain_bound),
        ("tree", totals.tree, totals.tree_bound),
    ):
        count = "not planned" if total is None else f"{total:,} differences"
        yield f"{name}: {count} (no {name} needs fewer than {bound:,})"


def _label(step: PlanStep, names: Sequence[str] | None, weights: NDArray[np.int64] | None) -> str:
    if step.view is None:
        name = f"({step.stone})"
    else:
        name = names[step.view] if names else f"view {step.view}"
    if weights is None:
        return f"{name}  +{len(step.inserted)} -{len(step.deleted)} classes"
    return f"{name}  +{weights[step.inserted].sum():,} -{weights[step.deleted].sum():,}"


def _misfit(what: str) -> InputError:
    return InputError(
        f"the plan does not fit the collection: {what}",
        hint="plan the collection again from its views",
    )


def from_scratch(plan: CollectionPlan) -> CollectionPlan:
    """The views of a plan without its stepping stones, each loaded from nothing. O(plan)."""
    none = np.empty(0, np.int32)
    steps = tuple(
        PlanStep(step.view, None, EMPTY_VERSION, np.flatnonzero(held).astype(np.int32), none)
        for step, held in zip(plan.steps, plan.versions(), strict=True)
        if step.view is not None
    )
    return replace(plan, steps=steps)


def live_classes(plan: CollectionPlan) -> list[NDArray[np.bool_]]:
    every = []
    for step in plan.steps:
        held = np.zeros(max(1, plan.classes), np.bool_)
        held[step.inserted] = True
        every.append(held)
    return every


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
            delta = _class_delta(plan.membership(above), plan.membership(at))
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
        yield PlanStep(None, f"{label} again", at - 1, *_class_delta(before, held))
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


def _class_delta(before: NDArray[np.bool_], after: NDArray[np.bool_]) -> tuple[Classes, Classes]:
    inserted, deleted = np.flatnonzero(after & ~before), np.flatnonzero(before & ~after)
    return inserted.astype(np.int32), deleted.astype(np.int32)


def _shifted(step: PlanStep, by: int) -> PlanStep:
    return step if step.parent == EMPTY_VERSION else replace(step, parent=step.parent + by)


Shape = tuple[int, int]


@dataclass(frozen=True, eq=False)
class GridPlan:
    """Differences by row, column and class: how often a class enters there, or leaves (below 0)."""

    shape: Shape
    diffs: NDArray[np.int8]

    def at(self, row: int, column: int) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """The classes that enter or leave at one version of the grid, and how often."""
        here = self.diffs[row, column]
        classes = np.flatnonzero(here)
        return classes, here[classes]

    def differences(self, weights: NDArray[np.int64]) -> int:
        return int(np.abs(self.diffs).astype(np.int64).sum(axis=(0, 1)) @ weights)


def check_grid(shape: object, views: int) -> Shape:
    """A shape as users give it; InputError unless it is one of so many views."""
    sides = tuple(shape) if isinstance(shape, tuple | list) else ()
    if len(sides) != 2 or not all(isinstance(side, int) and side >= 1 for side in sides):
        raise InputError(f"grid cannot be {shape!r}", hint="give rows and columns: grid=(12, 5)")
    rows, columns = int(sides[0]), int(sides[1])
    if rows * columns != views:
        raise InputError(
            f"a grid of {rows} x {columns} has {rows * columns:,} views, and there are {views:,}",
            hint="the views are the rows of the grid, one row after the other",
        )
    return rows, columns


def grid_plans(plan: CollectionPlan, shape: Shape) -> tuple[GridPlan, CollectionPlan]:
    """The views of a plan as a grid, and as steps: along each row, whose first is below the last's.

    O(classes x views); LimitError where that is more than there is memory.
    """
    views_and_classes = shape[0] * shape[1], plan.classes
    check_memory(3 * math.prod(views_and_classes), *views_and_classes)
    views = plan.memberships()
    held = views.reshape(*shape, plan.classes)
    diffs = held.astype(np.int8)
    diffs[1:] -= held[:-1]
    diffs[:, 1:] -= diffs[:, :-1].copy()
    steps = [_grid_step(views, at, shape[1]) for at in range(len(views))]
    return GridPlan(shape, diffs), replace(plan, kind="manual", steps=tuple(steps))


def _grid_step(views: NDArray[np.bool_], at: int, columns: int) -> PlanStep:
    parent = at - 1 if at % columns else at - columns
    if parent < 0:
        parent, before = EMPTY_VERSION, np.zeros_like(views[0])
    else:
        before = views[parent]
    inserted = np.flatnonzero(views[at] & ~before).astype(np.int32)
    deleted = np.flatnonzero(before & ~views[at]).astype(np.int32)
    return PlanStep(at, None, parent, inserted, deleted)
