"""What is handed to an input: it counts as it is at the call, or not at all."""

from __future__ import annotations

import datetime
import signal
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from graphtide.dataflow import Dataflow, col
from graphtide.engine.dataflow import machine
from graphtide.kernels.dataflow import merging
from graphtide.model.errors import InputError, LimitError, SetupError

MEMORY = 1 << 22
ROWS = 5000
"""Enough to wait as columns of Arrow."""


def _numbers() -> tuple[Any, Callable[[], None]]:
    numbers = np.arange(ROWS)
    return pa.array(numbers), lambda: numbers.fill(7)


def _floats() -> tuple[Any, Callable[[], None]]:
    numbers = np.arange(ROWS, dtype=np.float32)
    return pa.chunked_array([pa.array(numbers)]), lambda: numbers.fill(7)


def _indices() -> tuple[Any, Callable[[], None]]:
    indices = np.arange(ROWS)
    texts = pa.array([str(number) for number in range(ROWS)])
    return pa.DictionaryArray.from_arrays(indices, texts), lambda: indices.fill(7)


@pytest.mark.parametrize("installed", [False, True])
@pytest.mark.parametrize(("given", "kind"), [(_numbers, int), (_floats, float), (_indices, str)])
def test_arrays_may_be_written_to_afterwards(
    given: Callable[[], tuple[Any, Callable[[], None]]], kind: type, installed: bool
) -> None:
    flow = Dataflow(memory=MEMORY)
    source = flow.input("source", value=kind)
    output = source.output()
    if installed:
        flow.advance()
    column, spoil = given()
    diffs = np.ones(ROWS, np.int64)
    source.update({"value": column}, diffs)
    spoil()
    diffs.fill(3)
    flow.advance()
    assert len(output.records()) == ROWS
    assert set(output.records().values()) == {1}


def test_nulls_among_the_values_of_a_dictionary_are_nulls() -> None:
    flow = Dataflow(memory=MEMORY)
    strict, loose = flow.input("strict", value=str), flow.input("loose", value=str | None)
    output = loose.output()
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, None]), pa.array(["a", None]))
    assert column.null_count == 1
    loose.insert({"value": column})
    loose.insert({"value": pa.chunked_array([column, column])})
    for part in (column, column[:3]):
        with pytest.raises(InputError, match="has nulls"):
            strict.insert({"value": part})
    flow.advance()
    assert output.records() == {("a",): 3, (None,): 9}


def test_chunks_whose_dictionaries_do_not_go_together() -> None:
    flow = Dataflow(memory=MEMORY)
    source = flow.input("source", value=str)
    output = source.output()
    indices = pa.array(range(100), pa.int8())
    chunks = [
        pa.DictionaryArray.from_arrays(indices, pa.array([f"{name}{at}" for at in range(100)]))
        for name in "ab"
    ]
    source.insert({"value": pa.chunked_array(chunks)})
    flow.advance()
    assert output.records() == {(f"{name}{at}",): 1 for name in "ab" for at in range(100)}


def test_timestamps_of_utc_are_taken_and_those_of_other_zones_are_refused() -> None:
    flow = Dataflow(memory=MEMORY)
    source = flow.input("source", value=datetime.datetime)
    output = source.output()
    new_year = datetime.datetime(2020, 1, 1)
    source.insert({"value": pa.array([new_year], pa.timestamp("us", "UTC"))})
    flow.advance()
    assert output.records() == {(new_year,): 1}
    moment = pa.array([datetime.datetime(2020, 1, 1)], pa.timestamp("us", "Asia/Tokyo"))
    with pytest.raises(InputError, match=r"cannot hold timestamp\[us, tz=Asia/Tokyo\]"):
        source.insert({"value": moment})


@pytest.mark.parametrize(
    "diffs", [0.5, [0.5], [1, 1], 1 << 31, [-(1 << 31)], np.array([(1 << 64) - 1], np.uint64)]
)
def test_diffs_are_small_ints(diffs: Any) -> None:
    source = Dataflow(memory=MEMORY).input("source", value=int)
    with pytest.raises(InputError, match=r"diffs of type|cannot change by"):
        source.update([(1,)], diffs)


@pytest.mark.parametrize("workers", [1, 2])
def test_columns_go_in_part_by_part(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers, days and texts that are new in each batch, filtered by the order of texts."""
    monkeypatch.setattr(machine, "PART_SENT", 2048)
    flow = Dataflow(memory=1 << 24, workers=workers)
    source = flow.input("source", key=int, day=datetime.date, text=str)
    early = source.filter(col.text < "5").output()
    latest = source.select("key", "text").max(by="key", of="text").output()
    days = [datetime.date(2024, 1, 1 + number % 3) for number in range(ROWS)]
    records: list[tuple[int, datetime.date, str]] = []
    for turn in range(2):
        texts = [f"{number % 7}{turn}{number}" for number in range(ROWS)]
        keys = [number % 3 for number in range(ROWS)]
        columns = {"key": pa.array(keys), "day": pa.array(days), "text": pa.array(texts)}
        source.insert({**columns, "text": columns["text"].dictionary_encode()})
        flow.advance()
        records += zip(keys, days, texts, strict=True)
        assert set(early.records()) == {record for record in records if record[2] < "5"}
        most = {key: max(text for own, _, text in records if own == key) for key in range(3)}
        assert set(latest.records()) == set(most.items())


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_rows_are_handed_over_once_whatever_stops_that(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt comes behind the first of three parts, or the second one finds no memory."""
    flow = Dataflow(memory=MEMORY)
    source = flow.input("source", value=int)
    output = source.output()
    for value in range(3):
        source.insert([(value,)])
    feed, fed = flow.host.feed, []

    def stop(*given: Any, **named: Any) -> None:
        fed.append(given)
        if len(fed) == 2 and error is MemoryError:
            raise error
        feed(*given, **named)
        if len(fed) == 1 and error is KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(flow.host, "feed", stop)
    with pytest.raises(SetupError if error is MemoryError else error):
        flow.advance()
    flow.advance()
    assert output.records() == {(0,): 1, (1,): 1, (2,): 1}


def test_one_diff_counts_for_all_records() -> None:
    flow = Dataflow(memory=MEMORY)
    source = flow.input("source", value=int)
    output = source.output()
    source.update([(1,), (2,)], 3)
    flow.advance()
    assert output.records() == {(1,): 3, (2,): 3}


@pytest.mark.parametrize("workers", [1, 2])
def test_rows_that_find_no_room_are_not_forgotten(workers: int) -> None:
    flow = Dataflow(memory=workers << 20, workers=workers)
    source = flow.input("source", value=int)
    source.distinct().output()
    source.insert([(1,)])
    flow.advance()
    source.insert({"value": np.arange(200_000)})
    with pytest.raises(LimitError, match="more memory than it was given"):
        flow.advance()
    with pytest.raises(InputError, match="cannot go on"):
        flow.advance()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_dataflow_that_cannot_be_installed_leaves_nothing(workers: int) -> None:
    flow = Dataflow(memory=1 << 24, workers=workers)
    source = flow.input("source", value=int)
    arranged = source.arrange("value")
    output = source.output()
    flow.advance()
    held = flow.host.pool.held_bytes
    late = Dataflow("late", beside=flow)
    wide = {f"column {number}": col.value + number for number in range(200)}
    late.import_arrangement(arranged).distinct().map(**wide).output()
    for _ in range(3):
        with pytest.raises(LimitError, match="more than 256 columns"):
            flow.advance()
    assert flow.host.pool.held_bytes == held
    late.close()
    source.insert([(1,)])
    flow.advance()
    assert output.records() == {(1,): 1}


@pytest.mark.parametrize("workers", [1, 2])
def test_records_have_as_many_columns_as_the_machine_has_room_for(workers: int) -> None:
    for columns in (96, 97):
        flow = Dataflow(memory=1 << 24, workers=workers)
        source = flow.input("source", **{f"c{number}": int for number in range(columns)})
        least = source.min(by="c0").output()
        rows = [(first, *range(second, second + columns - 1)) for first, second in [(0, 5), (0, 1)]]
        source.insert(rows)
        if columns > 96:
            with pytest.raises(LimitError, match="97 columns is to be kept; 96 is the most"):
                flow.advance()
            continue
        flow.advance()
        assert least.records() == {rows[1]: 1}
        source.remove(rows[1:])
        flow.advance()
        assert least.records() == {rows[0]: 1}
    flow = Dataflow(memory=1 << 24, workers=workers)
    flow.input("source", **{f"c{number}": int for number in range(254)}).output()
    with pytest.raises(LimitError, match="more than 256 columns"):
        flow.advance()


@pytest.mark.interpreted
@pytest.mark.parametrize("allocates", ["begin_result", "_fitting"])
def test_a_merge_that_finds_no_memory_leaves_what_was_there(
    allocates: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch counted twice where memory ended as its merge began, and not at all at its end."""
    flow = Dataflow(memory=MEMORY)
    rows = flow.input("rows", key=int, value=int)
    kept, output = rows.arrange("key"), rows.output()
    rows.insert([(value % 3, value) for value in range(200)])
    flow.advance()
    rows.remove([(value % 3, value) for value in range(180)])
    flow.advance()
    expected = {(value % 3, value): 1 for value in range(180, 200)}

    begin_batch = merging.begin_batch

    def full(*arguments: Any) -> Any:
        if sys._getframe(1).f_code.co_name == allocates:
            raise MemoryError
        return begin_batch(*arguments)

    monkeypatch.setattr(merging, "begin_batch", full)

    def go_on() -> None:
        for number in range(300, 310):
            rows.insert([(1, number)])
            flow.advance()
            expected[1, number] = 1

    with pytest.raises(LimitError, match="more memory than it was given"):
        go_on()
    assert kept.read() == output.records() == expected
