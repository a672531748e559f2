"""Bad rows: counted and shown in the error that refuses them, or kept beside the graph.

The load writes them first, with the place that each came from, and looks up names of files and
numbers of lines for these rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from graphtide.model.errors import InputError
from graphtide.model.wording import counted
from graphtide.spark.addresses import reading_path, writing_path
from graphtide.spark.ingest.checked import BUT, REJECTED_COLUMNS, wrong_type
from graphtide.spark.ingest.load import Load
from graphtide.spark.ingest.options import IngestOptions, enough
from graphtide.spark.ingest.parts import count_rows, remove_marks
from graphtide.spark.ingest.typed import TypedTable

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
    """Deal with bad rows as the options say: an error, or files in `quarantine/`; their number."""
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
    """The rejected rows with the name of their file and the number of their line."""
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
    """What else a user may have meant by values of another type."""
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
