"""Lines and records taken apart into cells, and why a line cannot be taken apart.

An unquoted empty cell is missing, a quoted one is the empty string. All cells are strings here;
their types come later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from graphtide.spark.ingest.options import WHITESPACE, IngestOptions
from graphtide.spark.ingest.preview import TextLayout
from graphtide.spark.ingest.staged import PLACE_COLUMNS
from graphtide.spark.ingest.text_files import LinkedFiles, row_in_task

# What the parser makes of an unquoted empty cell: no text holds it.
_MISSING = "\x01missing\x01"


def cells_of_line(lines: DataFrame, layout: TextLayout, options: IngestOptions) -> DataFrame:
    """The cells of each line; the line itself is kept where they do not tell it.

    Only lines with a quote in them go through the CSV parser: splitting the others at the
    separator gives the same cells in half the time.
    """
    width = len(layout.columns)
    if layout.separator == WHITESPACE:
        split = lines.withColumn("words", F.split(_blanks_as_one("value"), " "))
    else:
        split = lines.withColumn("words", F.split("value", re.escape(layout.separator)))
    cells = [_word(place) for place in range(width)]
    is_wrong = F.size("words") != width
    if options.quote is not None and layout.separator != WHITESPACE:
        quoted = F.contains("value", F.lit(options.quote))
        parsed = F.from_csv("value", _cells_ddl(width), _csv(layout, options))
        split = split.withColumn("parsed", F.when(quoted, parsed))
        cells = [
            F.when(quoted, F.col(f"parsed.c{place}")).otherwise(cell)
            for place, cell in enumerate(cells)
        ]
        is_wrong = F.when(quoted, F.col("parsed._wrong").isNotNull()).otherwise(is_wrong)
    fault = _fault(is_wrong, layout, options)
    cells = [_known(cell, options.null_values) for cell in cells]
    return split.select(
        *PLACE_COLUMNS,
        fault.alias("_fault"),
        F.when(~_is_plain(layout, options, cells), F.col("value")).alias("_raw"),
        *(cell.alias(f"c{place}") for place, cell in enumerate(cells)),
    )


def cells_of_records(
    spark: SparkSession, files: LinkedFiles, layout: TextLayout, options: IngestOptions
) -> DataFrame:
    """The cells of records that may span lines; `_row` counts records, the header not among them.

    A file is one task's work, however large.
    """
    reader = spark.read.schema(_cells_ddl(len(layout.columns))).options(**_csv(layout, options))
    reader = reader.option("multiLine", True).option("header", layout.header is not None)
    reader = reader.option("enforceSchema", True)
    if options.comment:
        reader = reader.option("comment", options.comment)
    records = reader.csv(list(files.paths)).select(
        "*",
        files.number().alias("_file"),
        F.lit(0).cast("bigint").alias("_block"),
        row_in_task().alias("_row"),
    )
    return records.select(
        *PLACE_COLUMNS,
        F.when(F.col("_wrong").isNotNull(), _wrong_width(layout)).alias("_fault"),
        F.col("_wrong").alias("_raw"),
        *(
            _known(F.col(f"c{place}"), options.null_values).alias(f"c{place}")
            for place in range(len(layout.columns))
        ),
    )


def _word(place: int) -> Column:
    word = F.get("words", F.lit(place))
    return F.when(word != "", word)


def _blanks_as_one(column: str) -> Column:
    return F.regexp_replace(F.trim(F.translate(column, "\t", " ")), " +", " ")


def _is_plain(layout: TextLayout, options: IngestOptions, cells: Sequence[Column]) -> Column:
    """True where the cells joined by the separator are the line. Spared where they must be."""
    texts = [F.coalesce(cell, F.lit("")) for cell in cells]
    is_same = F.col("value") == F.concat_ws(layout.separator, *texts)
    if layout.separator == WHITESPACE or options.null_values:
        return is_same
    width = F.size("words") == len(cells)
    if options.quote is None:
        return width
    return (width & ~F.contains("value", F.lit(options.quote))) | is_same


def _known(cell: Column, null_values: Sequence[str]) -> Column:
    """A cell, missing where it holds one of the words that stand for a missing value."""
    return F.when(~cell.isin(*null_values), cell) if null_values else cell


def _fault(is_wrong: Column, layout: TextLayout, options: IngestOptions) -> Column:
    fault = F.when(~F.is_valid_utf8("value"), "is not UTF-8")
    if options.quote is not None and layout.separator != WHITESPACE:
        pattern = unclosed_quote(layout.separator, options.quote, options.escape)
        is_open = F.contains("value", F.lit(options.quote)) & F.col("value").rlike(pattern)
        fault = fault.when(is_open, "quote not closed (multiline=True if rows span lines)")
    return fault.when(is_wrong, _wrong_width(layout))


def _wrong_width(layout: TextLayout) -> str:
    return f"wrong number of columns ({len(layout.columns)} expected)"


def unclosed_quote(separator: str, quote: str, escape: str | None) -> str:
    """A pattern of the lines that end inside a quoted cell. Possessive, so it never backtracks."""
    s, q, e = (re.escape(item) for item in (separator, quote, escape or quote))
    inside = f"(?:[^{q}]++|{q}{q})*+" if e == q else f"(?:[^{q}{e}]++|{e}.)*+"
    cell = f"(?:{q}{inside}{q}[^{s}]*+|[^{q}{s}][^{s}]*+|)"
    return f"^(?:{cell}{s})*+{q}{inside}$"


def _cells_ddl(width: int) -> str:
    return ", ".join([*(f"c{place} string" for place in range(width)), "_wrong string"])


def _csv(layout: TextLayout, options: IngestOptions) -> dict[str, str]:
    quote = options.quote or ""
    return {
        "sep": layout.separator,
        "quote": quote,
        "escape": options.escape or quote or "\\",
        "nullValue": _MISSING,
        "emptyValue": "",
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": "_wrong",
        "maxCharsPerColumn": "-1",
        "maxColumns": "100000",
    }
