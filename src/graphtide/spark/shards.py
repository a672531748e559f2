"""The edges of a collection on their way into shards: sorted by Spark, written by its tasks.

Spark sorts on disk where memory is short, so that a task of ours holds one shard at a time. Nothing
of it comes to the driver but what each task says of its files.
"""

from __future__ import annotations

from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from graphtide.spark.selection import GraphFrames, quoted

Way = Literal["into", "out"]


def shard_rows(
    frames: GraphFrames, classes: DataFrame, way: Way, shards: int, parts: int
) -> DataFrame:
    """The edges of a collection with `_shard`, `_place` (in it) and `_end`, the other end.

    They are in so many parts; a shard is in one of them, sorted. Columns behind these are `_class`
    and the properties.
    """
    own, other = ("_dst", "_src") if way == "into" else ("_src", "_dst")
    ours = {"_edge", "_src", "_dst", "_label", "_class"}
    edges = frames.edges.join(classes, "_edge")
    if way == "out" and not frames.directed:  # A loop brings its message once.
        edges = edges.where(F.col("_src") != F.col("_dst"))
    properties = [F.col(quoted(name)) for name in edges.columns if name not in ours]
    shard = F.col(own) % F.lit(shards)
    rows = edges.select(
        shard.cast("int").alias("_shard"),
        ((F.col(own) - shard) / F.lit(shards)).cast("int").alias("_place"),
        F.col(other).alias("_end"),
        "_edge",
        "_class",
        *properties,
    )
    parted = rows.repartition(parts, "_shard")
    return parted.sortWithinPartitions("_shard", "_place", "_end", "_edge")
