"""More effort for stepping stones: pull some up, let the tree grow again, keep what is better.

The search of `stones` ends where no single move pays. From there, the stones round a random
version are pulled up, all or most of them, and rounds are run again from what is left; the tree
goes on from the result if it costs no more. This is only worth its time to somebody who asks for
it: on com-dblp's 252 views each second finds a tenth of a percent at first, and less later.
"""

from __future__ import annotations

import time

import numpy as np

from graphtide.optimize.cloud import Cloud
from graphtide.optimize.stones import PlantedTree, grow, spanning_tree
from graphtide.optimize.tree import Numbers

REGIONS = (10, 20, 40, 80)
"""How many of the nearest stones a shake may reach."""

PULLED = 0.7
"""The share of them that it pulls up."""


def shake_stones(planted: PlantedTree, deadline: float) -> PlantedTree:
    """A tree at most as dear, found until the deadline; at once where there are no stones."""
    random = np.random.default_rng(planted.cloud.stones)
    while planted.cloud.stones and time.monotonic() < deadline:
        kept = _after_pulling(planted.cloud, random)
        left = spanning_tree(planted.cloud.keeping(kept))
        grown = grow(left, deadline)
        if grown.value <= planted.value:
            planted = grown
    return planted


def _after_pulling(cloud: Cloud, random: np.random.Generator) -> Numbers:
    """The points that stay when the stones round some version go."""
    centre = int(random.integers(len(cloud.points)))
    near = cloud.terminals + np.argsort(cloud.distance[centre, cloud.terminals :], kind="stable")
    region = near[: int(random.choice(REGIONS))]
    pulled = region[random.random(len(region)) < PULLED]
    return np.setdiff1d(np.arange(len(cloud.points)), pulled)
