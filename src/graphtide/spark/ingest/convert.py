"""Values of a column into values of a property, as Spark expressions.

A value that cannot be read becomes null, whatever the settings of the session: `try_cast` and
patterns, never a cast that may raise or guess (Spark's own reads '12:30' as a timestamp of today).
`is_missing` tells a value that was missing from the start from one that could not be read. NaN is
read as missing, so that no comparison meets it.

The session must be in UTC (a private session is): timestamps without an offset are read as of
UTC and then moved to the zone of the load.
"""

from __future__ import annotations

import re

from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from graphtide.model.errors import InputError
from graphtide.model.schema import PropertyType
from graphtide.spark.frames import SPARK_TYPES
from graphtide.spark.ingest.type_spec import UNIX_UNITS, TypeSpec

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
    """The property type of a column that has a type already; None if no property can have it."""
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
    """Whether a column of that type holds nothing but values of the wanted one, or none at all."""
    if spec.type is PropertyType.STRING:
        return True
    if spec.unit is not None or isinstance(type_, T.DecimalType | T.StringType | T.NullType):
        return False
    return property_type_of(type_) is spec.type and not isinstance(type_, T.TimestampNTZType)


def converted(column: Column, type_: T.DataType, spec: TypeSpec, timezone: str) -> Column:
    """The column as values of the wanted type; null where missing or unreadable."""
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
    """True where a text is a word that often stands for a missing value."""
    return F.lower(trimmed).isin(*GAP_WORDS)


def check_conversion(what: str, name: str, type_: T.DataType, spec: TypeSpec) -> None:
    """An error if a column of that type can never be read as the wanted one."""
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
    """An error if the format is none that Spark knows. Runs no job."""
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
