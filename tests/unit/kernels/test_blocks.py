"""A block gives a kernel the very arrays that it was made of, whatever their type or stride."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from graphtide.kernels.blocks import Block, _address, adjacency_at, array_at, places, record_reader
from graphtide.kernels.jit import kernel

Slabs = tuple[np.ndarray, ...]


@kernel
def double_floats(words: np.ndarray, place: int) -> int:
    array = array_at(words, place, np.float64)
    for at in range(len(array)):
        array[at] *= 2
    return len(array)


@kernel
def negate_truth(words: np.ndarray, place: int) -> int:
    array = array_at(words, place, np.bool_)
    for at in range(len(array)):
        array[at] = not array[at]
    return len(array)


@pytest.mark.parametrize(
    "array", [np.arange(6), np.arange(6)[2:], np.zeros(0), np.arange(6, dtype=np.int8)[::-2]]
)
def test_an_address_is_the_one_that_numpy_says(array: np.ndarray) -> None:
    array.flags.writeable = False
    assert _address(array) == (array.__array_interface__["data"][0], len(array))


class Inner(NamedTuple):
    truth: NDArray[np.bool_]
    value: Any


class Outer(NamedTuple):
    time: NDArray[np.int32]
    inner: Inner
    count: NDArray[np.int64]


outer_at = record_reader(Outer, strided=("time",))


@kernel
def number_every(words: np.ndarray, first: int) -> int:
    record = outer_at(words, first, np.float64)
    for at in range(len(record.time)):
        record.time[at] = at
    record.inner.truth[0] = True
    record.inner.value[0] += 0.5
    record.count[0] += len(record.inner.value)
    return len(record.time)


@kernel
def last_of_slabs(words: np.ndarray) -> tuple[int, int]:
    graph = adjacency_at(words, 1)
    return graph.out.slot[0], graph.into.slot[0]


def test_arrays_are_shared_not_copied() -> None:
    floats, truth = np.array([1.5, 2.5]), np.array([True, False, True])
    block = Block(floats, ((truth,), np.empty(0)))
    assert double_floats(block.words, 0) == 2
    assert negate_truth(block.words, 1) == 3
    assert double_floats(block.words, 2) == 0
    assert (floats.tolist(), truth.tolist()) == ([3.0, 5.0], [False, True, False])


def test_a_field_of_records_keeps_its_neighbours() -> None:
    records = np.zeros(3, np.dtype([("value", np.float64), ("time", np.int32), ("next", np.int32)]))
    records["value"], records["next"] = 0.5, -1
    inner = Inner(np.zeros(1, np.bool_), np.full(2, 1.5))
    outer = Outer(records["time"], inner, np.full(1, 40, np.int64))
    assert number_every(Block(np.zeros(2), outer).words, 1) == 3
    assert (inner.truth[0], inner.value.tolist(), outer.count[0]) == (True, [2.0, 1.5], 42)
    assert places(Outer, Inner) == 6
    assert records["time"].tolist() == [0, 1, 2]
    assert (set(records["value"]), set(records["next"])) == ({0.5}, {-1})


def test_a_number_is_an_array_of_one() -> None:
    block = Block(3.5)
    assert double_floats(block.words, 0) == 1
    assert block.arrays[0].tolist() == [7.0]


def test_both_directions_are_found() -> None:
    def slabs(slot: int) -> Slabs:
        start = np.zeros(1, np.int64)
        return (start, *(np.full(1, slot, np.int32) for _ in range(6)))

    block = Block(np.zeros(2), (slabs(4), slabs(5)))
    assert last_of_slabs(block.words) == (4, 5)


@pytest.mark.parametrize("make", [lambda: np.full(1000, 2.0), lambda: 2.0])
def test_a_block_keeps_its_arrays(make: Any) -> None:
    block = Block(make())
    gc.collect()
    double_floats(block.words, 0)
    assert set(block.arrays[0]) == {4.0}
