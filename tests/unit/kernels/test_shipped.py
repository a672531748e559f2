"""Machine code that a wheel brings is used where it fits, and left alone where it does not."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import pytest

from graphtide.kernels.compiling import keeping


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    monkeypatch.setattr(keeping, "FOLDER", tmp_path)
    keeping.shipped_code.cache_clear()
    yield {
        "kernels": "these",
        "numba": numba.__version__,
        "python": list(sys.version_info[:2]),
        "magic": [llvm.get_process_triple(), "some-baseline", ""],
        "needs": [],
    }
    keeping.shipped_code.cache_clear()


def write(folder: Path, told: object) -> None:
    (folder / keeping.MANIFEST).write_text(json.dumps(told))


def test_what_fits_is_used(tmp_path: Path, manifest: dict[str, Any]) -> None:
    write(tmp_path, manifest)
    found = keeping.shipped_code("these")
    assert found == (tmp_path, (llvm.get_process_triple(), "some-baseline", ""))


@pytest.mark.parametrize(
    "other",
    [
        {"kernels": "others"},
        {"numba": "0.0"},
        {"python": [2, 7]},
        {"magic": ["sparc-sun-solaris", "some-baseline", ""]},
        {"needs": ["a-feature-that-nothing-has"]},
    ],
    ids=lambda other: next(iter(other)),
)
def test_what_does_not_fit_is_left_alone(
    tmp_path: Path, manifest: dict[str, Any], other: dict[str, Any]
) -> None:
    write(tmp_path, {**manifest, **other})
    assert keeping.shipped_code("these") is None


def test_without_a_manifest_nothing_is_brought(tmp_path: Path, manifest: dict[str, Any]) -> None:
    assert keeping.shipped_code("these") is None
    (tmp_path / keeping.MANIFEST).write_text("{")
    keeping.shipped_code.cache_clear()
    assert keeping.shipped_code("these") is None
