"""A table of ids finds what a dictionary finds, through ids that come and go."""

from __future__ import annotations

import random

import numpy as np
import pytest

from graphtide.kernels.graph.hash_tables import (
    FREE,
    enter_distinct,
    enter_ids,
    find_ids,
    remove_ids,
)

pytestmark = pytest.mark.interpreted

SIZE = 64


def new_table() -> np.ndarray:
    return np.full(2 * SIZE, FREE, np.int64)


def some_ids(pick: random.Random, count: int) -> list[int]:
    """Side by side, powers of two apart, and of either sign: all want to share places."""
    pools = [range(40), [SIZE * at for at in range(40)], [-(2**40) * at for at in range(40)]]
    chosen = {value for pool in pools for value in pool}
    return pick.sample(sorted(chosen | {2**63 - 1, -(2**63)}), count)


def check(table: np.ndarray, known: dict[int, int], asked: list[int]) -> None:
    numbers = np.empty(len(asked), np.int32)
    missing = find_ids(table, 0, np.array(asked, np.int64), numbers)
    assert numbers.tolist() == [known.get(item, FREE) for item in asked]
    assert missing == sum(item not in known for item in asked)


@pytest.mark.parametrize("seed", range(20))
def test_ids_that_came_last_leave_first(seed: int) -> None:
    pick, table = random.Random(seed), new_table()
    ids, asked = some_ids(pick, 32), some_ids(pick, 60)
    count = 0
    for _ in range(12):
        if count and pick.random() < 0.4:
            first = pick.randrange(count)
            remove_ids(table, np.array(ids[:count], np.int64), first)
            count = first
        else:
            more = pick.randrange(count, len(ids) + 1)
            enter_ids(table, np.array(ids[:more], np.int64), count)
            count = more
        check(table, {item: at for at, item in enumerate(ids[:count])}, asked)


@pytest.mark.parametrize("seed", range(20))
def test_distinct_ids_are_listed_as_they_appear(seed: int) -> None:
    pick, table = random.Random(seed), new_table()
    ids = np.array(pick.choices(some_ids(pick, 24), k=90), np.int64)
    wanted = list(dict.fromkeys(ids.tolist()))
    found, done, count = np.empty(4, np.int64), 0, 0
    while True:
        done, count = enter_distinct(table, ids, done, found, count)
        if done == len(ids):
            break
        assert count == len(found)
        found = np.concatenate([found, np.empty(5, np.int64)])
    assert found[:count].tolist() == wanted
    check(table, {item: at for at, item in enumerate(wanted)}, wanted)


def test_without_a_table_ids_are_their_own_numbers() -> None:
    numbers = np.empty(4, np.int32)
    assert find_ids(np.empty(0, np.int64), 3, np.array([2, 3, -1, 0]), numbers) == 2
    assert numbers.tolist() == [2, FREE, FREE, 0]
