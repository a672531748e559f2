"""Arithmetic of the machine: diffs, wide words and times.

Diffs that are added up and multiplied: exact, or an error, never wrapped around.

Every diff that the machine holds, a multiplicity or one times a weight, is below 2^62 in either
direction. Two such numbers can be added without leaving a word, and one comparison then tells
whether the sum may be held. Products may leave a word by far, so they are looked at before: by the
bits of the largest factors, once for a batch or a chunk, and only where these are many one by one.

Wide words: days of the calendar, floats as wide ints, overflow.

A float is a whole number of the smallest float there is, 2^-1074, and so an int of 2,098 bits. In
limbs of 32 bits it has three neighbouring ones that are not 0. Sums of limbs are sums of ints:
exact, in any order, and of whatever comes and goes. `reducers` makes a float of them again.

Times as machine words: product order, least upper bound and greatest lower bound.

A word holds coordinates in fields of equal width, each with a guard bit on top that is 0. With
the guards of b set, `b - a` borrows from the guard of exactly those fields in which a is larger:
three instructions compare all coordinates at once. A *shape* says how words are divided: the
guard bits, and in its lowest six bits the position of the lowest guard. A shape of 0 means one
coordinate that fills the word.

The position word orders as a number the way its rounds order lexicographically, outermost loop
first, which extends the product order: whoever works in the order of numbers never comes back.
"""

from __future__ import annotations

from graphtide.kernels.dataflow import layout as at
from graphtide.kernels.dataflow.layout import Memory
from graphtide.kernels.dataflow.memory import bit_length
from graphtide.kernels.jit import Index, bare_kernel, inner_kernel, joined_kernel, lean_kernel

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


END_OF_DIFFS = 1 << 62
"""No diff is this large, of either sign."""
TOO_OFTEN = "records are there too often"
TAME_BITS = 61
"""Factors that have so many bits together have a product that may be held."""


@joined_kernel
def can_be_held(diff: int) -> bool:
    """True where a sum of two diffs is one."""
    return -END_OF_DIFFS < diff < END_OF_DIFFS


@joined_kernel
def held(diff: int) -> int:
    """A sum of two diffs; an error where it is none itself."""
    if not can_be_held(diff):
        raise ArithmeticError(TOO_OFTEN)
    return diff


@inner_kernel
def product_of(diff: int, times: int) -> int:
    """A diff times a number; an error where that is no diff."""
    if product_overflows(diff, times):
        raise ArithmeticError(TOO_OFTEN)
    return held(diff * times)


@joined_kernel
def bits_of_batch(memory: Memory, batch: int) -> int:
    """Bits of the largest diff of a batch, of either sign."""
    return bit_length(max(memory[batch + at.BATCH_MOST_DIFF], -memory[batch + at.BATCH_LEAST_DIFF]))


@joined_kernel
def is_tame(memory: Memory, diffs: int, times: int, rows: int) -> bool:
    """True where no product of a column of diffs and another one can be too large."""
    bits = bits_of_column(memory, diffs, rows) + bits_of_column(memory, times, rows)
    return bits <= TAME_BITS


@inner_kernel
def bits_of_column(memory: Memory, column: int, rows: int) -> int:
    """Bits of the largest word of a column: none is beyond two to their power, of either sign."""
    source = Index(column)
    found = 0
    for row in range(Index(rows)):
        word = memory[source + row]
        found |= word ^ (word >> 63)
    return bit_length(found)


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
    shape = memory[at.VERSION_SHAPE]
    found = -1
    for place in range(2):
        frontier = memory[at.SINCE] if place == 0 else memory[trace + at.TRACE_SINCE]
        if frontier == 0:
            continue
        for number in range(memory[frontier]):
            bound = upper_bound(version, memory[frontier + 1 + number], shape)
            found = bound if found < 0 else lower_bound(found, bound, shape)
    return version if found < 0 else found
