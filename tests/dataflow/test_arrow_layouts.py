"""Columns of Arrow: read right whatever their types and layout."""

from __future__ import annotations

import datetime
import decimal
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from graphtide.dataflow import Dataflow, InputCollection, Output
from graphtide.dataflow import decimal as decimal_type
from tests.dataflow.building import MEMORY

INTS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()]
TEXTS = [
    pa.string(),
    pa.large_string(),
    *(pa.dictionary(index, pa.string()) for index in INTS),
    pa.dictionary(pa.int32(), pa.large_string()),
    pa.dictionary(pa.uint64(), pa.string()),
]
DAYS, MONEY = pa.date32(), pa.decimal128(18, 2)
WORDS = ["", "a", "ä", "7 bytes", "seven b", "\0", "a\0", "8 bytes.", "a text of many bytes"]
FEW = 64
Record = tuple[int, decimal.Decimal, datetime.date, str, int]
Made = Callable[[dict[str, pa.Array]], Any]


def running() -> tuple[Dataflow, InputCollection, Output]:
    """A dataflow that has run and reads four of five columns."""
    flow = Dataflow(memory=MEMORY)
    kinds = {"i": int, "m": decimal_type(2), "d": datetime.date, "t": str, "unread": int}
    table = flow.input("table", **kinds)
    output = table.select("i", "m", "d", "t").output()
    flow.advance()
    return flow, table, output


def record(chance: Random, kind: Any) -> Record:
    """A record whose int fits a type."""
    bits = kind.bit_width - (1 if pa.types.is_signed_integer(kind) else 0)
    least = -(1 << bits) if pa.types.is_signed_integer(kind) else 0
    return (
        chance.choice((least, (1 << bits) - 1, 0, chance.randrange(100))),
        decimal.Decimal(chance.choice((-(10**18) + 1, 10**18 - 1, 0, 250))) / 100,
        datetime.date(1970, 1, 1) + datetime.timedelta(chance.randrange(-40_000, 40_000)),
        chance.choice(WORDS),
        chance.randrange(5),
    )


def columns(records: list[Record], kinds: list[Any], chance: Random) -> dict[str, pa.Array]:
    """Records as columns, each a slice from a place of its own of a longer one that has nulls."""
    found = {}
    for name, kind, values in zip("imdtu", kinds, zip(*records, strict=True), strict=True):
        before, behind = [None] * chance.randrange(9), [None] * chance.randrange(3)
        whole = pa.array([*before, *values, *behind], kind)
        found[name] = whole.slice(len(before), len(values))
    found["unread"] = found.pop("u")
    return found


@pytest.mark.parametrize("made", [dict, pa.table, pa.record_batch])
@pytest.mark.parametrize("seed", range(4))
def test_columns_of_every_layout_are_read_as_they_lie(made: Made, seed: int) -> None:
    flow, table, output = running()
    chance = Random(seed)
    there: Counter[tuple[Any, ...]] = Counter()
    for _ in range(4):
        kinds = [chance.choice(INTS), MONEY, DAYS, chance.choice(TEXTS), chance.choice(INTS)]
        for _ in range(3):
            records = [record(chance, kinds[0]) for _ in range(chance.choice((1, 5, FEW)))]
            diffs = [chance.choice((1, -1, 3)) for _ in records]
            table.update(made(columns(records, kinds, chance)), diffs)
            for item, diff in zip(records, diffs, strict=True):
                there[item[:4]] += diff
        flow.advance()
        assert output.records() == {item: times for item, times in there.items() if times}


@pytest.mark.parametrize("made", [dict, pa.table, pa.record_batch])
def test_many_short_texts(made: Made) -> None:
    flow, table, output = running()
    chance = Random(0)
    kinds = [pa.int64(), MONEY, DAYS, pa.string(), pa.int64()]
    wanted = set()
    for first in range(0, 2048, FEW):
        listed = [(n, decimal.Decimal(n), datetime.date(2000, 1, 1), str(n), 0)
                  for n in range(first, first + FEW)]  # fmt: skip
        table.insert(made(columns(listed, kinds, chance)))
        table.insert(made(columns(listed, kinds, chance)))
        wanted |= {item[:4] for item in listed}
    flow.advance()
    assert output.records() == dict.fromkeys(wanted, 2)


def test_a_column_that_has_room_for_nulls_and_none_is_read() -> None:
    flow = Dataflow(memory=MEMORY)
    table = flow.input("table", i=int)
    output = table.output()
    flow.advance()
    table.insert({"i": pa.array([1, 2])})
    column = pa.array([None, 5, 6, 7, None]).slice(1, 3)
    assert column.buffers()[0] is not None
    table.insert({"i": column})
    flow.advance()
    assert output.records() == {(item,): 1 for item in (1, 2, 5, 6, 7)}
