"""RMAT graphs: a = .57, b = .19, c = .19, d = .05, sixteen edges a vertex, names shuffled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def rmat(scale: int, seed: int = 1) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sources and destinations of 16 * 2^scale edges over 2^scale vertices."""
    random = np.random.default_rng(seed)
    edges = 16 << scale
    src = np.zeros(edges, np.int64)
    dst = np.zeros(edges, np.int64)
    for _ in range(scale):
        draw = random.random(edges)
        src = 2 * src + (draw >= 0.76)
        dst = 2 * dst + (((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95))
    names = random.permutation(1 << scale).astype(np.int32)
    return names[src], names[dst]
