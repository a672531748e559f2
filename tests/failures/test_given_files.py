"""Files that somebody hands over, damaged at random: answers, or errors of ours."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphtide.model.errors import DamagedError, InputError
from graphtide.run.durable.files import read_file_rows
from graphtide.run.durable.records import _read_rows, _rows
from graphtide.spark.ingest.stage_rows import naming_damage
from graphtide.store.files import well_formed

ENDS = pa.schema([("src", pa.int64()), ("dst", pa.int64())])


def test_a_damaged_parquet_file_is_named(tmp_path: Path) -> None:
    path, pick = tmp_path / "edges.parquet", random.Random(1)
    pq.write_table(pa.table({"src": [1, 2, 3] * 50, "dst": [2, 3, 4] * 50}), path)
    whole, refused = path.read_bytes(), 0
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[pick.randrange(len(damaged))] = pick.randrange(256)
        path.write_bytes(damaged)
        try:
            read_file_rows(path, "edges", {})
        except InputError as error:
            refused += str(path) in str(error)
    assert refused > 200


def test_a_column_whose_name_is_no_text_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.table({"source": [1]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"source", b"sou\xffce"))
    with pytest.raises(InputError, match="cut or damaged"), naming_damage(path):
        _ = pq.ParquetFile(path).schema_arrow.names


def test_a_record_of_the_log_that_arrow_cannot_read_is_damage() -> None:
    rows = pa.record_batch([pa.array([1, 2]), pa.array([2, 3])], schema=ENDS)
    data = bytes(_rows(rows))
    assert _read_rows(memoryview(data), ENDS) == rows
    pick, odd = random.Random(2), 0
    for _ in range(300):
        broken = bytearray(data)
        for at in pick.sample(range(len(data)), 4):
            broken[at] = pick.randrange(256)
        try:
            with well_formed("the log"):
                _read_rows(memoryview(bytes(broken)), ENDS)
        except DamagedError:
            odd += 1
    assert odd > 100
