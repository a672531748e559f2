"""Very many versions in one batch: a version a record, every version right, work by the rows."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from graphtide.dataflow import Dataflow, count, total
from graphtide.kernels.dataflow import layout
from graphtide.model.errors import InputError
from tests.dataflow.building import MEMORY

Row = tuple[int, int]
VERSIONS = 60


def _reduced(rows: list[Row]) -> dict[str, set[tuple[int, ...]]]:
    """What each reduction of the rows is, by definition."""
    keys = {key for key, _ in rows}
    groups = {key: sorted(value for other, value in rows if other == key) for key in keys}
    return {
        "min": {(key, group[0]) for key, group in groups.items()},
        "top": {(key, value) for key, group in groups.items() for value in group[-2:]},
        "sums": {(key, len(group), sum(group)) for key, group in groups.items()},
        "distinct": set(rows),
    }


@pytest.mark.parametrize("seed", range(4))
def test_every_version_of_one_large_batch_is_right(seed: int) -> None:
    """Records come and go at versions in any order, with few keys, fed in two calls."""
    random = Random(seed)
    flow = Dataflow(memory=MEMORY)
    items = flow.input("items", key=int, value=int)
    outputs = {
        "min": items.min(by="key").output(),
        "top": items.top(2, by="key").output(),
        "sums": items.aggregate("key", n=count(), s=total("value")).output(),
        "distinct": items.distinct().output(),
    }
    come = [(random.randrange(2), 3 * number + random.randrange(3)) for number in range(80)]
    starts = [random.randrange(VERSIONS) for _ in come]
    ends = [random.randint(start + 1, VERSIONS) for start in starts]
    gone = [place for place, end in enumerate(ends) if end < VERSIONS]
    items.insert(come, at=np.array(starts))
    items.remove([come[place] for place in gone], at=[ends[place] for place in gone])
    changes: dict[str, list[Any]] = {name: [] for name in outputs}
    for stop in (VERSIONS // 2, VERSIONS):
        flow.advance_to(stop)
        for name, output in outputs.items():
            changes[name] += output.changes()
    for version in range(VERSIONS):
        there = [
            row
            for row, start, end in zip(come, starts, ends, strict=True)
            if start <= version < end
        ]
        wanted = _reduced(there)
        for name, listed in changes.items():
            found: dict[Any, int] = {}
            for record, at, diff in listed:
                found[record] = found.get(record, 0) + (diff if at <= version else 0)
            assert {record for record, times in found.items() if times} == wanted[name], name


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["min", "sums"])
def test_looks_go_through_a_few_rows_however_large_the_group(kind: str) -> None:
    """Each version adds a record to one of two groups; the groups grow with the versions."""
    read = []
    for versions in (1000, 4000):
        flow = Dataflow(memory=MEMORY)
        items = flow.input("items", key=int, value=int)
        made = items.min(by="key") if kind == "min" else items.count(by="key")
        made.output()
        numbers = np.arange(versions)
        items.insert({"key": numbers % 2, "value": -numbers}, at=numbers)
        flow.advance_to(versions)
        read.append(int(flow.host.machine.words[layout.ROWS_TOLD_APART]))
    assert read[1] < 6 * read[0]


def test_a_version_a_record_waits_until_it_is_closed() -> None:
    flow = Dataflow(memory=MEMORY)
    numbers = flow.input("numbers", a=int)
    output = numbers.output()
    numbers.insert([(1,), (2,), (3,)], at=[0, 5, 2])
    flow.advance_to(3)
    assert output.changes() == [((1,), 0, 1), ((3,), 2, 1)]
    flow.advance_to(6)
    assert output.changes() == [((2,), 5, 1)]


def test_a_version_a_record_of_two_coordinates() -> None:
    flow = Dataflow(memory=MEMORY, coordinates=2)
    numbers = flow.input("numbers", a=int)
    output = numbers.output()
    numbers.insert([(1,), (2,), (3,)], at=[(0, 0), (0, 4), (1, 0)])
    flow.advance_to((0, 2), (1, 0))
    assert output.changes() == [((1,), (0, 0), 1)]
    flow.advance_to((2, 0))
    assert sorted(output.changes()) == [((2,), (0, 4), 1), ((3,), (1, 0), 1)]


@pytest.mark.parametrize("at", [[1, 2], [0.5, 1.0, 2.0], [-1, 0, 1], [[0, 1], [0, 1], [0, 1]]])
def test_versions_that_cannot_be(at: Any) -> None:
    numbers = Dataflow(memory=MEMORY).input("numbers", a=int)
    with pytest.raises(InputError, match="versions"):
        numbers.insert([(1,), (2,), (3,)], at=at)


def test_a_closed_version_among_open_ones_is_refused() -> None:
    flow = Dataflow(memory=MEMORY)
    numbers = flow.input("numbers", a=int)
    flow.advance_to(2)
    with pytest.raises(InputError, match="Version 1 is closed"):
        numbers.insert([(1,), (2,)], at=[3, 1])
