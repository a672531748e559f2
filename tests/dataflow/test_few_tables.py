"""Small tables of Arrow: the same answers, and the same errors, as for plain values."""

from __future__ import annotations

import datetime
import decimal
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from graphtide.dataflow import Dataflow, col
from graphtide.dataflow import decimal as decimal_type
from graphtide.model.errors import InputError
from tests.dataflow.building import MEMORY

FEW = 64
TYPES = {
    "i": pa.int64(),
    "m": pa.decimal128(12, 2),
    "d": pa.date32(),
    "t": pa.dictionary(pa.int32(), pa.string()),
    "unread": pa.int32(),
    "hidden": pa.dictionary(pa.int8(), pa.string()),
}
COLUMNS = {
    "i": int,
    "m": decimal_type(2),
    "d": datetime.date,
    "t": str,
    "unread": int,
    "hidden": str,
}
Record = tuple[int, decimal.Decimal, datetime.date, str]


class Table:
    """An input of six columns, of which four are read, beside a count of its records."""

    def __init__(self, **options: Any) -> None:
        self.chance = Random(7)
        self.flow = Dataflow(memory=MEMORY, **options)
        self.input = self.flow.input("table", **COLUMNS)
        self.output = self.input.select("i", "m", "d", "t").output()
        self.wanted: Counter[Record] = Counter()
        self.put(self.records(3))
        self.flow.advance()
        self.put(self.records(3))

    def records(self, count: int) -> list[Record]:
        """So many records by chance, some of them equal."""
        return [
            (
                self.chance.randrange(-2, 3) << 40,
                decimal.Decimal(self.chance.randrange(-300, 300)) / 100,
                datetime.date(1960 + 10 * self.chance.randrange(3), 1, 1),
                self.chance.choice("abc"),
            )
            for _ in range(count)
        ]

    def columns(self, records: list[Record]) -> dict[str, pa.Array]:
        """Records as columns of Arrow, each a slice of a longer one."""
        values = [*zip(*records, strict=True), range(len(records)), ["x"] * len(records)]
        return {
            name: pa.array([items[0], *items, items[-1]], kind).slice(1, len(records))
            for (name, kind), items in zip(TYPES.items(), values, strict=True)
        }

    def put(self, records: list[Record]) -> None:
        """Change some records, and count them."""
        diffs = np.array([self.chance.choice([1, 1, -1, 2]) for _ in records])
        self.input.update(self.columns(records), diffs)
        self.count(records, diffs.tolist())

    def count(self, records: list[Record], diffs: list[int]) -> None:
        for record, diff in zip(records, diffs, strict=True):
            self.wanted[record] += diff

    def check(self) -> None:
        """Advance and compare."""
        self.flow.advance()
        assert self.output.records() == {record: n for record, n in self.wanted.items() if n}


@pytest.mark.parametrize("workers", [1, 2])
def test_few_rows_are_right(workers: int) -> None:
    table = Table(workers=workers)
    for count in (1, 2, 9, FEW):
        table.put(table.records(count))
        table.put(table.records(count))
        table.check()
    later = table.records(2)
    table.input.insert(table.columns(later), at=table.flow.version + 1)  # type: ignore[operator]
    table.check()
    table.count(later, [1, 1])
    table.check()


def test_what_is_handed_over_counts_as_it_is_then() -> None:
    table = Table()
    records = table.records(4)
    numbers = np.array([record[0] for record in records])
    diffs = np.array([1, 2, -1, 1])
    table.input.update({**table.columns(records), "i": pa.array(numbers)}, diffs)
    numbers[:] = 99
    diffs[:] = 99
    table.count(records, [1, 2, -1, 1])
    table.check()


def test_tables_that_differ_are_right() -> None:
    """In pieces, of other types, in another order, as plain values."""
    table = Table()
    for turn in range(6):
        records = table.records(5)
        given: dict[str, Any] = table.columns(records)
        pieces = {n: pa.chunked_array([c.slice(0, 2), c.slice(2)]) for n, c in given.items()}
        ways = [
            pieces,
            {**given, "hidden": pieces["hidden"]},
            {**given, "i": pieces["i"], "d": pieces["d"]},
            {**given, "t": given["t"].dictionary_decode(), "i": given["i"].to_numpy()},
            dict(reversed(given.items())),
            {**given, "unread": [1, 2, 3, 4, 5]},
        ]
        table.input.insert(ways[turn])
        table.count(records, [1] * 5)
        table.put(table.records(3))
        table.check()


@pytest.mark.parametrize("rows", [3, FEW + 1])
def test_what_cannot_be_is_refused_among_few_and_many(rows: int) -> None:
    table = Table()
    given = table.columns(table.records(rows))
    nulls = pa.array([None] * rows, pa.int32())
    hidden = pa.DictionaryArray.from_arrays(
        pa.array([1] * rows, pa.int8()), pa.array(["x", None], pa.string())
    )
    wrong: list[tuple[dict[str, Any], Any, str]] = [
        ({**given, "unread": nulls}, 1, "'unread' is of type int and has nulls"),
        ({**given, "i": nulls.cast(pa.int64())}, 1, "'i' is of type int and has nulls"),
        ({**given, "hidden": hidden}, 1, "'hidden' is of type str and has nulls"),
        ({**given, "unread": given["unread"].slice(1)}, 1, "'unread' has"),
        ({**given, "m": given["m"].slice(1)}, 1, "'m' has"),
        ({**given, "more": given["i"]}, 1, "The columns are"),
        ({n: c for n, c in given.items() if n != "d"}, 1, "The columns are"),
        ({**given, "unread": pa.array([0.5] * rows)}, 1, "'unread'"),
        (given, [1] * (rows + 1), "diffs of type"),
        (given, [0.5] * rows, "diffs of type"),
        (given, [1 << 31] * rows, "cannot change by"),
        (given, [-(1 << 31)] * rows, "cannot change by"),
        (given, np.array(1 << 31), "cannot change by"),
    ]
    for columns, diffs, told in wrong:
        with pytest.raises(InputError, match=told):
            table.input.update(columns, diffs)
    table.check()


def test_a_dataflow_that_runs_once_refuses_few_rows_as_it_does_many() -> None:
    table = Dataflow(memory=MEMORY, once=True)
    given = table.input("given", a=int)
    given.filter(col.a > 0).output()
    table.install()
    for count in (2, FEW + 1):
        rows = {"a": pa.array(range(count))}
        given.insert(rows)
        given.insert(rows)
        with pytest.raises(InputError, match="insertions alone"):
            given.remove(rows)
