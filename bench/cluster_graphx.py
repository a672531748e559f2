"""A superstep on shards beside one of GraphX: the part `graphx` of `python -m bench cluster`.

Called by `bench.cluster` in a process of its own. GraphX comes with PySpark and cannot be called
from Python: its loader and its PageRank are called in the JVM. It has one thread, one partition and
its edges in memory; what counts is processor time of the JVM, collecting garbage included, of a run
of six iterations without that of one: loading and the first iteration cost more than others. Ours
is `graph.run(..., on="shards")` by one task of the same Spark, counted in the same way. Both must
find the same ranks.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import graphtide as gt
from bench.cluster_shards import superstep
from bench.cluster_spark import java_seconds
from bench.figures import Figure
from bench.rmat import rmat
from graphtide.algorithms import PageRank
from graphtide.spark.session import open_session

NAME, SECTION = "a superstep of PageRank beside GraphX", "on shards"
FASTER, FEW, MANY, TURNS = 100.0, 1, 6, 2
SAME = 1e-9


class Took(NamedTuple):
    """Seconds of a superstep: processor time, and by the clock."""

    processor: float
    clock: float


def measure(quick: bool) -> list[Figure]:
    """A superstep of ours and one of GraphX, on the graph of the part `shards`."""
    if not _comes_with_spark():
        return [_skipped("this PySpark comes without GraphX")]
    scale, turns = (8, 1) if quick else (18, TURNS)
    src, dst = rmat(scale)
    with tempfile.TemporaryDirectory(prefix="graphtide-bench-") as folder:
        spark = open_session("local[1]", memory="4g")
        try:
            graph = gt.session(Path(folder, "catalog"), spark=spark, progress=False).load(
                "net", edges=pa.table({"src": src, "dst": dst})
            )
            ours = superstep(graph, 1, turns)
            values = graph.run(PageRank(iterations=MANY), on="shards", workers=1).table(0)
            peer = GraphX(spark, Path(folder), src, dst)
            theirs = peer.superstep(turns)
            ranks = peer.ranks(MANY)
        finally:
            spark.stop()
    apart = _apart(ranks, dict(zip(*(values[name].to_pylist() for name in ("id", "rank")))))  # noqa: B905
    if apart > SAME:
        raise AssertionError(f"GraphX has other ranks: {apart:.3g} apart")
    note = (
        f"{1e3 * theirs.processor:,.0f} ms there ({1e3 * theirs.clock:,.0f} by the clock), "
        f"{1e3 * ours:.3g} here, processor time, {len(src):,} edges; ranks {apart:.1g} apart"
    )
    return [Figure(NAME, theirs.processor / ours, "at least", FASTER, "x", note, SECTION)]


class GraphX:
    """A graph in GraphX, by way of the gateway to the JVM."""

    def __init__(self, spark: Any, folder: Path, src: NDArray[Any], dst: NDArray[Any]) -> None:
        context: Any = spark.sparkContext
        self._java: Any = context._jvm
        self._folder = folder
        _write(folder / "edges.txt", src, dst)
        level = self._java.org.apache.spark.storage.StorageLevel.MEMORY_ONLY()
        load = self._java.org.apache.spark.graphx.GraphLoader.edgeListFile
        path, spark = str(folder / "edges.txt"), context._jsc.sc()
        self._graph = load(spark, path, False, 1, level, level)
        assert self._graph.edges().count() == len(src)

    def superstep(self, turns: int) -> Took:
        """What an iteration takes behind the first: the lower of some, behind one to warm up."""
        self._run(2)
        found = []
        for _ in range(turns):
            few, many = (self._timed(count) for count in (FEW, MANY))
            each = [(more - less) / (MANY - FEW) for less, more in zip(few, many, strict=True)]
            found.append(Took(*each))
        return min(found)

    def ranks(self, iterations: int) -> dict[int, float]:
        """The rank of each vertex that has an edge."""
        self._run(iterations).vertices().saveAsTextFile(str(self._folder / "ranks"))
        lines = [
            line.strip("()").split(",")
            for part in sorted((self._folder / "ranks").glob("part-*"))
            for line in part.read_text().splitlines()
        ]
        return {int(vertex): float(rank) for vertex, rank in lines}

    def _timed(self, iterations: int) -> Took:
        worked, began = java_seconds(), time.perf_counter()
        self._run(iterations).vertices().count()
        return Took(java_seconds() - worked, time.perf_counter() - began)

    def _run(self, iterations: int) -> Any:
        number = self._java.scala.reflect.ClassTag.Int()
        run = self._java.org.apache.spark.graphx.lib.PageRank.run
        return run(self._graph, iterations, 0.15, number, number)


def _write(path: Path, src: NDArray[Any], dst: NDArray[Any]) -> None:
    from pyarrow import csv

    options = csv.WriteOptions(include_header=False, delimiter=" ")
    csv.write_csv(pa.table({"src": src, "dst": dst}), path, options)


def _apart(theirs: dict[int, float], ours: dict[int, float]) -> float:
    """The greatest relative difference of ranks as shares: those of GraphX add up to a number."""
    one, other = (np.array([of[vertex] for vertex in theirs]) for of in (theirs, ours))
    return float(np.max(np.abs(one / one.sum() * other.sum() / other - 1)))


def _comes_with_spark() -> bool:
    import pyspark

    return any((Path(pyspark.__file__).parent / "jars").glob("spark-graphx_*.jar"))


def _skipped(why: str) -> Figure:
    return Figure(NAME, None, "at least", FASTER, "x", why, SECTION)


if __name__ == "__main__":
    figures = measure(len(sys.argv) > 2)
    Path(sys.argv[1]).write_text(json.dumps([asdict(item) for item in figures]))
