"""Small questions about a stored graph that view generators ask: bounds, and which rows match.

Each is one Spark job with an answer that fits the driver. Times travel as integers, so that no
session time zone has a say.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from graphtide.model.errors import LimitError
from graphtide.model.schema import PropertyType
from graphtide.plan.predicates import Predicate, PropertyRef, Value, atoms_of, properties_of
from graphtide.spark.columns import predicate_column
from graphtide.spark.selection import (
    GraphFrames,
    join_properties,
    joined_names,
    known_edges,
    matching_edges,
    matching_vertices,
    quoted,
)

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def property_bounds(
    frames: GraphFrames, item: PropertyRef, where: Predicate
) -> tuple[Value, Value] | None:
    """The smallest and largest value over the edges that match; None if there is none.

    NaN is left out: no window can end behind it.
    """
    chosen, from_answer = _chosen_values(frames, item, where)
    ends = F.min("value").alias("low"), F.max("value").alias("high")
    bounds = chosen.agg(*ends).collect()[0]
    if bounds["low"] is None:
        return None
    return from_answer(bounds["low"]), from_answer(bounds["high"])


def property_values(
    frames: GraphFrames, item: PropertyRef, where: Predicate, limit: int
) -> list[Value]:
    """The distinct values over the edges that match, ascending; NaN is left out."""
    chosen, from_answer = _chosen_values(frames, item, where)
    rows = _rows(chosen.distinct(), "value", limit, f"values of {item}")
    return [from_answer(value) for (value,) in rows]


def _chosen_values(
    frames: GraphFrames, item: PropertyRef, where: Predicate
) -> tuple[DataFrame, Callable[[Any], Value]]:
    """The values of a property that the edges that match have, and how they become ours again."""
    needed = dict.fromkeys(one for atom in atoms_of(where) for one in properties_of(atom))
    joined = join_properties(frames, [item, *(one for one in needed if one != item)])
    names = joined_names(frames.edges.columns)
    to_column, from_answer = _transport(item.type)
    value = to_column(names(item))
    chosen = joined.where(predicate_column(where, names) & value.isNotNull())
    return chosen.select(value.alias("value")), from_answer


def edge_names(frames: GraphFrames, where: Predicate, limit: int) -> list[tuple[int, str, str]]:
    """Number, src and dst (as text) of the edges that match, by number."""
    matching = known_edges(matching_edges(frames, where), frames)
    ends = (F.col(quoted(name)).cast("string") for name in frames.ends)
    wanted = matching.select("_edge", *ends)
    return _rows(wanted, "_edge", limit, "edges")


def vertex_names(frames: GraphFrames, where: Predicate, limit: int) -> list[tuple[int, str]]:
    """Number and id (as text) of the vertices that match, by number."""
    matching = matching_vertices(frames, where)
    wanted = matching.select("_vertex", F.col("_id").cast("string"))
    return _rows(wanted, "_vertex", limit, "vertices")


def vertices_with_ids(frames: GraphFrames, ids: Sequence[int | str]) -> pa.Table:
    """Number, id and, where there are any, label of the vertices that have one of some ids."""
    vertices = frames.vertices.where(F.col("_id").isin(list(ids)))
    labels = ["_label"] if "_label" in frames.vertices.columns else []
    return vertices.select("_vertex", "_id", *labels).toArrow()


def edge_ends(session: SparkSession, frames: GraphFrames, edges: Any) -> pa.Table:
    """The ends of some edges by their numbers, in no order."""
    numbers = session.createDataFrame(pa.table({"_edge": edges}))
    ends = frames.edges.join(F.broadcast(numbers), "_edge").select("_src", "_dst")
    return ends.toArrow()


def _rows(frame: DataFrame, key: str, limit: int, what: str) -> list[Any]:
    table = frame.limit(limit + 1).toArrow()
    if table.num_rows > limit:
        raise LimitError(
            f"more than {limit:,} {what} match, and each would make a view",
            hint="narrow the condition behind 'where'",
        )
    columns = [column.to_pylist() for column in table.sort_by(key).columns]
    return list(zip(*columns, strict=True))


def _transport(
    type_: PropertyType,
) -> tuple[Callable[[Column], Column], Callable[[Any], Value]]:
    """How a value leaves Spark, and how it becomes one of ours again."""
    match type_:
        case PropertyType.TIMESTAMP:
            return F.unix_micros, lambda micros: _EPOCH + dt.timedelta(microseconds=micros)
        case PropertyType.FLOAT:
            return (lambda column: F.when(~F.isnan(column), column)), float
        case _:
            return (lambda column: column), lambda value: value
