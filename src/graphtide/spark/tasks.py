"""Work that tasks of Spark do, one call a task: a name of a function, an order, numbers.

What the function does is none of Spark's business: it is handed bytes and a number, and returns
bytes. Only the public DataFrame interface is used, so that the same works over Spark Connect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from graphtide.spark.failures import translated

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
