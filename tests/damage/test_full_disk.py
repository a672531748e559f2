"""Without room on the disk: a clear error, nothing half-written, and what was there stays.

Files are made to fail by a limit on their size, and writes to fail one after the other by a disk
that is full from the n-th time on that something is brought to it.
"""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.algorithms import WCC
from graphtide.model.errors import FullDiskError, StoreError
from tests.damage.small_store import write_store
from tests.scenario.commands import graphtide


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("full") / "store"
    write_store(root)
    gt.session(root, progress=False).results("years-WCC").summary()
    return root


@pytest.fixture
def root(written: Path, tmp_path: Path) -> Path:
    return shutil.copytree(written, tmp_path / "store")


def session(root: Path) -> gt.Session:
    return gt.session(root, progress=False)


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """No file can grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class DiskThatFills:
    """`os.fsync` that fails from the n-th call on."""

    def __init__(self, after: int, error: int = errno.ENOSPC) -> None:
        self.left = after
        self._error = error
        self._sync = os.fsync

    def __call__(self, descriptor: int) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(self._error, os.strerror(self._error))
        self._sync(descriptor)


def whole(root: Path) -> bool:
    return set(session(root).check().column("state").to_pylist()) == {"ok"}


def values(run: gt.Run) -> dict[str, Any]:
    return run.to_arrow().to_pydict()


@pytest.mark.parametrize("size", [0, 400, 1200])
def test_a_run_whose_files_cannot_be_written(root: Path, size: int) -> None:
    """The earlier run of that name is replaced when the new one has begun, not before."""
    before = values(session(root).results("years-WCC"))
    with files_up_to(size), pytest.raises(FullDiskError, match="cannot be written: File too large"):
        session(root).collection("years").run(WCC)
    assert whole(root)
    assert values(session(root).results("years-WCC")) == before


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_disk_that_fills_during_a_run(
    root: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    expected = values(session(root).results("years-WCC"))
    kind = StoreError if error == errno.EROFS else FullDiskError
    for after in count(0, 1 if error == errno.ENOSPC else 4):
        disk = DiskThatFills(after, error)
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", disk)
            try:
                session(root).collection("years").run(WCC)
                break
            except kind:
                pass
        assert whole(root)
        found = session(root).results("years-WCC")
        if found.finished:
            assert values(found) == expected
    assert after > 5
    assert values(session(root).results("years-WCC")) == expected


def test_a_disk_that_fills_while_everything_is_replaced(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for after in count(0, 29):
        root = shutil.copytree(written, tmp_path / f"store-{after}")
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", DiskThatFills(after))
            try:
                write_store(root)
                break
            except FullDiskError:
                pass
        assert whole(root)
    assert after > 50


def test_deleting_needs_no_room(root: Path) -> None:
    with files_up_to(0):
        for statement in ("delete graph Calls", "delete collection years", "delete view early"):
            session(root).execute(statement)
        session(root).delete_run("years-WCC")
    assert not [path for path in root.rglob("*") if path.is_file()]


Exporter = Callable[[gt.Session, Path], Any]
EXPORTERS: dict[str, Exporter] = {
    "to_csv": lambda s, path: s.results("years-WCC").to_csv(path / "out.csv"),
    "picture": lambda s, path: s.collection("years").picture(path / "out.png"),
    "picture of a run": lambda s, path: s.results("years-WCC").picture(path / "out.svg"),
    "graph": lambda s, path: s.execute(f"use graph Calls; save graph to '{path}'"),
    "collection": lambda s, path: s.execute(f"save cube years to '{path}' 1 true"),
    "copy": lambda s, path: s.execute(f"use graph Calls; serialize to '{path / 'copy'}'"),
}


@pytest.mark.parametrize("name", EXPORTERS)
def test_exports_are_whole_or_not_there(root: Path, tmp_path: Path, name: str) -> None:
    export, target = EXPORTERS[name], tmp_path / "exports"
    target.mkdir()
    with files_up_to(100), pytest.raises(FullDiskError, match="cannot be written: File too large"):
        export(session(root), target)
    assert list(target.iterdir()) == []
    export(session(root), target)
    complete = {path: path.stat().st_size for path in target.rglob("*") if path.is_file()}
    assert complete
    with files_up_to(100), pytest.raises(FullDiskError):
        export(session(root), target)
    left = {path: path.stat().st_size for path in target.rglob("*") if path.is_file()}
    assert left == complete


@pytest.mark.parametrize(
    "command",
    [
        ("show", "years", "--view", "upto-2003", "--csv"),
        ("show", "Calls", "--parquet"),
        ("results", "years-WCC", "--values", "--csv"),
        ("results", "years-WCC", "--values", "--parquet"),
        ("results", "years-WCC", "--record", "--csv"),
    ],
    ids=" ".join,
)
def test_commands_write_whole_files_or_none(
    root: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "exports").mkdir()
    with files_up_to(64):
        result = graphtide(*command, tmp_path / "exports" / "out", "--data", root)
    assert result.exit_code == 1
    assert "cannot be written: File too large" in result.stderr
    assert list((tmp_path / "exports").iterdir()) == []


def test_pipes_and_devices_are_written_to_as_they_are(root: Path, tmp_path: Path) -> None:
    """A file renamed into the place of /dev/null would be the end of the machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        session(root).results("years-WCC").to_csv(pipe)
        assert reader.stdout is not None
        text = reader.stdout.read().decode()
    assert text == session(root).results("years-WCC").to_csv(tmp_path / "file").read_text()
    assert pipe.is_fifo()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")
    session(root).results("years-WCC").to_csv(link)
    assert link.is_symlink()


@pytest.mark.parametrize("folder", ["/proc/graphtide", "/dev/null/graphtide", "/proc/self/fd/x/y"])
def test_folders_that_cannot_be_made_are_told_at_once(folder: str) -> None:
    with pytest.raises(StoreError, match="nothing can be stored here"):
        gt.session(folder, progress=False).load("a", edges=[(1, 2)])
