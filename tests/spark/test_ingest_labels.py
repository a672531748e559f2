"""Labels, id spaces and headers that say more than names."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from graphtide.model.errors import InputError
from tests.spark.loading import Loaded, load

pytestmark = pytest.mark.spark


def write(root: Path, **files: str) -> dict[str, Path]:
    paths = {name: root / f"{name}.csv" for name in files}
    for name, text in files.items():
        paths[name].write_text(text)
    return paths


def named(loaded: Loaded) -> list[tuple[str, str]]:
    """Edges as pairs of label:id."""
    names = [f"{row['_label']}:{row['_id']}" for row in loaded.vertices]
    return [(names[row["_src"]], names[row["_dst"]]) for row in loaded.edges]


def test_ids_are_unique_within_a_label_only(spark: SparkSession, tmp_path: Path) -> None:
    files = write(
        tmp_path,
        person="id,name\n2,ann\n1,bob\n",
        knows="src,dst,since\n1,2,2001\n",
        likes="src,dst\n1,1\n2,1\n",
    )
    loaded = load(
        spark,
        tmp_path,
        {
            ("Person", "knows", "Person"): files["knows"],
            ("Person", "likes", "Post"): files["likes"],
        },
        {"Person": files["person"]},
    )
    assert named(loaded) == [
        ("Person:1", "Person:2"),
        ("Person:1", "Post:1"),
        ("Person:2", "Post:1"),
    ]
    assert loaded.column("_label") == ["knows", "likes", "likes"]
    assert loaded.column("since") == [2001, None, None]
    assert loaded.schema.vertex_labels == ("Person", "Post")
    assert loaded.schema.edge_labels == ("knows", "likes")


def test_label_columns(spark: SparkSession, tmp_path: Path) -> None:
    files = write(
        tmp_path, v="id,kind\n1,City\n2,Road\n3,\n", e="src,dst,how\n1,2,on\n2,3,to\n3,3,to\n"
    )
    loaded = load(spark, tmp_path, files["e"], files["v"], label="kind", edge_label="how")
    assert [row["_label"] for row in loaded.vertices] == ["City", "Road", None]
    assert loaded.schema.vertex_labels == ("City", "Road")
    assert loaded.schema.edge_labels == ("on", "to")
    assert loaded.schema.vertex == loaded.schema.edge == ()


def test_headers_of_neo4j(spark: SparkSession, tmp_path: Path) -> None:
    files = write(
        tmp_path,
        person=":ID(P)|name:STRING|age:LONG|:LABEL|x:IGNORE\n1|007|40|Person;Actor|z\n2|b||Person|z\n",
        film="id:ID(F)|title|:LABEL\n1|Up|Film\n",
        acts=":START_ID(P)|:END_ID(F)|:TYPE|pay:DOUBLE\n1|1|ACTED|2.5\n2|1|SAW|\n",
    )
    loaded = load(spark, tmp_path, files["acts"], {"P": files["person"], "F": files["film"]})
    assert named(loaded) == [("Person;Actor:1", "Film:1"), ("Person:2", "Film:1")]
    assert [(row["name"], row["age"], row["title"]) for row in loaded.vertices] == [
        ("007", 40, None),
        ("b", None, None),
        (None, None, "Up"),
    ]
    assert loaded.column("_label") == ["ACTED", "SAW"]
    assert set(loaded.vertices[0]) == {"_vertex", "_id", "_label", "name", "age", "title"}
    assert loaded.types() == {"pay": "float"}


def test_headers_of_graphsurge(spark: SparkSession, tmp_path: Path) -> None:
    files = write(
        tmp_path,
        v="id:id,gender,country:string\n1,f,1\n2,m,2\n",
        e="from_id:start_id,to_id:end_id,amount:int,year:int,include:bool\n1,2,5,2019,true\n",
    )
    loaded = load(spark, tmp_path, files["e"], files["v"])
    assert loaded.types() == {"amount": "int", "year": "int", "include": "bool"}
    assert [row["country"] for row in loaded.vertices] == ["1", "2"]
    assert loaded.pairs() == [(1, 2)]


def test_without_spaces_ids_are_unique_over_all_labels(spark: SparkSession, tmp_path: Path) -> None:
    files = write(tmp_path, a="id\n1\n2\n", b="id\n2\n3\n", e="src,dst\n1,3\n")
    with pytest.raises(InputError, match="1 × duplicate vertex"):
        load(spark, tmp_path, files["e"], {"A": files["a"], "B": files["b"]})


def test_unknown_ends_of_a_label_that_has_a_table(spark: SparkSession, tmp_path: Path) -> None:
    files = write(tmp_path, a="id\n1\n", e="src,dst\n1,7\n8,7\n")
    with pytest.raises(InputError, match="1 × unknown src"):
        load(spark, tmp_path, {("A", "to", "B"): files["e"]}, {"A": files["a"]})


def test_half_said_spaces_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    files = write(tmp_path, e="src,dst\n1,7\n")
    with pytest.raises(InputError, match="some edges say"):
        load(spark, tmp_path, {("A", "to", "B"): files["e"], "other": files["e"]})


def test_one_property_of_two_tables_has_one_type(spark: SparkSession, tmp_path: Path) -> None:
    files = write(tmp_path, a="src,dst,w,d\n1,2,3,5\n", b="src,dst,w,d\n2,1,0.5,x\n")
    loaded = load(spark, tmp_path, {"a": files["a"], "b": files["b"]})
    assert loaded.types() == {"w": "float", "d": "string"}
    assert loaded.column("w") == [3.0, 0.5]
    assert loaded.column("d") == ["5", "x"]
