"""Words that are more than they seem: days of the calendar, floats as wide ints, overflow.

A float is a whole number of the smallest float there is, 2^-1074, and so an int of 2,098 bits. In
limbs of 32 bits it has three neighbouring ones that are not 0. Sums of limbs are sums of ints:
exact, in any order, and of whatever comes and goes. `float_sums` makes a float of them again.
"""

from __future__ import annotations

from graphtide.kernels.jit import bare_kernel, inner_kernel

LIMBS = 66
"""Limbs of 32 bits that a float has, three of which are not 0."""
PLUS_INFINITY, MINUS_INFINITY, NOT_A_NUMBER = LIMBS, LIMBS + 1, LIMBS + 2
FLOAT_TAGS = LIMBS + 3
"""Limbs, and counts of what is no number."""
LIMB_MASK = (1 << 32) - 1
MANTISSA = (1 << 52) - 1
LEAST_WORD = -(1 << 63)
MOST_WORD = (1 << 63) - 1
_BELOW_SIGN = (1 << 63) - 1
_FROM_MARCH = 719468
"""Days from the first of March of year 0 to the first of January 1970."""
_DAYS_OF_400_YEARS = 146097


@inner_kernel
def sum_overflows(one: int, other: int) -> int:
    """1 where a sum is beyond a word, or the word that stands for no number.

    Nothing here may wrap around itself: compiled code takes it that ints do not.
    """
    if other > 0:
        return 1 if one > MOST_WORD - other else 0
    return 1 if one <= LEAST_WORD - other else 0


@inner_kernel
def product_overflows(one: int, other: int) -> int:
    """1 where a product is beyond a word, or the word that stands for no number."""
    if one == 0 or other == 0:
        return 0
    if one == LEAST_WORD or other == LEAST_WORD:
        return 1
    return 1 if abs(one) > MOST_WORD // abs(other) else 0


@inner_kernel
def part_of_date(day: int, part: int) -> int:
    """The year (0), the month from 1 (1) or the day of the month from 1 (2) of a day since 1970.

    Years are counted from March, so that leap days are last, and in periods of 400, whose leap days
    are taken out first.
    """
    since = day + _FROM_MARCH
    period = since // _DAYS_OF_400_YEARS
    within = since - period * _DAYS_OF_400_YEARS
    year = (within - within // 1460 + within // 36524 - within // 146096) // 365
    days = within - (365 * year + year // 4 - year // 100)
    month = (5 * days + 2) // 153
    if part == 0:
        return 400 * period + year + (1 if month >= 10 else 0)
    if part == 1:
        return month + 3 if month < 10 else month - 9
    return days - (153 * month + 2) // 5 + 1


@bare_kernel
def first_limb(word: int) -> int:
    """The lowest of the three limbs of a float; a place behind all limbs for what is no number."""
    bits = word ^ _BELOW_SIGN if word < 0 else word
    exponent = (bits >> 52) & 2047
    if exponent == 2047:
        if bits & MANTISSA:
            return NOT_A_NUMBER
        return MINUS_INFINITY if word < 0 else PLUS_INFINITY
    return max(exponent - 1, 0) >> 5


@bare_kernel
def limb_part(word: int, number: int) -> int:
    """One of the three limbs of a float, with its sign; 1 and 0 for what is no number."""
    bits = word ^ _BELOW_SIGN if word < 0 else word
    exponent = (bits >> 52) & 2047
    if exponent == 2047:
        return 1 if number == 0 else 0
    mantissa = bits & MANTISSA
    if exponent > 0:
        mantissa |= MANTISSA + 1
    shift = max(exponent - 1, 0) & 31
    if number == 0:
        part = (mantissa & (LIMB_MASK >> shift)) << shift
    elif number == 1:
        part = (mantissa >> (32 - shift)) & LIMB_MASK
    else:
        part = mantissa >> 32 >> (32 - shift)
    return -part if word < 0 else part
