"""The documentation is executed: every example runs, and prints what the page says it prints."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scenario.pages import ROOT, Example, comparable, examples, pages, run

COMPILED = ("docs/reference/queries.md",)
PAGES = {str(path.relative_to(ROOT)): path for path in pages()}
_SESSION = re.compile(r"\bsession\(|spark")
_LINK = re.compile(r"\]\(([^)#\s]+)?(?:#([^)\s]+))?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def pages_with_examples() -> Iterator[Any]:
    """Pages that start Spark run compiled, as users run them; so does one that is slow otherwise.

    The others have programs of their own, and run with interpreted kernels.
    """
    for name, path in PAGES.items():
        if found := examples(path):
            usual = () if name in COMPILED else pytest.mark.interpreted
            yield pytest.param(name, marks=pytest.mark.spark if starts_spark(found) else usual)


def starts_spark(found: list[Example]) -> bool:
    return any(item.language == "sh" or _SESSION.search(item.code) for item in found)


@pytest.mark.parametrize("name", list(pages_with_examples()))
def test_examples_run(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if starts_spark(examples(PAGES[name])):
        request.getfixturevalue("spark")
    monkeypatch.chdir(tmp_path)
    for example, printed in run(PAGES[name]):
        if example.printed is not None:
            place = f"{name}, line {example.line}"
            expected = comparable(example.printed, tmp_path)
            assert comparable(printed, tmp_path) == expected, place


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    page = PAGES[name]
    for target, heading in _LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path = page.parent / target if target else page
        assert path.exists(), f"{name} links to {target}, which is not there"
        if heading:
            titles = _HEADING.findall(path.read_text(encoding="utf-8"))
            assert heading in map(_anchor, titles), f"{target} has no heading #{heading}"


def test_the_first_page_leads_to_every_other() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {index.parent / target for target, _ in _LINK.findall(index.read_text()) if target}
    others = {name: path for name, path in PAGES.items() if path not in (ROOT / "README.md", index)}
    assert [name for name, path in others.items() if path not in linked] == []


@pytest.mark.spark  # What it reads imports Spark.
def test_the_page_of_docstrings_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools" / "reference.py"), "--check"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def _anchor(title: str) -> str:
    """A heading as the pages that show Markdown name it in addresses."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
