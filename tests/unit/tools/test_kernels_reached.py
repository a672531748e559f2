"""Whoever says that tests enter every kernel must notice one that they do not enter."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tools import kernels_reached

ROOT = Path(__file__).parents[3]


def told(folder: Path, names: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    (folder / "1.txt").write_text("\n".join(names[::2]), "utf-8")
    (folder / "2.txt").write_text("\n".join(names[1::2]), "utf-8")
    monkeypatch.setattr(sys, "argv", ["kernels_reached.py", str(folder)])
    return kernels_reached.main()


def test_a_kernel_that_nobody_entered_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = dict(kernels_reached.kernels())
    assert told(tmp_path, list(names.values()), monkeypatch) == 0
    del names["kernels.graph.flips.flip_few"]
    assert told(tmp_path, list(names.values()), monkeypatch) == 1
    assert capsys.readouterr().err == "no interpreted test enters kernels.graph.flips.flip_few\n"


def test_kernels_are_known_by_name_and_by_what_they_do(tmp_path: Path) -> None:
    for folder, body in (("kernels", "a + 1"), ("engine/templates", "a + 1")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "some.py").write_text(
            f"@inner_kernel\ndef add(a):\n    return {body}\n\n\ndef plain(a):\n    return a\n"
            "# program section: begin\n@kernel\ndef sample(a):\n    return a\n"
            "# program section: end\n"
        )
    one, other = kernels_reached.kernels(tmp_path)
    assert (one[0], other[0]) == ("kernels.some.add", "engine.templates.some.add")
    assert one[1] == other[1], "a function of a generated module is known by that of its template"


def test_what_is_interpreted_is_among_the_tests_that_are_run_so() -> None:
    """A test with the mark in any other file would be run by nobody."""
    (listed,) = re.findall(r"^KERNELS := ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.M)
    prefix = "tests/scenario/test_"
    places = [
        word if word.startswith("tests/") else prefix + word
        for word in re.findall(r"[\w/]+(?:\.py)?", listed.replace("addprefix " + prefix, ""))
    ]
    marked = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"mark\.interpreted\b|few_compiled\(", path.read_text("utf-8"))
    ]
    assert len(marked) > 10
    assert [name for name in marked if not name.startswith(tuple(places))] == []
