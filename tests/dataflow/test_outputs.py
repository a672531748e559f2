"""Outputs: changes and records agree, whoever reads what and when, and changes cost the changes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from graphtide.plan.dataflow_terms import col
from graphtide.run.dataflow import outputs
from graphtide.run.dataflow.flow import Dataflow
from tests.dataflow.building import MEMORY

Records = dict[tuple[int, ...], int]


@pytest.mark.parametrize("seed", range(6))
def test_changes_and_records_agree_in_any_order_of_reading(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "_FEW_ROWS", 3)
    random = Random(seed)
    flow = Dataflow(memory=MEMORY)
    numbers = flow.input("numbers", a=int, b=int)
    output = numbers.map(a=col.a, b=col.b + 1).output()
    there: Records = {}
    read: Records = {}
    for _ in range(40):
        for _ in range(random.choice((0, 1, 1, 5))):
            record, diff = (random.randrange(4), random.randrange(3)), random.choice((1, 1, -1))
            numbers.update([record], [diff])
            _add(there, (record[0], record[1] + 1), diff)
        flow.advance()
        asked = random.choice(("changes", "records", "columns", "drain", "nothing", "repr"))
        if asked == "changes":
            for record, _, diff in output.changes():
                _add(read, record, diff)
            assert read == there
        elif asked == "records":
            assert output.records() == there
        elif asked == "columns":
            assert sum(len(c) for c in output.columns().values()) == 2 * _positive(there)
        elif asked == "drain":
            output.drain()
            read = dict(there)
        elif asked == "repr":
            assert f"{len(there):,} distinct" in repr(output)
    assert output.records() == there


def test_reading_changes_costs_the_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten thousand records one changes at a time: so few rows are added up."""
    touched: list[int] = []
    add_up = outputs.add_up

    def counted(rows: Any) -> Any:
        touched.append(len(rows))
        return add_up(rows)

    monkeypatch.setattr(outputs, "add_up", counted)
    flow = Dataflow(memory=MEMORY)
    numbers = flow.input("numbers", a=int)
    output = numbers.output()
    numbers.insert([(number,) for number in range(10_000)])
    flow.advance()
    output.drain()
    touched.clear()
    for number in range(50):
        numbers.remove([(number,)])
        flow.advance()
        assert output.changes() == [((number,), number + 1, -1)]
    assert sum(touched) == 50
    assert len(output.records()) == 9_950


def _add(found: Records, record: tuple[int, ...], diff: int) -> None:
    found[record] = found.get(record, 0) + diff
    if found[record] == 0:
        del found[record]


def _positive(found: Records) -> int:
    return sum(count for count in found.values() if count > 0)
