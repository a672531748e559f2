"""Streams of Spark into live graphs: each row once, by whatever way Spark is reached."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphtide as gt
from graphtide.model.errors import GraphtideError, InputError, StoreError
from graphtide.run.durable.live_store import LiveStore
from graphtide.run.durable.records import LogRecord
from tests.live.graphs import graph_of, rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SCHEMA = "src long, dst long, weight double, kind string"


def write_rows(folder: Path, number: int, words: str = "") -> list[tuple[Any, ...]]:
    """Ten rows in a file that comes behind those before it."""
    rows = [(number, at, float(at), "ab"[at % 2]) for at in range(10)]
    names = ("src", "dst", "weight", "kind")
    columns: dict[str, Any] = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    if words:
        columns["op"] = [words] * len(rows)
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.parquet"
    pq.write_table(pa.table(columns), path)
    os.utime(path, (1_000_000 + number, 1_000_000 + number))
    return rows


def stream_of(spark: SparkSession, folder: Path, schema: str = SCHEMA) -> DataFrame:
    """A batch a file."""
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


@pytest.mark.masters
def test_a_stream_comes_to_what_a_load_does(tmp_path: Path, spark: SparkSession) -> None:
    rows: list[tuple[Any, ...]] = [(0, 1, 1.0, "b")]
    graph = gt.live(tmp_path / "g", graph_of(rows))
    rows += [row for number in range(2) for row in write_rows(tmp_path / "in", number)]
    hops = graph.register("hops", gt.algorithms.BFS(source=0))
    follower = graph.follow(stream_of(spark, tmp_path / "in"), trigger="available now", limit=7)
    assert follower.wait(300)
    assert (follower.status().rows, follower.status().batch) == (20, 1)
    assert graph.version == 4  # Two batches of ten rows, in parts of seven.
    assert Counter(rows_of(graph.edges())) == Counter(rows)
    hops.verify()
    graph.close()
    graph = gt.live(tmp_path / "g")
    rows += write_rows(tmp_path / "in", 2)
    follower = graph.follow(stream_of(spark, tmp_path / "in"), trigger="available now")
    assert follower.wait(300)
    assert Counter(rows_of(graph.edges())) == Counter(rows)
    assert follower.status().rows == 30
    # Another checkpoint is another stream, whatever it reads.
    shutil.move(tmp_path / "g" / "streams" / "stream" / "checkpoint", tmp_path / "moved")
    with pytest.raises(StoreError, match="is another one"):
        graph.follow(stream_of(spark, tmp_path / "in"))
    assert Counter(rows_of(graph.edges())) == Counter(rows)


def test_a_stream_that_fails_and_goes_on(tmp_path: Path, spark: SparkSession) -> None:
    graph = gt.live(tmp_path / "g", graph_of([]))
    first = write_rows(tmp_path / "in", 0, "insert")
    write_rows(tmp_path / "in", 1, "what")
    stream = stream_of(spark, tmp_path / "in", f"{SCHEMA}, op string")
    with pytest.raises(InputError, match="'op', which edges do not have"):
        graph.follow(stream)
    with pytest.raises(InputError, match="trigger cannot be 'now'"):
        graph.follow(stream, operation="op", trigger="now")
    follower = graph.follow(stream, operation="op")
    with pytest.raises(InputError, match="10 rows are wrong in the batch 1"):
        follower.wait(300)
    assert not follower.active
    assert Counter(rows_of(graph.edges())) == Counter(first)
    with graph.follow(stream, operation="op", on_error="set aside") as follower:
        while follower.status().batch < 1:
            assert not follower.wait(0.1)
    assert follower.status().set_aside == 10
    assert pq.read_table(follower.set_aside).num_rows == 10
    # A graph that was put back from a copy has lost batches that Spark will not give again. Which
    # one comes next depends on whether Spark had noted the last one before it was stopped.
    graph.close()
    shutil.rmtree(tmp_path / "g" / "log")
    other = gt.live(tmp_path / "other", graph_of([]))
    shutil.copytree(tmp_path / "g" / "streams", tmp_path / "other" / "streams")
    write_rows(tmp_path / "in", 2, "insert")
    follower = other.follow(stream, operation="op", trigger="available now")
    with pytest.raises(StoreError, match=r"batch [12] .*does not follow.*has none"):
        follower.wait(300)
    other.close()


CHILD = """
import os, signal, sys
import graphtide as gt
from graphtide.run.durable.live_store import LiveStore
from graphtide.spark.session import open_session
from tests.conftest import SETTINGS, UNCOMPILED
from tests.spark.test_streams import batch_of, stream_of
from pathlib import Path

folder, commit = Path(sys.argv[1]), LiveStore.commit

def dying(self, records):
    commit(self, records)
    if batch_of(records) == 1:
        os.kill(os.getpid(), signal.SIGKILL)

LiveStore.commit = dying
spark = open_session("local[1]", memory="1g", settings=SETTINGS | UNCOMPILED)
graph = gt.live(folder / "g")
graph.follow(stream_of(spark, folder / "in"), trigger="available now").wait()
"""


JAVA_DIES = """
import os, signal, sys
import graphtide as gt
from graphtide.run.durable.live_store import LiveStore
from graphtide.spark import streams
from graphtide.spark.session import open_session
from tests.conftest import SETTINGS, UNCOMPILED
from tests.spark.test_streams import batch_of, stream_of
from pathlib import Path

folder, moment, commit, rows = Path(sys.argv[1]), sys.argv[2], LiveStore.commit, streams._rows
spark = open_session("local[1]", memory="1g", settings=SETTINGS | UNCOMPILED)
java, batches = spark.sparkContext._gateway.proc, []

def kill():
    java.kill()
    java.wait()

def committing(self, records):
    commit(self, records)
    if moment == "behind the log" and batch_of(records) == 1:
        kill()

def reading(batch):
    batches.append(batch)
    if moment == "before the log" and len(batches) == 2:
        kill()
    return rows(batch)

LiveStore.commit, streams._rows = committing, reading
there = gt.session(folder / "store", spark=spark, progress=False)
pairs = there.load("pairs", edges=[(0, 1)], edge_columns=["src", "dst"])
graph = gt.live(folder / "g")
stream = stream_of(spark, folder / "in")
follower = graph.follow(stream)
for act in (
    lambda: follower.wait(300),
    lambda: graph.follow(stream, name="again"),
    lambda: there.load("more", edges=[(0, 1)], edge_columns=["src", "dst"]),
    lambda: pairs.view("all", "true"),
    lambda: pairs.edges_to_spark(),
    lambda: gt.session(folder / "store", progress=False).spark,
):
    try:
        act()
    except gt.GraphtideError as error:
        print(f"{type(error).__name__}: {error.what}", flush=True)
print(follower.active, follower.status().rows, graph.edges().num_rows, there.graphs(), flush=True)
follower.stop()
graph.close()
print(pairs.edges().num_rows, there.check().column("state").to_pylist(), flush=True)
"""


def batch_of(records: list[LogRecord]) -> int | None:
    """The batch of the stream that the first of some records is of."""
    found: int | None = records[0].facts.get("stream", {}).get("stream")
    return found


@pytest.mark.slow
def test_killed_behind_the_log_and_failed_before_it(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child logs its second batch, and is killed before Spark hears of it. Then a third batch
    fails before it is logged: on disk that is what a kill there leaves, and takes no other Java."""
    rows = [row for number in range(3) for row in write_rows(tmp_path / "in", number)]
    gt.live(tmp_path / "g", graph_of([])).close()
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parents[2],
        timeout=600,
        check=False,
    )
    assert child.returncode == -signal.SIGKILL
    commit = LiveStore.commit

    def failing(self: LiveStore, records: list[LogRecord]) -> None:
        if batch_of(records) == 2:
            raise StoreError("the disk is gone")
        commit(self, records)

    for step, there in (("fails", 20), ("goes on", 30)):
        with gt.live(tmp_path / "g") as graph, monkeypatch.context() as patch:
            if step == "fails":
                patch.setattr(LiveStore, "commit", failing)
            follower = graph.follow(stream_of(spark, tmp_path / "in"), trigger="available now")
            if step == "fails":
                with pytest.raises(GraphtideError, match="the disk is gone"):
                    follower.wait(300)
            else:
                assert follower.wait(300)
            assert Counter(rows_of(graph.edges())) == Counter(rows[:there])
            assert follower.status().rows == there


@pytest.mark.slow
@pytest.mark.skipif("GRAPHTIDE_CAMPAIGN" not in os.environ, reason="part of the campaign")
@pytest.mark.parametrize(("moment", "there"), [("behind the log", 20), ("before the log", 10)])
def test_a_java_that_dies(moment: str, there: int, tmp_path: Path, spark: SparkSession) -> None:
    """The process goes on, says what has happened whatever it is asked, and keeps what it has."""
    rows = [row for number in range(3) for row in write_rows(tmp_path / "in", number)]
    gt.live(tmp_path / "g", graph_of([])).close()
    child = subprocess.run(
        [sys.executable, "-c", JAVA_DIES, str(tmp_path), moment],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    told = child.stdout.splitlines()
    assert child.returncode == 0, child.stderr
    assert len(told) == 8, told
    for line in told[:6]:
        assert re.fullmatch(r"SetupError: [\w ]+: the Java process of Spark has ended", line)
    assert told[6] == f"False {there} {there} ['pairs']"
    assert told[7] == "1 ['ok']"
    with gt.live(tmp_path / "g") as graph:
        follower = graph.follow(stream_of(spark, tmp_path / "in"), trigger="available now")
        assert follower.wait(300)
        assert Counter(rows_of(graph.edges())) == Counter(rows)
        assert follower.status().rows == 30
