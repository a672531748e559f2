"""The float that sums of limbs come to: exact, and rounded once.

Limbs are ints that have been added up, of any sign (see `wide`). Carried from limb to limb they
become the digits of one wide int, of which a float keeps the 53 leading bits: rounded to the
nearest, and to the even one where two are as near.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import bit_length
from graphtide.kernels.dataflow.programs import word_of
from graphtide.kernels.dataflow.wide import (
    LIMB_MASK,
    LIMBS,
    MANTISSA,
    MINUS_INFINITY,
    NOT_A_NUMBER,
    PLUS_INFINITY,
)
from graphtide.kernels.jit import inner_kernel

_INFINITY = float("inf")


@inner_kernel
def float_of_limbs(memory: Memory, limbs: int) -> int:
    """The word of the float that limbs and counts of infinities come to; overwrites the limbs."""
    upward, downward = memory[limbs + PLUS_INFINITY], memory[limbs + MINUS_INFINITY]
    rises, falls = upward > 0 or downward < 0, upward < 0 or downward > 0
    if memory[limbs + NOT_A_NUMBER] != 0 or (rises and falls):
        return word_of(np.nan)
    if rises or falls:
        return word_of(_INFINITY if rises else -_INFINITY)
    sign = 1
    if _carry(memory, limbs) < 0:
        sign = -1
        for limb in range(LIMBS):
            memory[limbs + limb] = -memory[limbs + limb]
        _carry(memory, limbs)
    number = _rounded(memory, limbs)
    return word_of(number if sign > 0 else -number)


@inner_kernel
def _carry(memory: Memory, limbs: int) -> int:
    """Make limbs digits of 32 bits; the last takes what is left, and has the sign of all."""
    carried = 0
    for limb in range(LIMBS - 1):
        total = memory[limbs + limb] + carried
        memory[limbs + limb] = total & LIMB_MASK
        carried = total >> 32
    memory[limbs + LIMBS - 1] += carried
    return memory[limbs + LIMBS - 1]  # type: ignore[no-any-return]


@inner_kernel
def _rounded(memory: Memory, limbs: int) -> float:
    """The float nearest to digits, none below 0, of which the last may have more than 32 bits."""
    last = LIMBS - 1
    while last > 0 and memory[limbs + last] == 0:
        last -= 1
    top = 32 * last + bit_length(memory[limbs + last]) - 1
    low = max(top - 52, 0)
    if low > 2045:
        return _INFINITY
    mantissa = _bits_from(memory, limbs, low)
    if low > 0 and _bit(memory, limbs, low - 1):
        mantissa += 1 if mantissa & 1 or _any_below(memory, limbs, low - 1) else 0
    if mantissa > 2 * MANTISSA + 1:
        mantissa >>= 1
        low += 1
    if low > 2045:
        return _INFINITY
    bits = np.int64(mantissa if low == 0 else (low + 1) << 52 | (mantissa & MANTISSA))
    return bits.view(np.float64)


@inner_kernel
def _bits_from(memory: Memory, limbs: int, low: int) -> int:
    """The leading bits of the digits, from one on: no more than 53."""
    first, shift = low >> 5, low & 31
    found = memory[limbs + first] >> shift
    for limb in range(first + 1, min(first + 3, LIMBS)):
        found |= memory[limbs + limb] << (32 * (limb - first) - shift)
    return found  # type: ignore[no-any-return]


@inner_kernel
def _bit(memory: Memory, limbs: int, place: int) -> bool:
    return (memory[limbs + (place >> 5)] >> (place & 31)) & 1 == 1  # type: ignore[no-any-return]


@inner_kernel
def _any_below(memory: Memory, limbs: int, place: int) -> bool:
    """True where a bit below one is set."""
    limb = place >> 5
    found = memory[limbs + limb] & ((1 << (place & 31)) - 1)
    for lower in range(limb):
        found |= memory[limbs + lower]
    return found != 0  # type: ignore[no-any-return]
