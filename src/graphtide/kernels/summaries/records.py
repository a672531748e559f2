"""What summaries are kept in while a plan is walked: the moves, and what is known of a version."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]


class Moves(NamedTuple):
    """Moves from version to version: move n has the rows from start[n] to stop[n].

    Where `back[n]`, it goes from new values to old ones. After it the version is that of the view
    `slot[n]`, or nobody's where that is -1.
    """

    start: Int64
    stop: Int64
    back: Bool
    slot: Int64


class LabelCounts(NamedTuple):
    """How many vertices have each label, how many labels have so many, and two numbers.

    `known[0]` is how many labels there are, `known[1]` no less than the size of the largest.
    """

    vertices: Int64
    labels: Int64
    known: Int64


class Blocks(NamedTuple):
    """Values, and the least and the greatest of each block of 2**shift of them.

    Both are those of an empty block where none counts; they may be wrong where a block is stale.
    """

    values: Float64
    least: Float64
    greatest: Float64
    stale: Bool
    shift: int


class NumberTotals(NamedTuple):
    """What adds up: `limbs`, the exact sum; `counts[0]` numbers, `counts[1]` that are reached.

    What is not reached has the value `missing`.
    """

    limbs: Int64
    counts: Int64
    missing: float


class FoundNumbers(NamedTuple):
    """A row a view: its sum by limbs, its counts, its least and greatest value."""

    limbs: Int64
    counts: Int64
    extremes: Float64


class Asked(NamedTuple):
    """Vertices whose places are asked for, those of view n from start[n] to start[n + 1]."""

    start: Int64
    vertices: Int64


class FoundLeaders(NamedTuple):
    """A row a view: its first vertices and their values; and the places that were asked for."""

    vertices: Int64
    values: Float64
    places: Int64
