"""Sums in limbs hold the true sum, to the last bit, against fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from graphtide.kernels.summaries.statistics import LIMBS, LOWEST_BIT, add_exactly

pytestmark = pytest.mark.interpreted

ODD = [0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, -1.0, 1 / 3]


def held(limbs: np.ndarray) -> Fraction:
    total = sum(int(limb) << (32 * at) for at, limb in enumerate(limbs))
    return Fraction(total) * Fraction(2) ** LOWEST_BIT


@pytest.mark.parametrize("seed", range(30))
def test_what_is_added_and_taken_away(seed: int) -> None:
    pick = random.Random(seed)
    limbs, true = np.zeros(LIMBS, np.int64), Fraction(0)
    for _ in range(60):
        number = math.ldexp(pick.uniform(-1, 1), pick.randrange(-1074, 1024))
        number, sign = pick.choice([number, pick.choice(ODD)]), pick.choice([1, -1])
        add_exactly(limbs, number, sign)
        true += sign * Fraction(number)
        assert held(limbs) == true, number
