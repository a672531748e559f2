"""Arrow batches into the parts of a staged table, without Spark.

Every column becomes one of the types that properties have; a column that cannot raises an error
that names it. Values keep their meaning: an unsigned number that does not fit is an error, not a
negative one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from graphtide.model.errors import InputError
from graphtide.model.mixed_values import TextsOfNumbers, mixed_columns_error
from graphtide.spark.ingest.parts import part_name

_PART_ROWS = 2_000_000
_PLACES = [("_file", pa.int32()), ("_block", pa.int64()), ("_row", pa.int64())]

KeptColumns = Callable[[Sequence[str]], list[tuple[int, str]]]


@dataclass(frozen=True)
class WrittenParts:
    """How many rows were written; names and types of the columns `c0`, `c1`, ...; all names."""

    rows: int
    columns: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    found: tuple[str, ...]
    notes: tuple[tuple[str, str], ...] = ()
    """Columns of texts that nearly all are numbers: their names, and what to report of them."""


def write_arrow_parts(
    what: str, data: Any, folder: Path, kept_columns: KeptColumns
) -> WrittenParts:
    """Write whatever has `__arrow_c_stream__` as parts, one batch in memory at a time."""
    reader = _reader(what, data)
    columns = kept_columns(reader.schema.names)
    fields = [(name, reader.schema.field(place).type) for place, name in columns]
    targets = [target_type(what, name, type_) for name, type_ in fields]
    schema = pa.schema([*_PLACES, *((f"c{place}", target) for place, target in enumerate(targets))])
    places = [place for place, _ in columns]
    folder.mkdir(parents=True)
    rows = 0
    texts = [
        (f"c{place}", TextsOfNumbers(name))
        for place, ((name, _), target) in enumerate(zip(fields, targets, strict=True))
        if pa.types.is_string(target)
    ]
    for part in _part_sized(_converted(what, reader, places, schema)):
        for column, text in texts:
            text.look(part.column(column).combine_chunks())
        pq.write_table(part, folder / part_name(rows), row_group_size=_PART_ROWS // 4)
        rows += part.num_rows
    if rows == 0:
        pq.write_table(schema.empty_table(), folder / part_name(0))
    names = tuple(name for _, name in columns)
    notes = tuple((text.name, text.note) for _, text in texts if text.note is not None)
    return WrittenParts(rows, names, tuple(targets), tuple(reader.schema.names), notes)


def target_type(what: str, name: str, type_: pa.DataType) -> pa.DataType:
    """The Arrow type that a column is staged as."""
    if isinstance(type_, pa.DictionaryType):
        return target_type(what, name, type_.value_type)
    if isinstance(type_, pa.BaseExtensionType):
        is_uuid = type_.extension_name == "arrow.uuid"
        return pa.string() if is_uuid else target_type(what, name, type_.storage_type)
    for is_type, target in _TARGETS:
        if is_type(type_):
            return target
    if pa.types.is_timestamp(type_):
        return pa.timestamp("us", tz="UTC" if type_.tz else None)
    raise InputError(
        f"{what}: the column '{name}' is of type {type_}, which no property can have",
        hint=f"leave it out with drop=['{name}'], or take its parts into columns",
    )


_TARGETS: list[tuple[Callable[[pa.DataType], bool], pa.DataType]] = [
    (pa.types.is_boolean, pa.bool_()),
    (pa.types.is_integer, pa.int64()),
    (pa.types.is_floating, pa.float64()),
    (pa.types.is_decimal, pa.float64()),
    (pa.types.is_string, pa.string()),
    (pa.types.is_large_string, pa.string()),
    (pa.types.is_string_view, pa.string()),
    (pa.types.is_date, pa.date32()),
    (pa.types.is_null, pa.string()),
]


def _reader(what: str, data: Any) -> pa.RecordBatchReader:
    try:
        return pa.RecordBatchReader.from_stream(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise mixed_columns_error(what, data, error) from None


def _converted(
    what: str, reader: pa.RecordBatchReader, places: Sequence[int], schema: pa.Schema
) -> Iterator[pa.Table]:
    row = 0
    for batch in reader:
        count = batch.num_rows
        arrays = [
            pa.array(np.zeros(count, np.int32)),
            pa.array(np.zeros(count, np.int64)),
            pa.array(np.arange(row, row + count)),
        ]
        for to, place in enumerate(places):
            name = reader.schema.names[place]
            arrays.append(_cast(what, name, batch.column(place), schema.field(f"c{to}").type))
        row += count
        yield pa.Table.from_arrays(arrays, schema=schema)


def _cast(what: str, name: str, array: pa.Array, target: pa.DataType) -> pa.Array:
    if isinstance(array, pa.ExtensionArray):
        if array.type.extension_name == "arrow.uuid":
            return pa.array([None if item is None else str(item) for item in array.to_pylist()])
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type):
        # pandas writes a missing number as NaN; a NaN that is meant is as good as missing.
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    try:
        is_time = pa.types.is_timestamp(target)
        return array.cast(target, safe=not is_time)
    except pa.ArrowException as error:
        raise InputError(
            f"{what}: the column '{name}' does not fit {target}: {error}",
            hint=f"convert it, or leave it out with drop=['{name}']",
        ) from None


def _part_sized(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    waiting: list[pa.Table] = []
    rows = 0
    for table in tables:
        waiting.append(table)
        rows += table.num_rows
        if rows >= _PART_ROWS:
            yield pa.concat_tables(waiting)
            waiting, rows = [], 0
    if rows:
        yield pa.concat_tables(waiting)
