"""What an advance changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = Mapping[str, NDArray[Any]]
"""The results of every row, by state field."""


@dataclass(slots=True)
class Change:
    """The vertices (or pairs) whose value differs from before an advance, with both values."""

    vertices: NDArray[np.int32]
    old: NDArray[Any]
    new: NDArray[Any]

    def __len__(self) -> int:
        return len(self.vertices)


Changes = Mapping[str, Change]
"""What an advance changed, by state field."""


def differs(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows differ, each a number or an array of them; NaN is the same as NaN."""
    differing: NDArray[np.bool_] = np.asarray(one != other)
    if one.dtype.kind == "f":
        differing &= (one == one) | (other == other)
    return np.asarray(differing.any(axis=1)) if differing.ndim == 2 else differing


def change_between(before: NDArray[Any], after: NDArray[Any]) -> Change:
    """What differs between two results of all rows. O(rows)."""
    rows = np.flatnonzero(differs(before, after)).astype(np.int32)
    return Change(rows, before[rows], after[rows])


def first_difference(
    one: Values, other: Values, share: float, beside: NDArray[Any] | float = 0.0
) -> tuple[str, int] | None:
    """The first field and row whose values differ by more than a share of themselves.

    The share is that of the value and of what stands beside it. Of sets of rows, any difference
    counts.
    """
    results: Mapping[str, Any] = one
    for name, column in results.items():
        if isinstance(column, Counter):
            if column != other[name]:
                return name, 0
            continue
        wrong = differs(column, other[name])
        if share and column.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                near = np.isclose(column, other[name], rtol=share, atol=share * beside)
            wrong &= ~(near.all(axis=1) if near.ndim == 2 else near)
        if wrong.any():
            return name, int(np.argmax(wrong))
    return None
