"""The plan of a collection: in which order, and from which parent, each view is reached.

A collection is known here by its classes (edges that are in the same views) alone. A plan is a
tree over the views and a few stepping stones, rooted at the empty version and listed depth first:
advance to a step, visit its whole subtree, roll back. A chain is the tree without branches.

Kept true: the parent of a step stands before it, every subtree is contiguous, every view is
reached exactly once, and the deltas along the path from the root add up to the view itself;
`validate` checks all of it. What makes a plan cheap is left to `graphtide.optimize`, and which
edges a class holds to the stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.wording import counted
from graphtide.plan.drawing import draw_tree

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
        """How many classes there are."""
        return int(self.membership.shape[0])

    @property
    def views(self) -> int:
        """How many views there are."""
        return int(self.membership.shape[1])

    def sizes(self) -> NDArray[np.int64]:
        """The number of edges of each view."""
        sizes = np.zeros(self.views, dtype=np.int64)
        for first in range(0, self.views, 256):
            strip = self.membership[:, first : first + 256]
            sizes[first : first + 256] = self.weights @ strip.astype(np.int64)
        return sizes

    def held(self, view: int) -> NDArray[np.bool_]:
        """Which classes a view holds."""
        column: NDArray[np.bool_] = self.membership[:, view]
        return column

    def cover(self) -> NDArray[np.int64]:
        """How many views hold each class."""
        counts: NDArray[np.int64] = np.count_nonzero(self.membership, axis=1)
        return counts

    def keeping(self, views: NDArray[np.integer]) -> ViewMatrix:
        """Some of the views, in this order."""
        return ViewMatrix(self.membership[:, views], self.weights)


@dataclass(frozen=True, eq=False)
class PlanStep:
    """One version on the way: a view, or a stepping stone that no user asked for.

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
