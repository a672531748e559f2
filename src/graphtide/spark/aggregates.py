"""Aggregates as Spark columns: what SQL makes of missing values, and no int that wraps round."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from graphtide.model.schema import PropertyType
from graphtide.plan.grouping import Aggregate, Function
from graphtide.spark.columns import Names
from graphtide.spark.failures import OUR_LIMIT

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def aggregate_column(item: Aggregate, names: Names, here: Column | None) -> Column:
    """An aggregate over the rows on which `here` is true, or over all rows."""
    if item.item is None:
        return F.count(F.lit(1) if here is None else F.when(here, 1))
    value = names(item.item) if here is None else F.when(here, names(item.item))
    is_int = item.item.type is PropertyType.INT
    match item.function:
        case Function.COUNT:
            return F.count(value)
        case Function.MIN:
            return F.min(value)
        case Function.MAX:
            return F.max(value)
        case Function.SUM:
            return _as_long(_exact_sum(value), item) if is_int else F.sum(value)
        case Function.AVG:
            return _average(value) if is_int else F.avg(value)


def _exact_sum(value: Column) -> Column:
    """The sum of ints, of any size: parts may leave 64 bits where the whole does not."""
    return F.sum(value.cast("decimal(19,0)"))


def _average(value: Column) -> Column:
    count = F.count(value)
    return F.when(count > 0, _exact_sum(value).cast("double") / count)


def _as_long(total: Column, item: Aggregate) -> Column:
    said = F.lit(f"{OUR_LIMIT}{item.name}: the sum of a group does not fit in 64 bits: ")
    failed = F.raise_error(F.concat(said, total.cast("string"))).cast("long")
    fits = total.isNull() | total.between(F.lit(_SMALLEST), F.lit(_LARGEST))
    return F.when(fits, total.cast("long")).otherwise(failed)
