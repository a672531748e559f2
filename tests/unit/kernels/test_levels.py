"""Vertices come out by level, as far as there are lists."""

from __future__ import annotations

import random

import numpy as np
import pytest

from graphtide.kernels.levels import (
    LISTS,
    NOT_WAITING,
    clear_lists,
    next_list,
    put_in_list,
    take_from_list,
)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("lists", [1, 4, LISTS + 8])
def test_lower_levels_come_first(seed: int, lists: int) -> None:
    pick = random.Random(f"levels {seed} {lists}")
    first, after = np.empty(lists, np.int32), np.full(60, NOT_WAITING, np.int32)
    clear_lists(first)
    levels = {vertex: pick.choice((-5, 0, 1, 2, 900, 1023, 2000)) for vertex in range(60)}
    for vertex, level in levels.items():
        put_in_list(first, after, vertex, level)
    assert (after != NOT_WAITING).all()
    at, taken = 0, []
    for _ in range(60):
        at = next_list(first, at)
        taken.append(take_from_list(first, after, at))
    assert sorted(taken) == list(range(60))
    assert (after == NOT_WAITING).all()
    last = min(lists, LISTS) - 1
    held = [min(max(levels[vertex], 0), last) for vertex in taken]
    assert held == sorted(held)
