"""`graphtide load`, `run`, `explain` and the shell with a Spark behind them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.store.catalog import Catalog
from tests.graphs import write_graph
from tests.scenario.commands import graphtide, objects, write_calls
from tests.scenario.terminal import END, Terminal

pytestmark = pytest.mark.spark

SCRIPT = """
create view early on Calls edges where year < 2013;  -- a view
create view collection years on Calls
  for y in 2010..2014 [upto-{y}: year <= y];
show collections;
"""


SCHEMA = GraphSchema(PropertyType.STRING, edge=(Property("year", PropertyType.INT),))
CALLS = [{"src": at % 3, "dst": (at + 1) % 3, "year": 2010 + at} for at in range(5)]


@pytest.fixture
def stored(tmp_path: Path, spark: Any) -> Path:
    """A catalog with the graph Calls, whose five edges are of 2010 to 2014."""
    people = [{"id": name} for name in ("ann", "bob", "Zoë")]
    write_graph(Catalog(tmp_path), "Calls", SCHEMA, people, CALLS)
    return tmp_path


def test_a_load_with_options(tmp_path: Path, spark: Any) -> None:
    first, second = tmp_path / "part-1.txt", tmp_path / "part-2.txt"
    first.write_text("# calls\nann;Zoë;1;x\nbob;ann;?;y\n", encoding="utf-8")
    second.write_text("bob;;2;z\nbob;Zoë;3;z\n", encoding="utf-8")
    words = f"load G --edges {first} {second} --no-header --separator semicolon --comment #"
    names = "--edge-columns from,to,n,junk --src from --dst to --type n=float --null ? --drop junk"
    command = [*words.split(), *names.split(), "--data", tmp_path, "--json"]
    refused = graphtide(*command)
    assert refused.exit_code == 1
    assert "part-2.txt" in str(objects(refused)[0]["error"])
    assert gt.session(tmp_path).graphs() == []
    (answer,) = objects(graphtide(*command, "--on-bad-rows", "quarantine"))
    assert "in quarantine: 1 bad row" in answer["text"]
    assert {"of": "edge", "property": "n", "type": "float"} in answer["table"]
    graph = gt.session(tmp_path).graph("G")
    assert graph.edges().to_pylist() == [
        {"from": "ann", "to": "Zoë", "n": 1.0},
        {"from": "bob", "to": "ann", "n": None},
        {"from": "bob", "to": "Zoë", "n": 3.0},
    ]
    taken = graphtide("load", "G", "--edges", first, "--data", tmp_path)
    assert taken.exit_code == 1
    assert "already there" in taken.stderr


def test_labelled_tables(tmp_path: Path, spark: Any) -> None:
    people, calls = write_calls(tmp_path)
    result = graphtide(
        *("load", "Social", "--vertices", f"Person={people}", "--data", tmp_path),
        *("--edges", f"Person-called-Person={calls}"),
    )
    assert (result.exit_code, result.stderr) == (0, "")
    schema = gt.session(tmp_path).graph("Social").schema
    assert (schema.vertex_labels, schema.edge_labels) == (("Person",), ("called",))


def test_a_script_answers_statement_by_statement(stored: Path) -> None:
    script = stored / "script.gvdl"
    script.write_text(SCRIPT, encoding="utf-8")
    result = graphtide("run", script, "--data", stored, "--json")
    early, years, listed = objects(result)
    assert result.exit_code == 0
    assert early["text"] == "view 'early' on Calls: 3 edges"
    assert [row["edges"] for row in years["table"]] == [1, 2, 3, 4, 5]
    assert listed["table"][0]["collection"] == "years"
    by_api = gt.session(stored).collection("years").to_arrow().to_pylist()
    assert years["table"] == by_api


def test_the_statement_that_fails_is_named_and_those_before_stay_done(stored: Path) -> None:
    script = SCRIPT + "create view v\non Nowhere edges where year > 1;\nshow graphs;"
    result = graphtide("run", "-", "--data", stored, typed=script)
    assert result.exit_code == 1
    assert "there is no graph or view named 'Nowhere'" in result.stderr
    assert result.stderr.endswith("statement 4 of 5 (line 6) failed; the 3 before it are done\n")
    assert gt.session(stored).collections() == ["years"]


def test_a_script_that_does_not_parse_does_nothing(stored: Path) -> None:
    result = graphtide("run", "-e", SCRIPT + "shaw views;", "--data", stored, "--json")
    assert result.exit_code == 1
    (answer,) = objects(result)
    assert "line 6, column 1" in answer["error"]["where"]
    assert gt.session(stored).views() == []


def test_explain_changes_nothing(stored: Path) -> None:
    result = graphtide("explain", "-e", SCRIPT.partition(";")[0], "--data", stored)
    assert result.exit_code == 0
    for part in ("tree\n", "views (1)\n  early: year < 2013", "buckets\n", "Spark plan"):
        assert part in result.stdout
    assert gt.session(stored).views() == []


def test_the_shell_keeps_the_graph_in_use(stored: Path) -> None:
    typed = "use graph Calls;\ncreate view late edges where year > 2012;\n"
    result = graphtide("shell", "--data", stored, typed=typed)
    assert result.exit_code == 0
    assert "view 'late' on Calls: 2 edges" in result.stdout


def test_the_program_from_files_to_a_collection(tmp_path: Path) -> None:
    people, calls = write_calls(tmp_path)
    load = f"load graph Calls with vertices from '{people}' and edges from '{calls}';"
    command = [sys.executable, "-m", "graphtide.cli.main", "run", "-", "--memory", "1g"]
    done = subprocess.run(
        command,
        input=load + SCRIPT,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "collection 'years' on Calls: 5 views" in done.stdout
    assert sorted(item.name for item in tmp_path.iterdir()) == [
        "calls.csv",
        "graphtide-data",
        "people.csv",
    ]


def test_ctrl_c_stops_a_statement_and_leaves_nothing_behind(stored: Path) -> None:
    name = stored / "collections" / "years"
    with Terminal(stored, "shell", "--data", stored, "--memory", "1g") as shell:
        shell.wait_for("graphtide> ")
        shell.type("create view collection years on Calls [a: year < 2012];\n")
        while not name.exists():
            assert shell.runs()
        shell.interrupt(patience=60)
        assert shell.wait_for("graphtide> ") == "\ngraphtide> "
        assert not name.exists()
        shell.type("create view collection years on Calls [a: year < 2012];\n")
        assert "collection 'years' on Calls: 1 view" in shell.wait_for("graphtide> ", 120)
        shell.interrupt()
        shell.wait_for("graphtide> ")
        shell.type(END)
        code, _ = shell.ended()
    assert code == 0
    assert (name / "CURRENT").read_text().split()[0] == "g-000001"
