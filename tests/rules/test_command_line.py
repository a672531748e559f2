"""`graphtide run rules.dl`: facts from files, answers as tables or files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.commands import graphtide, objects

TEXT = """
.decl edge(x: number, y: symbol)
.input edge
.decl seen(y: symbol)
seen(y) :- edge(_, y).
.output seen
.printsize seen
?- edge(2, y).
?- seen("z").
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "edge.facts").write_text("1\ta\n2\tb\n2\ta\n")
    path = tmp_path / "rules.dl"
    path.write_text(TEXT)
    return path


def test_answers_are_printed(rules: Path) -> None:
    result = graphtide("run", rules, "--facts", rules.parent / "facts", "--json")
    assert [item["text"] for item in objects(result)] == [
        "seen: 2 facts",
        "seen: 2 facts",
        "?- edge(2, y): 2 answers",
        '?- seen("z"): no',
    ]
    assert objects(result)[0]["table"] == [{"y": "a"}, {"y": "b"}]


def test_relations_are_written(rules: Path, tmp_path: Path) -> None:
    graphtide("run", rules, "-F", rules.parent / "facts", "-D", tmp_path / "out")
    assert (tmp_path / "out" / "seen.csv").read_text() == "a\nb\n"


def test_symbols_that_no_line_can_hold_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rules.dl"
    for symbol, settings in ("a\\tb", ""), ("a\\nb", ""), ("a;b", '(delimiter=";")'):
        path.write_text(f'.decl t(x: symbol) t("{symbol}"). .output t{settings}')
        result = graphtide("run", path, "-D", tmp_path / "out")
        assert result.exit_code == 1
        assert "a line cannot hold a fact of t" in result.stderr
        assert not (tmp_path / "out").exists()
    path.write_text('.decl t(x: symbol) t("a"). .output t(delimiter="")')
    assert "a delimiter has a character at least" in graphtide("run", path, "-D", tmp_path).stderr


def test_facts_that_are_not_there_are_named(rules: Path) -> None:
    result = graphtide("run", rules, "--facts", rules.parent)
    assert result.exit_code == 1
    assert "cannot read the facts of edge" in result.stderr


def test_a_script_of_gvdl_takes_no_facts(tmp_path: Path) -> None:
    result = graphtide("run", "-e", "use graph G", "--facts", tmp_path)
    assert result.exit_code == 2
