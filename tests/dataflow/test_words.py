"""Words of values and back, and changes of batches of any size, found in another way too."""

from __future__ import annotations

import datetime
import decimal
import struct
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.dataflow import col
from graphtide.dataflow import decimal as decimal_type
from graphtide.engine.dataflow.columns import Texts, decode_column, encode_column
from graphtide.engine.dataflow.machine import Machine
from graphtide.engine.dataflow.records import encode
from graphtide.kernels.dataflow import layout
from graphtide.model.errors import InputError
from graphtide.plan.dataflow_expressions import column_type
from graphtide.run.dataflow.flow import Dataflow
from graphtide.run.dataflow.outputs import Change, OutputChanges
from tests.dataflow.building import MEMORY

DAY = datetime.date(1970, 1, 1)
FEW = 64
VALUES: dict[str, tuple[Any, Any]] = {
    "int": (int, st.integers(-(1 << 63) + 1, (1 << 63) - 1)),
    "float": (float, st.floats(width=64)),
    "bool": (bool, st.booleans()),
    "str": (str, st.text("ab\0é", max_size=3)),
    "date": (datetime.date, st.dates(max_value=datetime.date(9999, 12, 30))),
    "decimal": (
        decimal_type(2),
        st.one_of(
            st.integers(-(10**16), 10**16),
            st.decimals(-(10**12), 10**12, places=2, allow_nan=False),
        ),
    ),
}


def plain_word(kind: str, value: Any, texts: Texts) -> int:
    """The word of a value, found another way than the product does."""
    if value is None:
        return -(1 << 63)
    if kind == "str":
        return texts.code(value)
    if kind == "date":
        return int((value - DAY).days)
    if kind == "decimal":
        return int(Fraction(value) * 100)
    if kind == "float":
        plain = float("nan") if value != value else value or 0.0
        (bits,) = struct.unpack("<Q", struct.pack("<d", plain))
        return int(bits) if bits < 1 << 63 else -1 - (int(bits) - (1 << 63))
    return int(value)


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
@settings(deadline=None, max_examples=30)
def test_values_have_the_words_of_their_definition(kind: str, data: Any) -> None:
    python_type, values = VALUES[kind]
    may_miss = data.draw(st.booleans())
    if may_miss:
        values = st.one_of(st.none(), values)
    given_values = data.draw(st.lists(values, min_size=1, max_size=8))
    nullable = column_type("c", python_type if not may_miss else _or_none(python_type))
    texts = Texts()
    wanted = [plain_word(kind, value, texts) for value in given_values]
    words = encode_column("c", nullable, given_values, texts)
    assert words.tolist() == wanted
    many = encode_column("c", nullable, given_values * FEW, texts)[: len(given_values)]
    assert many.tolist() == wanted
    back = decode_column(words, nullable, texts).tolist()
    present = [value for value in given_values if value is not None]
    assert [value is None for value in back] == [value is None for value in given_values]
    assert [str(value) for value in back if value is not None] == _shown(kind, present)


def _or_none(python_type: Any) -> Any:
    return python_type | None


def _shown(kind: str, values: list[Any]) -> list[str]:
    """Values as they come back: one zero, one NaN, all the digits that a column has."""
    if kind == "float":
        return [str(value + 0.0 if value == value else float("nan")) for value in values]
    if kind == "decimal":
        return [str(decimal.Decimal(value).quantize(decimal.Decimal("0.01"))) for value in values]
    return list(map(str, values))


@pytest.mark.parametrize(
    ("python_type", "value"),
    [
        (int, 1.5),
        (int, "1"),
        (int, 1 << 63),
        (int, None),
        (int | None, -(1 << 63)),
        (bool, 1),
        (str, b"text"),
        (datetime.date, datetime.datetime(2020, 1, 1)),
        (decimal_type(2), decimal.Decimal("0.001")),
        (decimal_type(2), decimal.Decimal("NaN")),
        (decimal_type(2), decimal.Decimal("Infinity")),
        (decimal_type(2), 1 << 62),
        (decimal_type(2), True),
        (decimal_type(2), 1.5),
    ],
)
def test_what_a_column_cannot_hold_is_refused_among_few_and_many(
    python_type: Any, value: Any
) -> None:
    kind = column_type("c", python_type)
    for times in (1, FEW + 1):
        with pytest.raises(InputError, match="'c'"):
            encode_column("c", kind, [value] * times, Texts())


TEXTS = ["a", "b", "c", "d"] * FEW


@pytest.mark.parametrize("count", [3, 2 * FEW])
def test_columns_of_arrow_are_read_as_they_lie(count: int) -> None:
    """In slices, in pieces, and texts of dictionaries that are larger and smaller than they."""
    schema = (
        ("t", column_type("t", str)),
        ("d", column_type("d", datetime.date)),
        ("m", column_type("m", decimal_type(2))),
        ("i", column_type("i", int)),
    )
    large = pa.array([f"{text}{number}" for number, text in enumerate(TEXTS)]).dictionary_encode()
    plain = pa.array(TEXTS)
    dates = pa.array([DAY + datetime.timedelta(number) for number in range(len(TEXTS))])
    money = pa.array(list(map(decimal.Decimal, range(len(TEXTS)))), pa.decimal128(15, 2))
    for texts in (large, plain, plain.dictionary_encode()):
        table = {"t": texts, "d": dates, "m": money, "i": pa.array(range(len(TEXTS)), pa.int32())}
        sliced = {name: column.slice(7, count) for name, column in table.items()}
        pieces = {
            name: pa.chunked_array([column.slice(0, 2), column.slice(2)])
            for name, column in sliced.items()
        }
        for rows in (sliced, pieces):
            known = Texts()
            found = encode(rows, schema, known)
            told = [known.text(code) for code in found[:, 0].tolist()]
            assert told == table["t"].to_pylist()[7 : 7 + count]
            numbers = list(range(7, 7 + count))
            assert found[:, 1:4].T.tolist() == [numbers, [100 * n for n in numbers], numbers]


@pytest.mark.parametrize("times", [1, FEW])
def test_a_null_in_a_dictionary_is_none(times: int) -> None:
    """The count of nulls of such a column leaves it out."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0] * times), pa.array(["a", None]))
    for given_texts in (texts, pa.chunked_array([texts.slice(0, 1), texts.slice(1)])):
        known = Texts()
        words = encode({"t": given_texts}, (("t", column_type("t", str | None)),), known)
        code = known.code("a")
        assert words[:, 0].tolist() == [code, -(1 << 63), code] * times
        for columns in ({"t": str}, {"t": str, "n": int}):
            schema = tuple((name, column_type(name, kind)) for name, kind in columns.items())
            rows = {"t": given_texts, "n": pa.array(range(3 * times))}
            with pytest.raises(InputError, match="'t' is of type str and has nulls"):
                encode({name: rows[name] for name in columns}, schema, known)


def test_columns_of_arrow_of_no_rows_are_read() -> None:
    schema = (("m", column_type("m", decimal_type(2))), ("d", column_type("d", datetime.date)))
    rows = {"m": pa.array([], pa.decimal128(15, 2)), "d": pa.array([], pa.date32())}
    assert encode(rows, schema, Texts()).shape == (0, 4)
    with pytest.raises(InputError, match="'d'"):
        encode({**rows, "d": pa.array(["x"]).slice(0, 1)} | {"m": rows["m"]}, schema, Texts())


def check_as_a_list(changes: OutputChanges, wanted: list[Change]) -> None:
    """Changes read as the list that they are, in every way, and as columns."""
    assert len(changes) == len(wanted)
    assert bool(changes) is bool(wanted)
    assert changes == wanted
    assert wanted == changes
    assert changes == changes
    assert changes != [*wanted, ((0, 0), 0, 1)]
    assert changes != tuple(wanted)
    assert [*changes] == wanted
    assert changes[1:] == wanted[1:]
    assert changes[-1:] == wanted[-1:]
    assert [*reversed(changes)] == wanted[::-1]
    assert changes + wanted == wanted + changes == wanted * 2
    assert repr(changes) == repr(wanted)
    columns = changes.columns()
    arrays = [*(columns[name].tolist() for name in "ab"), changes.versions, changes.diffs.tolist()]
    assert list(zip(*arrays, strict=True)) == [(*record, at, n) for record, at, n in wanted]


@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 2)), max_size=6),
            st.sampled_from(["changes", "records", "nothing", "large"]),
        ),
        min_size=1,
        max_size=12,
    )
)
@settings(deadline=None, max_examples=25)
def test_changes_are_what_has_changed_however_many(
    steps: list[tuple[list[tuple[int, int]], str]],
) -> None:
    """Few and many, held while the flow goes on; records that go and come again in turns."""
    flow = Dataflow(memory=MEMORY)
    source = flow.input("source", a=int, b=int)
    output = source.filter(col.a >= 0).output()
    state: Counter[tuple[int, int]] = Counter()
    waiting: Counter[tuple[int, tuple[int, int]]] = Counter()
    held: list[tuple[OutputChanges, list[Change]]] = []
    for version, (rows, what) in enumerate(steps):
        listed = [((a, a % 3), diff) for a, diff in rows]
        if what == "large":
            listed += [((a, 5), 1 if version % 2 else -1) for a in range(2 * FEW)]
        source.update([record for record, _ in listed], [diff for _, diff in listed])
        flow.advance()
        for record, diff in listed:
            state[record] += diff
            waiting[version, record] += diff
        if what == "records":
            assert output.records() == {record: n for record, n in state.items() if n}
        elif what != "nothing":
            wanted = [(record, at, n) for (at, record), n in sorted(waiting.items()) if n]
            held.append((output.changes(), wanted))
            waiting.clear()
    for changes, wanted in held:
        check_as_a_list(changes, wanted)
    assert output.records() == {record: n for record, n in state.items() if n}


def test_messages_are_sent_in_the_order_in_which_they_were_written() -> None:
    """Several before a run, and more before the next: each once, and their memory is free."""
    machine = Machine(memory=1 << 20)
    port = machine.new_port(1)
    program = machine.store([0, 1, -1, -1, -1, -1, 0, 0])
    operator = machine.new_operator(layout.PASS, 0, {layout.OP_PORT: machine.new_port(1)})
    machine.add_edge(
        operator,
        {
            layout.EDGE_PORT: port,
            layout.EDGE_PROGRAM: program,
            layout.EDGE_SIGN: 1,
            layout.EDGE_KEEP: -1,
        },
    )
    machine.run()
    held = machine.held_bytes
    for times in (1, 3, 2):
        sent = [np.array([[times * 10 + n, 0, 1]] * (n + 1), np.int64) for n in range(times)]
        for rows in sent:
            machine.send(operator, rows, 0)
        machine.send(operator, np.empty((0, 3), np.int64), 0)
        machine.words[layout.COUNTER] = 0
        machine.run()
        assert machine.take(port).tolist() == np.concatenate(sent).tolist()
        assert machine.take(port).tolist() == []
    assert machine.held_bytes == held
