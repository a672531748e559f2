"""Work that tasks of Spark do for us, one call a task; and the rows that they write as shards.

A task is the name of a function, an order in bytes, and a number; it returns bytes. What the
function does is none of Spark's business. Only the public DataFrame interface is used, so that
the same works over Spark Connect.

Spark sorts the edges of a collection on disk where memory is short, so that a task of ours holds
one shard at a time. Only what each task reports of its files comes to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from graphtide.model.errors import SetupError
from graphtide.spark.failures import translated
from graphtide.spark.frames import GraphFrames, quoted

_MOST_SLOTS = 1 << 16


def count_slots(session: SparkSession) -> int:
    """How many tasks run at once, as far as Spark tells. Runs a small job."""
    with translated("asking Spark for its cores"):
        parts = session.range(_MOST_SLOTS).select(F.spark_partition_id().alias("part"))
        return max(1, parts.distinct().count())


def run_tasks(
    session: SparkSession, entry: str, order: bytes, numbers: Sequence[int], cache: str
) -> list[bytes]:
    """Call `entry`, MODULE:FUNCTION, with the order and each number, a task each, and collect.

    Tasks begin in the order of the numbers. `cache` is the cache folder of this process, which
    tasks use where nobody has told them another one: what is compiled here they need not compile.
    """
    task = _task(entry, order, tuple(numbers), cache)
    count = len(numbers)
    with translated("running on Spark"):
        rows = session.range(0, count, 1, count).mapInArrow(task, "report binary").collect()
    return [bytes(row.report) for row in rows]


def write_rows(frame: DataFrame, entry: str, order: bytes, cache: str) -> list[bytes]:
    """Have tasks write the rows of a frame, and collect what they say of their files.

    `entry` is called in each task, with the order and the batches of its rows in their order.
    """

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        import importlib
        import os

        import pyarrow

        os.environ.setdefault("GRAPHTIDE_CACHE", cache)
        module, _, name = entry.partition(":")
        for report in getattr(importlib.import_module(module), name)(order, batches):
            yield pyarrow.RecordBatch.from_pydict({"report": [report]})

    with translated("writing shards"):
        rows = frame.mapInArrow(task, "report binary").collect()
    return [bytes(row.report) for row in rows]


def run_together(
    session: SparkSession, entry: str, order: bytes, count: int, cache: str
) -> list[bytes]:
    """Call `entry` in so many tasks that run at the same time, and collect.

    It is called with the order, the number of the task, the hosts of all tasks, and a function that
    hands one text to all of them and returns those of all, once: it takes a second. Where a task
    is lost, Spark begins all of them again. It would not if their rows were the result of the job:
    these go through a shuffle.
    """
    task = _barrier_task(entry, order, cache)
    with translated("running on Spark"):
        numbers = session.range(0, count, 1, count)
        reports = numbers.mapInArrow(task, "report binary", barrier=True)
        rows = reports.repartition(1).collect()
    return [bytes(row.report) for row in rows]


def check_barrier(session: SparkSession) -> None:
    """SetupError where Spark would not run tasks at the same time."""
    if str(session.conf.get("spark.dynamicAllocation.enabled", "false")).lower() == "true":
        raise SetupError(
            "Spark does not run tasks at the same time where it allocates executors as it goes",
            hint="set spark.dynamicAllocation.enabled=false and a number of executors: "
            "spark.executor.instances",
        )


def _barrier_task(entry: str, order: bytes, cache: str) -> Callable[..., Any]:
    def task(batches: Iterator[Any]) -> Iterator[Any]:
        import importlib
        import os

        import pyarrow
        from pyspark import BarrierTaskContext

        os.environ.setdefault("GRAPHTIDE_CACHE", cache)
        for _ in batches:
            pass
        context = BarrierTaskContext.get()
        hosts = [item.address.rpartition(":")[0] or item.address for item in context.getTaskInfos()]
        module, _, name = entry.partition(":")
        work = getattr(importlib.import_module(module), name)
        report = work(order, context.partitionId(), hosts, context.allGather)
        yield pyarrow.RecordBatch.from_pydict({"report": [report]})

    return task


def _task(entry: str, order: bytes, numbers: tuple[int, ...], cache: str) -> Callable[..., Any]:
    def task(batches: Iterator[Any]) -> Iterator[Any]:
        # This function travels as it stands, so that the cache is named before anything of ours
        # is imported over there.
        import importlib
        import os

        import pyarrow

        os.environ.setdefault("GRAPHTIDE_CACHE", cache)
        module, _, name = entry.partition(":")
        work = getattr(importlib.import_module(module), name)
        for batch in batches:
            for place in batch.column(0).to_pylist():
                report = work(order, numbers[place])
                yield pyarrow.RecordBatch.from_pydict({"report": [report]})

    return task


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
