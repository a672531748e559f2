"""Which folders are trusted with code."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphtide.model import machine
from graphtide.model.machine import cache_folder_for, cache_root


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process that has said nothing yet, and temporary files of its own."""
    kept = (machine._said, machine._private_folder, machine._private_subfolder)
    for item in kept:
        item.cache_clear()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("GRAPHTIDE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    yield
    for item in kept:
        item.cache_clear()


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def test_folders_are_made_for_the_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert cache_root() == tmp_path / "home" / "graphtide"
        assert cache_folder_for("kernels") == tmp_path / "home" / "graphtide" / "kernels"
    finally:
        os.umask(before)
    for part in ("home", "home/graphtide", "home/graphtide/kernels"):
        assert mode(tmp_path / part) == 0o700


@pytest.mark.parametrize("open_to", [0o002, 0o020])
@pytest.mark.parametrize("at", ["home", "home/graphtide", "home/graphtide/kernels"])
def test_a_folder_that_others_may_write_is_not_used(
    tmp_path: Path, at: str, open_to: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home/graphtide/kernels").mkdir(parents=True)
    (tmp_path / at).chmod(0o755 | open_to)
    os.chown(tmp_path / at, -1, os.getgid())
    if open_to == 0o020 and machine._is_group_of_one(os.getgid()):
        assert cache_folder_for("kernels") == tmp_path / "home/graphtide/kernels"
        return
    folder = cache_folder_for("kernels")
    assert folder == tmp_path / f"graphtide-{os.getuid()}" / "kernels"
    assert mode(folder) == mode(folder.parent) == 0o700
    assert cache_folder_for("kernels") == folder
    said = capsys.readouterr().err
    assert said.count("others may write to") == 1
    assert str(tmp_path / at) in said
    assert "chmod go-w" in said


def test_the_group_of_a_user_alone_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home/graphtide").mkdir(parents=True)
    (tmp_path / "home/graphtide").chmod(0o775)
    monkeypatch.setattr(machine, "_is_group_of_one", lambda group: True)
    assert cache_root() == tmp_path / "home/graphtide"
    monkeypatch.setattr(machine, "_is_group_of_one", lambda group: False)
    assert cache_root() != tmp_path / "home/graphtide"
    assert "others may write" in capsys.readouterr().err


def test_the_sticky_bit_protects_what_is_below(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home").chmod(0o1777)
    assert cache_root() == tmp_path / "home/graphtide"


def test_a_folder_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "chosen").mkdir()
    monkeypatch.setenv("GRAPHTIDE_CACHE", str(tmp_path / "chosen"))
    if os.getuid() == 0:
        os.chown(tmp_path / "chosen", 4242, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 4242)
    assert cache_root() != tmp_path / "chosen"
    assert "belongs to another user" in capsys.readouterr().err


def test_a_link_is_as_good_as_what_it_leads_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "safe").mkdir(mode=0o700)
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    for name in ("safe", "open"):
        (tmp_path / f"to_{name}").symlink_to(tmp_path / name)
    monkeypatch.setenv("GRAPHTIDE_CACHE", str(tmp_path / "to_safe"))
    assert cache_root() == tmp_path / "safe"
    monkeypatch.setenv("GRAPHTIDE_CACHE", str(tmp_path / "to_open"))
    assert cache_root() == tmp_path / f"graphtide-{os.getuid()}"
    assert str(tmp_path / "open") in capsys.readouterr().err


def test_a_chosen_folder_that_cannot_be_made_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRAPHTIDE_CACHE", str(tmp_path / "file" / "cache"))
    assert cache_root() == tmp_path / f"graphtide-{os.getuid()}"
    assert "cannot be used: Not a directory" in capsys.readouterr().err


def test_a_private_folder_that_others_may_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (tmp_path / f"graphtide-{os.getuid()}").mkdir()
    (tmp_path / f"graphtide-{os.getuid()}").chmod(0o777)
    found = cache_root()
    assert found.parent == tmp_path
    assert mode(found) == 0o700
