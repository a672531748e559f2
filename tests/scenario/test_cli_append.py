"""`graphtide append`, `refresh` and `merge`: a stored graph changed from the command line."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import graphtide as gt
from tests.changing import begin_graph, check_rows, check_views, make_views
from tests.scenario.commands import graphtide, objects


@pytest.mark.spark
def test_a_graph_is_changed_and_its_collection_refreshed(tmp_path: Path, spark: Any) -> None:
    graph, known = begin_graph(tmp_path / "data", random.Random(2), edges=6)
    make_views(graph, "c")
    new, gone = tmp_path / "new.csv", tmp_path / "gone.csv"
    new.write_text("src,dst,year,kind\n1,2,2001,call\n3,3,,mail\n")
    first = known.edges[0]
    gone.write_text(f"src,dst\n{first['src']},{first['dst']}\n")
    place = ("--data", tmp_path / "data", "--json")
    (answer,) = objects(graphtide("append", "g", "--edges", new, "--delete", gone, *place))
    assert answer["text"].startswith("2 edges taken, 1 edge deleted\ngraph 'g': ")
    assert "after 1 append" in answer["text"]
    known.append(
        [
            {"src": 1, "dst": 2, "year": 2001, "kind": "call"},
            {"src": 3, "dst": 3, "year": None, "kind": "mail"},
        ],
        delete=[{"src": first["src"], "dst": first["dst"]}],
    )
    check_rows(gt.session(tmp_path / "data").graph("g"), known)
    (answer,) = objects(graphtide("refresh", *place))
    assert answer["table"] == [{"collection": "c", "done": "brought up to date"}]
    check_views(gt.session(tmp_path / "data").collection("c"), known)


@pytest.mark.spark
def test_the_column_of_the_ids_is_no_batch(tmp_path: Path, spark: Any) -> None:
    begin_graph(tmp_path / "data", random.Random(2), edges=6)
    people = tmp_path / "people.csv"
    people.write_text("who,city\n77,Graz\n")
    place = ("--vertices", people, "--data", tmp_path / "data")
    for expected in ("1 new vertex", "was applied to 'g' before"):
        result = graphtide("append", "g", "--id", "who", "--batch", "monday", *place)
        assert (result.exit_code, expected in result.stdout) == (0, True), result.stdout
    assert gt.session(tmp_path / "data").graph("g").vertices()["id"].to_pylist()[-1] == 77
    (tmp_path / "calls.csv").write_text("src,dst\n1,2\n")
    edges = ("--edges", tmp_path / "calls.csv", *place[2:])
    result = graphtide("append", "g", *edges, "--id", "monday")
    assert result.exit_code == 1
    assert "--id monday is about a table of vertices" in result.stderr


def test_a_merge_and_nothing_to_refresh(tmp_path: Path) -> None:
    graph, known = begin_graph(tmp_path, random.Random(2), edges=6)
    graph.append(known.edges[:1])
    known.append(known.edges[:1])
    result = graphtide("merge", "g", "--data", tmp_path)
    assert result.exit_code == 0
    check_rows(gt.session(tmp_path, progress=False).graph("g"), known)
    assert "nothing is stale" in graphtide("refresh", "--data", tmp_path).stdout


@pytest.mark.spark
def test_a_job_that_runs_every_day(tmp_path: Path, spark: Any) -> None:
    def write(name: str, *rows: str) -> Path:
        (tmp_path / name).write_text("\n".join(["from,to,amount", *rows]))
        return tmp_path / name

    place = ("--data", tmp_path / "data")
    first = write("1.csv", *["a,b,1"] * 30, "a,b,odd")
    refused = graphtide("load", "g", "--edges", first, "--batch", "1", *place)
    assert refused.exit_code != 0
    assert "--type amount=string if such values are meant" in refused.stderr
    taken = graphtide("load", "g", "--edges", first, "--batch", "1", "--at-most", "5%", *place)
    assert "30 edges taken, 2 new vertices, 1 bad row set aside" in taken.stdout
    assert "note: rows set aside are in " in taken.stdout
    second = write("2.csv", "a,c,2", ",c,3")
    for batch, file, expected in (("1", first, 0), ("2", second, 1), ("2", second, 0)):
        options = ("--edges", file, "--batch", batch, "--at-most", "1", *place)
        (answer,) = objects(graphtide("append", "g", *options, "--json"))
        assert answer["rows"]["taken"] == expected
        assert answer["rows"]["applied_before"] == (not expected)
        assert len(answer["rows"]["files"]) == expected
    moved = write("3.csv", *["x,a,b,1"] * 30)
    told = graphtide("append", "g", "--edges", moved, "--on-bad-rows", "quarantine", *place)
    assert told.exit_code != 0
    assert "30 of 30 edge rows are bad, more than the tenth that may be set aside" in told.stderr
    assert "let more rows be set aside: --at-most 100%" in told.stderr
    swapped = write("4.csv", "d,a,4")
    options = ("--source", "to", "--target", "from", *place)
    assert graphtide("append", "g", "--edges", swapped, *options).exit_code == 0
    edges = gt.session(tmp_path / "data", progress=False).graph("g").edges()
    assert edges.to_pylist()[-1] == {"from": "a", "to": "d", "amount": 4}
