"""The kernels against plain Python: words of times, the allocator, sorting and merging."""

from __future__ import annotations

import inspect
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.engine.dataflow.host import Host
from graphtide.engine.dataflow.machine import Machine
from graphtide.engine.dataflow.reading import trace_rows
from graphtide.kernels.dataflow import layout
from graphtide.kernels.dataflow.memory import class_of, class_words
from graphtide.kernels.dataflow.numbers import (
    MOST_COORDINATES,
    field_width,
    lower_bound,
    not_after,
    shape_of,
    upper_bound,
)
from graphtide.kernels.dataflow.programs import float_of, word_of
from tests.dataflow.building import MEMORY
from tests.examples import examples


def packed(parts: list[int], coordinates: int) -> int:
    word = 0
    for part in parts:
        word = word << field_width(coordinates) | part
    return word


@given(st.data(), st.integers(1, MOST_COORDINATES))
@settings(deadline=None, max_examples=examples(200))
def test_times_are_ordered_coordinate_by_coordinate(data: st.DataObject, coordinates: int) -> None:
    most = (1 << (field_width(coordinates) - 1)) - 1
    times = st.lists(
        st.one_of(st.integers(0, 3), st.integers(0, most)),
        min_size=coordinates,
        max_size=coordinates,
    )
    one, other = data.draw(times), data.draw(times)
    shape = shape_of(coordinates)
    a, b = packed(one, coordinates), packed(other, coordinates)
    assert bool(not_after(a, b, shape)) == all(x <= y for x, y in zip(one, other, strict=True))
    assert upper_bound(a, b, shape) == packed(list(map(max, one, other)), coordinates)
    assert lower_bound(a, b, shape) == packed(list(map(min, one, other)), coordinates)
    assert (a < b) == (one < other)


@given(st.integers(1, 1 << 40))
@settings(deadline=None, max_examples=examples(200))
def test_blocks_are_large_enough_and_not_much_larger(words: int) -> None:
    size = class_words(class_of(words))
    assert words <= size <= max(16, words * 5 // 4 + 4)


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=2))
@settings(deadline=None, max_examples=examples(200))
def test_words_of_floats_order_like_floats(pair: list[float]) -> None:
    one, other = (int(word_of(number)) for number in pair)
    assert (one < other) == (pair[0] < pair[1])
    assert float_of(one) == pair[0]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("by_time", [False, True])
@pytest.mark.parametrize("rows", [1, 20, 300, pytest.param(20_000, marks=pytest.mark.compiled)])
def test_batches_are_sorted_and_add_up(rows: int, by_time: bool, wide: bool) -> None:
    """Any number of rows, in the order of value or of time, that pack into a word or do not."""
    random = np.random.default_rng(rows)
    host = Host(memory=MEMORY)
    machine: Machine = host.machine
    trace, port = machine.new_trace(1, 1, by_time), machine.new_port(2)
    fields = {layout.OP_PORT: port, layout.OP_OUTPUT: trace}
    operator = machine.new_operator(layout.ARRANGE, 0, fields)
    machine.set_schedule([[layout.DO, operator, 0, 0]])
    expected: Counter[tuple[int, int, int]] = Counter()
    for turn in range(4):
        words = random.integers(0, rows // 2 + 2, (rows, 4))
        words[:, 2] = random.integers(0, 3, rows) + 3 * turn
        words[:, 3] = random.integers(-1, 2, rows)
        if wide:
            words[:, :2] = (words[:, :2] - rows // 4) * (1 << 45)
        for key, value, version, diff in words.tolist():
            expected[key, value, version] += diff
        machine.feed(port, words)
        machine.run()
        found: Counter[tuple[int, int, int]] = Counter()
        for part in trace_rows(host.pool, trace):
            listed = part.tolist()
            inner = [2, 3, 1] if by_time else [1, 2, 3]
            order = [(row[0], *(row[place] for place in inner)) for row in listed]
            assert order == sorted(set(order))
            for key, value, _, version, diff in listed:
                assert diff != 0
                found[key, value, version] += diff
        assert {k: v for k, v in found.items() if v} == {k: v for k, v in expected.items() if v}


def test_no_two_words_of_a_block_share_a_place() -> None:
    source = inspect.getsource(layout)
    for block in source.split("\n# "):
        places = re.findall(r"^([A-Z_]+) = (\d+)$", block, re.MULTILINE)
        if block.startswith(("Header: the run", "Header: the allocator")):
            continue
        for prefix in ("OP_", "TRACE_", "PORT_", "EDGE_", "SLOT_"):
            numbers = [number for name, number in places if name.startswith(prefix)]
            assert len(numbers) == len(set(numbers)), block
    header = source[source.index("# Header: the allocator") : source.index("FREE_LISTS = ")]
    numbers = re.findall(r"^[A-Z_]+ = (\d+)$", header, re.MULTILINE)
    assert len(numbers) == len(set(numbers)) > 30
    assert max(map(int, numbers)) < layout.FREE_LISTS
