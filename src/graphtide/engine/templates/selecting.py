"""What a selecting program says of itself, and the word that all kernels of such programs share.

The section below is that of a sample, breadth-first search; a generated module has the program's
own in its place, followed by the templates that its mode needs. Kernels of the templates are
compiled without these functions, once for all programs whose values are of one type; `read` is a
block of the edge properties that the program reads, and of its parameters behind them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.blocks import array_at
from graphtide.kernels.jit import joined_kernel, program_kernel

# program section: begin
SIGN = 1
VALUE = np.float64


@program_kernel(np.int64)
def sign() -> int:
    """1 where less is better, -1 where more is."""
    return SIGN


@program_kernel(VALUE)
def identity() -> float:
    """The worst value of all."""
    return np.inf


@program_kernel(np.bool_)
def forward() -> bool:
    """True if edges carry anything from source to target."""
    return True


@program_kernel(np.bool_)
def backward() -> bool:
    """True if they carry anything the other way."""
    return False


@program_kernel(np.bool_)
def uniform() -> bool:
    """True if all edges carry the same for the same value."""
    return True


@program_kernel(np.bool_)
def settles() -> bool:
    """True if no message overtakes its source."""
    return True


@program_kernel(VALUE)
def initial(vertex: int, read: Any) -> float:
    """The value of iteration 0."""
    return 0.0 if vertex == array_at(read, 0, np.int64)[0] else np.inf


@program_kernel(VALUE)
def message(value: float, source: int, edge: int, read: Any) -> float:
    """What an edge carries from a source of that value."""
    return value + 1.0


# program section: end


@joined_kernel
def better(one: Any, other: Any) -> bool:
    """True if a value wins over another; nothing is negated, which the least int does not bear."""
    return bool(one < other) if sign() > 0 else bool(one > other)
