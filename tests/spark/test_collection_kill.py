"""A writer of collections that dies or is interrupted leaves the last committed one, whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphtide.store.catalog import Catalog
from graphtide.store.collection import open_collection
from tests.graphs import write_graph
from tests.spark.test_collections import EDGE_ROWS, SCHEMA, VERTEX_ROWS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

WRITER = """
import sys
import graphtide as gt
session = gt.session(sys.argv[1], master="local[2]", memory="1g", progress=False)
graph = session.graph("random")
for number in range(1000):
    views = [f"year <= {number + at}" for at in range(number % 7 + 1)]
    graph.collection("c", views, replace=True)
    print(number, flush=True)
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    found = Catalog(tmp_path / "catalog")
    write_graph(found, "random", SCHEMA, VERTEX_ROWS, EDGE_ROWS)
    return found


def start_writer(catalog: Catalog) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(catalog.root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    )


def committed(writer: subprocess.Popen[str]) -> int:
    assert writer.stdout is not None
    return int(writer.stdout.readline() or -1)


def check_whole(catalog: Catalog) -> int:
    """The number of the round that the stored collection belongs to."""
    stored = open_collection(catalog, "c")
    first = int(stored.views[0].predicate.split("<=")[1])
    for at, view in enumerate(stored.views):
        wanted = [
            number
            for number, edge in enumerate(EDGE_ROWS)
            if edge["year"] is not None and edge["year"] <= first + at
        ]
        assert stored.view_edges(at).tolist() == wanted
        assert view.size == len(wanted)
    assert len(stored.views) == first % 7 + 1
    return first


def test_killed_at_any_moment_the_last_committed_state_opens(catalog: Catalog) -> None:
    seed = random.randrange(10**9)
    print("seed", seed)
    pick = random.Random(seed)
    for _ in range(5 if "GRAPHTIDE_CAMPAIGN" in os.environ else 1):
        writer = start_writer(catalog)
        try:
            said = committed(writer)
            time.sleep(pick.uniform(0.0, 1.5))
        finally:
            os.killpg(writer.pid, signal.SIGKILL)
            writer.wait()
        rest = [int(line) for line in writer.stdout or () if line.strip()]
        found = check_whole(catalog)
        # A round may be committed before the writer came to say so.
        assert max([said, *rest]) <= found <= max([said, *rest]) + 1


def test_interrupted_it_leaves_nothing_behind(catalog: Catalog) -> None:
    writer = start_writer(catalog)
    try:
        assert committed(writer) == 0
        time.sleep(0.3)
        os.kill(writer.pid, signal.SIGINT)
        writer.wait()
    finally:
        if writer.poll() is None:
            os.killpg(writer.pid, signal.SIGKILL)
    assert writer.returncode != 0
    check_whole(catalog)
    left = [path.name for path in catalog.collection_folder("c").iterdir()]
    assert not [name for name in left if name.endswith(".partial")]
