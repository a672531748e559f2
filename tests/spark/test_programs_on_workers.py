"""Programs travel to Spark's Python workers as plans, and workers share what is compiled."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import graphtide as gt
from graphtide.kernels.jit import cache_folder
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
    folder = cache_folder()
    before = compiled(folder)

    def travel(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            for line in batch["id"]:
                network = gt.Graph([0, 1, 2], [1, 2, 3 + int(line)], vertices=6)
                live = network.maintain(program)
                live.advance(insert=[(0, 2)])
                found = [float(live["rides"][3 + int(line)]), os.getpid()]
                yield batch.iloc[:1].assign(id=line, rides=found[0], process=int(found[1]))

    schema = "id long, rides double, process long"
    found = spark.range(0, 3, 1, 2).mapInPandas(travel, schema).toPandas()

    assert found["rides"].tolist() == [2.0, 2.0, 2.0]
    assert os.getpid() not in found["process"].tolist()
    assert before
    assert compiled(folder) == before


def compiled(folder: Path) -> set[Path]:
    """The machine code of our program; other processes may be compiling others."""
    return set(folder.rglob("*Rides*.nbc"))
