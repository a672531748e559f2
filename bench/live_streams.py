"""Streams into live graphs: `python -m bench streams`.

A million rows in Parquet files go through Spark into a live graph, and into a sink that does
nothing, in turns, by the clock: reading and applying wait for disk and JVM. Both pay for Spark's
bookkeeping of its batches. Edges are counted and summed up behind each run.
"""

from __future__ import annotations

import shutil
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import graphtide as gt
from bench.figures import Figure

ROWS, FILES, VERTICES, TIMES = 1_000_000, 8, 1 << 18, 3
LEAST_SHARE = 0.5


class Files(NamedTuple):
    """Files with so many rows, and the sum of all their sources."""

    folder: Path
    rows: int
    total: int


def run(*, quick: bool) -> list[Figure]:
    """All figures of this benchmark."""
    rows, times = (2_000, 1) if quick else (ROWS, TIMES)
    with TemporaryDirectory() as place:
        given = Files(Path(place), rows, _write(Path(place) / "in", rows))
        return [_figure(given, files, times) for files in (1, FILES)]


def _figure(given: Files, files: int, times: int) -> Figure:
    """So many files a batch, once through Spark into nothing and once into a graph, in turns."""
    took: dict[str, list[float]] = {"alone": [], "graph": []}
    for _ in range(times + 1):
        took["alone"].append(_alone(given, files))
        took["graph"].append(_followed(given, files))
    # The first of each starts threads, and compiles.
    alone, graph = (statistics.median(took[name][1:]) for name in ("alone", "graph"))
    note = f"{given.rows / graph:,.0f} rows/s, Spark alone {given.rows / alone:,.0f}"
    batches = FILES // files
    title = f"{given.rows:,} rows from files, {batches} batch{'es' if batches > 1 else ''}"
    return Figure(title, alone / graph, "at least", LEAST_SHARE, "x", note, "streams")


def _write(folder: Path, rows: int) -> int:
    """Files of rows; the sum of all their sources."""
    folder.mkdir()
    random = np.random.default_rng(1)
    src, dst = random.integers(0, VERTICES, (2, rows))
    for at in range(FILES):
        part = slice(at * rows // FILES, (at + 1) * rows // FILES)
        amount = random.random(part.stop - part.start)
        table = pa.table({"src": src[part], "dst": dst[part], "amount": amount})
        pq.write_table(table, folder / f"{at}.parquet")
    return int(src.sum())


def _stream(given: Files, files: int) -> Any:
    from graphtide.spark.session import open_session

    reader = open_session().readStream.schema("src long, dst long, amount double")
    return reader.option("maxFilesPerTrigger", files).parquet(str(given.folder / "in"))


def _alone(given: Files, files: int) -> float:
    """Seconds for Spark to read all into nothing."""
    place = given.folder / "checkpoint"
    writer = _stream(given, files).writeStream.format("noop").trigger(availableNow=True)
    began = time.perf_counter()
    writer.option("checkpointLocation", str(place)).start().awaitTermination()
    seconds = time.perf_counter() - began
    shutil.rmtree(place)
    return seconds


def _followed(given: Files, files: int) -> float:
    """Seconds for the same into a live graph."""
    stream = _stream(given, files)
    start = gt.Graph([], [], vertices=VERTICES, amount=np.empty(0))
    with gt.live(given.folder / "graph", start) as graph:
        began = time.perf_counter()
        graph.follow(stream, trigger="available now").wait()
        seconds = time.perf_counter() - began
        assert graph.num_edges == given.rows
        assert int(graph.edges()["src"].to_numpy().sum()) == given.total
    shutil.rmtree(given.folder / "graph")
    return seconds
