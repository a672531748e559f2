"""Types of text columns, found by looking at every value of every row.

Each value is of one *kind*; the kinds seen in a column are the bits of a small integer, so one
`bit_or` finds them all in one pass, and the bits of several tables join with `|`.

A number is an int only in the form in which it would be printed: `007` and `+49` are names, not
numbers, and so is a whole number beyond 64 bits. One such value makes the column a string.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from graphtide.model.schema import PropertyType
from graphtide.spark.ingest.convert import ISO_DATE, ISO_TIMESTAMP

_FLOAT = (
    r"^(?i)([+-]?((0|[1-9]\d*)\.\d*|\.\d+|(0|[1-9]\d*)(\.\d*)?e[+-]?\d+)|-0|nan|[+-]?inf(inity)?)$"
)


class ValueKind(IntFlag):
    """The kinds of text values; a column's kinds are a set of them."""

    NONE = 0
    INT = 1
    FLOAT = 2
    BOOL = 4
    DATE = 8
    TIMESTAMP = 16
    STRING = 32


def kinds_of(frame: DataFrame, columns: Sequence[str]) -> list[ValueKind]:
    """The kinds seen in each string column. One pass; runs a job.

    Columns are turned into rows first: one expression then serves all of them, where one each
    makes code that Java takes seconds to compile (13 columns, 3,000 rows: 12 seconds against 3).
    """
    if not columns:
        return []
    values = F.array(*(F.coalesce(F.col(name), F.lit("")) for name in columns))
    each = frame.select(F.posexplode(values).alias("place", "text"))
    kinds = each.groupBy("place").agg(F.bit_or(kind_of_value(F.col("text"))).alias("kinds"))
    seen = {row["place"]: ValueKind(row["kinds"]) for row in kinds.collect()}
    return [seen.get(place, ValueKind.NONE) for place in range(len(columns))]


def kind_of_value(text: Column) -> Column:
    """The kind of each value; NONE where there is none."""
    trimmed = F.trim(text)
    return (
        F.when(text.isNull() | (trimmed == ""), int(ValueKind.NONE))
        .when(trimmed.try_cast("bigint").cast("string") == trimmed, int(ValueKind.INT))
        .when(trimmed.rlike(_FLOAT), int(ValueKind.FLOAT))
        .when(F.lower(trimmed).isin("true", "false"), int(ValueKind.BOOL))
        .when(trimmed.rlike(ISO_DATE) & trimmed.try_cast("date").isNotNull(), int(ValueKind.DATE))
        .when(
            trimmed.rlike(ISO_TIMESTAMP) & trimmed.try_cast("timestamp").isNotNull(),
            int(ValueKind.TIMESTAMP),
        )
        .otherwise(int(ValueKind.STRING))
    )


def type_of_kinds(kinds: ValueKind) -> PropertyType:
    """The narrowest type that holds all values of those kinds; string if there are none."""
    for type_, allowed in _ALLOWED:
        if kinds and not kinds & ~allowed:
            return type_
    return PropertyType.STRING


def id_type_of_kinds(kinds: ValueKind) -> PropertyType:
    """The type of inferred ids: int if every id is one, else string."""
    return PropertyType.INT if kinds == ValueKind.INT else PropertyType.STRING


_ALLOWED = (
    (PropertyType.INT, ValueKind.INT),
    (PropertyType.FLOAT, ValueKind.INT | ValueKind.FLOAT),
    (PropertyType.BOOL, ValueKind.BOOL),
    (PropertyType.DATE, ValueKind.DATE),
    (PropertyType.TIMESTAMP, ValueKind.DATE | ValueKind.TIMESTAMP),
)
