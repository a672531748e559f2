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
