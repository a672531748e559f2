"""Live graphs that die at every operation of the disk, meet a full disk, changed bits, each other.

Whatever happens: the graph of before the batch or after it, and given again under its id, the batch
is applied once.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.model import disk
from graphtide.model.errors import DamagedError, FullDiskError, StoreError
from graphtide.store.commit import LOCK
from tests.damage.test_appends import Death
from tests.live.graphs import begun, check, graph_of, leave, rows_of
from tests.oracle.live_graph import EdgeList, Row, given, random_batch

# About disks rather than kernels: once is enough.
pytestmark = pytest.mark.interpreted

FEWER = 1 if "GRAPHTIDE_CAMPAIGN" in os.environ else 3
"""The campaign dies at every operation, other runs at every third one of long acts."""
UNCOUNTED = {"open", "read", "list", "stat", "close", "lock"}


class DyingDisk:
    """Lets so many operations happen; every later one is the death of its caller.

    Of the one that he dies at, a write has happened by half, unless it is of a few bytes.
    """

    def __init__(self, patch: pytest.MonkeyPatch, operations: int) -> None:
        self.left = operations
        patch.setattr(disk, "hook", self)

    def __call__(self, call: disk.SystemCall, make: Callable[[], Any]) -> Any:
        tables = call.operation == "write" and call.path.suffix == ".parquet"
        if call.operation in UNCOUNTED or call.path.name == LOCK or tables:
            return make()
        self.left -= 1
        if self.left == -1 and call.operation == "write" and len(call.given[1]) > 16:
            os.pwrite(call.given[0], call.given[1][: len(call.given[1]) // 2], call.given[2])
        if self.left < 0:
            raise Death
        return make()


Act = Callable[[gt.LiveGraph, dict[str, Any]], None]


def advance(graph: gt.LiveGraph, batch: dict[str, Any]) -> None:
    graph.advance(**batch, id="it")


def advance_many(graph: gt.LiveGraph, batch: dict[str, Any]) -> None:
    graph.advance_all([{**batch, "id": "it"}, {}, {}])


def advance_and_checkpoint(graph: gt.LiveGraph, batch: dict[str, Any]) -> None:
    graph.advance(**batch, id="it")
    graph.checkpoint()


def advance_and_compact(graph: gt.LiveGraph, batch: dict[str, Any]) -> None:
    graph.advance(**batch, id="it")
    graph.compact()
    graph.checkpoint()


def written(folder: Path) -> EdgeList:
    """A live graph with checkpoints, a compaction and a log behind it."""
    graph, known = begun(folder)
    pick = random.Random(5)
    for step in range(12):
        batch = random_batch(pick, known)
        graph.advance(**given(batch))
        known.advance(**batch)
        if step in (3, 8):
            graph.checkpoint()
        if step == 6:
            graph.compact()
    graph.close()
    return known


def changed(known: EdgeList) -> dict[str, Any]:
    return {"insert": [(3, 77, 0.5, "a"), (1, 1, 1.0, "b")], "delete": [known.rows[0]]}


@pytest.mark.parametrize(
    "act", [advance, advance_many, advance_and_checkpoint, advance_and_compact]
)
def test_dead_at_every_operation_nothing_is_lost_and_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Act
) -> None:
    before = written(tmp_path / "begun")
    batch = changed(before)
    reached = set()
    for operations in count(step=1 if act is advance else FEWER):
        folder = shutil.copytree(tmp_path / "begun", tmp_path / f"g{operations}")
        graph = gt.live(folder)
        with monkeypatch.context() as patch:
            dying = DyingDisk(patch, operations)
            with suppress(Death):
                act(graph, given(batch))
        leave(graph)
        known = EdgeList(before.rows)
        known.vertices, known.version = set(before.vertices), before.version
        graph = gt.live(folder)
        done = graph.applied("it")
        reached.add(done)
        if done:
            known.advance(**batch)
            known.version = graph.version
        check(graph, known)
        graph.advance(**given(batch), id="it")
        if not done:
            known.advance(**batch)
        check(graph, known)
        leave(graph)
        check(gt.live(folder, readonly=True), known)
        shutil.rmtree(folder)
        if dying.left >= 0:
            break
    assert reached == {False, True}


def test_dead_at_every_operation_of_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for operations in count():
        folder = tmp_path / f"g{operations}"
        with monkeypatch.context() as patch:
            dying = DyingDisk(patch, operations)
            with suppress(Death):
                begun(folder)[0].close()
        graph, known = begun(folder)
        check(graph, known)
        graph.close()
        if dying.left >= 0:
            break
    assert operations > 8


def test_dead_at_every_operation_of_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = written(tmp_path / "g")
    last = sorted((tmp_path / "g" / "log").iterdir())[-1]
    with open(last, "ab") as file:
        file.write(b"\xf5frm and no more")
    for operations in count():
        with monkeypatch.context() as patch:
            dying = DyingDisk(patch, operations)
            with suppress(Death):
                gt.live(tmp_path / "g").close()
        if dying.left >= 0:
            break
    check(gt.live(tmp_path / "g"), known)


@pytest.mark.parametrize("name", ["fdatasync", "pwrite", "fsync"])
def test_a_full_disk_leaves_the_last_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    graph, known = begun(tmp_path / "g")
    hops = graph.register("hops", gt.algorithms.BFS(source=0))
    batch = {"insert": [(3, 77, 0.5, "a"), known.rows[0]], "delete": known.rows[:1]}
    real = getattr(os, name)
    failures = 0
    for after in count():
        left = after

        def limited(*args: Any) -> Any:
            nonlocal left
            left -= 1
            if left == -1:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*args)

        with monkeypatch.context() as patch:
            patch.setattr(os, name, limited)
            try:
                graph.advance(**given(batch), id=str(after))
                known.advance(**batch)
                graph.checkpoint()
            except FullDiskError:
                failures += 1
        check(graph, known)
        hops.verify()
        if left >= 0:
            break
    assert failures
    leave(graph)
    check(gt.live(tmp_path / "g"), known)


def test_what_cannot_be_registered_is_not_kept_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, known = begun(tmp_path / "g")

    def full(*args: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = list(graph._followers.all())
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(FullDiskError):
            graph.register("hops", gt.algorithms.BFS(source=0))
        with pytest.raises(FullDiskError):
            graph.query("far", gt.queries.Reach(0))
    assert graph.registered() == []
    assert not graph.queries
    assert [item for item in graph._followers.all() if item is not graph._asked] == before
    check(graph, known)


def test_where_not_even_taking_back_works_nothing_is_written_before_the_disk_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, known = begun(tmp_path / "g")

    def broken(*args: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", broken)
        with pytest.raises(StoreError, match="Input/output error"):
            graph.advance(insert=[(1, 2, 1.0, "b")])
        with pytest.raises(StoreError, match="mend the disk: what was given last is refused"):
            graph.advance(insert=[(1, 2, 1.0, "b")])
    check(graph, known)
    insert: list[Row] = [(1, 2, 2.0, "c")]
    graph.advance(insert=insert)
    known.advance(insert=insert)
    leave(graph)
    check(gt.live(tmp_path / "g"), known)


def test_every_flipped_bit_of_the_log_is_told(tmp_path: Path) -> None:
    known = written(tmp_path / "g")
    (last,) = sorted((tmp_path / "g" / "log").iterdir())[-1:]
    data = last.read_bytes()
    for place in range(0, len(data), 4 * FEWER - 1):
        for bit in (1, 128):
            broken = bytearray(data)
            broken[place] ^= bit
            last.write_bytes(broken)
            with pytest.raises(DamagedError, match="the log of the live graph 'g' is damaged"):
                gt.live(tmp_path / "g")
    last.write_bytes(data)
    check(gt.live(tmp_path / "g"), known)


def test_a_log_that_was_cut_short_or_lost_is_told(tmp_path: Path) -> None:
    known = written(tmp_path / "g")
    last = sorted((tmp_path / "g" / "log").iterdir())[-1]
    data = last.read_bytes()
    for length in range(0, len(data), 7):
        last.write_bytes(data[:length])
        with pytest.raises(DamagedError, match=r"is cut short|has changed"):
            gt.live(tmp_path / "g")
    last.unlink()
    with pytest.raises(DamagedError, match=r"what follows it is gone|has lost the records"):
        gt.live(tmp_path / "g")
    last.write_bytes(data + b"torn")
    check(gt.live(tmp_path / "g"), known)
    assert last.read_bytes()[20:] == data[20:]


WRITER = """
import sys
import graphtide as gt
from graphtide.run.durable import live_store
live_store.LOG_BYTES = 20_000
live_store._FEW_GONE = 50
with gt.live(sys.argv[1]) as graph:
    for number in range(graph.version, graph.version + 2000):
        gone = [(number - 1, number, 1.0)] * 2 if number else None
        graph.advance(insert=[(number, number + 1, 1.0, "b")] * 3, delete=gone, id=str(number))
        print(graph.version, flush=True)
"""


def start_writer(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def stop(process: subprocess.Popen[str]) -> int:
    """Kill a writer; the last version that it said."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    said = max([0, *(int(line) for line in process.stdout if line.strip())])
    process.stdout.close()
    return said


def check_rounds(graph: gt.LiveGraph) -> None:
    """Round n adds three edges from n, and takes two of those from n - 1 away."""
    last = graph.version - 1
    sources = Counter(row[0] for row in rows_of(graph.edges()))
    assert sources == {number: 1 + 2 * (number == last) for number in range(last + 1)}


def test_killed_at_any_moment(tmp_path: Path) -> None:
    gt.live(tmp_path / "g", graph_of([])).close()
    for _ in range(3):
        process = start_writer(tmp_path / "g")
        time.sleep(random.random())
        said = stop(process)
        with gt.live(tmp_path / "g") as graph:
            # A round may be committed before the writer came to say so.
            assert said <= graph.version <= said + 1 or not said
            check_rounds(graph)
            graph.advance(id=str(graph.version - 1))
            check_rounds(graph)


def test_readers_see_whole_versions_while_a_writer_writes(tmp_path: Path) -> None:
    gt.live(tmp_path / "g", graph_of([])).close()
    process = start_writer(tmp_path / "g")
    reader = gt.live(tmp_path / "g", readonly=True)
    versions = set()
    for _ in range(20):
        check_rounds(reader)
        versions.add(reader.refresh())
        fresh = gt.live(tmp_path / "g", readonly=True)
        check_rounds(fresh)
        assert fresh.version >= reader.version
        time.sleep(0.01)
    stop(process)
    assert len(versions) > 1
