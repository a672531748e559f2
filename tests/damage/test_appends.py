"""Appends and merges that die, meet a full disk or each other: the last committed state is there.

A writer dies at every operation of the disk in turn. It cleans nothing up then: what it left is met
by the next reader and the next writer.
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

import pyarrow.parquet as pq
import pytest

import graphtide as gt
from graphtide.model.errors import DamagedError, FullDiskError, LockedError
from graphtide.run.append import append
from graphtide.store.commit import begin
from tests.changing import begin_graph, check_rows, check_views, make_views
from tests.damage.kinds import file_damages
from tests.damage.test_full_disk import DiskThatFills
from tests.oracle.changing_graph import ChangingGraph

Change = Callable[[gt.CatalogGraph], None]
SOMETHING: dict[str, Any] = {
    "edges": [{"src": 1, "dst": 2, "year": 2000, "kind": "new"}],
    "delete": [{"src": 5, "dst": 6}],
    "vertices": [{"id": 3, "age": 9}],
    "update": [{"src": 6, "dst": 5, "year": 1999}],
}


class Death(BaseException):
    """Raised where the process would have been killed."""


class DyingDisk:
    """Lets so many operations happen; every later one is the death of its caller."""

    def __init__(self, patch: pytest.MonkeyPatch, operations: int) -> None:
        self.left = operations
        for module, name in (
            (os, "fsync"),
            (os, "link"),
            (os, "mkdir"),
            (os, "rename"),
            (os, "replace"),
            (shutil, "rmtree"),
            (pq, "write_table"),
        ):
            patch.setattr(module, name, self._mortal(getattr(module, name)))

    def _mortal(self, do: Callable[..., Any]) -> Callable[..., Any]:
        def operation(*args: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left < 0:
                raise Death
            return do(*args, **options)

        return operation


def begun(root: Path) -> tuple[gt.CatalogGraph, ChangingGraph]:
    """A graph with two appends behind it, in which all of SOMETHING can be done twice."""
    pick = random.Random(11)
    graph, known = begin_graph(root, pick)
    ends = [(5, 6), (5, 6), (5, 6), (6, 5)]
    edges = [row for row in known.edges if {row["src"], row["dst"]} == {5, 6}]
    for change in (
        {"delete": edges or known.edges[:1], "edges": [{"src": a, "dst": b} for a, b in ends]},
        {"delete": known.edges[-1:], "vertices": [{"id": 4, "city": "Rome"}]},
    ):
        graph.append(**change)
        known.append(**change)
    return graph, known


def append_something(graph: gt.CatalogGraph) -> None:
    graph.append(**SOMETHING)


def merge_all(graph: gt.CatalogGraph) -> None:
    graph.merge(renumber=True)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("appends") / "store"
    begun(root)
    return root


@pytest.mark.parametrize("change", [append_something, merge_all])
def test_killed_at_every_step_the_last_committed_state_opens(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change
) -> None:
    before, after = contents(written), contents(written)
    if change is append_something:
        after.append(**SOMETHING)
    reached = set()
    for operations in count():
        root = shutil.copytree(written, tmp_path / f"store-{operations}")
        graph = opened(root)
        with monkeypatch.context() as patch:
            disk = DyingDisk(patch, operations)
            with suppress(Death):
                change(graph)
        found = opened(root)
        committed = found._stored.identity != graph_identity(written)
        check_rows(found, after if committed else before)
        reached.add(committed)
        if disk.left >= 0:
            break
        if operations % 5 == 0:
            known = contents(root)
            append_something(found)
            known.append(**SOMETHING)
            check_rows(found, known)
            assert not list((root / "graphs" / "g").glob("*.partial"))
    assert operations > 12
    assert reached == {False, True}


def test_a_refresh_killed_at_every_step_leaves_the_collection_of_then_or_of_now(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(append, "is_merge_due", lambda stored: False)
    begun_root = shutil.copytree(written, tmp_path / "begun")
    before, after = contents(begun_root), contents(begun_root)
    make_views(opened(begun_root), "c")
    append_something(opened(begun_root))
    after.append(**SOMETHING)
    reached = set()
    for operations in count():
        root = shutil.copytree(begun_root, tmp_path / f"store-{operations}")
        collection = gt.session(root, progress=False).collection("c")
        with monkeypatch.context() as patch:
            disk = DyingDisk(patch, operations)
            with suppress(Death):
                collection.refresh()
        found = gt.session(root, progress=False).collection("c")
        check_views(found, before if found.stale else after)
        reached.add(found.stale)
        if disk.left >= 0:
            break
    assert reached == {0, 1}
    assert operations > 8


def test_a_disk_that_fills_during_an_append(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = shutil.copytree(written, tmp_path / "store")
    before = contents(root)
    for after in count():
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", DiskThatFills(after, errno.ENOSPC))
            try:
                append_something(opened(root))
                break
            except FullDiskError:
                pass
        if graph_identity(root) != graph_identity(written):
            break
        check_rows(opened(root), before)
    assert after > 5
    before.append(**SOMETHING)
    check_rows(opened(root), before)


def test_an_append_is_done_where_there_is_no_room_to_merge(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = shutil.copytree(written, tmp_path / "store")

    def no_room(*args: Any, **options: Any) -> None:
        raise FullDiskError("no room")

    monkeypatch.setattr(append, "is_merge_due", lambda stored: True)
    monkeypatch.setattr(append, "write_merged", no_room)
    known = contents(root)
    append_something(opened(root))
    known.append(**SOMETHING)
    check_rows(opened(root), known)


def test_files_are_copied_where_they_cannot_be_shared(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = shutil.copytree(written, tmp_path / "store")
    known = contents(root)

    def refuse(*args: Any, **options: Any) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    append_something(opened(root))
    known.append(**SOMETHING)
    check_rows(opened(root), known)


def test_the_second_of_two_writers_is_told(written: Path, tmp_path: Path) -> None:
    root = shutil.copytree(written, tmp_path / "store")
    folder = root / "graphs" / "g"
    with (
        begin(folder, replace=True, what="the graph 'g'"),
        pytest.raises(LockedError, match="is being written by process"),
    ):
        append_something(opened(root))


def test_damage_to_what_was_appended_is_noticed(written: Path, tmp_path: Path) -> None:
    """Every file in every way: the graph as it is, or an error that says what is damaged."""
    expected = contents(written)
    for at, damage in enumerate(file_damages(written)):
        if at % 23:
            continue
        root = shutil.copytree(written, tmp_path / str(at))
        damage.do(root)
        states = set(gt.session(root, progress=False).check().column("state").to_pylist())
        try:
            found = contents(root)
        except DamagedError:
            assert states == {"damaged"}, damage
        else:
            assert found.edges == expected.edges, damage
            assert found.vertices == expected.vertices, damage
        shutil.rmtree(root)


WRITER = """
import sys
import graphtide as gt
graph = gt.session(sys.argv[1], progress=False).graph("g")
for number in range(1000):
    gone = [(1, 2, number - 1, "killed")] if number else None
    graph.append([(1, 2, number, "killed")] * 3, delete=gone)
    print(number, flush=True)
"""


def test_killed_at_any_moment(written: Path, tmp_path: Path) -> None:
    """Round n adds three edges of year n and takes one of year n - 1 away."""
    root = shutil.copytree(written, tmp_path / "store")
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    time.sleep(random.random() * 2)
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    said = max([0, *(int(line) for line in writer.stdout if line.strip())])
    writer.stdout.close()
    rows = [row for row in opened(root).edges().to_pylist() if row["kind"] == "killed"]
    years = Counter(row["year"] for row in rows)
    last = max(years)
    # A round may be committed before the writer came to say so.
    assert said <= last <= said + 1
    assert years == {year: 2 + (year == last) for year in range(last + 1)}


def opened(root: Path) -> gt.CatalogGraph:
    return gt.session(root, progress=False).graph("g")


def contents(root: Path) -> ChangingGraph:
    graph = opened(root)
    return ChangingGraph(graph.vertices().to_pylist(), graph.edges().to_pylist())


def graph_identity(root: Path) -> str:
    return opened(root)._stored.identity
