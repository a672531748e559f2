"""Vertices come out by level, as far as there are lists."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from graphtide.kernels import queues as lists_by_level
from graphtide.kernels.jit import kernel
from graphtide.kernels.queues import LISTS, NOT_WAITING


@kernel
def clear_lists(first: Any) -> None:
    lists_by_level.clear_lists(first)


@kernel
def put_in_list(first: Any, after: Any, vertex: int, level: int) -> int:
    return lists_by_level.put_in_list(first, after, vertex, level)


@kernel
def next_list(first: Any, level: int) -> int:
    return lists_by_level.next_list(first, level)


@kernel
def take_from_list(first: Any, after: Any, level: int) -> int:
    return lists_by_level.take_from_list(first, after, level)


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
