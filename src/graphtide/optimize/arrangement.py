"""One way to reach all views, and its cost; whichever search found it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.costs import Costs
from graphtide.optimize.steps import dearest_ways_down
from graphtide.optimize.tree import Tree
from graphtide.plan.collection import PlanKind, PlanStep

Int64 = NDArray[np.int64]


class Arrangement(NamedTuple):
    """A tree over the empty version, the views and stones.

    `lengths` are the distances of every point but the root to its parent, `sizes` the edges of
    every point; `steps` makes the steps of a plan of it.
    """

    kind: PlanKind
    tree: Tree
    lengths: Int64
    sizes: Int64
    stones: int
    steps: Callable[[], tuple[PlanStep, ...]]

    @property
    def differences(self) -> int:
        """All edges that enter or leave, loading the first version included."""
        return int(self.lengths.sum())

    def charge(self, costs: Costs) -> float:
        """What the costs make of it: advances, rollbacks and stones."""
        growth = int((self.sizes[1:] - self.sizes[self.tree.parents[1:]]).sum())
        total = self.differences
        advanced = costs.insert * (total + growth) / 2 + costs.delete * (total - growth) / 2
        undone = total - int(dearest_ways_down(self.lengths, self.tree)[0])
        return costs.advance * advanced + costs.rollback * undone + costs.stone * self.stones


class Planning(Protocol):
    """A way of planning the views of one collection."""

    def given(self) -> Arrangement:
        """The views in their given order."""

    def best_chain(self) -> Arrangement:
        """The cheapest chain found."""

    def best_tree(self) -> Arrangement:
        """The cheapest tree found, with the stepping stones that pay."""

    def lowest(self, chain: int, tree: int) -> tuple[int, int]:
        """How few differences any chain, and any tree, needs; those found are given."""
