"""One way to reach all views, and its cost; whichever search found it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.tree import STONE_PRICE, Tree
from graphtide.plan.collection import PlanKind, PlanStep

Int64 = NDArray[np.int64]


class Arrangement(NamedTuple):
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
