"""Statements beside their trees and views, as files.

Each `.gvdl` file has a `.txt` file of what it means. To write these anew after a change that is
meant, run with GRAPHTIDE_GOLDEN=write and read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphtide.lang.gvdl.lower import lower_groups, lower_view, lower_views
from graphtide.lang.gvdl.parse import parse_script, parse_statement
from graphtide.lang.gvdl.statements import CreateCollection, CreateGrouped, CreateView, Statement
from graphtide.lang.gvdl.unparse import explain_tree, unparse
from tests.unit.gvdl.conftest import SCHEMA, WrittenFacts

FOLDER = Path(__file__).parent


def describe(statement: Statement) -> str:
    parts = [unparse(statement), "", explain_tree(statement)]
    if isinstance(statement, CreateView):
        view = lower_view(statement, SCHEMA)
        parts += ["", f"{view.name}: {view.predicate}"]
    if isinstance(statement, CreateCollection):
        lowered = lower_views(statement, SCHEMA, WrittenFacts())
        parts.append("")
        for view in lowered.views:
            dropped = " (dropped if empty)" if view.name in lowered.drop_empty else ""
            parts.append(f"{view.name}: {view.predicate}{dropped}")
    if isinstance(statement, CreateGrouped):
        parts += ["", lower_groups(statement, SCHEMA).explain()]
    return "\n".join(parts)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.gvdl")), ids=lambda path: path.stem)
def test_statements_mean_what_the_file_says(path: Path) -> None:
    found = parse_script(path.read_text(encoding="utf-8"))
    text = "\n\n----\n\n".join(map(describe, found)) + "\n"
    golden = path.with_suffix(".txt")
    if os.environ.get("GRAPHTIDE_GOLDEN") == "write":
        golden.write_text(text, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == text
    assert tuple(parse_statement(unparse(statement)) for statement in found) == found
