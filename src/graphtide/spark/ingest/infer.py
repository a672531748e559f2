"""Types of text columns, found by looking at every value of every row.

Each value is of one *kind*; a column's type follows from how many of its values are of each. One
pass counts them all, and the counts of several tables add up.

A column of which nearly all values are of a type has that type: the others are bad rows. `MISFITS`
says what nearly all is. A column with more of them is text, and `Verdict` says so where most of its
values are of a type: somebody expected numbers there.

A number is an int only in the form in which it would be printed. `007` and `+49` are codes, whose
zeros and signs a number would lose: one of them makes a column of whole numbers text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from graphtide.model.schema import PropertyType
from graphtide.spark.ingest.convert import ISO_DATE, ISO_TIMESTAMP, is_gap_word

MISFITS = 20
"""One value in so many may be of another type. A footer, a typo and a broken export stay far below
it in files of any size. Columns that are mixed on purpose lie far above, as do columns in which a
second way of writing is usual: to refuse a row in ten as bad would be to be wrong about the column.
"""

_FLOAT = (
    r"^(?i)([+-]?((0|[1-9]\d*)\.\d*|\.\d+|(0|[1-9]\d*)(\.\d*)?e[+-]?\d+)|-0|nan|[+-]?inf(inity)?)$"
)
_CODE = r"^(\+\d+|-?0\d+)$"


class ValueKind(IntEnum):
    """The kinds of text values. A GAP is a word that often stands for a missing value."""

    NONE = 0
    INT = 1
    FLOAT = 2
    BOOL = 4
    DATE = 8
    TIMESTAMP = 16
    STRING = 32
    CODE = 64
    GAP = 128


KindCounts = Mapping[ValueKind, int]
"""How many values are of each kind, those that are missing left out."""


@dataclass(frozen=True)
class Verdict:
    """The type of a column, and the one that most of its values have.

    `fitting` of `values` are of the type `most`; words for missing values count in neither. Where
    `type` is `most` all others are bad rows. Where it is not, `demoted` says whether that needs to
    be reported.
    """

    type: PropertyType
    most: PropertyType
    fitting: int
    values: int
    gaps: int = 0

    @property
    def is_certain(self) -> bool:
        """Whether every value can be read in the type."""
        return self.type is PropertyType.STRING or not (self.values - self.fitting + self.gaps)

    @property
    def demoted(self) -> bool:
        """Whether the column is text though most of its values are of another type."""
        is_text = self.type is PropertyType.STRING and self.most is not PropertyType.STRING
        return is_text and 2 * self.fitting > self.values


def kinds_of(frame: DataFrame, columns: Sequence[str]) -> list[KindCounts]:
    """How many values of each string column are of each kind. One pass; runs a job.

    Columns are turned into rows first: one expression then serves all of them, where one each
    makes code that Java takes seconds to compile (13 columns, 3,000 rows: 12 seconds against 3).
    """
    if not columns:
        return []
    each = _values_by_place(frame, columns)
    kinds = each.select("place", kind_of_value(F.col("text")).alias("kind"))
    counted = kinds.groupBy("place", "kind").count().collect()
    counts: list[Counter[ValueKind]] = [Counter() for _ in columns]
    for row in counted:
        if row["kind"] != ValueKind.NONE:
            counts[row["place"]][ValueKind(row["kind"])] = row["count"]
    return list(counts)


def misfits(frame: DataFrame, column: str, type_: PropertyType) -> DataFrame:
    """The rows whose value in a string column is of no kind that the type holds, nor missing."""
    fitting = [int(kind) for kind in (*ALLOWED[type_], ValueKind.NONE, ValueKind.GAP)]
    return frame.where(~kind_of_value(F.col(column)).isin(*fitting))


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
        .when(trimmed.rlike(_CODE), int(ValueKind.CODE))
        .when(is_gap_word(trimmed), int(ValueKind.GAP))
        .otherwise(int(ValueKind.STRING))
    )


def judge(counts: KindCounts) -> Verdict:
    """The type of a column: the one that most values have, if nearly all have it; else text.

    Where several types hold equally many values it is the narrowest of them.
    """
    gaps = counts.get(ValueKind.GAP, 0)
    values = sum(counts.values()) - gaps
    fitting = {type_: _sum(counts, kinds) for type_, kinds in ALLOWED.items()}
    most = max(fitting, key=lambda type_: fitting[type_])
    if not fitting[most]:
        return Verdict(PropertyType.STRING, PropertyType.STRING, values, values, gaps)
    found = Verdict(PropertyType.STRING, most, fitting[most], values, gaps)
    if _holds_codes(counts, found) or MISFITS * (values - found.fitting) > values:
        return found
    return Verdict(most, most, found.fitting, values, gaps)


def judge_ids(counts: KindCounts) -> Verdict:
    """The type of inferred ids: int if nearly every id is one, and no other has digits; else text.

    An id is a name, so dates and truth values are texts here.
    """
    found = judge(counts)
    if found.most is PropertyType.INT:
        return found
    return Verdict(PropertyType.STRING, PropertyType.STRING, found.values, found.values)


def sum_counts(counts: Sequence[KindCounts]) -> KindCounts:
    """The counts of columns that are one property."""
    total: Counter[ValueKind] = Counter()
    for item in counts:
        total.update(item)
    return total


def _holds_codes(counts: KindCounts, found: Verdict) -> bool:
    """Whether whole numbers stand beside codes; among numbers with a fraction 007 is a number."""
    fractions = counts.get(ValueKind.FLOAT, 0)
    is_whole = found.most in (PropertyType.INT, PropertyType.FLOAT)
    return is_whole and counts.get(ValueKind.CODE, 0) > 0 and MISFITS * fractions <= found.values


def _sum(counts: KindCounts, kinds: Sequence[ValueKind]) -> int:
    return sum(counts.get(kind, 0) for kind in kinds)


def _values_by_place(frame: DataFrame, columns: Sequence[str]) -> DataFrame:
    values = F.array(*(F.coalesce(F.col(name), F.lit("")) for name in columns))
    return frame.select(F.posexplode(values).alias("place", "text"))


ALLOWED: dict[PropertyType, tuple[ValueKind, ...]] = {
    PropertyType.INT: (ValueKind.INT,),
    PropertyType.FLOAT: (ValueKind.INT, ValueKind.FLOAT),
    PropertyType.BOOL: (ValueKind.BOOL,),
    PropertyType.DATE: (ValueKind.DATE,),
    PropertyType.TIMESTAMP: (ValueKind.DATE, ValueKind.TIMESTAMP),
}
"""The kinds that each type holds; the narrowest type first."""
