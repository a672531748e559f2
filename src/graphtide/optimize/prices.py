"""Programs whose states are dear: what is known of them before anything runs.

Where a state costs as much to begin as hundreds of runs from scratch, nobody may begin one to find
out what it is worth. This module reckons that from the sizes of all versions and deltas, at prices
that are known before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from graphtide.optimize.strategy import StepSizes


class Prices(NamedTuple):
    """What is known of a program whose states are dear, before anything runs.

    In units of what a run from scratch takes a vertex and edge: to begin a state, for each vertex
    and edge; to follow a delta, for each step and for each edge of it.
    """

    state: float
    step: float
    edge: float


def expected_gains(sizes: StepSizes, share: float) -> list[float] | None:
    """What a state begun at each step would save over the rest of the run; None without prices.

    A trial that costs no more than a small share of the rest is a gain as well: it tells.
    """
    if sizes.prices is None:
        return None
    follow = sizes.prices.step + sizes.prices.edge * sizes.delta
    scratch = sizes.version.astype(np.float64)
    if sizes.free is not None:
        scratch[sizes.free] = 0.0
    saved = np.maximum(scratch - follow, 0.0)
    rest = [np.cumsum(item[::-1])[::-1] for item in (saved, scratch)]
    gains = np.maximum(rest[0], share * rest[1]) - sizes.prices.state * sizes.version
    return [float(gain) for gain in gains]
