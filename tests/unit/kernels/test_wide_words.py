"""Words that are more than they seem: the calendar, overflow, floats in limbs, beside Python."""

from __future__ import annotations

import datetime
import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide.engine.dataflow.columns import Texts, encode_column
from graphtide.kernels.dataflow.numbers import (
    FLOAT_TAGS,
    LIMBS,
    first_limb,
    limb_part,
    part_of_date,
    product_overflows,
    sum_overflows,
)
from graphtide.kernels.dataflow.programs import float_of
from graphtide.kernels.dataflow.reducers import float_of_limbs
from graphtide.kernels.jit import INTERPRETED
from graphtide.plan.dataflow_expressions import FLOAT

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.skipif(not INTERPRETED, reason="only kernels call most of these"),
]
WORDS = st.integers(-(1 << 63), (1 << 63) - 1)
LARGE = st.sampled_from([3037000499, 3037000500, -3037000500, 1 << 31, 1 << 62, -(1 << 62), 3, -1])


@given(st.integers(1, 3_652_059))
def test_days_are_those_of_the_calendar(number: int) -> None:
    day = datetime.date.fromordinal(number)
    word = np.int64(number - datetime.date(1970, 1, 1).toordinal())
    found = [part_of_date(word, part) for part in range(3)]
    assert found == [day.year, day.month, day.day]


@given(st.one_of(WORDS, LARGE), st.one_of(WORDS, LARGE))
def test_overflow_is_noticed(one: int, other: int) -> None:
    with np.errstate(all="ignore"):
        added = sum_overflows(np.int64(one), np.int64(other))
        multiplied = product_overflows(np.int64(one), np.int64(other))
    assert added == (not -(1 << 63) < one + other < 1 << 63)
    assert multiplied == (not -(1 << 63) < one * other < 1 << 63)


def _summed(numbers: list[tuple[float, int]]) -> float:
    """The sum by limbs, of numbers with multiplicities."""
    limbs = np.zeros(FLOAT_TAGS, np.int64)
    for number, times in numbers:
        word = encode_column("", FLOAT, np.array([number]), Texts())[0]
        for part in range(3):
            value = limb_part(word, part)
            if value:
                limbs[first_limb(word) + part] += value * times
    return float(float_of(float_of_limbs(limbs, 0)))


def _exact(numbers: list[tuple[float, int]]) -> float:
    total = sum((Fraction(number) * times for number, times in numbers), Fraction(0))
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1.0, 0.1, 2.0**-53]),
)


@given(st.lists(st.tuples(FLOATS, st.sampled_from([1, 1, 2, -1, -1])), max_size=8))
def test_sums_of_floats_are_exact_and_rounded_once(numbers: list[tuple[float, int]]) -> None:
    found, wanted = _summed(numbers), _exact(numbers) + 0.0
    assert struct.pack("d", found) == struct.pack("d", wanted)


def test_half_way_between_two_floats_it_is_the_even_one() -> None:
    ulp = 2.0**-52
    for numbers, wanted in (
        ([(1.0, 1), (ulp / 2, 1)], 1.0),
        ([(1.0 + ulp, 1), (ulp / 2, 1)], 1.0 + 2 * ulp),
        ([(1.0, 1), (ulp / 2, 1), (5e-324, 1)], 1.0 + ulp),
        ([(2.0 - ulp, 1), (ulp / 2, 1)], 2.0),
    ):
        assert _summed(numbers) == wanted


def test_infinities_and_what_is_no_number() -> None:
    inf, nan = math.inf, math.nan
    cases: list[tuple[list[tuple[float, int]], Any]] = [
        ([(inf, 1), (1.0, 1)], inf),
        ([(-inf, 2)], -inf),
        ([(inf, 1), (inf, -1), (3.0, 1)], 3.0),
        ([(inf, -1)], -inf),
        ([(inf, 1), (-inf, 1)], nan),
        ([(nan, 1)], nan),
        ([(1.7976931348623157e308, 2)], inf),
    ]
    for numbers, wanted in cases:
        found = _summed(numbers)
        assert found == wanted or (found != found and wanted != wanted)
    assert LIMBS * 32 > 2098
