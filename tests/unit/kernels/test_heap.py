"""Heaps bring what is in them in the order in which sorting brings it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from graphtide.kernels import queues as heaps
from graphtide.kernels.jit import kernel
from graphtide.kernels.queues import Keyed


@kernel
def number_push(heap: Any, size: int, number: int) -> int:
    return heaps.number_push(heap, size, number)


@kernel
def number_pop(heap: Any, size: int) -> int:
    return heaps.number_pop(heap, size)


@kernel
def keyed_push(heap: Keyed, size: int, vertex: int, key: float, sign: int) -> int:
    return heaps.keyed_push(heap, size, vertex, key, sign)


@kernel
def keyed_pop(heap: Keyed, size: int, sign: int) -> int:
    return heaps.keyed_pop(heap, size, sign)


@kernel
def heap_push(heap: Any, place: Any, size: int, vertex: int, key: Any, sign: int) -> int:
    return heaps.heap_push(heap, place, size, vertex, key, sign)


@kernel
def heap_pop(heap: Any, place: Any, size: int, key: Any, sign: int) -> int:
    return heaps.heap_pop(heap, place, size, key, sign)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(10))
def test_a_keyed_heap_sorts(seed: int, sign: int) -> None:
    pick = random.Random(f"keyed {seed}")
    keys = [float(pick.randrange(8)) for _ in range(pick.randrange(1, 60))]
    heap, size = Keyed(np.empty(60, np.int32), np.empty(60, np.float64)), 0
    waiting: list[float] = []
    for vertex, key in enumerate(keys):
        size = keyed_push(heap, size, vertex, key, sign)
        waiting.append(key)
        if pick.random() < 0.3:
            best = min(waiting) if sign > 0 else max(waiting)
            assert heap.key[0] == best == keys[heap.vertex[0]]
            waiting.remove(best)
            size = keyed_pop(heap, size, sign)
    assert size == len(waiting)
    for key in sorted(waiting, reverse=sign < 0):
        assert heap.key[0] == key
        size = keyed_pop(heap, size, sign)
    assert size == 0


@pytest.mark.parametrize("seed", range(10))
def test_an_indexed_heap_follows_keys_that_get_better(seed: int) -> None:
    pick = random.Random(f"indexed {seed}")
    key = np.array([float(pick.randrange(50)) for _ in range(30)])
    heap, place, size = np.empty(30, np.int32), np.full(30, -1, np.int32), 0
    for vertex in range(30):
        size = heap_push(heap, place, size, vertex, key, 1)
    for _ in range(20):
        vertex = pick.randrange(30)
        key[vertex] -= pick.randrange(10)
        size = heap_push(heap, place, size, vertex, key, 1)
    assert size == 30
    for expected in sorted(key.tolist()):
        assert key[heap[0]] == expected
        size = heap_pop(heap, place, size, key, 1)
    assert (place == -1).all()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("seed", range(10))
def test_a_heap_of_numbers_sorts(seed: int, dtype: type) -> None:
    pick = random.Random(f"numbers {seed}")
    heap, size = np.empty(60, dtype), 0
    waiting: list[int] = []
    for _ in range(60):
        number = pick.randrange(20)
        size = number_push(heap, size, number)
        waiting.append(number)
        if pick.random() < 0.4:
            assert heap[0] == min(waiting)
            waiting.remove(min(waiting))
            size = number_pop(heap, size)
    assert size == len(waiting)
    for number in sorted(waiting):
        assert heap[0] == number
        size = number_pop(heap, size)
    assert size == 0
