"""What notebooks and pytest show of an error: the lines of the user's, and what it says."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.model.errors import InputError, LanguageError

CELL = """def rank(graph):
    return graph.maintain(gt.algorithms.ShortestPaths(source="a"))

rank(gt.Graph(["a"], ["b"]))
"""


def test_a_notebook_shows_the_lines_of_its_cells_and_none_of_ours() -> None:
    file = "/tmp/ipykernel_17/1234.py"
    linecache.cache[file] = (len(CELL), None, CELL.splitlines(keepends=True), file)
    names: dict[str, Any] = {"gt": gt}
    with pytest.raises(InputError) as caught:
        exec(compile(CELL, file, "exec"), names)
    shown = caught.value._render_traceback_()
    assert shown[-5:-3] == [
        'this cell, line 4: rank(gt.Graph(["a"], ["b"]))',
        'this cell, line 2: return graph.maintain(gt.algorithms.ShortestPaths(source="a"))',
    ]
    assert shown[-3] == ""
    assert shown[-2].startswith("InputError: ShortestPaths reads the edge property 'weight'")
    assert shown[-1].startswith("  try: ")
    assert "site-packages" not in "".join(shown)
    assert "src/graphtide" not in "".join(shown)


def test_pytest_shows_the_test_and_none_of_our_frames(tmp_path: Path) -> None:
    test = tmp_path / "test_own.py"
    test.write_text(
        "import graphtide as gt\n"
        "def test_own():\n"
        "    gt.nga('Vertex (a: lnog)')\n"
        "def test_ours():\n"
        "    from graphtide.lang.nga.parse import parse_program\n"
        "    parse_program(3)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    done = subprocess.run([*command, str(test)], capture_output=True, text=True, check=False)
    one, other = done.stdout.split("_ test_ours _")
    assert "there is no type 'lnog'" in one
    assert "gt.nga(" in one
    assert "src/graphtide" not in one
    # An error that is none of ours is a mistake of ours, and shows where.
    assert "src/graphtide" in other


def test_a_mistake_in_a_cell_stands_in_this_cell() -> None:
    file = "/tmp/ipykernel_17/99.py"
    text = "@gt.program\nclass P:\n    def update(self, v): v.x = 1\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    with pytest.raises(LanguageError) as caught:
        exec(compile(text, file, "exec"), {"gt": gt})
    assert (caught.value.where or "").startswith("this cell, line 2")
