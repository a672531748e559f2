"""The figures of the house are counted, not guessed."""

from __future__ import annotations

import pytest

from tools.house import ROOT, SRC, counts, print_docstrings


def test_counts_add_up() -> None:
    figures = counts()
    files = list(SRC.rglob("*.py"))
    assert figures["modules"] == len(files)
    assert figures["lines"] == sum(len(path.read_text().splitlines()) for path in files)
    kinds = ("code", "docstrings", "imports", "blank")
    assert figures["lines"] == sum(figures[kind] for kind in kinds)
    assert figures["short functions"] < figures["functions"]
    rows = (ROOT / "CONTRIBUTING.md").read_text().count("\n| ")
    assert rows >= figures["glossary words"] > 20


def test_the_same_seed_draws_the_same_docstrings(capsys: pytest.CaptureFixture[str]) -> None:
    print_docstrings(5, seed=3)
    first = capsys.readouterr().out
    print_docstrings(5, seed=3)
    assert capsys.readouterr().out == first
    assert first.count(".py: ") == 5
