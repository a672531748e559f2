"""Sums of floating-point numbers without any rounding, so that what was added can be taken away.

A number is a whole one of 53 bits, shifted by its exponent. The sum is kept as limbs of 32 bits
over the whole range of exponents: limb n counts 2**(32 n - 1074). Each is held in 64 bits, which
leaves room for a thousand million numbers before one would have to be carried.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.jit import lean_kernel
from graphtide.kernels.summaries.records import Int64

LIMBS = 67
LOWEST_BIT = -1074

_LOW = (1 << 32) - 1
_MANTISSA = (1 << 52) - 1


@lean_kernel
def add_exactly(limbs: Int64, number: float, sign: int) -> None:
    """Add a finite number (`sign` 1), or take it away (-1)."""
    bits = np.float64(number).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    whole = bits & _MANTISSA
    if exponent:
        whole |= _MANTISSA + 1
        exponent -= 1
    if bits < 0:
        sign = -sign
    limb, shift = exponent >> 5, exponent & 31
    low, high = (whole & _LOW) << shift, (whole >> 32) << shift
    limbs[limb] += sign * (low & _LOW)
    limbs[limb + 1] += sign * ((low >> 32) + (high & _LOW))
    limbs[limb + 2] += sign * (high >> 32)
