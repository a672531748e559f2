"""Results that tasks have written as a frame: Spark puts them together, and nobody else reads them.

A step has the rows of the vertices that differ from the empty version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from graphtide.spark.addresses import reading_path
from graphtide.spark.selection import GraphFrames


class ResultFiles(NamedTuple):
    """The files of one result: of the empty version, and of all steps; the name of its column, and
    whether its values are vertices.
    """

    base: Sequence[Path]
    steps: Sequence[Path]
    name: str
    names_vertices: bool = False


def result_frame(
    session: SparkSession,
    graph: GraphFrames,
    views: Mapping[int, str],
    results: Sequence[ResultFiles],
    removed: Mapping[int, Sequence[int]] = MappingProxyType({}),
) -> DataFrame:
    """`view`, `id`, perhaps `label`, and a column a result; `views` are names by steps.

    A result that names vertices has their ids, and their labels where ids need one. Vertices that
    are `removed` from a step are not there.
    """
    steps = pa.table({"_step": pa.array(list(views), pa.int32()), "view": list(views.values())})
    ids = {"_id": "id"} | ({"_label": "label"} if graph.several_labels else {})
    frame = graph.vertices.select("_vertex", *(F.col(at).alias(name) for at, name in ids.items()))
    frame = frame.crossJoin(F.broadcast(session.createDataFrame(steps)))
    pairs = [(step, vertex) for step, vertices in removed.items() for vertex in vertices]
    if pairs:
        away = session.createDataFrame(pairs, "_step int, _vertex long")
        frame = frame.join(F.broadcast(away), ["_step", "_vertex"], "left_anti")
    columns = []
    for item in results:
        base = _read(session, item.base).select(F.col("vertex").alias("_vertex"), "value")
        keys = F.col("step").alias("_step"), F.col("vertex").alias("_vertex")
        new = _read(session, item.steps).select(*keys, "new", F.lit(True).alias("_differs"))
        frame = frame.join(base, "_vertex").join(new, ["_step", "_vertex"], "left")
        value = F.when(F.col("_differs"), F.col("new")).otherwise(F.col("value"))
        frame = frame.withColumn("_value", value).drop("value", "new", "_differs")
        named = {"_value": item.name}
        if item.names_vertices:
            named = {f"_named{at}": f"{item.name}{at.removeprefix('_id')}" for at in ids}
            vertices = graph.vertices.select(
                F.col("_vertex").alias("_value"), *(F.col(at).alias(f"_named{at}") for at in ids)
            )
            frame = frame.join(vertices, "_value", "left").drop("_value")
        for at, name in named.items():
            frame = frame.withColumnRenamed(at, f"_result_{name}")
            columns.append(F.col(f"_result_{name}").alias(name))
    return frame.select("view", *ids.values(), *columns)


def _read(session: SparkSession, paths: Sequence[Path]) -> DataFrame:
    return session.read.parquet(*map(reading_path, paths))
