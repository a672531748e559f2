"""`graphtide show` and `delete` on a catalog that is there: no Spark is started."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from graphtide.version import __version__
from tests.scenario.commands import graphtide, objects
from tests.scenario.stored import CALLS, PEOPLE


def test_the_version() -> None:
    result = graphtide("--version")
    assert (result.exit_code, result.stdout) == (0, f"graphtide {__version__}\n")


def test_everything(data: Path) -> None:
    result = graphtide("show", "--data", data)
    assert result.exit_code == 0
    assert "2 graphs" in result.stdout
    assert "1 view" in result.stdout
    assert "1 collection" in result.stdout
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("Calls")]
    assert line.split()[:4] == ["Calls", "3", "60", "0"]


def test_nothing_yet(tmp_path: Path) -> None:
    result = graphtide("show", "--data", tmp_path)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"nothing in {tmp_path} yet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["graphs", "views", "collections"])
def test_one_kind(data: Path, what: str) -> None:
    before = objects(graphtide("--json", "--data", data, "show", what))
    behind = objects(graphtide("show", what, "--json", "--data", data))
    assert before == behind
    (answer,) = before
    names = {"graphs": ["Calls", "Empty"], "views": ["early"], "collections": ["years"]}
    assert [row[what[:-1]] for row in answer["table"]] == names[what]


def test_a_graph_by_name(data: Path) -> None:
    result = graphtide("show", "Calls", "--data", data)
    assert result.stdout.startswith("graph 'Calls': 3 vertices and 60 edges")
    assert ["edge", "year", "int"] in [line.split() for line in result.stdout.splitlines()]


def test_a_collection_in_full_when_piped(data: Path) -> None:
    lines = graphtide("show", "years", "--data", data).stdout.splitlines()
    assert lines[0].startswith("collection 'years' on Calls: 30 views")
    assert "in the given order: 60; best chain: 60; tree: 60" in lines[2]
    assert "no chain can need fewer than 60" in lines[3]
    assert lines[4].split() == ["view", "stone", "edges", "parent", "inserted", "deleted"]
    assert len(lines) == 5 + 30
    assert lines[6].split() == ["upto-2011", "false", "4", "upto-2010", "2", "0"]


def test_the_kind_may_be_said(data: Path) -> None:
    by_name = graphtide("show", "years", "--data", data).stdout
    assert graphtide("show", "collection", "years", "--data", data).stdout == by_name
    wrong = graphtide("show", "graph", "years", "--data", data)
    assert wrong.exit_code == 1
    assert wrong.stderr.startswith("error: there is no graph named 'years'")


def test_a_graph_without_edges(data: Path) -> None:
    result = graphtide("show", "Empty", "--rows", "3", "--data", data)
    assert (result.exit_code, result.stdout) == (0, "graph 'Empty': 0 edges\n")


def test_a_misspelt_name(data: Path) -> None:
    result = graphtide("show", "Cals", "--data", data)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == (
        "error: there is no graph, view or collection named 'Cals'\n"
        f"  at: {data}\n  try: did you mean 'Calls'?\n"
    )


def test_errors_as_json_go_to_standard_output(data: Path) -> None:
    result = graphtide("show", "Cals", "--data", data, "--json")
    assert (result.exit_code, result.stderr) == (1, "")
    (answer,) = objects(result)
    assert answer["error"]["hint"] == "did you mean 'Calls'?"


def test_quiet_prints_errors_only(data: Path) -> None:
    assert graphtide("show", "--data", data, "--quiet").output == ""
    assert graphtide("show", "x", "--data", data, "--quiet").stderr.startswith("error: ")


def expected_rows(up_to: int) -> list[dict[str, object]]:
    ids = [row["id"] for row in PEOPLE]
    return [
        {**row, "src": ids[row["src"]], "dst": ids[row["dst"]]}
        for row in CALLS
        if row["year"] <= up_to
    ]


def test_the_first_edges_of_a_view(data: Path) -> None:
    result = graphtide("show", "years", "--view", "upto-2012", "--rows", "4", "--data", data)
    lines = result.stdout.splitlines()
    assert lines[0] == "view 'upto-2012' of years: 6 edges, the first 4"
    assert lines[1].split() == ["src", "dst", "year", "note"]
    assert lines[2].split() == ["ann", "Zoë", "2010", "null"]
    assert len(lines) == 6


@pytest.mark.parametrize("view", [["years", "--view", "upto-2014"], ["early", "--rows", "99"]])
def test_edges_as_json(data: Path, view: list[str]) -> None:
    (answer,) = objects(graphtide("show", *view, "--rows", "99", "--data", data, "--json"))
    assert answer["table"] == expected_rows(2014)


def test_edges_to_files(data: Path, tmp_path: Path) -> None:
    text, table = tmp_path / "edges.csv", tmp_path / "edges.parquet"
    result = graphtide(
        "show", "years", "--view", "upto-2039", "--csv", text, "--parquet", table, "--data", data
    )
    assert result.exit_code == 0
    assert f"60 edges written to {text}" in result.stdout
    assert pq.read_table(table).to_pylist() == expected_rows(2039)
    with open(text, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["src"] for row in rows] == [row["src"] for row in expected_rows(2039)]
    assert sorted(item.name for item in tmp_path.iterdir()) == [
        "data",
        "edges.csv",
        "edges.parquet",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["years", "--rows", "3"], "name one of them with --view: upto-2010, upto-2011"),
        (["years", "--view", "upto-2050"], "did you mean 'upto-20"),
        (["Calls", "--view", "x"], "'Calls' is a graph"),
        (["early", "--csv", "/nowhere/x.csv"], "there is no folder '/nowhere'"),
    ],
)
def test_edges_that_cannot_be_shown(data: Path, arguments: list[str], said: str) -> None:
    result = graphtide("show", *arguments, "--data", data)
    assert result.exit_code == 1
    assert said in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "--rows", "3"],
        ["show", "graphs", "--csv", "x"],
        ["show", "a", "b"],
        ["show", "--rows", "-1", "Calls"],
        ["run"],
        ["run", "script", "-e", "show graphs;"],
        ["nothing"],
        ["load", "G"],
        ["load", "G", "--edges", "x.csv", "--type", "year"],
        ["delete", "edge", "x"],
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    assert graphtide(*arguments).exit_code == 2


def test_a_view_whose_graph_was_loaded_anew(data: Path) -> None:
    from graphtide.store.catalog import Catalog
    from tests.graphs import write_graph
    from tests.scenario.stored import SCHEMA

    write_graph(Catalog(data), "Calls", SCHEMA, PEOPLE, [])
    result = graphtide("show", "early", "--rows", "1", "--data", data)
    assert result.exit_code == 1
    assert "has been loaded anew" in result.stderr


def test_delete_asks_unless_told_not_to(data: Path) -> None:
    refused = graphtide("delete", "collection", "years", "--data", data)
    assert refused.exit_code == 1
    assert "try: say --yes" in refused.stderr
    wrong = graphtide("delete", "view", "years", "--data", data, "--yes")
    assert "graphtide delete collection years" in wrong.stderr
    done = graphtide("delete", "collection", "years", "--yes", "--data", data)
    assert (done.exit_code, done.stdout) == (0, "collection 'years' is deleted\n")
    assert graphtide("show", "years", "--data", data).exit_code == 1


def program(*arguments: object, **settings: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "graphtide.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, env={**os.environ, **settings}, check=False)


def test_the_program_is_quick_and_starts_no_java(data: Path) -> None:
    began = os.times().children_user
    done = program("show", "--data", data, JAVA_HOME="/nowhere", PATH="/nowhere")
    spent = os.times().children_user - began
    assert done.returncode == 0
    assert b"2 graphs" in done.stdout
    assert spent < 6  # Two on a quiet machine; a Java, or kernels that compile, take ten.


def test_a_terminal_that_knows_ascii_only(data: Path) -> None:
    text = program("show", "Calls", "--rows", "2", "--data", data, PYTHONIOENCODING="ascii")
    assert b"Zo\\xeb" in text.stdout
    parsed = program(
        "show", "Calls", "--rows", "2", "--json", "--data", data, PYTHONIOENCODING="ascii"
    )
    assert b'"Zo\\u00eb"' in parsed.stdout


@pytest.mark.parametrize("json", [[], ["--json"]])
def test_nobody_reads_on(data: Path, json: list[str]) -> None:
    command = [sys.executable, "-m", "graphtide.cli.main", "show", "years", *json]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*command, "--data", str(data)], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
