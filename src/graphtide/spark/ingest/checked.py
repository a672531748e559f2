"""Checked rows: staged rows with their types, the reason why one is bad, and how both are written.

A checked row has `_number` (its position among all rows of its kind), `_key0` and for edges
`_key1`, `_label`, the properties as `p0`, `p1`, ... of the schema, and `_reason`: null for a good
row. Its place in the input (`_table`, `_file`, `_block`, `_row`, `_text`) comes along; Spark
reads it only where it is asked for.

Rows are written with the numbers they have in the input, in order. If none of them was bad, these
numbers are dense and the table is done. Otherwise the good rows are written once more, numbered
by their positions among themselves: only a load with bad rows pays for them.

Bad rows are counted and shown in the error that refuses them, or kept beside the graph. The load
writes them first, with the place that each came from, and looks up names of files and numbers of
lines for these rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from graphtide.model.delta import MOST_EDGES, is_wide
from graphtide.model.errors import InputError, LimitError
from graphtide.model.schema import Property
from graphtide.model.text import counted
from graphtide.spark.files import reading_path, writing_path
from graphtide.spark.frames import SPARK_TYPES, quoted
from graphtide.spark.ingest.options import IngestOptions, enough
from graphtide.spark.ingest.parts import (
    PLACE_COLUMNS,
    arrange_parts,
    count_rows,
    read_sequence,
    remove_marks,
)
from graphtide.spark.ingest.roles import PropertyColumn
from graphtide.spark.ingest.typed import TypedTable, TypedTables
from graphtide.spark.ingest.values import always_readable, converted, is_gap_word, is_missing

REJECTED_COLUMNS = ("_table", *PLACE_COLUMNS, "_number", "_reason", "_text")


def checked_tables(
    tables: Sequence[TypedTable],
    properties: Sequence[Property],
    timezone: str,
) -> list[DataFrame]:
    """The checked rows of each table; numbers run on from table to table."""
    frames = []
    start = 0
    for index, table in enumerate(tables):
        frames.append(_checked(table, properties, timezone, (index, start)))
        start += table.staged.rows
    return frames


PLACES_OF_APPENDS = ("_graphtide_file", "_graphtide_block", "_graphtide_row")
"""The place of each row in the input, in the tables that an append reads."""


def place_columns(load_options: IngestOptions) -> list[Column]:
    """The places of appended rows, so that errors about them can name lines."""
    if load_options.known is None:
        return []
    named = zip(PLACE_COLUMNS, PLACES_OF_APPENDS, strict=True)
    return [F.col(column).alias(name) for column, name in named]


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of all frames; partitions keep their order."""
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
    """The first fault of a row: its line, a key, then a property."""
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
    """An id or end in a reason, with the user's name of the column if it differs."""
    return name if column.name == name else f"{name} (column '{column.name}')"


def depends_on_keys_alone(table: TypedTable) -> bool:
    """Whether a row of the table is good exactly if none of its keys is missing."""
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
    """The reason for a value that cannot be read."""
    return f"'{name}' is not of type {spec}"


BUT = ", but '"
"""Before a word that often stands for a missing value, in the reason of its row."""


MOST = {"vertices": 2**31 - 1, "edges": MOST_EDGES}
"""Vertices are numbered by 32 bits, whatever the number of edges."""
# Tables staged in more parts than this, of less than a megabyte each, are written in fewer.
_MANY_PARTS, _SMALL_PART = 64, 1 << 20


@dataclass(frozen=True)
class Load:
    """One load: the private session, the folder of the generation, and a folder for the while."""

    spark: SparkSession
    folder: Path
    staging: Path
    options: IngestOptions
    tables: TypedTables

    def write_numbered(
        self, rows: DataFrame, name: str, number: str, most: int, *, sort: bool
    ) -> int:
        """Write rows, up to `most`, in the order of their `_number`, called `number` in the table.

        `sort` where the frame's partitions are not already spans of that order.
        """
        type_ = "bigint" if name == "edges" and is_wide(most) else "int"
        written = rows.withColumn("_number", F.col("_number").cast(type_))
        written = written.withColumnRenamed("_number", number)
        if sort:
            written = written.orderBy(number)
        written.write.parquet(writing_path(self.folder / name))
        return arrange_parts(self.folder / name, (number,))

    def write_renumbered(self, rows: DataFrame, name: str, number: str) -> int:
        """Write rows in the order of their `_number`, numbered anew without gaps."""
        kept = self.staging / f"{name}-kept"
        rows.orderBy("_number").write.parquet(writing_path(kept))
        count = arrange_parts(kept, ("_number",))
        dense = read_sequence(self.spark, kept, rows.schema)
        columns: list[Column | str] = [F.col("_position").alias("_number")]
        columns += [quoted(column) for column in rows.columns if column != "_number"]
        return self.write_numbered(dense.select(*columns), name, number, count, sort=False)


def check_size(tables: Sequence[TypedTable], kind: str) -> int:
    """The number of rows of all tables; LimitError if one graph cannot hold them."""
    rows = sum(table.staged.rows for table in tables)
    check_count(rows, kind, f"rows of {kind}")
    return rows


def check_count(rows: int, kind: str, what: str = "") -> None:
    """LimitError if there are more vertices or edges than one graph can hold."""
    if rows > MOST[kind]:
        raise LimitError(
            f"{rows:,} {what or kind} are more than one graph can hold ({MOST[kind]:,})",
            hint="load a part of them, or split the graph",
        )


def has_small_parts(tables: Sequence[TypedTable]) -> bool:
    """True if the staged parts are so many and so small that writing fewer, sorted, is better."""
    parts = [path for table in tables for path in table.staged.paths]
    size = sum(path.stat().st_size for path in parts)
    return len(parts) > _MANY_PARTS and size < _SMALL_PART * len(parts)


_SHOWN = 5
_REASONS_SHOWN = 10
_PLACES = pa.schema(
    [
        ("_table", pa.int32()),
        ("_file", pa.int32()),
        ("_block", pa.int64()),
        ("file", pa.string()),
        ("before", pa.int64()),
    ]
)


def reject(load: Load, kind: str, tables: Sequence[TypedTable], rows: DataFrame) -> int:
    """Refuse bad rows, or write them to `quarantine/`, as the options say; returns how many."""
    folder = load.staging / f"rejected-{kind}"
    rows.select(*REJECTED_COLUMNS).write.parquet(writing_path(folder))
    count, every = count_rows(folder), sum(table.staged.rows for table in tables)
    rejected = load.spark.read.parquet(reading_path(folder))
    located = _located(load.spark, kind, rejected, tables)
    refused = load.options.on_bad_rows == "refuse"
    if refused or count > load.options.bad_rows_allowed(every):
        raise _refusal(load, kind, tables, rejected, located, (count, every))
    kept = located.select("kind", "file", "line", "reason", "text")
    target = load.folder / "quarantine"
    kept.write.mode("append").parquet(writing_path(target))
    remove_marks(target)
    return count


def _located(
    spark: SparkSession, kind: str, rejected: DataFrame, tables: Sequence[TypedTable]
) -> DataFrame:
    """The bad rows with the names of their files and the numbers of their lines."""
    blocks = rejected.select("_table", "_file", "_block").distinct().collect()
    places = _places([(row[0], row[1], row[2]) for row in blocks], tables)
    known = spark.createDataFrame(places)
    return rejected.join(F.broadcast(known), ["_table", "_file", "_block"]).select(
        F.lit(kind).alias("kind"),
        "file",
        (F.col("_row") + F.col("before") + 1).alias("line"),
        F.col("_reason").alias("reason"),
        F.col("_text").alias("text"),
        "_number",
    )


def _places(blocks: Sequence[tuple[int, int, int]], tables: Sequence[TypedTable]) -> pa.Table:
    before = {
        table: tables[table].staged.rows_before()
        for table in {table for table, _, block in blocks if block > 0}
    }
    rows = [
        {
            "_table": table,
            "_file": file,
            "_block": block,
            "file": tables[table].staged.files[file],
            "before": before.get(table, {}).get((file, block), 0),
        }
        for table, file, block in blocks
    ]
    return pa.Table.from_pylist(rows, schema=_PLACES)


def _refusal(
    load: Load,
    kind: str,
    tables: Sequence[TypedTable],
    rejected: DataFrame,
    located: DataFrame,
    counts: tuple[int, int],
) -> InputError:
    count, every = counts
    reasons = rejected.groupBy("_reason").count().orderBy(F.desc("count"), "_reason").collect()
    told = [f"{row[1]:,} × {row[0]}" for row in reasons[:_REASONS_SHOWN]]
    if len(reasons) > _REASONS_SHOWN:
        told.append(f"and {len(reasons) - _REASONS_SHOWN} other reasons")
    first = located.orderBy("_number").limit(_SHOWN).collect()
    shown = [
        f"{row['file']}, line {row['line']}: {row['reason']}: {str(row['text'])[:200]}"
        for row in first
    ]
    if count > len(shown):
        shown.append(f"... and {count - len(shown):,} more")
    options = load.options
    what, rest = f"{counted(count, f'bad {kind} row')}", "load the rest and keep these aside with "
    rest += options.setting_aside(count, every)
    if options.on_bad_rows != "refuse":
        what = options.too_many(count, every, kind)
        rest = f"let more rows be set aside: {options.said('at_most', enough(count, every))}"
    remedies = ["correct them", *_remedies(options, tables, [row[0] for row in reasons])]
    return InputError(
        f"{what}, nothing was loaded: {'; '.join(told)}",
        where="\n      ".join(shown),
        hint=", or ".join([", or ".join(remedies), rest]),
    )


def _remedies(
    options: IngestOptions, tables: Sequence[TypedTable], reasons: Sequence[str]
) -> list[str]:
    """What a user may have meant by values of another type."""
    words = dict.fromkeys(reason.split(BUT)[1].rstrip("'") for reason in reasons if BUT in reason)
    gaps = options.said("null_values", tuple(words))
    wrong = {
        column.name: "string"
        for table in tables
        for column in (*table.roles.keys, *table.roles.properties)
        if column.place in table.inferred
        and wrong_type(column.name, table.specs[column.place]) in reasons
    }
    texts = options.said("types", wrong)
    return [
        *([f"say {gaps} if that is how missing values are written"] if words else []),
        *([f"say {texts} if such values are meant"] if wrong else []),
    ]
