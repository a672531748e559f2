"""Values of columns: what type they have, and how Spark reads them as values of a property.

A value that cannot be read becomes null, whatever the settings of the session: `try_cast` and
patterns, never a cast that may raise or guess (Spark's own reads '12:30' as a timestamp of
today). `is_missing` tells a value that was missing from the start from one that could not be
read. NaN is read as missing, so that no comparison meets it. The session must be in UTC (a
private session is): timestamps without an offset are read as of UTC and then moved to the zone of
the load.

Types of text columns are found by looking at every value of every row. Each value is of one
*kind*; a column's type follows from how many of its values are of each. One pass counts them all,
and the counts of several tables add up. A column of which nearly all values are of a type has
that type: the others are bad rows. `MISFITS` says what nearly all is. A column with more of them
is text, and `Verdict` says so where most of its values are of a type: somebody expected numbers
there.

A number is an int only in the form in which it would be printed. `007` and `+49` are codes, whose
zeros and signs a number would lose: one of them makes a column of whole numbers text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType
from graphtide.spark.frames import SPARK_TYPES
from graphtide.spark.ingest.options import UNIX_UNITS, TypeSpec

ISO_DATE = r"^(?!0000)\d{4}-\d{1,2}-\d{1,2}$"
ISO_TIMESTAMP = (
    r"^(?!0000)\d{4}-\d{1,2}-\d{1,2}"
    r"([T ]\d{1,2}:\d{1,2}(:\d{1,2}(\.\d{1,9})?)?( ?(Z|[+-]\d{2}(:?\d{2})?))?)?$"
)
_OFFSET = r"\d( ?(Z|[+-]\d{2}(:?\d{2})?))$"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_SPECIAL = r"^(?i)[+-]?inf(inity)?$"
GAP_WORDS = (
    *("na", "n/a", "#n/a", "<na>", "null", "(null)", "none", "nil", "nat"),
    *("\\n", "-", "--", "?", "."),
)
"""Words that often stand for a missing value. They are read so where `null_values` names them."""
_TRUE, _FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
# The end of the year 9999, in seconds: later times are a wrong unit, not a time.
_LAST_SECOND = 253402300799


def property_type_of(type_: T.DataType) -> PropertyType | None:
    """The property type for a Spark type; None if there is none."""
    match type_:
        case T.ByteType() | T.ShortType() | T.IntegerType() | T.LongType():
            return PropertyType.INT
        case T.DecimalType() if type_.scale == 0 and type_.precision <= 18:
            return PropertyType.INT
        case T.FloatType() | T.DoubleType() | T.DecimalType():
            return PropertyType.FLOAT
        case T.StringType() | T.NullType():
            return PropertyType.STRING
        case T.BooleanType():
            return PropertyType.BOOL
        case T.DateType():
            return PropertyType.DATE
        case T.TimestampType() | T.TimestampNTZType():
            return PropertyType.TIMESTAMP
    return None


def always_readable(type_: T.DataType, spec: TypeSpec) -> bool:
    """Whether a column of that type has only values of the wanted type, or none."""
    if spec.type is PropertyType.STRING:
        return True
    if spec.unit is not None or isinstance(type_, T.DecimalType | T.StringType | T.NullType):
        return False
    return property_type_of(type_) is spec.type and not isinstance(type_, T.TimestampNTZType)


def converted(column: Column, type_: T.DataType, spec: TypeSpec, timezone: str) -> Column:
    """The column as values of the wanted type; null if missing or unreadable."""
    if isinstance(type_, T.StringType):
        return _from_text(column, spec, timezone)
    if spec.unit is not None:
        return _from_unix(column, spec.unit)
    if spec.type is PropertyType.STRING:
        return column.cast("string")
    if isinstance(type_, T.TimestampNTZType):
        column = F.to_utc_timestamp(column.cast("timestamp"), timezone)
    value = column.try_cast(SPARK_TYPES[spec.type])
    if spec.type is PropertyType.FLOAT:
        return F.when(~F.isnan(value), value)
    if spec.type is PropertyType.INT and isinstance(
        type_, T.FloatType | T.DoubleType | T.DecimalType
    ):
        return F.when(value.cast("double") == column.cast("double"), value)
    return value


def is_missing(column: Column, type_: T.DataType, spec: TypeSpec, *, key: bool = False) -> Column:
    """True where there is no value: null, NaN, and in text a blank cell unless it is a string.

    An id or endpoint (`key`) that is the empty string counts as missing too.
    """
    missing = column.isNull()
    if isinstance(type_, T.FloatType | T.DoubleType):
        missing |= F.isnan(column)
    if not isinstance(type_, T.StringType):
        return missing
    if spec.type is PropertyType.FLOAT:
        missing |= F.lower(F.trim(column)) == "nan"
    return (
        missing | (F.trim(column) == "") if key or spec.type is not PropertyType.STRING else missing
    )


def is_gap_word(trimmed: Column) -> Column:
    """True for words that often stand for a missing value."""
    return F.lower(trimmed).isin(*GAP_WORDS)


def check_conversion(what: str, name: str, type_: T.DataType, spec: TypeSpec) -> None:
    """InputError if a column of that type can never be read as the wanted type."""
    have = property_type_of(type_)
    if have in (PropertyType.STRING, spec.type) or spec.type is PropertyType.STRING:
        return
    if have is not None and have.is_number and (spec.unit or spec.type.is_number):
        return
    if have is not None and have.is_time and spec.type.is_time:
        return
    raise InputError(f"{what}: the column '{name}' is of type {have} and cannot be read as {spec}")


def _from_text(text: Column, spec: TypeSpec, timezone: str) -> Column:
    trimmed = F.trim(text)
    if spec.unit is not None:
        return _from_unix(F.when(trimmed.rlike(_NUMBER), trimmed), spec.unit)
    match spec.type:
        case PropertyType.STRING:
            return text
        case PropertyType.INT:
            # 2.0 is what programs write that turn a column with a missing value into floats.
            return F.regexp_replace(trimmed, r"^([+-]?\d+)\.0*$", "$1").try_cast("bigint")
        case PropertyType.FLOAT:
            is_float = trimmed.rlike(_NUMBER) | trimmed.rlike(_SPECIAL)
            return F.when(is_float, trimmed.try_cast("double"))
        case PropertyType.BOOL:
            word = F.lower(trimmed)
            return F.when(word.isin(*_TRUE), True).when(word.isin(*_FALSE), False)
        case PropertyType.DATE:
            if spec.format is not None:
                return _formatted(trimmed, spec.format).cast("date")
            return F.when(trimmed.rlike(ISO_DATE), trimmed.try_cast("date"))
        case PropertyType.TIMESTAMP:
            return _timestamp_from_text(trimmed, spec.format, timezone)


def _timestamp_from_text(text: Column, format: str | None, timezone: str) -> Column:
    if format is None:
        parsed = F.when(text.rlike(ISO_TIMESTAMP), text.try_cast("timestamp"))
        local = F.to_utc_timestamp(parsed, timezone)
        has_offset = F.contains(text, F.lit(":")) & text.rlike(_OFFSET)
        return F.when(has_offset, parsed).otherwise(local)
    parsed = _formatted(text, format)
    return parsed if _has_zone(format) else F.to_utc_timestamp(parsed, timezone)


def _formatted(text: Column, format: str) -> Column:
    """A text read by a format.

    A fraction that follows other digits at once, as in yyyyMMddHHmmssSSS, is read by itself:
    Java takes its digits for the year's.
    """
    parsed = re.fullmatch(r"(.*[A-RT-Za-z])(S+)", format)
    if parsed is None:
        return F.try_to_timestamp(text, F.lit(format))
    digits = len(parsed[2])
    whole = F.try_to_timestamp(
        F.substring(text, F.lit(1), F.length(text) - digits), F.lit(parsed[1])
    )
    fraction = F.rpad(F.right(text, F.lit(digits)), 6, "0").substr(1, 6).try_cast("bigint")
    return F.timestamp_micros(F.unix_micros(whole) + fraction)


def check_format(spark: SparkSession, format: str) -> None:
    """InputError if Spark does not know the format. Runs no job."""
    try:
        spark.range(1).select(_formatted(F.lit("2020"), format)).collect()
    except PySparkException as error:
        raise InputError(
            f"'{format}' is not a format of dates or timestamps: {str(error).splitlines()[0]}",
            hint="write it as in 'yyyy-MM-dd HH:mm:ss' or 'dd/MM/yyyy'",
        ) from None


def _has_zone(format: str) -> bool:
    return bool(re.search(r"[VzOXxZ]", re.sub(r"'[^']*'", "", format)))


def _from_unix(number: Column, unit: str) -> Column:
    scale = -UNIX_UNITS[unit]
    value = number.try_cast("decimal(28,6)")
    in_range = F.abs(value) <= F.lit(_LAST_SECOND * 10**scale).cast("decimal(28,0)")
    micros = F.when(in_range, value * F.lit(10 ** (6 - scale)))
    return F.timestamp_micros(micros.try_cast("bigint"))


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
        """Whether the column is text though most of its values have another type."""
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
    """The rows whose value in a text column does not fit a type and is not missing."""
    fitting = [int(kind) for kind in (*ALLOWED[type_], ValueKind.NONE, ValueKind.GAP)]
    return frame.where(~kind_of_value(F.col(column)).isin(*fitting))


def kind_of_value(text: Column) -> Column:
    """The kind of each value; NONE for missing ones."""
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
    """The counts of several columns that are one property."""
    total: Counter[ValueKind] = Counter()
    for item in counts:
        total.update(item)
    return total


def _holds_codes(counts: KindCounts, found: Verdict) -> bool:
    """Whether whole numbers stand beside codes. Among fractions, 007 is a number."""
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
