"""What each step of a stretch took, told from cycles that other work had a part in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.run.collection.stretches import without_longest


def test_work_that_came_between_is_no_part_of_a_step() -> None:
    cycles = np.array([100, 120, 9_000, 80, 110], np.int64)
    found = without_longest(cycles, 510 / cycles.sum())
    assert found * 510 == pytest.approx([100, 110, 110, 80, 110], abs=15)


def test_nothing_is_taken_off_where_nothing_came_between() -> None:
    cycles = np.array([5, 0, 20, 75], np.int64)
    assert without_longest(cycles, 1.0).tolist() == pytest.approx([0.05, 0.0, 0.2, 0.75])
    assert without_longest(np.zeros(3, np.int64), 0.5).tolist() == [0.0, 0.0, 0.0]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=40), st.floats(0.01, 1.0))
def test_shares_add_up_and_keep_their_order(cycles: list[int], kept: float) -> None:
    found = without_longest(np.array(cycles, np.int64), kept)
    assert found.sum() == pytest.approx(1.0 if kept * sum(cycles) > 1.0 else found.sum())
    assert (found >= 0.0).all()
    assert (np.diff(found[np.argsort(cycles, kind="stable")]) >= -1e-12).all()
