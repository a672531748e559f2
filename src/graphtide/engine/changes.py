"""What an advance changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Change:
    """The vertices (or pairs) whose value differs from before an advance, with both values."""

    vertices: NDArray[np.int32]
    old: NDArray[Any]
    new: NDArray[Any]

    def __len__(self) -> int:
        return len(self.vertices)


def differs(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows differ, each a number or an array of them; NaN is the same as NaN."""
    found: NDArray[np.bool_] = np.asarray(one != other)
    if one.dtype.kind == "f":
        found &= (one == one) | (other == other)
    return np.asarray(found.any(axis=1)) if found.ndim == 2 else found


def change_between(before: NDArray[Any], after: NDArray[Any]) -> Change:
    """What differs between two results of all rows. O(rows)."""
    rows = np.flatnonzero(differs(before, after)).astype(np.int32)
    return Change(rows, before[rows], after[rows])
