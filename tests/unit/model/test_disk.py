"""The layer under all files of stores: what it refuses, and that nobody goes round it."""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphtide
from graphtide.model import disk
from graphtide.model.errors import DamagedError, InputError, StoreError
from graphtide.store.commit import begin, locked, open_committed

SOURCE = Path(graphtide.__file__).parent
RAW = re.compile(
    r"\bos\.(open|mkdir|makedirs|rename|replace|unlink|remove|rmdir|link|symlink|fsync|fdatasync"
    r"|pwrite|write|truncate|ftruncate|chmod|listdir|scandir)\(|(?<![\w.])(?<!def )open\(|\.mkdir\("
    r"|\.rmdir\(|\.touch\(|\.unlink\(|\.write_(bytes|text)\(|\.read_(bytes|text)\(|\brmtree\("
    r"|\.iterdir\(|\bpath\w*\.(rename|replace)\(|shutil\.|\.tofile\(|np\.(fromfile|memmap|save|load)\("
)
ELSEWHERE = {
    "store/whole_files.py": "files that users name, for other programs",
    "run/durable/registrations.py": "a temporary file of its own",
    "run/streams/feeds.py": "what Spark has written",
}


def test_nobody_goes_round_the_layer() -> None:
    found = []
    for package in ("store", "run/durable", "run/streams"):
        for path in sorted((SOURCE / package).glob("*.py")):
            if path.relative_to(SOURCE).as_posix() in ELSEWHERE:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if RAW.search(line) and "disk." not in line:
                    found.append(f"{path.name}:{number}: {line.strip()}")
    assert not found, "use graphtide.model.disk: " + "; ".join(found)


@pytest.mark.parametrize(
    "name",
    [
        *("", "/etc/passwd", "..", "a/../../b", "a//b", "a/", "./a", "a/.", "a\0b", "a\\b"),
        *("a\nb", "x" * 256, "\udc80", 7, None),
    ],
)
def test_names_that_lead_out_of_a_store_are_refused(tmp_path: Path, name: object) -> None:
    with pytest.raises(DamagedError, match="cannot be a file of a store"):
        disk.below(tmp_path, name)


def test_no_link_is_on_the_way_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    assert disk.below(tmp_path, "in/é ü.parquet") == tmp_path / "in" / "é ü.parquet"
    (tmp_path / "out").symlink_to("/")
    (tmp_path / "in" / "file").symlink_to("/etc/hostname")
    for name in ("out/etc/hostname", "in/file"):
        with pytest.raises(DamagedError, match="is a link"):
            disk.below(tmp_path, name)


def test_what_is_no_file_is_not_read_and_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/hostname")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for name in ("pipe", "link", "folder", "socket"):
            for write in (False, True):
                with pytest.raises(disk.NotAFileError, match=f"'{name}' is a {name}"):
                    disk.open_file(tmp_path / name, write=write)


def test_what_is_written_goes_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("kept")
    for make in (
        lambda path: disk.write_synced(path, b"ours"),
        lambda path: disk.copy_file(tmp_path / "theirs", path),
        disk.touch,
    ):
        (tmp_path / "file").symlink_to("theirs")
        make(tmp_path / "file")
        assert (tmp_path / "theirs").read_text() == "kept"
        (tmp_path / "file").unlink()
    (tmp_path / "folder").symlink_to(tmp_path)
    with pytest.raises(disk.NotAFileError, match="is a link"):
        disk.make_folder(tmp_path / "folder", there=True)


def test_a_lock_that_is_a_link_is_refused_and_its_target_stays(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("kept")
    places = []
    for name, make in (("soft", os.symlink), ("hard", os.link)):
        (tmp_path / name).mkdir()
        make(tmp_path / "theirs", tmp_path / name / "LOCK")
        places.append(tmp_path / name)
    os.mkfifo((tmp_path / "soft" / "LOCK").with_name("pipe"))
    for place in places:
        with (
            pytest.raises(DamagedError, match="LOCK"),
            locked(place, "the graph 'g'", lambda folder: None),
        ):
            pass
        assert (tmp_path / "theirs").read_text() == "kept"


def test_a_lock_that_is_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "LOCK")
    with (
        pytest.raises(DamagedError, match="is a pipe"),
        locked(tmp_path, "the graph 'g'", lambda folder: None),
    ):
        pass


def written_modes(root: Path) -> set[str]:
    paths = [root, *root.rglob("*")]
    return {
        ("d" if path.is_dir() else "f") + oct(stat.S_IMODE(path.stat().st_mode)) for path in paths
    }


@pytest.mark.parametrize(
    ("setting", "modes"),
    [
        ("", {"f0o600", "d0o700"}),
        ("group", {"f0o660", "d0o770"}),
        ("all", {"f0o664", "d0o775"}),
    ],
)
def test_modes_of_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, modes: set[str]
) -> None:
    monkeypatch.setenv("GRAPHTIDE_SHARED", setting)
    with begin(tmp_path / "root" / "graphs" / "a", replace=True, what="a") as commit:
        (commit.path / "by-spark").write_text("made by others")
        disk.write_synced(commit.path / "by-us", b"made by us")
        commit.finish({})
    assert written_modes(tmp_path / "root") == modes


def test_a_setting_that_is_none_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHTIDE_SHARED", "everybody")
    with pytest.raises(InputError, match="GRAPHTIDE_SHARED cannot be 'everybody'"):
        disk.write_synced(tmp_path / "file", b"")


def test_a_generation_that_is_a_link_is_refused(tmp_path: Path) -> None:
    with begin(tmp_path / "a", replace=True, what="a") as commit:
        commit.finish({})
    (tmp_path / "a" / "g-000001").rename(tmp_path / "elsewhere")
    (tmp_path / "a" / "g-000001").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DamagedError, match="is a link"):
        open_committed(tmp_path / "a")


def test_a_hook_sees_every_call_and_can_make_it_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def note(call: disk.SystemCall, make: Callable[[], Any]) -> Any:
        seen.append((call.operation, call.path.name))
        if call.operation == "sync":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return make()

    monkeypatch.setattr(disk, "hook", note)
    with (
        pytest.raises(StoreError, match="Input/output error"),
        disk.disk_errors("it", tmp_path),
    ):
        disk.write_synced(tmp_path / "file", b"data")
    assert seen == [(name, "file") for name in ("create", "write", "sync", "close")]
