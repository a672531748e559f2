"""Old machine code is removed once a day, and only what nobody has used for a month."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphtide.kernels.jit import DAY, UNUSED, mark_used


def folder(root: Path, name: str, age: float) -> Path:
    made = root / name
    (made / "programs").mkdir(parents=True)
    (made / "programs" / "BFS.py").write_text("initial = 0\n")
    then = time.time() - age
    os.utime(made, (then, then))
    return made


def names(root: Path) -> list[str]:
    return sorted(item.name for item in root.iterdir())


def test_a_new_version_removes_what_is_old(tmp_path: Path) -> None:
    folder(tmp_path, "kernels-old-bounds0", UNUSED + DAY)
    folder(tmp_path, "kernels-recent-bounds0", UNUSED - DAY)
    folder(tmp_path, "kernels-half-bounds0.removed77", 2 * UNUSED)
    folder(tmp_path, "java", 2 * UNUSED)
    (tmp_path / "kernels-file").write_text("")
    os.utime(tmp_path / "kernels-file", (1, 1))
    mark_used(tmp_path / "kernels-present-bounds0")
    assert names(tmp_path) == [
        "java",
        "kernels-file",
        "kernels-present-bounds0",
        "kernels-recent-bounds0",
    ]


def test_what_is_used_stays_however_old(tmp_path: Path) -> None:
    present = folder(tmp_path, "kernels-present-bounds0", 3 * UNUSED)
    mark_used(present)
    assert (present / "programs" / "BFS.py").is_file()
    assert time.time() - present.stat().st_mtime < 60


def test_it_is_looked_for_once_a_day(tmp_path: Path) -> None:
    present = folder(tmp_path, "kernels-present-bounds0", DAY / 2)
    folder(tmp_path, "kernels-old-bounds0", 2 * UNUSED)
    mark_used(present)
    assert "kernels-old-bounds0" in names(tmp_path)
    os.utime(present, (1, 1))
    mark_used(present)
    assert names(tmp_path) == ["kernels-present-bounds0"]


def test_a_link_is_left_alone(tmp_path: Path) -> None:
    elsewhere = folder(tmp_path / "elsewhere", "kernels-old-bounds0", 2 * UNUSED)
    root = tmp_path / "root"
    root.mkdir()
    (root / "kernels-link").symlink_to(elsewhere, target_is_directory=True)
    mark_used(root / "kernels-present-bounds0")
    assert (elsewhere / "programs" / "BFS.py").is_file()
    assert (root / "kernels-link").is_symlink()


def test_a_folder_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "not yours")

    old = folder(tmp_path, "kernels-old-bounds0", 2 * UNUSED)
    monkeypatch.setattr(Path, "rename", refuse)
    mark_used(tmp_path / "kernels-present-bounds0")
    monkeypatch.setattr(os, "utime", refuse)
    mark_used(old)
    assert (old / "programs" / "BFS.py").is_file()


@pytest.mark.compiled
def test_a_process_whose_folder_was_removed_goes_on(tmp_path: Path) -> None:
    """As one does that has run for longer than a month, and meets a program for the first time."""
    script = """
import shutil
import graphtide as gt
from graphtide.kernels.jit import cache_folder
assert cache_folder().is_dir()
shutil.rmtree(cache_folder())
graph = gt.Graph(["a", "b"], ["b", "c"])
print(graph.maintain(gt.algorithms.WCC())["component"].tolist())
assert cache_folder().is_dir()
"""
    inherited = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=inherited | {"GRAPHTIDE_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "cache")
