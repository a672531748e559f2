"""A vertex's id is the one it was loaded with, whatever columns its table has besides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import graphtide as gt
from graphtide.api.session import Session
from graphtide.spark.gateway import SparkGateway
from tests.spark.loading import load

pytestmark = pytest.mark.spark

VERTICES = "id,key,label,ID_\n70,1,red,a\n10,2,blue,b\n20,3,red,c\n"
EDGES = "src,dst,a,b,id,label\n9,8,1,2,50,x\n7,6,2,3,60,y\n5,4,3,1,70,z\n"


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Session:
    (tmp_path / "v.csv").write_text(VERTICES)
    (tmp_path / "e.csv").write_text(EDGES)
    return Session(tmp_path / "catalog", lambda: SparkGateway(lambda: spark))


def load_statement(folder: Path, more: str = "") -> str:
    tables = f"vertices from '{folder}/v.csv' and edges from '{folder}/e.csv'"
    return f"load or replace graph G with {tables} id key src a dst b {more}"


def ends(session: Session, where: str) -> list[tuple[Any, Any]]:
    session.execute(f"create or replace view v on G where {where}")
    view = session.view("v")
    src, dst = session.graph("G").schema.ends
    rows = [(row[src], row[dst]) for row in view.to_arrow().to_pylist()]
    assert sorted(rows) == sorted((row[src], row[dst]) for row in view.to_spark().collect())
    return rows


def test_the_loaded_id_is_the_id(session: Session, tmp_path: Path) -> None:
    session.execute(load_statement(tmp_path))
    graph = session.graph("G")
    assert graph.vertices().to_pylist()[0] == {"id": 1, "id__": 70, "label": "red", "ID_": "a"}
    edge = {"src": 1, "dst": 2, "src_": 9, "dst_": 8, "id": 50, "label": "x"}
    assert graph.edges().to_pylist()[0] == edge
    assert ends(session, "src.id = 1") == [(1, 2)]
    assert ends(session, "dst.ID = 1") == [(3, 1)]
    assert ends(session, "src.id__ = 70") == [(1, 2)]
    assert ends(session, "src.ID_ = 'b'") == [(2, 3)]
    assert ends(session, "e = (2, 3)") == [(2, 3)]
    assert ends(session, "src_ > 5 and id < 60") == [(1, 2)]
    assert ends(session, "src.label = 'red' and label = 'z'") == [(3, 1)]
    network = graph.to_networkx()
    assert network.nodes[1] == {"id__": 70, "label": "red", "ID_": "a"}
    assert (1, 2, 9) in [(u, v, data["src_"]) for u, v, data in network.edges(data=True)]
    frame = graph.vertices_to_spark()
    assert frame.columns == ["id", "id__", "label", "ID_"]


def test_without_each_vertex_means_loaded_ids(session: Session, tmp_path: Path) -> None:
    session.execute(load_statement(tmp_path))
    session.execute("create view collection out on G without each vertex where id > 1")
    assert session.collection("out").names == ["without 2", "without 3"]


def test_exports_have_each_column_once(session: Session, tmp_path: Path) -> None:
    session.execute(load_statement(tmp_path))
    session.execute(f"save graph to '{tmp_path}/out'")
    header = (tmp_path / "out" / "vertices.csv").read_text().splitlines()[0]
    assert header.replace('"', "") == "id,id__,label,ID_"
    header = (tmp_path / "out" / "edges.csv").read_text().splitlines()[0]
    assert header.replace('"', "") == "src,dst,src_,dst_,id,label"


def test_labels_go_before_properties_of_their_name(session: Session, tmp_path: Path) -> None:
    session.execute(load_statement(tmp_path, "label id_ edge_label a"))
    graph = session.graph("G")
    assert graph.schema.vertex_labels == ("a", "b", "c")
    assert graph.schema.ends == ("a", "b")
    assert graph.vertices().to_pylist()[0] == {"id": 1, "label": "a", "id_": 70, "label_": "red"}
    assert ends(session, "src.label = 'b'") == [(2, 3)]
    assert ends(session, "src.label_ = 'blue'") == [(2, 3)]


def test_tables_agree_on_the_other_name(spark: SparkSession, tmp_path: Path) -> None:
    found = load(
        spark,
        tmp_path,
        {("A", "to", "B"): [{"src": 1, "dst": 5}]},
        {"A": [{"id": 1, "label": "x"}], "B": [{"id": 5, "label": "y", "label_": 3}]},
    )
    assert [item.name for item in found.schema.vertex] == ["label__", "label_"]
    assert [row["label__"] for row in found.vertices] == ["x", "y"]


def test_reserved_names_are_refused_with_a_way_out(session: Session, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("src,dst,_ends\n1,2,3\n")
    with pytest.raises(gt.GraphtideError, match="'_ends' is one of Graphtide's own") as caught:
        session.execute(f"load graph G from '{tmp_path}/e.csv'")
    assert "--drop _ends of `graphtide load`" in (caught.value.hint or "")
