"""A grouped graph as two DataFrames, from the tables of the graph that it is made of.

Each table is scanned once for its groups: a row is spread over the groups that it is in, and the
groups are aggregated. Edges then look up the groups of their ends. Transforms from frames to
frames: nothing here runs a job; loading the result does. Aggregates treat missing values as SQL
does, and no int wraps round.

The id of a group is the values that its rows share, as a text that no other group has. Values
stand side by side, `Berlin, 30`, or as `city=Berlin, age=30` where several groupings make one
graph. A missing value is `null`. A text stands as it is if it can be taken for nothing else;
otherwise it stands in single quotes, with a backslash before quotes and backslashes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from graphtide.model.schema import PropertyType
from graphtide.plan.grouping import (
    AggregateFunction,
    GroupAggregate,
    GroupPlan,
    GroupSection,
    GroupTable,
    RowGrouping,
)
from graphtide.plan.predicates import PropertyRef, atoms_of, conjunction, properties_of
from graphtide.spark.columns import Names, predicate_column
from graphtide.spark.failures import OUR_LIMIT
from graphtide.spark.frames import (
    ENDPOINTS,
    SPARK_TYPES,
    Endpoint,
    GraphFrames,
    join_properties,
    joined_names,
    table_names,
)

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def aggregate_column(item: GroupAggregate, names: Names, here: Column | None) -> Column:
    """An aggregate over the rows where `here` is true, or over all rows."""
    if item.item is None:
        return F.count(F.lit(1) if here is None else F.when(here, 1))
    value = names(item.item) if here is None else F.when(here, names(item.item))
    is_int = item.item.type is PropertyType.INT
    match item.function:
        case AggregateFunction.COUNT:
            return F.count(value)
        case AggregateFunction.MIN:
            return F.min(value)
        case AggregateFunction.MAX:
            return F.max(value)
        case AggregateFunction.SUM:
            return _as_long(_exact_sum(value), item) if is_int else F.sum(value)
        case AggregateFunction.AVG:
            return _average(value) if is_int else F.avg(value)


def _exact_sum(value: Column) -> Column:
    """The sum of ints of any size: partial sums may exceed 64 bits where the total does not."""
    return F.sum(value.cast("decimal(19,0)"))


def _average(value: Column) -> Column:
    count = F.count(value)
    return F.when(count > 0, _exact_sum(value).cast("double") / count)


def _as_long(total: Column, item: GroupAggregate) -> Column:
    said = F.lit(f"{OUR_LIMIT}{item.name}: the sum of a group does not fit in 64 bits: ")
    failed = F.raise_error(F.concat(said, total.cast("string"))).cast("long")
    fits = total.isNull() | total.between(F.lit(_SMALLEST), F.lit(_LARGEST))
    return F.when(fits, total.cast("long")).otherwise(failed)


# Neither empty nor blank at an end, without the signs that hold an id together. Java and Python
# read it alike: `$` would also match before a line break at the end.
_END = r"(?![\s\S])"
_PLAIN = rf"^(?!null{_END})(?=\S)[^,=:'\\\x00-\x1f]*[^,=:'\\\x00-\x1f\s]{_END}"
_IS_PLAIN = re.compile(_PLAIN, re.ASCII)


def group_id(section: GroupSection, grouping: RowGrouping, names: Names, *, named: bool) -> Column:
    """The id of the group that a row is in."""
    parts = []
    if grouping.condition_name is not None:
        parts.append(F.lit(quoted_text(grouping.condition_name)))
    for key in grouping.naming:
        value = _value_text(names(key.item), key.item.type)
        parts.append(F.concat(F.lit(f"{key.name}="), value) if named else value)
    text = F.concat_ws(", ", *parts) if parts else F.lit("all")
    if section.qualifier is None:
        return text
    return F.concat(F.lit(f"{quoted_text(section.qualifier)}: "), text)


def key_value(value: Column, type_: PropertyType) -> Column:
    """A value as part of a key: minus zero is zero."""
    return value + F.lit(0.0) if type_ is PropertyType.FLOAT else value


def quoted_text(text: str) -> str:
    """A text as it stands in an id."""
    if _IS_PLAIN.match(text):
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _value_text(value: Column, type_: PropertyType) -> Column:
    text = key_value(value, type_).cast("string")
    if type_ is PropertyType.STRING:
        escaped = F.replace(F.replace(text, F.lit("\\"), F.lit("\\\\")), F.lit("'"), F.lit("\\'"))
        in_quotes = F.concat(F.lit("'"), escaped, F.lit("'"))
        text = F.when(text.rlike(_PLAIN), text).otherwise(in_quotes)
    return F.when(value.isNull(), F.lit("null")).otherwise(text)


ID, LABEL, SRC, DST = "_graphtide_id", "_graphtide_label", "_graphtide_src", "_graphtide_dst"
"""The columns of the result that are no properties; no property of a user's has such a name."""

_SECTION, _ORDER, _FIRST = "_graphtide_section", "_graphtide_order", "_graphtide_first"
_SPREAD = "_graphtide_spread"
_ENDS: dict[Endpoint, str] = {"src": SRC, "dst": DST}

# Says of a row and a grouping of a section what else describes the group.
_Describe = Callable[[GroupSection, RowGrouping], list[Column]]


def grouped_vertices(frames: GraphFrames, plan: GroupPlan) -> DataFrame:
    """One row for each group: id, label if sections have labels, and properties."""
    names = table_names(frames.vertices.columns)
    spread = _spread(frames.vertices, plan.vertices, names, _identified(plan, names))
    return _aggregated(spread, plan.vertices, names, "_vertex", [ID])


def grouped_edges(frames: GraphFrames, plan: GroupPlan) -> DataFrame:
    """A row for each section, group of edges, and pair of groups that edges connect.

    The pairs are ordered, unless the graph is undirected.
    """
    names = joined_names(frames.edges.columns)
    joined = join_properties(frames, dict.fromkeys(_needed(plan.edges)))
    spread = _spread(joined, plan.edges, names, lambda section, grouping: [])
    for side in ENDPOINTS:
        members = _members(frames, plan, side)
        known = F.broadcast(members) if frames.broadcasts_vertices else members
        spread = spread.join(known, f"_{side}")
    for place, section in enumerate(plan.edges.sections):
        if section.between is not None:
            spread = spread.where((F.col(_SECTION) != place) | _connects(section.between))
    if not frames.directed:
        ends = F.col(SRC), F.col(DST)
        spread = spread.withColumns({SRC: F.least(*ends), DST: F.greatest(*ends)})
    return _aggregated(spread, plan.edges, names, "_edge", [SRC, DST])


def _identified(plan: GroupPlan, names: Names) -> _Describe:
    return lambda section, grouping: [
        group_id(section, grouping, names, named=plan.named_keys).alias(ID)
    ]


def _members(frames: GraphFrames, plan: GroupPlan, side: Endpoint) -> DataFrame:
    """The groups of each vertex, to be looked up by one end of an edge."""
    names = table_names(frames.vertices.columns)
    spread = _spread(frames.vertices, plan.vertices, names, _identified(plan, names))
    return spread.select(
        F.col("_vertex").alias(f"_{side}"),
        F.col(ID).alias(_ENDS[side]),
        F.col(_SECTION).alias(f"{_ENDS[side]}_section"),
    )


def _connects(between: tuple[int, int]) -> Column:
    """Whether an edge joins groups of the two sections, in either direction."""
    src, dst = (F.col(f"{end}_section") for end in (SRC, DST))
    ways = [(src == one) & (dst == other) for one, other in (between, between[::-1])]
    return reduce(or_, ways)


def _spread(rows: DataFrame, table: GroupTable, names: Names, describe: _Describe) -> DataFrame:
    """The rows, once for each group that they are in, with what describes the group."""
    groups = []
    for place, section in enumerate(table.sections):
        for order, grouping in enumerate(section.groupings):
            group = F.struct(
                F.lit(place).alias(_SECTION),
                F.lit(order).alias(_ORDER),
                *describe(section, grouping),
                *_shared_values(table, grouping, names),
            )
            taken = predicate_column(conjunction(section.where, grouping.condition), names)
            groups.append(F.when(taken, group))
    spread = rows.withColumn(_SPREAD, F.explode(F.array_compact(F.array(*groups))))
    return spread.select("*", f"{_SPREAD}.*").drop(_SPREAD)


def _shared_values(table: GroupTable, grouping: RowGrouping, names: Names) -> list[Column]:
    """The values that the rows of a group share; null for keys of other groupings."""
    keys = {key.name: key.item for key in grouping.keys}
    shared = []
    for place, item in enumerate(table.shared):
        value = F.lit(None)
        if item.name in keys:
            value = key_value(names(keys[item.name]), item.type)
        elif item.name == table.condition_property:
            value = F.lit(grouping.condition_name)
        shared.append(value.cast(SPARK_TYPES[item.type]).alias(_key(place)))
    return shared


def _aggregated(
    spread: DataFrame, table: GroupTable, names: Names, number: str, ids: Sequence[str]
) -> DataFrame:
    """One row for each group, ordered by section, grouping and first row."""
    keys = [_key(place) for place in range(len(table.shared))]
    values = [
        _over_sections(table, item.name, names).alias(_value(place))
        for place, item in enumerate(table.aggregated)
    ]
    grouped = spread.groupBy(_SECTION, _ORDER, *ids, *keys).agg(
        F.min(number).alias(_FIRST), *values
    )
    labels = [_section_label(table).alias(LABEL)] if table.is_labelled else []
    return grouped.orderBy(_SECTION, _ORDER, _FIRST, *ids).select(
        *ids,
        *labels,
        *(F.col(_key(place)).alias(item.name) for place, item in enumerate(table.shared)),
        *(F.col(_value(place)).alias(item.name) for place, item in enumerate(table.aggregated)),
    )


def _over_sections(table: GroupTable, name: str, names: Names) -> Column:
    """An aggregate by name in the sections that have it; null in all others."""
    values = []
    for place, section in enumerate(table.sections):
        for item in section.aggregates:
            if item.name == name:
                here = F.col(_SECTION) == place if len(table.sections) > 1 else None
                value = aggregate_column(item, names, here)
                values.append(value if here is None else F.when(here, value))
    return F.coalesce(*values)


def _section_label(table: GroupTable) -> Column:
    label = F.lit(None).cast("string")
    for place, section in enumerate(table.sections):
        label = F.when(F.col(_SECTION) == place, F.lit(section.label)).otherwise(label)
    return label


def _needed(table: GroupTable) -> Iterator[PropertyRef]:
    """The properties of an edge and its ends that its sections read."""
    for section in table.sections:
        for grouping in section.groupings:
            condition = conjunction(section.where, grouping.condition)
            yield from (item for atom in atoms_of(condition) for item in properties_of(atom))
            yield from (key.item for key in grouping.keys)
        yield from (one.item for one in section.aggregates if one.item is not None)


def _key(place: int) -> str:
    return f"_graphtide_key{place}"


def _value(place: int) -> str:
    return f"_graphtide_value{place}"
