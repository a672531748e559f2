"""Programs travel to Spark's Python workers as plans, and workers share what is compiled."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import graphtide as gt
from graphtide.lang.python import inf

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@gt.program
class Rides:
    """A program of our own: workers get its plan, not this class."""

    source: gt.Vertex
    rides: float = inf
    fewest = gt.Min(float)

    def initialize(self, v):  # type: ignore[no-untyped-def]
        v.rides = 0.0 if v == self.source else inf

    def traverse(self, u, e, v):  # type: ignore[no-untyped-def]
        v.fewest(u.rides + 1.0)

    def update(self, v):  # type: ignore[no-untyped-def]
        v.rides = min(v.rides, v.fewest)


def test_workers_run_a_program_from_the_cache_of_the_driver(spark: SparkSession) -> None:
    program = Rides(source=0)
    gt.Graph([0], [1]).maintain(program).advance(insert=[(1, 0)])

    def travel(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        from numba.core.event import install_recorder

        for batch in batches:
            for line in batch["id"]:
                with install_recorder("numba:compile") as compiled:
                    network = gt.Graph([0, 1, 2], [1, 2, 3 + int(line)], vertices=6)
                    live = network.maintain(program)
                    live.advance(insert=[(0, 2)])
                rides, made = float(live["rides"][3 + int(line)]), len(compiled.buffer)
                yield batch.iloc[:1].assign(id=line, rides=rides, process=os.getpid(), made=made)

    schema = "id long, rides double, process long, made long"
    found = spark.range(0, 3, 1, 2).mapInPandas(travel, schema).toPandas()

    assert found["rides"].tolist() == [2.0, 2.0, 2.0]
    assert os.getpid() not in found["process"].tolist()
    assert found["made"].tolist() == [0, 0, 0], "machine code was made again"
