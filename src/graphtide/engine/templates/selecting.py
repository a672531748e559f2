"""What a selecting program says of itself, and the word that all kernels of such programs share.

The section below is that of a sample, breadth-first search; a generated module has the program's
own in its place, followed by the templates that its mode needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.blocks import array_at
from graphtide.kernels.jit import joined_kernel, lean_kernel

# program section: begin
SIGN = 1
IDENTITY = np.inf
FORWARD, BACKWARD = True, False
UNIFORM, SETTLES = True, True
VALUE = np.float64


@lean_kernel
def initial(vertex: int, parameters: Any) -> float:
    """The value of iteration 0."""
    return 0.0 if vertex == parameters[0] else np.inf


@joined_kernel
def message(value: float, source: int, edge: int, properties: Any, parameters: Any) -> float:
    """What an edge carries from a source of that value."""
    return value + 1.0


@joined_kernel
def properties_at(words: Any, first: int) -> Any:
    """The edge properties that it reads, from that place of a block on."""
    return ()


@joined_kernel
def parameters_at(words: Any, first: int) -> Any:
    """Its parameters, which come behind them."""
    return (array_at(words, first + 0, np.int64)[0],)


# program section: end


@joined_kernel
def better(one: Any, other: Any) -> bool:
    """True if a value wins over another; nothing is negated, which the least int does not bear."""
    return bool(one < other) if SIGN > 0 else bool(one > other)
