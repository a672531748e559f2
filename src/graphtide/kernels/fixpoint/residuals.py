"""What the kernels of settling sums keep and are given.

They are here and not in the generated modules so that all programs share them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import record_reader

Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]

QUEUED, CORRECTED, MOVED, MET = 1, 2, 4, 8
"""Marks of a vertex: it waits its turn, its balance is logged, its value is, and it is an end of a
changed edge that has been looked at."""

FIRST, WAITING, CORRECTIONS, MOVES, TOUCHED, MOST, WIDE = range(7)
"""The counts of an advance: where the queue begins, how many wait in it, entries of both logs,
edges looked at, how many of them before a kernel returns, and the edges of a wide frontier."""

LIMIT, GREATEST, DRIFT, SLACK_DRIFT, FLOOR = range(5)
"""The measures of a state: what share of its slack a residual may be; no less than any value; no
less than what rounding has put all residuals together, and any slack, off by; and what every vertex
has of slack besides that of its ceiling, which is 0 where every base is above 0."""

RESIDUAL, SLACK, BALANCES = 0, 1, 2
"""What stands side by side in `balance`, where both are looked at for every edge."""


class Summed(NamedTuple):
    """What is kept a vertex; A stands for the shares that edges carry.

    `sent` is value(u) * share(u) along each edge, and 0 where no edge leaves u. `ceiling` is no
    more than the value. `balance` has residual = base + A value - value, and slack =
    ceiling - A ceiling + floor, which is above 0. Where every |residual| <= limit * slack, every
    value is off by at most limit * (ceiling + what it would be if every base were the floor).
    """

    value: Float64
    sent: Float64
    ceiling: Float64
    balance: Float64


class Corrections(NamedTuple):
    """The balances that vertices had before an advance; many that do not move are corrected."""

    vertex: Int32
    balance: Float64


class MovedValues(NamedTuple):
    """The values that vertices had before an advance, and what went with them."""

    vertex: Int32
    value: Float64
    sent: Float64
    ceiling: Float64


class ResidualState(NamedTuple):
    """What is kept, and what an advance works with: marks are 0 and nobody waits between them.

    The queue and the corrections have room for one more than there are vertices. `pledged` is room
    for what edges carry of ceilings, while all of them are looked at.
    """

    summed: Summed
    mark: NDArray[np.uint8]
    queue: Int32
    corrections: Corrections
    moves: MovedValues
    counts: NDArray[np.int64]
    measures: Float64
    pledged: Float64


state_at = record_reader(ResidualState)
