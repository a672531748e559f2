"""A load that dies, is interrupted or meets another leaves the last committed graph, whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from graphtide.model.errors import LockedError
from graphtide.store.catalog import Catalog
from graphtide.store.commit import begin
from graphtide.store.graph import open_graph
from tests.spark.loading import load

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
# Loads graphs of 1, 2, 3, ... times a hundred edges over each other, for ever.
WRITER = """
import sys
from pathlib import Path
from graphtide.spark.session import open_session
from tests.spark.loading import load
spark = open_session("local[2]", memory="1g", settings={"spark.sql.shuffle.partitions": "2"})
root = Path(sys.argv[1])
for number in range(1, 1000):
    edges = "".join(f"{place},{place + 1}\\n" for place in range(100 * number))
    (root / "e.csv").write_text("src,dst\\n" + edges)
    load(spark, root, root / "e.csv")
    print(number, flush=True)
"""


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The writer, after its first commit. In a group of its own, so that it dies with its JVM."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def check_whole(root: Path) -> None:
    """The graph in force has all of its rows, whichever it is."""
    graph = open_graph(Catalog(root / "catalog"), "g")
    assert graph.edges % 100 == 0
    assert graph.vertices == graph.edges + 1
    edges = pq.read_table(graph.edges_folder()).to_pydict()
    assert edges["_edge"] == list(range(graph.edges))
    assert edges["_src"] == list(range(graph.edges))
    assert pq.read_table(graph.vertices_folder()).num_rows == graph.vertices


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1 if "GRAPHTIDE_CAMPAIGN" not in os.environ else 20))
def test_a_killed_load_leaves_the_last_graph_and_does_not_hinder_the_next(
    spark: SparkSession, tmp_path: Path, writer: subprocess.Popen[str], seed: int
) -> None:
    time.sleep(random.Random(seed).random() * 4)
    os.killpg(writer.pid, signal.SIGKILL)
    writer.wait()
    check_whole(tmp_path)
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    assert load(spark, tmp_path, tmp_path / "e.csv").pairs() == [(0, 1)]
    assert not list((tmp_path / "catalog" / "graphs" / "g").glob("*.partial"))


@pytest.mark.slow
def test_an_interrupted_load_cleans_up(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    time.sleep(1)
    writer.send_signal(signal.SIGINT)
    _, errors = writer.communicate()
    assert "KeyboardInterrupt" in errors
    check_whole(tmp_path)
    assert not list((tmp_path / "catalog" / "graphs" / "g").glob("*.partial"))


def test_the_second_of_two_loads_is_told(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    folder = Catalog(tmp_path / "catalog").graph_folder("g")
    with (
        begin(folder, replace=True, what="the graph 'g'"),
        pytest.raises(LockedError, match="is being written by process"),
    ):
        load(spark, tmp_path, tmp_path / "e.csv")


def test_progress_is_told_from_start_to_end(spark: SparkSession, tmp_path: Path) -> None:
    from graphtide.spark.ingest.job import write_graph
    from graphtide.spark.ingest.source import GraphSource

    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    told: list[tuple[str, float | None]] = []
    write_graph(
        spark,
        tmp_path / "out",
        GraphSource(tmp_path / "e.csv"),
        progress=lambda stage, done: told.append((stage, done)),
    )
    shares = [done for _, done in told if done is not None]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert [stage for stage, _ in told] == [
        "reading the edges",
        "finding types",
        "numbering vertices",
        "writing edges",
        "done",
    ]
