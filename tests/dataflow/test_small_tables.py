"""Small tables and record batches of Arrow: the answers and errors of columns by name."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from graphtide.dataflow import Dataflow, InputCollection, Output
from graphtide.dataflow import decimal as decimal_type
from graphtide.model.errors import InputError
from tests.dataflow.building import MEMORY

TYPES = {
    "number": pa.int64(),
    "price": pa.decimal128(12, 2),
    "day": pa.date32(),
    "text": pa.string(),
    "unread": pa.int32(),
    "hidden": pa.dictionary(pa.int8(), pa.string()),
}
COLUMNS = {
    "number": int,
    "price": decimal_type(2),
    "day": datetime.date,
    "text": str,
    "unread": int,
    "hidden": str,
}
READ = ("number", "price", "day", "text")
DAY = datetime.date(1995, 3, 15)
Made = Callable[..., Any]


def running() -> tuple[Dataflow, InputCollection, Output]:
    """A dataflow that has run and reads four of six columns."""
    flow = Dataflow(memory=MEMORY)
    table = flow.input("table", **COLUMNS)
    output = table.select(*READ).output()
    flow.advance()
    return flow, table, output


def arrays(first: int, count: int, names: list[str] | None = None) -> dict[str, Any]:
    """Columns of so many records, in an order of names."""
    numbers = range(first, first + count)
    values = {
        "number": list(numbers),
        "price": [decimal.Decimal(n) / 4 for n in numbers],
        "day": [DAY + datetime.timedelta(n) for n in numbers],
        "text": [f"text {n % 3}" for n in numbers],
        "unread": list(numbers),
        "hidden": [str(n) for n in numbers],
    }
    return {name: pa.array(values[name], TYPES[name]) for name in names or TYPES}


def wanted(first: int, count: int) -> dict[tuple[Any, ...], int]:
    """The records that are read of the same."""
    columns = arrays(first, count)
    return dict.fromkeys(zip(*(columns[name].to_pylist() for name in READ), strict=True), 1)


@pytest.fixture(params=[pa.table, pa.record_batch])
def made(request: pytest.FixtureRequest) -> Made:
    """How a table is made of columns."""
    maker: Made = request.param
    return maker


def test_small_tables_are_read(made: Made) -> None:
    flow, table, output = running()
    table.insert(made(arrays(0, 10)))
    table.insert(made(arrays(10, 10, [*reversed(TYPES)])))
    table.insert(made(arrays(0, 64)).slice(20, 10))
    flow.advance()
    assert output.records() == wanted(0, 30)
    table.remove(made(arrays(5, 10)))
    flow.advance()
    assert output.records() == wanted(0, 5) | wanted(15, 15)


def test_tables_that_are_large_or_in_pieces_are_read(made: Made) -> None:
    flow, table, output = running()
    table.insert(made(arrays(0, 0)))
    table.insert(made(arrays(0, 100)))
    table.insert(pa.concat_tables([pa.table(arrays(100, 5)), pa.table(arrays(105, 5))]))
    wider = arrays(110, 5) | {"price": arrays(110, 5)["price"].cast(pa.decimal128(30, 4))}
    table.insert(made(wider))
    table.insert(made(arrays(115, 5)))
    flow.advance()
    assert output.records() == wanted(0, 120)


@pytest.mark.parametrize("name", ["number", "text", "unread", "hidden"])
def test_a_null_is_refused_wherever_it_is(made: Made, name: str) -> None:
    flow, table, output = running()
    table.insert(made(arrays(0, 3)))
    holed = pa.array([None, *arrays(1, 2)[name].to_pylist()], TYPES[name])
    with pytest.raises(InputError, match=f"'{name}'.* has nulls"):
        table.insert(made(arrays(0, 3) | {name: holed}))
    flow.advance()
    assert output.records() == wanted(0, 3)


def test_a_null_in_a_dictionary_that_nothing_reads_is_refused(made: Made) -> None:
    _, table, _ = running()
    table.insert(made(arrays(0, 3)))
    listed = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 0], pa.int8()), pa.array(["a", None], pa.string())
    )
    with pytest.raises(InputError, match=r"'hidden'.* has nulls"):
        table.insert(made(arrays(0, 3) | {"hidden": listed}))


def test_other_columns_are_refused(made: Made) -> None:
    _, table, _ = running()
    table.insert(made(arrays(0, 3)))
    with pytest.raises(InputError, match="The columns are"):
        table.insert(made(arrays(0, 3) | {"more": pa.array([1, 2, 3])}))
    with pytest.raises(InputError, match="The columns are"):
        table.insert(made(arrays(0, 3, ["number", "price"])))
