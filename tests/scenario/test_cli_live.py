"""`graphtide live` and `graphtide query`, as people and programs call them. No Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.lang.python.program_files import programs_of
from tests.scenario.commands import graphtide, objects

EDGES = "src,dst,amount,at\nann,bob,10,1\nbob,cy,25,2\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "start.csv").write_text(EDGES, encoding="utf-8")
    (tmp_path / "new.csv").write_text("src,dst,amount,at\ncy,dan,5,3\n", encoding="utf-8")
    (tmp_path / "gone.csv").write_text("src,dst\nbob,cy\n", encoding="utf-8")
    made = run(tmp_path, "live", "create", "pay", "--edges", tmp_path / "start.csv")
    assert made["text"] == "live graph 'pay' is at version 0: 3 vertices and 2 edges"
    return tmp_path


def run(data: Path, *words: object) -> dict[str, Any]:
    """The one object that a command prints."""
    result = graphtide(*words, "--data", data / "data", "--json")
    (found,) = objects(result)
    assert result.exit_code == ("error" in found)
    return found


def test_edges_without_a_direction_lead_both_ways(data: Path) -> None:
    begun = ("live", "create", "met", "--edges", data / "start.csv", "--undirected")
    assert run(data, *begun)["text"].startswith("undirected live graph 'met' is at version 0")
    asked = run(data, "query", "add", "met", "around cy", "hops 1 from 'cy'")
    assert asked["table"] == [{"id": "bob", "hops": 1.0}, {"id": "cy", "hops": 0.0}]
    (data / "gone.csv").write_text("src,dst\ncy,bob\n", encoding="utf-8")
    gone = run(data, "live", "advance", "met", "--delete", data / "gone.csv")
    assert gone["text"].endswith("version 1: 3 vertices and 1 edge")
    assert run(data, "live", "show", "met")["table"][0]["edges"] == 1


def test_a_graph_goes_on_from_command_to_command(data: Path) -> None:
    asked = run(data, "query", "add", "pay", "ann to dan", "reach from 'ann'")
    assert asked["table"] == [{"id": "ann"}, {"id": "bob"}, {"id": "cy"}]
    batch = ("live", "advance", "pay", "--insert", data / "new.csv", "--id", "one")
    assert run(data, *batch)["text"].endswith("version 1: 4 vertices and 3 edges")
    assert "applied before" in run(data, *batch)["text"]
    run(data, "live", "advance", "pay", "--delete", data / "gone.csv")
    answer = run(data, "query", "answer", "pay", "ann to dan")
    assert answer["table"] == [{"id": "ann"}, {"id": "bob"}]
    listed = run(data, "query", "list")["table"]
    assert [row["asks"] for row in listed] == ["reach from 'ann'"]
    changes = objects(
        graphtide(
            *("query", "changes", "pay", "ann to dan", "--since", 0),
            *("--follow", "--until", 2, "--data", data / "data", "--json"),
        )
    )
    assert [(one["text"], [row["id"] for row in one["table"]]) for one in changes] == [
        ("version 1: 1 change", ["dan"]),
        ("version 2: 2 changes", ["cy", "dan"]),
    ]
    assert "automaton" in run(data, "query", "explain", "pay", "ann to dan")["text"]
    again = ("query", "add", "pay", "ann to dan", "path from 'ann' to 'bob' weight amount")
    assert "there is a query" in run(data, *again)["error"]["what"]
    assert run(data, *again, "--replace")["table"][0]["distance"] == 10
    shown = run(data, "live", "checkpoint", "pay", "--compact")["table"]
    assert shown == run(data, "live", "show")["table"]
    assert (shown[0]["version"], shown[0]["edges"], shown[0]["queries"]) == (2, 2, 1)
    assert "is dropped" in run(data, "query", "drop", "pay", "ann to dan")["text"]
    assert run(data, "query", "list", "pay")["table"] == []


def test_what_a_live_graph_begins_with(data: Path) -> None:
    create = ("live", "create", "short", "--edges", data / "start.csv")
    run(data, *create, "--keep", "1", "--time", "at", "--src", "src", "--dst", "dst")
    run(data, "live", "advance", "short", "--insert", data / "new.csv")
    assert run(data, "live", "show", "short")["table"][0]["edges"] == 2
    assert run(data, "live", "show", "short")["table"][0]["keep"] == "1 by at"


@pytest.mark.parametrize(
    ("words", "what", "hint"),
    [
        ("live advance pay", "nothing to do", "--insert FILE"),
        ("live advance pya --insert x.csv", "no live graph 'pya'", "there is: pay"),
        ("live advance pay --insert x.csv", "no file of edges", "check the path"),
        ("live create pay --edges start.csv", "a live graph 'pay' already", "another name"),
        ("live create other --vertices v.csv", "no edges", "--edges FILE"),
        ("live create other --time at", "--time is for --keep", "--keep"),
        ("live create other", "could become live", "--edges FILE"),
        ("live checkpoint no", "no live graph 'no'", "there is: pay"),
        ("query answer pay no", "no query 'no'", "none"),
        ("query drop pay no", "no query 'no'", "none"),
        ("query changes pay no", "registered as 'no'", "none"),
        ("query add pay q reech", "'reech'", "`reach`"),
        ("query add pay q reach\\ from\\ 7", "ids of this graph are texts", "all as texts"),
    ],
)
def test_mistakes_say_what_to_do(data: Path, words: str, what: str, hint: str) -> None:
    given = [word.replace("\0", " ") for word in words.replace("\\ ", "\0").split()]
    given = [str(data / word) if word == "start.csv" else word for word in given]
    error = run(data, *given)["error"]
    assert what in error["what"]
    assert hint in error["hint"]


def test_a_follower_is_told_while_another_process_writes(data: Path) -> None:
    run(data, "query", "add", "pay", "all", "reach from 'ann'")
    words = ("query", "changes", "pay", "all", "--follow", "--until", "1", "--data")
    follower = subprocess.Popen(
        [sys.executable, "-m", "graphtide.cli.main", *words, str(data / "data")],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        with gt.session(data / "data", progress=False).live("pay") as graph:
            graph.advance(insert=[("cy", "eve", 1, 9)])
        out, _ = follower.communicate(timeout=120)
    finally:
        follower.kill()
    assert follower.returncode == 0
    assert "version 1: 1 change" in out or out == ""


def test_programs_and_settings_by_commands(data: Path) -> None:
    added = run(data, "program", "add", "pay", "far", "bfs(source='ann')")
    assert {"id": "cy", "hops": 2} in added["table"]
    assert (
        "registered as 'far' already"
        in run(data, "program", "add", "pay", "far", "wcc")["error"]["what"]
    )
    run(data, "live", "advance", "pay", "--insert", data / "new.csv")
    assert {"id": "dan", "hops": 3} in run(data, "program", "results", "pay", "far")["table"]
    (row,) = run(data, "program", "list")["table"]
    assert (row["program"], row["runs"]) == ("far", "BFS")
    assert "maintained in" in run(data, "program", "explain", "pay", "far")["text"]
    assert len(run(data, "program", "add", "pay", "far", "wcc", "--replace")["table"]) == 4
    assert run(data, "program", "drop", "pay", "far")["text"].endswith("is dropped")
    assert "budget: 3.0 MB" in run(data, "live", "set", "pay", "--budget", "3 MB")["text"]
    marked = run(data, "live", "set", "pay", "--landmarks", 4, "--far")["text"]
    assert "budget: 3.0 MB" in marked
    assert "landmarks: none, there is no pair without its state" in marked
    run(data, "live", "set", "pay", "--landmarks", 0)
    assert "landmarks" not in run(data, "live", "set", "pay", "--budget", "none")["text"]
    assert "nothing to set" in run(data, "live", "set", "pay")["error"]["what"]
    assert (
        "--far is for" in run(data, "live", "set", "pay", "--far", "--budget", 9)["error"]["what"]
    )


@pytest.fixture
def numbered(tmp_path: Path) -> Path:
    """Ids and costs that thousands separators and six digits would change."""
    edges = "src,dst,km\n1234567,7654321,0.123456789\n7654321,20000,1234567.25\n"
    (tmp_path / "start.csv").write_text(edges, encoding="utf-8")
    for version, target in enumerate((30000, 40000), 1):
        rows = f"src,dst,km\n1234567,{target},1.5\n"
        (tmp_path / f"{version}.csv").write_text(rows, encoding="utf-8")
    run(tmp_path, "live", "create", "far", "--edges", tmp_path / "start.csv")
    return tmp_path


def shown(data: Path, *words: object) -> list[list[str]]:
    """The words of the lines that a command prints for people."""
    told = graphtide(*words, "--data", data / "data")
    assert told.exit_code == 0
    return [line.split() for line in told.output.splitlines()]


def test_ids_and_costs_are_shown_as_they_are(numbered: Path) -> None:
    path = "path from 1234567 to 20000 weight km"
    cost = str(0.123456789 + 1234567.25)
    asked = shown(numbered, "query", "add", "far", "way", path)
    assert asked[2][:3] == ["1234567", "20000", cost]
    assert shown(numbered, "query", "answer", "far", "way")[2] == asked[2]
    none = shown(numbered, "query", "add", "far", "none", "path from 20000 to 1234567")
    assert none[2] == ["20000", "1234567", "null", "null"]
    hops = shown(numbered, "program", "add", "far", "hops", "bfs(source=7654321)")
    assert sorted(hops[2:]) == [["1234567", "inf"], ["20000", "1.0"], ["7654321", "0.0"]]
    assert shown(numbered, "program", "results", "far", "hops")[1:] == hops[1:]


def test_changes_end_with_the_version_that_is_named(numbered: Path) -> None:
    shown(numbered, "query", "add", "far", "near", "hops 2 from 1234567")
    for version in (1, 2):
        run(numbered, "live", "advance", "far", "--insert", numbered / f"{version}.csv")
    words = ("query", "changes", "far", "near", "--since", 0)
    first = [["version", "1:", "1", "change"], ["id", "old", "new"], ["30000", "null", "1"]]
    assert shown(numbered, *words, "--until", 1) == first
    assert shown(numbered, *words, "--until", 1, "--follow") == first
    assert shown(numbered, *words)[3][1] == "2:"


def test_facts_are_shown_as_they_are(tmp_path: Path) -> None:
    rules = tmp_path / "rules.dl"
    rules.write_text(".decl e(a: number)\ne(1234567).\n.output e\n?- e(x).\n", encoding="utf-8")
    told = [line.strip() for line in graphtide("run", rules).output.splitlines()]
    assert told == ["e: 1 fact", "a", "1234567", "?- e(x): 1 answer", "x", "1234567"]


@pytest.mark.parametrize(
    ("rows", "ids"),
    [
        ("007,7\n7,8\n", {"007", "7", "8"}),
        ("+7,7\n", {"+7", "7"}),
        ("a,7\n8,9\n", {"a", "7", "8", "9"}),
        ("1,-7\n", {1, -7}),
        ("8,0\n", {8, 0}),
        ("-0,0\n", {"-0", "0"}),
    ],
)
def test_ids_are_whole_numbers_where_all_are_written_so(
    tmp_path: Path, rows: str, ids: set[object]
) -> None:
    """As in loads: Arrow takes 007 for 7, and two vertices became one."""
    file = tmp_path / "edges.csv"
    file.write_text(f"src,dst\n{rows}", encoding="utf-8")
    run(tmp_path, "live", "create", "odd", "--edges", file)
    session = gt.session(tmp_path / "data", progress=False)
    assert set(session.live("odd").vertices()["id"].to_pylist()) == ids


def test_vertices_and_ends_have_ids_of_one_kind(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("src,dst,zip\n1,2,01\n", encoding="utf-8")
    (tmp_path / "vertices.csv").write_text("key,n\n1,3\n2,4\nx,5\n", encoding="utf-8")
    files = ("--edges", tmp_path / "edges.csv", "--vertices", tmp_path / "vertices.csv")
    run(tmp_path, "live", "create", "odd", *files, "--id", "key")
    graph = gt.session(tmp_path / "data", progress=False).live("odd")
    assert graph.vertices().to_pydict() == {"id": ["1", "2", "x"], "n": [3, 4, 5]}
    assert graph.edges().to_pylist() == [{"edge": 0, "src": "1", "dst": "2", "zip": "01"}]


def test_dataflows_of_modules_are_trusted_by_name(data: Path) -> None:
    file = data / "flows.py"
    file.write_text(
        "import graphtide as gt\n\n"
        "@gt.dataflow.program('callers', int, missing=0)\n"
        "def Callers(edges):\n    return edges.count(by='dst')\n"
    )
    (callers,) = programs_of(file).values()
    with gt.session(data / "data").live("pay") as graph:
        graph.register("callers", callers)
    refused = run(data, "live", "advance", "pay", "--insert", data / "new.csv")["error"]
    assert "a function of the module 'flows', which is not trusted" in refused["what"]
    run(data, "live", "advance", "pay", "--insert", data / "new.csv", "--trust", file)
    shown = run(data, "program", "results", "pay", "callers", "--trust", file)
    assert {row["id"]: row["callers"] for row in shown["table"]}["dan"] == 1
