"""Staged rows as typed rows, each with the reason why it is bad, if it is.

A checked row has `_number` (its position among all rows of its kind), `_key0` and for edges
`_key1`, `_label`, the properties as `p0`, `p1`, ... of the schema, and `_reason`: null for a good
row. Its place in the input (`_table`, `_file`, `_block`, `_row`, `_text`) comes along; Spark
reads it only where it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from graphtide.model.schema import Property
from graphtide.spark.frames import SPARK_TYPES
from graphtide.spark.ingest.convert import always_readable, converted, is_gap_word, is_missing
from graphtide.spark.ingest.options import IngestOptions
from graphtide.spark.ingest.roles import PropertyColumn
from graphtide.spark.ingest.staged import PLACE_COLUMNS
from graphtide.spark.ingest.typed import TypedTable

REJECTED_COLUMNS = ("_table", *PLACE_COLUMNS, "_number", "_reason", "_text")


def checked_tables(
    tables: Sequence[TypedTable],
    properties: Sequence[Property],
    timezone: str,
) -> list[DataFrame]:
    """The checked rows of each table; numbers run on from one table to the next."""
    frames = []
    start = 0
    for index, table in enumerate(tables):
        frames.append(_checked(table, properties, timezone, (index, start)))
        start += table.staged.rows
    return frames


PLACES_OF_APPENDS = ("_graphtide_file", "_graphtide_block", "_graphtide_row")
"""The place of each row in the input, in the tables that an append reads."""


def place_columns(load_options: IngestOptions) -> list[Column]:
    """The places of rows that are appended: what the graph refuses is told by its line."""
    if load_options.known is None:
        return []
    named = zip(PLACE_COLUMNS, PLACES_OF_APPENDS, strict=True)
    return [F.col(column).alias(name) for column, name in named]


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of all frames, partitions in their order."""
    return reduce(DataFrame.union, frames)


def property_columns(properties: Sequence[Property]) -> list[Column]:
    """The properties of checked rows under their own names."""
    return [F.col(f"p{place}").alias(item.name) for place, item in enumerate(properties)]


def no_properties(properties: Sequence[Property]) -> list[Column]:
    """Missing values under the names of the properties."""
    return [F.lit(None).cast(SPARK_TYPES[item.type]).alias(item.name) for item in properties]


def _checked(
    table: TypedTable,
    properties: Sequence[Property],
    timezone: str,
    place: tuple[int, int],
) -> DataFrame:
    index, start = place
    rows = table.staged.read()
    here = {column.name: column for column in table.roles.properties}
    return rows.select(
        F.lit(index).alias("_table"),
        *PLACE_COLUMNS,
        (F.col("_position") + start).alias("_number"),
        *(
            _value(table, column, timezone).alias(f"_key{number}")
            for number, column in enumerate(table.roles.keys)
        ),
        _label(table).alias("_label"),
        *(
            (
                _value(table, here[item.name], timezone)
                if item.name in here
                else F.lit(None).cast(SPARK_TYPES[item.type])
            ).alias(f"p{number}")
            for number, item in enumerate(properties)
        ),
        _reason(table, timezone).alias("_reason"),
        table.staged.raw_text().alias("_text"),
    )


def _value(table: TypedTable, column: PropertyColumn, timezone: str) -> Column:
    cell, type_ = F.col(f"c{column.place}"), table.staged.types[column.place]
    return converted(cell, type_, table.specs[column.place], timezone)


def _label(table: TypedTable) -> Column:
    if table.roles.label is not None:
        return F.col(f"c{table.roles.label}").cast("string")
    source = table.staged.table
    space = table.roles.spaces[0] if source.kind == "vertices" else None
    return F.lit(source.label or space).cast("string")


def _reason(table: TypedTable, timezone: str) -> Column:
    """The first thing that is wrong with a row: its line, a key, then a property."""
    names = ("id",) if len(table.roles.keys) == 1 else ("src", "dst")
    reasons = [F.col("_fault")]
    for name, column in zip(names, table.roles.keys, strict=True):
        missing = f"missing {name_of_key(name, column)}"
        reasons.append(F.when(_is_missing(table, column, key=True), missing))
        if _may_be_unreadable(table, column):
            reasons.append(_unreadable(table, column, timezone, key=True))
    reasons.extend(
        _unreadable(table, column, timezone)
        for column in table.roles.properties
        if _may_be_unreadable(table, column)
    )
    return F.coalesce(*reasons)


def name_of_key(name: str, column: PropertyColumn) -> str:
    """An id or end as reasons call it: with the user's own name of the column, if it has one."""
    return name if column.name == name else f"{name} (column '{column.name}')"


def depends_on_keys_alone(table: TypedTable) -> bool:
    """Whether a row of the table is good if and only if none of its keys is missing."""
    columns = (*table.roles.keys, *table.roles.properties)
    return not table.staged.is_text and not any(_may_be_unreadable(table, c) for c in columns)


def _may_be_unreadable(table: TypedTable, column: PropertyColumn) -> bool:
    known = always_readable(table.staged.types[column.place], table.specs[column.place])
    return not known and column.place not in table.certain


def _is_missing(table: TypedTable, column: PropertyColumn, *, key: bool = False) -> Column:
    cell, type_ = F.col(f"c{column.place}"), table.staged.types[column.place]
    return is_missing(cell, type_, table.specs[column.place], key=key)


def _unreadable(
    table: TypedTable, column: PropertyColumn, timezone: str, *, key: bool = False
) -> Column:
    has_value = ~_is_missing(table, column, key=key)
    spec = table.specs[column.place]
    wrong = has_value & _value(table, column, timezone).isNull()
    reason = wrong_type(column.name, spec)
    if not isinstance(table.staged.types[column.place], StringType):
        return F.when(wrong, reason)
    word = F.trim(f"c{column.place}")
    gap = F.concat(F.lit(f"{reason}{BUT}"), word, F.lit("'"))
    return F.when(wrong & is_gap_word(word), gap).when(wrong, reason)


def wrong_type(name: str, spec: object) -> str:
    """The reason of a row with a value that cannot be read."""
    return f"'{name}' is not of type {spec}"


BUT = ", but '"
"""Before a word that often stands for a missing value, in the reason of its row."""
