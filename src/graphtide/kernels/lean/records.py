"""What kernels of runs over a lean graph are told: which part is theirs, and which iteration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.compressed import CompressedRows


class Span(NamedTuple):
    """A part of all vertices, or of a list of them: numbers `first` to `stop` - 1.

    `place` is where this part, and no other, has room of its own.
    """

    first: int
    stop: int
    everybody: bool
    place: int


class Told(NamedTuple):
    """The iteration that is run, and the share by which a float may move and count as unmoved."""

    iteration: int
    tolerance: float


class OffersContext(NamedTuple):
    """What selecting programs read: both directions, and a block of properties and parameters."""

    out: CompressedRows
    into: CompressedRows
    read: NDArray[np.int64]


class Offers(NamedTuple):
    """The value of every vertex, a list of vertices, and a mark for each.

    `words` are the marks, eight at a time, and behind those of the last vertex are some of nobody.
    """

    value: Any
    listed: NDArray[np.int32]
    marked: NDArray[np.uint8]
    words: NDArray[np.uint64]
