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


def test_a_merge_and_nothing_to_refresh(tmp_path: Path) -> None:
    graph, known = begin_graph(tmp_path, random.Random(2), edges=6)
    graph.append(known.edges[:1])
    known.append(known.edges[:1])
    result = graphtide("merge", "g", "--data", tmp_path)
    assert result.exit_code == 0
    check_rows(gt.session(tmp_path, progress=False).graph("g"), known)
    assert "nothing is stale" in graphtide("refresh", "--data", tmp_path).stdout
