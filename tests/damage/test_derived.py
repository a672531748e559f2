"""Damage to what follows from other items: it is told, and made again from them.

Lean graphs and shards hold nothing that the graph, or the collection, does not; and what tasks keep
of a run on shards can be computed again. So each damage to their files is found by `check`, and
whoever needs them gets the right answer, or an error that names the file.
"""

from __future__ import annotations

import logging
import os
import random
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import WCC, ShortestPaths
from graphtide.model.errors import DamagedError, StoreError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.run.catalog.stored_runs import run_collection
from graphtide.run.collection.facts import RunRequest
from graphtide.run.live.programs import compiled_program
from graphtide.run.shards import runs
from graphtide.store.arrays import map_arrays, write_arrays
from graphtide.store.catalog import Catalog
from graphtide.store.files import FileFacts
from graphtide.store.results import open_run
from graphtide.store.shards import (
    KeptSupersteps,
    StoredShards,
    discard_damaged,
    open_shards,
    write_shards,
)
from tests.damage.kinds import Damaging, file_damages, flipped_bits
from tests.damage.small_store import write_store
from tests.graphs import write_graph
from tests.oracle import algorithms as naive
from tests.scenario.commands import graphtide

pytestmark = pytest.mark.interpreted
CAMPAIGN = "GRAPHTIDE_CAMPAIGN" in os.environ
NUMBERS = count()
SCHEMA = GraphSchema(
    id_type=PropertyType.INT, vertex=(), edge=(Property("weight", PropertyType.FLOAT),)
)
VERTICES, SHARDS = 9, 4
PATHS = ShortestPaths(source=0)


def written_graph(root: Path, seed: int) -> list[tuple[int, int, float]]:
    pick = random.Random(seed)
    edges = [
        (pick.randrange(VERTICES), pick.randrange(VERTICES), float(pick.randrange(1, 9)))
        for _ in range(20)
    ]
    rows = [{"src": src, "dst": dst, "weight": weight} for src, dst, weight in edges]
    write_graph(Catalog(root), "net", SCHEMA, [{"id": at} for at in range(VERTICES)], rows)
    return edges


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[float]]:
    """A graph with its lean graph, both written twice, and the distances of now."""
    root = tmp_path_factory.mktemp("derived") / "store"
    for seed in (1, 2):
        edges = written_graph(root, seed)
        gt.session(root, progress=False).graph("net").run(PATHS, lean=True, workers=1)
    return root, naive.bellman_ford(VERTICES, edges, [0])["dist"]


def damages_of(root: Path, below: str) -> Iterator[Damaging]:
    """Every kind of damage to every file below a folder; two of each kind, but in campaigns."""
    every = (*file_damages(root), *flipped_bits(root, 5))
    found = [item for item in every if item.file.startswith(below)]
    random.Random(11).shuffle(found)
    by_kind: dict[str, list[Damaging]] = {}
    for item in found:
        by_kind.setdefault(item.kind.lstrip("bit 0123456789"), []).append(item)
    for group in by_kind.values():
        yield from group if CAMPAIGN else group[:2]


def copied(store: Path, damaging: Damaging) -> Path:
    root = store.parent / f"copy-{next(NUMBERS)}"
    shutil.copytree(store, root)
    damaging.do(root)
    return root


def test_a_damaged_lean_graph_is_found_and_made_again(
    net: tuple[Path, list[float]], caplog: pytest.LogCaptureFixture
) -> None:
    store, expected = net
    for damaging in damages_of(store, "lean"):
        root = copied(store, damaging)
        session = gt.session(root, progress=False)
        rows = [row for row in session.check("net").to_pylist() if row["kind"] == "lean graph"]
        assert {row["state"] for row in rows} == {"damaged"}, damaging
        assert all("the next run on it makes it again" in row["saved"] for row in rows), damaging
        if "CURRENT" not in damaging.file and damaging.kind != "a folder lost":
            hurt = tuple(damaging.file.split(" and "))
            assert any(row["file"].endswith(hurt) for row in rows), damaging
        caplog.clear()
        run = session.graph("net").run(PATHS, workers=1)
        assert run["dist"].tolist() == expected, damaging
        assert "made again from the graph: the lean graph is damaged" in run.explain(), damaging
        assert "it is made again from the graph 'net'" in caplog.text
        assert set(session.check().column("state").to_pylist()) == {"ok"}, damaging
        assert "made again" not in session.graph("net").run(PATHS).explain()
        shutil.rmtree(root)


def test_a_lean_graph_keeps_its_columns_and_needs_a_whole_graph(
    net: tuple[Path, list[float]], tmp_path: Path
) -> None:
    root = shutil.copytree(net[0], tmp_path / "store")
    graph = gt.session(root, progress=False).graph("net")
    column = sorted((root / "lean" / "net").glob("g-*/column-*.bin"))[-1]
    sources = column.with_name("in-sources.bin")
    sources.write_bytes(sources.read_bytes()[:-1])
    assert "made again" in graph.run(WCC, lean=True).explain()
    assert "made" not in graph.run(PATHS, lean=True).explain(), "the weights are there still"
    newest = sorted((root / "lean" / "net").glob("g-*"))[-1]
    (newest / "out-targets.bin").unlink()
    part = sorted(root.glob("graphs/net/g-*/edges/*.parquet"))[-1]
    part.unlink()
    with pytest.raises(DamagedError, match=rf"the graph 'net' is damaged: {part.name} is gone"):
        graph.run(WCC, lean=True)


def test_the_command_checks_and_tells(net: tuple[Path, list[float]], tmp_path: Path) -> None:
    root = shutil.copytree(net[0], tmp_path / "store")
    result = graphtide("check", "--data", root)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "2 items whole, 0 damaged")
    sorted((root / "lean" / "net").glob("g-*/in-edges.bin"))[-1].unlink()
    result = graphtide("check", "net", "--data", root)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (1, "1 item whole, 1 damaged")


@pytest.fixture(scope="module")
def sharded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collection `years` with shards, written twice without Spark."""
    root = tmp_path_factory.mktemp("shards") / "store"
    write_store(root)
    for shift in (1, 2):
        write_shards(Catalog(root), "years", "now", (SHARDS, 14), filled(shift))
    return root


def filled(shift: int) -> Callable[[Path], dict[str, FileFacts]]:
    def fill(folder: Path) -> dict[str, FileFacts]:
        names = [f"{way}-{at:05d}-x.arrays" for way in ("into", "out") for at in range(SHARDS)]
        ends = {name: {"ends": np.arange(at + shift)} for at, name in enumerate(names)}
        return {name: write_arrays(folder / name, found) for name, found in ends.items()}

    return fill


def ends_of(found: StoredShards | None) -> list[list[int]]:
    assert found is not None
    paths = [found.file(way, at) for way in ("into", "out") for at in range(SHARDS)]
    return [map_arrays(path)["ends"].tolist() for path in paths if path is not None]


def test_damaged_shards_are_found(sharded: Path) -> None:
    """Whoever reads all of them gets an error, by which they are removed."""
    assert len(ends_of(open_shards(Catalog(sharded), "years", "now"))) == 2 * SHARDS
    for damaging in damages_of(sharded, "shards"):
        root = copied(sharded, damaging)
        catalog, session = Catalog(root), gt.session(root, progress=False)
        rows = [row for row in session.check("years").to_pylist() if row["kind"] == "shards"]
        assert {row["state"] for row in rows} == {"damaged"}, damaging
        assert all("next run on shards makes them again" in row["saved"] for row in rows)
        with pytest.raises(DamagedError) as told:
            ends_of(open_shards(catalog, "years", "now"))
        assert discard_damaged(catalog, "years", told.value), damaging
        assert open_shards(catalog, "years", "now") is None
        shutil.rmtree(root)


def test_a_run_makes_damaged_shards_again(
    sharded: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Tasks find the damage, and the driver begins once more; other errors are its own."""
    session = gt.session(shutil.copytree(sharded, tmp_path / "store"), progress=False)
    catalog, tried = session.catalog, []
    broken = sorted(catalog.shards_folder("years").glob("g-*/out-*.arrays"))[-1]

    class InHand:
        """In place of Spark: the first attempt meets a file that has changed."""

        before, reason, pairs, cuts = None, "", None, ()

        def __init__(self, space: Any, stored: Any, request: Any) -> None:
            self.request, self.compiled = request, request.compiled
            views = session.collection("years").run(WCC, name="here", workers=1)
            self.steps, self.values = views._contents.steps, views._contents.base

        def base(self) -> Any:
            return self.values

        def run(self, *given: Any) -> None:
            tried.append(catalog.shards_folder("years").exists())
            if len(tried) == 1:
                raise DamagedError("the shards of 'years' is damaged: x", where=str(broken))

    monkeypatch.setattr(runs, "ShardedRun", InHand)
    request = RunRequest("there", compiled_program(WCC, "auto"), on="shards")
    run_collection(session, session.collection("years")._stored, request)
    assert tried == [True, False]
    assert "they are made again from the collection" in caplog.text
    assert all(item.levelno == logging.WARNING for item in caplog.records)
    elsewhere = DamagedError("the graph is damaged", where=str(tmp_path / "store" / "graphs"))
    assert not discard_damaged(catalog, "years", elsewhere)


def keep_all(kept: KeptSupersteps) -> None:
    """Two tasks keep two supersteps of step 0, and finish step 1."""
    kept.begin()
    for first, behind in ((0, 2), (2, SHARDS)):
        files = kept.attempt("a", first, behind)
        for superstep in (3, 5):
            rows = np.arange(2 * (behind - first)).reshape(-1, 1) + 100 * superstep + 10 * first
            files.keep(0, superstep, rows)
        table = pa.table({"step": pa.array([1], pa.int32())})
        files.finish(1, {"component": table}, {"worker": "w"})


def kept_of(session: gt.Session) -> KeptSupersteps:
    parts = open_run(session.catalog, "years-WCC").parts
    return KeptSupersteps(parts, np.arange(0, 2 * SHARDS + 1, 2))


@pytest.fixture
def kept(sharded: Path, tmp_path: Path) -> tuple[gt.Session, KeptSupersteps, Path]:
    session = gt.session(shutil.copytree(sharded, tmp_path / "store"), progress=False)
    found = kept_of(session)
    keep_all(found)
    return session, found, open_run(session.catalog, "years-WCC").parts.folder / "shards" / "a"


HURT: dict[str, Callable[[bytes], bytes | None]] = {
    "lost": lambda data: None,
    "cut": lambda data: data[:-1],
    "emptied": lambda data: b"",
    "appended": lambda data: data + b"x",
    "flipped": lambda data: data[:-9] + bytes([data[-9] ^ 4]) + data[-8:],
}


@pytest.mark.parametrize("how", HURT)
def test_what_tasks_have_kept_is_taken_whole_or_not_at_all(
    kept: tuple[gt.Session, KeptSupersteps, Path], how: str
) -> None:
    session, found, folder = kept
    assert session.check("years-WCC").column("state").to_pylist() == ["ok"]
    assert found.latest(0) == ("a", 5)
    rows = {at: found.rows("a", 0, at, 0, SHARDS).tolist() for at in (3, 5)}
    assert set(found.results()) == {1}
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        hurt = HURT[how](data)
        path.unlink() if hurt is None else path.write_bytes(hurt)
        found = kept_of(session)  # Each reads a note once.
        told = session.check("years-WCC").to_pylist()
        if how != "lost" or path.suffix != ".note":
            assert [row["file"] for row in told] == [str(path)]
            assert "what is finished is whole: resume it" in told[0]["saved"]
        expected = 3 if "-000005-" in path.name else 5
        assert found.latest(0) == ("a", expected), path.name
        assert found.rows("a", 0, expected, 0, SHARDS).tolist() == rows[expected]
        if "results" in path.name and not (how == "flipped" and path.suffix == ".parquet"):
            assert not found.results(), path.name
        if "-000005-" in path.name:
            with pytest.raises(StoreError) as error:
                found.rows("a", 0, 5, 0, SHARDS)
            assert isinstance(error.value, DamagedError) is (path.suffix == ".arrays")
        path.write_bytes(data)
    assert kept_of(session).latest(0) == ("a", 5)
