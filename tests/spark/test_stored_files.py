"""What Spark reads and writes of stores: compared before it is read, and whole or not there."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import graphtide as gt
from graphtide.model.disk import checksums_by_threads
from graphtide.model.errors import DamagedError, FullDiskError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

WINDOWS = "expanding windows over year width 2"
VIEWS = "for y in 2001..2004 [year <= y]"


def calls(seed: int, count: int) -> list[dict[str, Any]]:
    pick = random.Random(seed)
    return [
        {"src": pick.randrange(200), "dst": pick.randrange(200), "year": 2000 + at % 6}
        for at in range(count)
    ]


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("stored files")
    graph = gt.session(root, spark=spark, progress=False).load("Calls", edges=calls(1, 300))
    graph.collection("years", VIEWS)
    return root


@pytest.fixture
def session(spark: SparkSession, written: Path, tmp_path: Path) -> gt.Session:
    root = shutil.copytree(written, tmp_path / "a [b] year=1")
    return gt.session(root, spark=spark, progress=False)


def part(session: gt.Session, item: str) -> Path:
    return sorted((session.catalog.root / item).glob("g-*/edges/*.parquet"))[-1]


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def add(path: Path) -> None:
    shutil.copy(path, path.with_name("part-999999999999.parquet"))


DAMAGES: dict[str, Callable[[Path], object]] = {"lost": Path.unlink, "flipped": flip, "added": add}
READINGS: dict[str, tuple[str, Callable[[gt.Session], object]]] = {
    "a collection": ("graphs/Calls", lambda s: s.graph("Calls").collection("new", VIEWS)),
    "a view": ("graphs/Calls", lambda s: s.graph("Calls").view("new", "year < 2003")),
    "bounds": ("graphs/Calls", lambda s: s.graph("Calls").collection("new", WINDOWS)),
    "edges": ("graphs/Calls", lambda s: s.graph("Calls").edges_to_spark()),
    "a view to Spark": ("collections/years", lambda s: s.collection("years")[0].to_spark()),
    "differences": ("collections/years", lambda s: s.collection("years").to_spark()),
}


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_spark_reads_nothing_that_is_damaged(
    session: gt.Session, reading: str, damage: str
) -> None:
    item, read = READINGS[reading]
    damaged = part(session, item)
    DAMAGES[damage](damaged)
    with pytest.raises(DamagedError) as told:
        read(session)
    assert str(told.value.where).startswith(str(damaged.parent))
    assert "new" not in session.collections()


def test_what_spark_wrote_is_whole(session: gt.Session) -> None:
    assert session.check().column("state").to_pylist() == ["ok", "ok"]
    assert session.graph("Calls").edges_to_spark().count() == 300


def test_checksums_of_a_job_are_those_of_threads(spark: SparkSession, tmp_path: Path) -> None:
    from graphtide.spark.files import checksums_by_job

    folder = tmp_path / "a b%20[c]{d}"
    folder.mkdir()
    paths = [folder / name for name in ("one", "größe", "a b", "empty")]
    for at, path in enumerate(paths):
        path.write_bytes(random.Random(at).randbytes(1000 * (3 - at)))
    found = checksums_by_job(spark, paths)
    assert found == dict(zip(paths[:3], checksums_by_threads(paths[:3]), strict=True))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of three megabytes, where we may make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("file systems can be made by root only")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_on_a_full_disk_nothing_is_lost(spark: SparkSession, small_disk: Path) -> None:
    session = gt.session(small_disk / "store", spark=spark, progress=False)
    session.load("Calls", edges=calls(1, 100)).view("early", "year < 2003")
    edges = session.graph("Calls").edges()
    stuffing = small_disk / "stuffing"
    free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
    stuffing.write_bytes(bytes(max(free - (16 << 10), 0)))
    with pytest.raises(FullDiskError):
        session.load("Calls", edges=calls(2, 20_000), replace=True)
    with pytest.raises(FullDiskError):
        session.graph("Calls").view("late", "year > 2003")
    assert (session.graphs(), session.views()) == (["Calls"], ["early"])
    assert set(session.check().column("state").to_pylist()) == {"ok"}
    assert session.graph("Calls").edges() == edges
    assert not list(small_disk.rglob("*.partial"))
    session.delete_collection("early")
    stuffing.unlink()
    assert session.load("Calls", edges=calls(2, 50), replace=True).num_edges == 50
