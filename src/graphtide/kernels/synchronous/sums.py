"""Accumulators that take back exactly what was put in, and what a program's functions need besides.

Sums and products are rows of words. A row lies in memory that is seen both as floats (`real`) and
as ints (`whole`). What it holds:

    sum of floats      the sum, and the error of the sum: together twice the digits of a float
    sum of ints        the sum
    product of floats  a mantissa and its error, a power of two, the number of zeros
    product of ints    the product of the odd parts, a power of two, the number of zeros

Zeros are counted apart, because nothing divides them out again. Odd numbers have an inverse in
the arithmetic of 64 bits that wraps around, so products of ints come back to the last bit. Each
correction of a float adds an error of about 2^-104 of the largest number it meets, so that after
any number of corrections that a machine can make the first word is the rounded true value.
Infinities and NaN cannot be taken back: whoever merges a row is told, and must evaluate it anew.

An index outside of its array is noted as a fault, and read as 0: whoever called the kernel looks
there and refuses.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphtide.kernels.jit import inner_kernel
from graphtide.kernels.synchronous.histories import Float64, Int64, RoundContext

_SPLITTER = 134217729.0  # 2^27 + 1 cuts a float into two halves of its digits


@inner_kernel
def add_to_sum(real: Float64, at: int, value: float) -> None:
    """Add to a sum of floats; minus the value takes it out."""
    total = real[at]
    raised = total + value
    if not math.isfinite(raised):
        real[at] = raised
        real[at + 1] = 0.0
        return
    part = raised - total
    low = real[at + 1] + ((total - (raised - part)) + (value - part))
    real[at] = raised + low
    real[at + 1] = low - (real[at] - raised)


@inner_kernel
def merge_sum(real: Float64, at: int, other: Float64, other_at: int) -> bool:
    """Add one sum of floats to another; False if the result may not be trusted."""
    total, value = real[at], other[other_at]
    if not (math.isfinite(total) and math.isfinite(value)):
        return False
    low = other[other_at + 1]
    add_to_sum(real, at, value)
    if low != 0.0:
        add_to_sum(real, at, low)
    return math.isfinite(real[at])


@inner_kernel
def exact_product(one: float, other: float) -> tuple[float, float]:
    """The product of two floats and its rounding error; neither may be near the limits."""
    product = one * other
    scaled = _SPLITTER * one
    one_high = scaled - (scaled - one)
    one_low = one - one_high
    scaled = _SPLITTER * other
    other_high = scaled - (scaled - other)
    other_low = other - other_high
    error = ((one_high * other_high - product) + one_high * other_low + one_low * other_high) + (
        one_low * other_low
    )
    return product, error


@inner_kernel
def store_mantissa(rows: Any, at: int, high: float, low: float, power: int) -> None:
    """Keep a product with its mantissa between a half and one, so that it never overflows."""
    mantissa, shift = math.frexp(high + low)
    rows.real[at] = mantissa
    rows.real[at + 1] = math.ldexp(low - ((high + low) - high), -shift)
    rows.whole[at + 2] = power + shift


@inner_kernel
def multiply_floats(rows: Any, at: int, value: float) -> None:
    """Take a factor into a product of floats."""
    if value == 0.0:
        rows.whole[at + 3] += 1
        return
    if not (math.isfinite(value) and math.isfinite(rows.real[at])):
        rows.real[at] *= value
        rows.real[at + 1] = 0.0
        return
    factor, power = math.frexp(value)
    high, low = exact_product(rows.real[at], factor)
    store_mantissa(rows, at, high, low + rows.real[at + 1] * factor, rows.whole[at + 2] + power)


@inner_kernel
def divide_floats(rows: Any, at: int, value: float) -> None:
    """Take a factor out of a product of floats."""
    if value == 0.0:
        rows.whole[at + 3] -= 1
        return
    if not (math.isfinite(value) and math.isfinite(rows.real[at])):
        rows.real[at] = np.nan
        return
    factor, power = math.frexp(value)
    quotient = rows.real[at] / factor
    high, low = exact_product(quotient, factor)
    rest = ((rows.real[at] - high) - low) + rows.real[at + 1]
    store_mantissa(rows, at, quotient, rest / factor, rows.whole[at + 2] - power)


@inner_kernel
def merge_floats(rows: Any, at: int, other: Any, other_at: int) -> bool:
    """Multiply one product of floats by another; False if the result may not be trusted."""
    mantissa, factor = rows.real[at], other.real[other_at]
    if not (math.isfinite(mantissa) and math.isfinite(factor)):
        return False
    rows.whole[at + 3] += other.whole[other_at + 3]
    high, low = exact_product(mantissa, factor)
    low += mantissa * other.real[other_at + 1] + rows.real[at + 1] * factor
    store_mantissa(rows, at, high, low, rows.whole[at + 2] + other.whole[other_at + 2])
    return True


@inner_kernel
def product_of_floats(rows: Any, at: int) -> float:
    mantissa = float(rows.real[at])
    if rows.whole[at + 3] > 0:
        return mantissa * 0.0
    if not math.isfinite(mantissa):
        return mantissa
    power = min(max(rows.whole[at + 2], -3000), 3000)
    return math.ldexp(mantissa, int(power))


@inner_kernel
def odd_part(value: int) -> tuple[int, int]:
    """An int that is not zero as an odd number and a power of two."""
    power = 0
    while value & 1 == 0:
        value >>= 1
        power += 1
    return value, power


@inner_kernel
def inverse_of_odd(value: int) -> int:
    """What an odd number is multiplied with to give 1, where 64 bits wrap around."""
    inverse = value
    for _ in range(5):
        inverse *= 2 - value * inverse
    return inverse


@inner_kernel
def multiply_ints(whole: Int64, at: int, value: int) -> None:
    """Take a factor into a product of ints."""
    if value == 0:
        whole[at + 2] += 1
        return
    odd, power = odd_part(value)
    whole[at] *= odd
    whole[at + 1] += power


@inner_kernel
def divide_ints(whole: Int64, at: int, value: int) -> None:
    """Take a factor out of a product of ints."""
    if value == 0:
        whole[at + 2] -= 1
        return
    odd, power = odd_part(value)
    whole[at] *= inverse_of_odd(odd)
    whole[at + 1] -= power


@inner_kernel
def merge_ints(whole: Int64, at: int, other: Int64, other_at: int) -> None:
    """Multiply one product of ints by another."""
    whole[at] *= other[other_at]
    whole[at + 1] += other[other_at + 1]
    whole[at + 2] += other[other_at + 2]


@inner_kernel
def product_of_ints(whole: Int64, at: int) -> int:
    """The value of a product of ints, as 64 bits hold it."""
    if whole[at + 2] > 0 or whole[at + 1] > 63:
        return 0
    return int(whole[at] << whole[at + 1])


OUTSIDE = 1
"""The fault of an index outside of its array; the index and the length follow."""


@inner_kernel
def within(context: RoundContext, index: int, length: int) -> int:
    """The index; noted as a fault, and 0, if an array of that length has no such element."""
    if 0 <= index < length:
        return index
    context.fault[0] = OUTSIDE
    context.fault[1] = index
    context.fault[2] = length
    return 0


@inner_kernel
def float_moved(before: float, after: float, tolerance: float) -> bool:
    """True if a float moved by more than a share of itself; NaN stays where it is."""
    if before == after or (before != before and after != after):
        return False
    if tolerance == 0.0 or math.isinf(before) or math.isinf(after):
        return True
    return not abs(before - after) <= tolerance * max(abs(before), abs(after))
