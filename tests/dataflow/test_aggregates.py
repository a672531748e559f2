"""Random aggregates of columns of all types, given in all ways, against their definition.

Records come and go, more often than they are there too, at several versions of a batch. Whoever
gave columns writes to them afterwards.
"""

from __future__ import annotations

import datetime
import math
import os
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from graphtide import dataflow
from graphtide.dataflow import Dataflow
from graphtide.engine.dataflow import records
from graphtide.model.errors import LimitError
from tests.dataflow.crews import carried_out
from tests.oracle.aggregates import BeyondWordError, Part, aggregates, one_nan

EACH = 3000 if "GRAPHTIDE_CAMPAIGN" in os.environ else 25
NAMES = ("key", "unread", "a", "b", "c")
VALUES: dict[str, list[Any]] = {
    "int": [0, 1, -1, 7, 1 << 31, -(1 << 32), (1 << 33) + 5, 1 << 62, (1 << 63) - 1, 1 - (1 << 63)],
    "float": [0.0, 0.1, -2.25, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, 2.0**60],
    "bool": [True, False],
    "str": ["a", "", "abcdefgh", "abcdefgi", "abcdefghz", "é", "\U0001f600", "a\0"],
    "date": [datetime.date(1970, 1, 1), datetime.date(1, 1, 1), datetime.date(9999, 12, 31)],
    "decimal": [Decimal("0.00"), Decimal("1.25"), Decimal("-92233720368547758.07")],
}
TYPES: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "date": datetime.date,
    "decimal": dataflow.decimal(2),
}
ARROW = {
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "str": pa.string(),
    "date": pa.date32(),
    "decimal": pa.decimal128(20, 2),
}
MADE: dict[str, Any] = {
    "count": dataflow.count,
    "total": dataflow.total,
    "mean": dataflow.mean,
    "least": dataflow.minimum,
    "greatest": dataflow.maximum,
    "distinct": dataflow.count_distinct,
}


class Trial:
    """One random dataflow with one aggregation, and what its input holds."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = Random(seed)
        self.once = chance.random() < 0.15
        self.kinds = [(chance.choice(list(VALUES)), chance.random() < 0.4) for _ in NAMES]
        self.flow = Dataflow(memory=1 << 24, workers=chance.choice([1, 1, 2, 3]), once=self.once)
        columns = {
            name: TYPES[kind] | None if nullable else TYPES[kind]
            for name, (kind, nullable) in zip(NAMES, self.kinds, strict=True)
        }
        self.input = self.flow.input("input", **columns)
        self.keys = [0] if chance.random() < 0.7 else []
        self.parts = [self.part() for _ in range(chance.randint(1, 4))]
        made = {
            f"part {at}": MADE[part.kind](NAMES[part.column]) for at, part in enumerate(self.parts)
        }
        self.output = self.input.aggregate([NAMES[at] for at in self.keys], **made).output()
        self.rows: dict[Any, int] = {}
        self.known: list[Any] = []

    def part(self) -> Part:
        """One aggregate of a column that has it."""
        column = self.chance.choice([2, 3, 4])
        kind, nullable = self.kinds[column]
        names = list(MADE) if kind in ("int", "float", "decimal") else [*MADE][3:]
        return Part(self.chance.choice(names), column, nullable)

    def records(self) -> list[Any]:
        """Some records, many of which have been before."""
        found = []
        for _ in range(self.chance.choice([0, 1, 5, 20])):
            if not self.known or self.chance.random() < 0.5:
                self.known.append(tuple(self.value(*kind) for kind in self.kinds))
            found.append(self.chance.choice(self.known))
        return found

    def value(self, kind: str, nullable: bool) -> Any:
        """One value, or none."""
        if nullable and self.chance.random() < 0.3:
            return None
        return one_nan(self.chance.choice(VALUES[kind][: self.chance.choice([3, 20])]))

    def feed(self, version: int) -> list[tuple[Any, int]]:
        """Change the input at a version; the records with how often they come."""
        records = self.records()
        diffs = [1 if self.once else self.chance.choice([1, 1, 2, -1, -3, 0]) for _ in records]
        given, arrays = self.given(records)
        changes = np.array(diffs, np.int64)
        self.input.update(given, changes, at=version)
        for array in (*arrays, changes):
            array[:] = array[:1]
        return list(zip(records, diffs, strict=True))

    def given(self, records: list[Any]) -> tuple[Any, list[Any]]:
        """Records in one of the ways to give them, and the arrays that they lie in."""
        way = self.chance.choice(["tuples", "chunks", "sliced", "plain"])
        if way == "tuples":
            return list(records), []
        table, arrays = {}, []
        for at, (name, (kind, _)) in enumerate(zip(NAMES, self.kinds, strict=True)):
            column, array = self.column([record[at] for record in records], kind)
            if array is not None:
                arrays.append(array)
            if way == "sliced" and not pa.types.is_dictionary(column.type):
                column = pa.concat_arrays([column, column]).slice(len(records))
            elif way == "chunks":
                column = pa.chunked_array(
                    [column[: len(records) // 2], column[len(records) // 2 :]]
                )
            table[name] = column
        return table, arrays

    def column(self, values: list[Any], kind: str) -> tuple[Any, Any]:
        """Values as a column of Arrow, and the array of NumPy that it lies in, if any."""
        if kind in ("int", "float") and None not in values:
            array = np.array(values, ARROW[kind].to_pandas_dtype())
            return pa.array(array), array
        column = pa.array(values, ARROW[kind])
        if kind == "str" and self.chance.random() < 0.5:
            texts = [*VALUES["str"], None]
            places = np.array([texts.index(value) for value in values], np.int64)
            return pa.DictionaryArray.from_arrays(places, pa.array(texts)), places
        return column, None

    def play(self) -> None:
        """Some batches, each of one version or several, compared at every version."""
        version, told = 0, dict[Any, int]()
        for _ in range(1 if self.once else 3):
            later = version + (1 if self.once else self.chance.choice([1, 3]))
            fed = {at: self.feed(at) for at in range(version, later)}
            try:
                wanted = [self.wanted(fed[at]) for at in range(version, later)]
            except BeyondWordError:
                with pytest.raises(LimitError, match="64 bits"):
                    self.flow.advance_to(later)
                return
            self.flow.advance_to(later)
            changes = self.output.changes()
            for at, expected in zip(range(version, later), wanted, strict=True):
                for record, when, diff in changes:
                    if when == at:
                        record = tuple(map(one_nan, record))
                        told[record] = told.get(record, 0) + diff
                assert {record: n for record, n in told.items() if n} == dict.fromkeys(expected, 1)
            version = later

    def wanted(self, fed: list[tuple[Any, int]]) -> set[Any]:
        """What there should be behind some changes."""
        for record, diff in fed:
            self.rows[record] = self.rows.get(record, 0) + diff
        rows = {record: count for record, count in self.rows.items() if count}
        return aggregates(rows, self.keys, self.parts)


@pytest.mark.interpreted
@pytest.mark.parametrize("way", ["turns", "threads", "chance"])
def test_random_aggregates(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_LARGE", 4)
    with carried_out(way):
        for seed in range(EACH):
            trial = Trial(len(way) * 1_000_000 + seed)
            try:
                trial.play()
            except AssertionError as error:
                raise AssertionError(f"seed {len(way) * 1_000_000 + seed}: {error}") from error
            finally:
                trial.flow.host.end()
