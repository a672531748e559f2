"""Sums and products that take back what was put in, against fractions and Python's own ints.

Only kernels call these kernels, so they are tried interpreted; NumPy's ints wrap as machine words.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from graphtide.kernels.synchronous import sums
from tests.compiled import interpreted

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.skipif(not interpreted(), reason="a call from Python would end the process"),
]


class Rows(NamedTuple):
    """Words that are seen as floats and as ints."""

    real: Any
    whole: Any


def rows() -> Rows:
    words = np.zeros(8, np.float64)
    return Rows(words, words.view(np.int64))


def numbers(pick: random.Random, count: int) -> list[float]:
    return [pick.uniform(-1, 1) * 10.0 ** pick.randrange(-12, 13) for _ in range(count)]


@pytest.mark.parametrize("seed", range(20))
def test_a_sum_is_the_rounded_true_one_whatever_left(seed: int) -> None:
    pick, made = random.Random(seed), rows()
    kept, gone = numbers(pick, 40), numbers(pick, 40)
    steps = [(value, 1) for value in kept] + [(value, 1) for value in gone]
    pick.shuffle(steps)
    for value, sign in [*steps, *((value, -1) for value in gone)]:
        sums.add_to_sum(made.real, 0, sign * value)
    true = float(sum(map(Fraction, kept)))
    assert made.real[0] == pytest.approx(true, rel=1e-15, abs=1e-18)
    other = rows()
    for value in gone:
        sums.add_to_sum(other.real, 2, value)
    assert sums.merge_sum(made.real, 0, other.real, 2)
    true = float(sum(map(Fraction, kept + gone)))
    assert made.real[0] == pytest.approx(true, rel=1e-15, abs=1e-18)


@pytest.mark.parametrize("odd", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_is_told(odd: float) -> None:
    made, other = rows(), rows()
    sums.add_to_sum(made.real, 0, 1.0)
    sums.add_to_sum(other.real, 0, odd)
    assert not sums.merge_sum(made.real, 0, other.real, 0)
    made.real[0] = other.real[0] = 0.5
    sums.multiply_floats(other, 0, odd)
    assert not sums.merge_floats(made, 0, other, 0)
    sums.divide_floats(made, 0, odd)
    assert math.isnan(sums.product_of_floats(made, 0))


def one() -> Rows:
    """A product of no floats: a half, times two."""
    made = rows()
    made.real[0], made.whole[2] = 0.5, 1
    return made


@pytest.mark.parametrize("seed", range(20))
def test_a_product_of_floats_is_the_rounded_true_one(seed: int) -> None:
    pick, made, other = random.Random(seed), one(), one()
    kept, gone = numbers(pick, 12), [*numbers(pick, 12), 0.0, 0.0]
    steps = kept + gone
    pick.shuffle(steps)
    for value in steps:
        sums.multiply_floats(made, 0, value)
    assert sums.product_of_floats(made, 0) == 0.0
    for value in gone:
        sums.divide_floats(made, 0, value)
        sums.multiply_floats(other, 0, value)
    true = float(math.prod(map(Fraction, kept)))
    assert sums.product_of_floats(made, 0) == pytest.approx(true, rel=1e-15)
    for _ in range(2):
        sums.divide_floats(other, 0, 0.0)
    assert sums.merge_floats(made, 0, other, 0)
    true = float(math.prod(map(Fraction, kept + gone[:-2])))
    assert sums.product_of_floats(made, 0) == pytest.approx(true, rel=1e-15)


def wrapped(value: int) -> int:
    """As 64 bits hold it."""
    return (value + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize("seed", range(20))
def test_a_product_of_ints_comes_back_to_the_last_bit(seed: int) -> None:
    pick, made, other = random.Random(seed), rows().whole, rows().whole
    made[0] = other[3] = 1
    kept = [pick.choice([-3, 5, 6, 2**40 + 1, -(2**63), 7]) for _ in range(pick.randrange(9))]
    gone = [pick.choice([0, 2, -1, 12, 2**62, 2**63 - 1]) for _ in range(9)]
    with np.errstate(over="ignore"):
        for value in kept + gone:
            sums.multiply_ints(made, 0, np.int64(value))
        assert sums.product_of_ints(made, 0) == wrapped(math.prod(kept + gone))
        for value in pick.sample(gone, len(gone)):
            sums.divide_ints(made, 0, np.int64(value))
            sums.multiply_ints(other, 3, np.int64(value))
        assert sums.product_of_ints(made, 0) == wrapped(math.prod(kept))
        sums.merge_ints(made, 0, other, 3)
        assert sums.product_of_ints(made, 0) == wrapped(math.prod(kept + gone))
