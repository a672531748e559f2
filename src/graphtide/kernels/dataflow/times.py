"""Times as machine words: product order, least upper bound and greatest lower bound.

A word holds coordinates in fields of equal width, each with a guard bit on top that is 0. With
the guards of b set, `b - a` borrows from the guard of exactly those fields in which a is larger:
three instructions compare all coordinates at once. A *shape* says how words are divided: the
guard bits, and in its lowest six bits the position of the lowest guard. A shape of 0 means one
coordinate that fills the word.

The position word orders as a number the way its rounds order lexicographically, outermost loop
first, which extends the product order: whoever works in the order of numbers never comes back.
"""

from __future__ import annotations

from graphtide.kernels.dataflow.layout import SINCE, TRACE_SINCE, VERSION_SHAPE, Memory
from graphtide.kernels.jit import inner_kernel, joined_kernel, lean_kernel

WORD_BITS = 62
MOST_COORDINATES = 8


def shape_of(coordinates: int) -> int:
    """The shape of words with so many coordinates, at most MOST_COORDINATES."""
    if coordinates <= 1:
        return 0
    width = WORD_BITS // coordinates
    guards = sum(1 << (width * number + width - 1) for number in range(coordinates))
    return guards | (width - 1)


def field_width(coordinates: int) -> int:
    """Bits from one coordinate to the next, the guard included."""
    return WORD_BITS // max(coordinates, 1)


@lean_kernel
def not_after(a: int, b: int, shape: int) -> bool:
    """True where every coordinate of a is at most that of b."""
    if shape == 0:
        return a <= b
    guard = shape & ~63
    return ((b | guard) - a) & guard == guard


@lean_kernel
def upper_bound(a: int, b: int, shape: int) -> int:
    """The larger of every coordinate."""
    if shape == 0:
        return a if a > b else b
    larger = _where_larger(a, b, shape)
    return (b & larger) | (a & ~larger)


@lean_kernel
def lower_bound(a: int, b: int, shape: int) -> int:
    """The smaller of every coordinate."""
    if shape == 0:
        return a if a < b else b
    larger = _where_larger(a, b, shape)
    return (a & larger) | (b & ~larger)


@joined_kernel
def _where_larger(a: int, b: int, shape: int) -> int:
    """All bits of the fields in which b is at least a."""
    guard = shape & ~63
    marks = ((b | guard) - a) & guard
    return marks - (marks >> (shape & 63))


@inner_kernel
def representative(memory: Memory, trace: int, version: int) -> int:
    """The version that stands for this one before every reader of the trace.

    For a frontier F it is the greatest lower bound over f in F of the least upper bound with f.
    Readers are the operators, which read at the frontier in the header, and the handles of users.
    """
    shape = memory[VERSION_SHAPE]
    found = -1
    for place in range(2):
        frontier = memory[SINCE] if place == 0 else memory[trace + TRACE_SINCE]
        if frontier == 0:
            continue
        for number in range(memory[frontier]):
            bound = upper_bound(version, memory[frontier + 1 + number], shape)
            found = bound if found < 0 else lower_bound(found, bound, shape)
    return version if found < 0 else found
