"""Tasks on shards: how they find each other, what they keep, and what becomes of it."""

from __future__ import annotations

import datetime as dt
import pickle
import random
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphtide.lang.python as gt
from graphtide.engine.graph_data import NO_MOMENT
from graphtide.engine.shards.local_graph import MirrorExchange, Placement
from graphtide.engine.shards.supersteps import Keeping, Supersteps
from graphtide.model.errors import DamagedError, InputError, SetupError, StoreError
from graphtide.run.live.programs import compiled_program
from graphtide.run.shards import shard_files
from graphtide.run.shards.mesh import Door, PeerFailedError, PeerLostError, Sockets, join
from graphtide.run.shards.runs import explained_shards
from graphtide.run.shards.shard_files import OpenedShards
from graphtide.run.shards.tasks import row_bounds
from graphtide.store import shards as supersteps
from graphtide.store.arrays import map_arrays, write_arrays
from graphtide.store.shards import KeptSupersteps
from tests.compiled import few_compiled
from tests.equivalence.sharded import Sharded, pairs_of_sockets
from tests.equivalence.summing_programs import PageRank, SettledRank
from tests.oracle.programs import run

SECRET = b"of the run"


def meshes(tasks: int) -> list[Sockets]:
    return [Sockets(rank, peers) for rank, peers in enumerate(pairs_of_sockets(tasks))]


def test_every_vertex_has_one_place() -> None:
    for vertices, shards, tasks in ((0, 3, 2), (1, 1, 1), (10, 4, 3), (5, 8, 3), (9, 2, 2)):
        placement = Placement(vertices, shards, tasks)
        owned = [placement.owned(task) for task in range(tasks)]
        assert sorted(np.concatenate(owned).tolist()) == list(range(vertices))
        for task, own in enumerate(owned):
            assert (placement.owners(own) == task).all()
            assert placement.local(own).tolist() == list(range(len(own)))


def test_long_messages_cross_each_other() -> None:
    sent = [np.arange(300_000) + rank for rank in range(3)]

    def go(mesh: Sockets) -> None:
        for _ in range(3):
            others = [rank for rank in range(3) if rank != mesh.rank]
            found = mesh.exchange({rank: [sent[mesh.rank], sent[rank][:5]] for rank in others})
            for rank in others:
                words = found[rank].view(np.int64)
                assert (words[:-5] == sent[rank]).all()
                assert (words[-5:] == sent[mesh.rank][:5]).all()
        assert mesh.exchange({rank: [] for rank in others}).keys() == set(others)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(go, meshes(3)))


def test_who_fails_says_so_and_who_is_lost_is_noticed() -> None:
    for end, expected in ((Sockets.fail, PeerFailedError), (Sockets.close, PeerLostError)):
        one, other = meshes(2)
        ending = threading.Thread(target=end, args=(other,))
        ending.start()
        with pytest.raises(expected, match="task 1"):
            one.exchange({1: [np.arange(10)]})
        one.close()
        ending.join()
        other.close()


def test_only_those_join_who_know_the_secret() -> None:
    doors = [Door("127.0.0.1") for _ in range(3)]
    addresses = [(door.host, door.port) for door in doors]
    with socket.create_connection(addresses[0]) as stranger:
        stranger.sendall(b"\x02\0\0\0" + bytes(64))
        with ThreadPoolExecutor(3) as pool:
            found = list(pool.map(lambda at: join(doors[at], at, addresses, SECRET, 20), range(3)))
    assert [sorted(item) for item in found] == [[1, 2], [0, 2], [0, 1]]
    for item in (connection for peers in found for connection in peers.values()):
        item.close()


def test_strangers_who_say_nothing_keep_nobody_waiting() -> None:
    doors = [Door("127.0.0.1") for _ in range(2)]
    addresses = [(door.host, door.port) for door in doors]
    said = [b"", b"\x01\0", b"\x01\0\0\0" + bytes(32), b"\xff" * 36, b"x" * 100]
    with ExitStack() as strangers, ThreadPoolExecutor(2) as pool:
        first = pool.submit(join, doors[0], 0, addresses, SECRET, 20)
        for at in range(300):
            stranger = strangers.enter_context(socket.create_connection(addresses[0]))
            with suppress(OSError):
                stranger.sendall(said[at % len(said)])
        began = monotonic()
        found = [pool.submit(join, doors[1], 1, addresses, SECRET, 20).result(), first.result()]
        assert monotonic() - began < 10
    assert [sorted(item) for item in found] == [[0], [1]]
    for item in (connection for peers in found for connection in peers.values()):
        item.close()


def test_a_task_that_cannot_be_reached_is_named() -> None:
    doors = [Door("127.0.0.1"), Door("127.0.0.1")]
    addresses = [(door.host, door.port) for door in doors]
    with pytest.raises(SetupError, match="cannot reach another one: no connection came"):
        join(doors[0], 0, addresses, SECRET, 0.05)
    with pytest.raises(SetupError, match="cannot reach another one") as told:
        join(doors[1], 1, addresses, SECRET, 0.5)
    assert f"127.0.0.1:{addresses[0][1]}" in str(told.value.where)
    with pytest.raises(SetupError, match="cannot listen at the address"):
        Door("192.0.2.1")
    wrong = [Door("127.0.0.1"), Door("127.0.0.1")]
    addresses = [(door.host, door.port) for door in wrong]
    secrets = [SECRET, b"another"]
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(join, wrong[at], at, addresses, secrets[at], 0.5) for at in (0, 1)]
        for item in both:
            with pytest.raises(SetupError, match="cannot reach another one"):
                item.result()


def test_arrays_are_mapped_as_they_were_written(tmp_path: Path) -> None:
    arrays = {
        "one": np.arange(5, dtype=np.int32),
        "none": np.empty(0, np.float64),
        "a name": np.array([0.5, np.nan]),
        "truth": np.array([True, False, True]),
    }
    path = tmp_path / "x.arrays"
    facts = write_arrays(path, arrays)
    found = map_arrays(path)
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].tobytes() == array.tobytes()
    assert facts.size == path.stat().st_size
    from graphtide.store.files import find_damage

    assert not find_damage(tmp_path, {"x.arrays": facts}, again=True)
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    assert find_damage(tmp_path, {"x.arrays": facts}, again=True)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b'{"a": [0, "<i8", 9]}', "'a' is not in the file"),
        (b'{"a": [-64, "<i8", 1]}', "'a' is not in the file"),
        (b'{"a": [4, "<i8", 1]}', "'a' is not in the file"),
        (b'{"a": [0, "<i8", -1]}', "'a' is not in the file"),
        (b'{"a": [0, "O", 1]}', "'a' is not in the file"),
        (b'{"a": [0.5, "<i8", 1]}', "'a' is not in the file"),
        (b'{"a": [0, "<i8", 0.5]}', "TypeError"),
        (b'{"a": [0, "x", 1]}', "TypeError"),
        (b'{"a": 1}', "TypeError"),
        (b"[1]", "AttributeError"),
        (b"", "JSONDecodeError"),
    ],
)
def test_a_head_that_nobody_wrote_is_refused(head: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.arrays"
    path.write_bytes(head.ljust(63) + b"\n" + bytes(64))
    with pytest.raises(DamagedError, match=said) as error:
        map_arrays(path)
    assert error.value.where == str(path)


class Kept:
    """A folder in which the tasks of a run keep supersteps."""

    def __init__(self, folder: Path, vertices: int, shards: int) -> None:
        self.vertices, self.shards = vertices, shards
        bounds = row_bounds(Placement(vertices, shards, 1))
        parts: Any = SimpleNamespace(folder=folder)
        self.files = KeptSupersteps(parts, bounds)
        self.files.begin()

    def task(self, attempt: str, tasks: int, task: int) -> Any:
        own = Placement(self.vertices, self.shards, tasks).shards_of(task)
        return self.files.attempt(attempt, int(own[0]), int(own[-1]) + 1)

    def read(self, attempt: str, step: int, superstep: int) -> np.ndarray:
        """The states of all vertices by number."""
        rows = self.files.rows(attempt, step, superstep, 0, self.shards)
        whole = np.empty_like(rows)
        whole[Placement(self.vertices, self.shards, 1).owned(0)] = rows
        return whole


@pytest.mark.parametrize("program", few_compiled([PageRank, SettledRank], ("PageRank",)))
def test_a_run_goes_on_from_what_all_tasks_have_kept(program: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    src, dst = random.integers(0, 40, (2, 150))
    parts, kept = Sharded(40, 7, src, dst), Kept(tmp_path, 40, 7)
    plan = program.plan
    given = tuple(item.default for item in plan.parameters)
    (whole,) = parts.run(plan, given, 2)

    def keeping(task: int) -> Keeping:
        files = kept.task("first", 3, task)
        return Keeping(lambda: True, lambda at, rows: files.keep(0, at, rows), lambda at: None)

    assert kept.files.latest(0) is None
    (found,) = parts.run(plan, given, 3, keeping=keeping)
    assert found["rank"].tobytes() == whole["rank"].tobytes()
    last = kept.files.latest(0)
    assert last is not None
    assert last[1] == max(kept.files.reached())
    for superstep in (1, last[1]):
        rows = kept.read("first", 0, superstep)
        for tasks in (1, 2, 7):
            (again,) = parts.run(plan, given, tasks, kept=(superstep, rows))
            assert again["rank"].tobytes() == whole["rank"].tobytes(), (superstep, tasks)


def test_what_not_all_have_kept_does_not_count(tmp_path: Path) -> None:
    kept = Kept(tmp_path, 10, 4)
    one, other = (kept.task("a", 2, task) for task in (0, 1))
    rows = np.arange(12).reshape(6, 2), np.arange(8).reshape(4, 2)
    one.keep(3, 5, rows[0])
    other.keep(3, 5, rows[1])
    one.keep(3, 9, rows[0])
    assert kept.files.latest(3) == ("a", 5)
    assert kept.files.latest(2) is None
    assert kept.files.rows("a", 3, 5, 1, 3).tolist() == [[6, 7], [8, 9], [10, 11], [0, 1], [2, 3]]
    other.keep(3, 9, rows[1])
    assert kept.files.latest(3) == ("a", 9)
    (file,) = tmp_path.glob("shards/a/000003-000009-00002-*.arrays")
    file.write_bytes(file.read_bytes()[:-8] + bytes(7) + b"x")
    assert kept.files.latest(3) == ("a", 5), "a damaged one counts as none"
    one.forget(3, 9)
    other.forget(3, 9)
    assert kept.files.latest(3) is None
    with pytest.raises(StoreError, match="cannot be read here"):
        kept.files.rows("a", 3, 5, 0, 4)
    one.finish(0, {"x": pa.table({"step": [0]})}, {})
    assert not kept.files.results()
    kept.task("b", 2, 1).finish(0, {"x": pa.table({"step": [0]})}, {})
    assert not kept.files.results(), "half of it is of another attempt"
    other.finish(0, {"x": pa.table({"step": [0]})}, {})
    assert list(kept.files.results()) == [0]
    kept.files.stop()
    assert kept.files.stopped
    kept.files.begin()
    assert not kept.files.stopped
    kept.files.sweep()
    assert kept.files.stopped, "a task that is late still goes on"
    with pytest.raises(StoreError):
        one.finish(1, {"x": pa.table({"step": [1]})}, {})
    assert not list(tmp_path.iterdir()), "a late task has left something behind"


def test_who_watches_reads_each_note_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, plain, read = Kept(tmp_path, 10, 4), supersteps._read, []
    monkeypatch.setattr(supersteps, "_read", lambda path: (read.append(path), plain(path))[1])
    tasks = [kept.task("a", 2, task) for task in (0, 1)]
    for step in range(3):
        for task in tasks:
            task.finish(step, {"x": pa.table({"step": [step]})}, {})
        assert kept.files.reached() == (step + 1, 0)
        assert len(read) == 2 * (step + 1), "a look took all notes again"
    tasks[0].keep(3, 1, np.zeros((6, 1), np.int64))
    tasks[1].keep(3, 1, np.zeros((4, 1), np.int64))
    assert kept.files.reached() == (3, 1)
    tasks[1].forget(3, 2)
    assert kept.files.reached() == (3, 0), "what is gone does not count"


def test_rows_become_files_of_shards(tmp_path: Path) -> None:
    """Batches that end anywhere; texts, moments and numbers, some of them missing."""
    table = pa.table(
        {
            "_shard": pa.array([1, 1, 1, 3], pa.int32()),
            "_place": pa.array([0, 2, 2, 0], pa.int32()),
            "_end": pa.array([9, 0, 9, 4], pa.int32()),
            "_edge": pa.array([3, 1, 2, 0], pa.int32()),
            "_class": pa.array([0, 1, 0, 2], pa.int32()),
            "kind": pa.array(["a", None, "b", "a"]),
            "born": pa.array([dt.date(1970, 1, 3), None, None, dt.date(1970, 1, 1)]),
            "at": pa.array([1, 2, 3, None], pa.timestamp("us", "UTC")),
            "cost": pa.array([1, None, 3, 4], pa.int64()),
            "open": pa.array([True, False, True, True]),
        }
    )
    order = pickle.dumps(shard_files._Order(tmp_path, "into", 12, 4))
    batches = table.to_batches(max_chunksize=2)
    told = dict(map(pickle.loads, shard_files.write_files(order, iter(batches))))
    names = sorted(told)
    assert [name.split("-")[:2] for name in names] == [["into", "00001"], ["into", "00003"]]
    first = map_arrays(tmp_path / names[0])
    assert first["start"].tolist() == [0, 1, 1, 3]
    assert first["table"][first["ends"]].tolist() == [9, 0, 9]
    assert first["classes"].tolist() == [0, 1, 0]
    assert first["property kind"].tolist() == [0, -1, 1]
    assert first["texts kind"].tobytes() == b'["a", "b"]'
    assert first["property born"].tolist() == [2, NO_MOMENT, NO_MOMENT]
    assert first["property at"].tolist() == [1, 2, 3]
    assert np.isnan(first["property cost"]).tolist() == [False, True, False]
    assert first["property open"].tolist() == [True, False, True]
    second = map_arrays(tmp_path / names[1])
    assert second["property at"].tolist() == [NO_MOMENT]
    assert second["property cost"].dtype == np.int64
    assert list(shard_files.write_files(order, iter([]))) == []


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("name", "place", "number"),
    [
        *(("start", at, number) for at, number in ((0, 1), (1, 99), (1, -5), (-1, 10**12))),
        *(("ends", 0, number) for number in (-1, 9, 2**31 - 1)),
        *(("table", 0, number) for number in (-1, 11)),
        *(("classes", 0, number) for number in (-1, 1)),
        *(("property kind", 0, number) for number in (-9, 7)),
    ],
)
def test_a_shard_whose_numbers_lead_elsewhere_is_refused(
    name: str, place: int, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = pa.table({"town": pa.array(["a"] * 11, pa.large_string())})
    monkeypatch.setattr(shard_files, "program_vertex_table", lambda *given: there.take(given[2]))
    day = dt.date(2020, 1, 1)
    rows = [{"src": 1, "dst": at % 9, "kind": "road", "day": day, "cost": 1.0} for at in range(40)]
    stored = WrittenShards(tmp_path, rows)
    for path in tmp_path.glob("*.arrays"):
        arrays = {key: array.copy() for key, array in map_arrays(path).items()}
        arrays[name][place] = number
        path.unlink()
        write_arrays(path, arrays)
    bound = Trips(source=0, since=day)
    compiled: Any = compiled_program(bound, "exact")
    given: Any = stored, None, compiled.needed, 1, 0, 1
    with pytest.raises(DamagedError, match="a shard holds what no Graphtide has written"):
        OpenedShards(*given).local(bound.program)


def test_the_estimate_bounds_the_mirrors() -> None:
    random = np.random.default_rng(3)
    src, dst = random.integers(0, 200, (2, 1500))
    parts = Sharded(200, 16, src, dst)
    most = max(len(parts.local(PageRank.plan, 4, task).mirrors) for task in range(4))
    text = explained_shards(PageRank.plan, 200, 1500, 4, 1)
    told = int(text.split("up to about ")[1].split(" mirrors")[0])
    assert 0.9 * most <= told <= 150
    assert "4 tasks at the same time, each with about 375 edges in 4.5 KB" in text


@gt.program
class Trips:
    """The cheapest way by roads of one kind, between towns of different names."""

    source: gt.Vertex
    since: gt.Date
    kind = gt.Property(str)
    day = gt.Property(gt.Date)
    cost = gt.Property(float)
    town = gt.VertexProperty(str)
    spent: float = gt.inf
    best = gt.Min(float)

    def initialize(self, v):
        if v == self.source:
            v.spent = 0.0

    def traverse(self, u, e, v):
        if e.kind == "road" and u.town != v.town and e.day >= self.since:
            v.best(u.spent + e.cost)

    def update(self, v):
        v.spent = min(v.spent, v.best)


class WrittenShards:
    """Shards of rows in files, as tasks of Spark write them, and a graph behind them."""

    vertices, shards = 11, 4

    def __init__(self, folder: Path, rows: list[dict[str, Any]]) -> None:
        self._files: dict[tuple[str, int], Path] = {}
        for way, own, other in (("into", "dst", "src"), ("out", "src", "dst")):
            table = pa.table(
                {
                    "_shard": pa.array([row[own] % 4 for row in rows], pa.int32()),
                    "_place": pa.array([row[own] // 4 for row in rows], pa.int32()),
                    "_end": pa.array([row[other] for row in rows], pa.int32()),
                    "_edge": pa.array(range(len(rows)), pa.int32()),
                    "_class": pa.array([0] * len(rows), pa.int32()),
                    "kind": pa.array([row["kind"] for row in rows], pa.string()),
                    "day": pa.array([row["day"] for row in rows], pa.date32()),
                    "cost": pa.array([row["cost"] for row in rows], pa.float64()),
                }
            )
            names = ("_shard", "_place", "_end", "_edge")
            table = table.sort_by([(name, "ascending") for name in names])
            order = pickle.dumps(shard_files._Order(folder, way, self.vertices, self.shards))
            batches = iter(table.to_batches(max_chunksize=7))
            for name, _ in map(pickle.loads, shard_files.write_files(order, batches)):
                self._files[way, int(name.split("-")[1])] = folder / name

    def file(self, way: str, shard: int) -> Path | None:
        return self._files.get((way, shard))


@pytest.mark.interpreted
def test_what_a_program_reads_comes_from_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick = random.Random(4)
    days = [dt.date(2020, 1, day) for day in (1, 2, 3)]
    towns = [pick.choice(["a", "b", "c", None]) for _ in range(11)]
    rows = [
        {
            "src": pick.randrange(10),
            "dst": pick.choice([1, 2, 3, 5, 6, 7, 10]),
            "kind": pick.choice(["road", "road", "rail", None]),
            "day": pick.choice(days),
            "cost": float(pick.randrange(1, 9)),
        }
        for _ in range(60)
    ]
    there = pa.table({"town": pa.array(towns, pa.large_string())})
    monkeypatch.setattr(shard_files, "program_vertex_table", lambda *given: there.take(given[2]))
    bound = Trips(source=0, since=days[1])
    compiled: Any = compiled_program(bound, "exact")
    first_day = dt.date(1970, 1, 1)
    stored, parameters = WrittenShards(tmp_path, rows), (0, (days[1] - first_day).days)
    edges = [
        (row["src"], row["dst"], {**row, "day": (row["day"] - first_day).days}) for row in rows
    ]
    given = [{"town": town} for town in towns]
    expected, _ = run(bound.program, {"source": 0, "since": days[1]}, 11, edges, given=given)

    def go(mesh: Sockets) -> np.ndarray:
        given: Any = stored, None, compiled.needed, mesh.size, mesh.rank, 1
        opened = OpenedShards(*given)
        graph, data = opened.local(bound.program)
        exchange = MirrorExchange(graph, mesh)
        steps = Supersteps(bound.program, parameters, graph, exchange, data)
        found = np.full(11, np.nan)
        states = steps.run(graph.version(np.ones(1, np.bool_)))
        found[graph.own] = steps.values(states)["spent"]
        return found

    for tasks in (1, 3):
        with ThreadPoolExecutor(tasks) as pool:
            found = np.fmin.reduce(list(pool.map(go, meshes(tasks))))
        assert found.tolist() == expected["spent"]
    rows[7]["day"] = None
    stored = WrittenShards(tmp_path, rows)
    with pytest.raises(InputError, match="edge property 'day', which is missing") as told:
        go(meshes(1)[0])
    ends = f"the vertices of the numbers {rows[7]['src']} and {rows[7]['dst']}"
    assert ends in str(told.value.where)
