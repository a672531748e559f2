"""Bad rows are told with their place, or kept beside the graph; and inputs that make no sense."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from graphtide.model.errors import InputError, LimitError
from graphtide.spark.ingest import checked as load_module
from graphtide.spark.ingest import vertices as ids_module
from tests.spark.loading import load

pytestmark = pytest.mark.spark

VERTICES = "id,age\n1,30\n2,x\n3,40\n,50\n1,60\n4\n"
EDGES = 'src,dst,w\n1,3,1\n1,9,2\n"",3,3\n1,,4\n3,1,heavy\n3,1,5\n2,3,6\n1,3,7,8\n3,"3,8\n'
TYPES = {"age": "int", "w": "int"}


def files(root: Path) -> tuple[Path, Path]:
    (root / "v.csv").write_text(VERTICES)
    (root / "e.csv").write_text(EDGES)
    return root / "e.csv", root / "v.csv"


def test_quarantine_keeps_every_bad_row_with_its_reason(
    spark: SparkSession, tmp_path: Path
) -> None:
    loaded = load(spark, tmp_path, *files(tmp_path), types=TYPES, on_bad_rows="quarantine")
    assert loaded.ids() == [1, 3]
    assert [row["age"] for row in loaded.vertices] == [30, 40]
    assert loaded.pairs() == [(1, 3), (3, 1)]
    assert loaded.column("w") == [1, 5]
    told = [(row["kind"], row["line"], row["reason"], row["text"]) for row in loaded.quarantine]
    assert told == [
        ("vertex", 3, "'age' is not of type int", "2,x"),
        ("vertex", 5, "missing id", ",50"),
        ("vertex", 6, "duplicate vertex", "1,60"),
        ("vertex", 7, "wrong number of columns (2 expected)", "4"),
        ("edge", 3, "unknown dst", "1,9,2"),
        ("edge", 4, "missing src", '"",3,3'),
        ("edge", 5, "missing dst", "1,,4"),
        ("edge", 6, "'w' is not of type int", "3,1,heavy"),
        ("edge", 8, "unknown src", "2,3,6"),
        ("edge", 9, "wrong number of columns (3 expected)", "1,3,7,8"),
        ("edge", 10, "quote not closed (multiline=True if rows span lines)", '3,"3,8'),
    ]


def test_reasons_name_the_columns_that_the_user_has(spark: SparkSession, tmp_path: Path) -> None:
    loaded = load(
        spark,
        tmp_path,
        [("a", "b"), (None, "b"), ("a", "x")],
        [("a", 1), ("b", 2), (None, 3)],
        edge_columns=["von", "nach"],
        vertex_columns=["kurz", "rang"],
        id="kurz",
        src="von",
        dst="nach",
        on_bad_rows="quarantine",
    )
    assert [row["reason"] for row in loaded.quarantine] == [
        "missing id (column 'kurz')",
        "missing src (column 'von')",
        "unknown dst (column 'nach')",
    ]


def test_refusal_counts_and_shows_the_first(spark: SparkSession, tmp_path: Path) -> None:
    edges, vertices = files(tmp_path)
    with pytest.raises(InputError) as caught:
        load(spark, tmp_path, edges, vertices, types=TYPES)
    text = str(caught.value)
    assert "4 bad vertex rows, nothing was loaded" in text
    assert f"{vertices}, line 3: 'age' is not of type int: 2,x" in text
    assert "on_bad_rows='quarantine'" in text
    with pytest.raises(InputError) as caught:
        load(spark, tmp_path, edges, types={"w": "int"})
    text = str(caught.value)
    assert "5 bad edge rows" in text
    assert f"{edges}, line 4: missing src" in text
    assert not (tmp_path / "catalog" / "graphs" / "g").exists()


def test_ids_only_found_in_bad_edges_are_no_vertices(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("src,dst,w\n1,2,5\n7,8,x\n")
    loaded = load(spark, tmp_path, tmp_path / "e.csv", types={"w": "int"}, on_bad_rows="quarantine")
    assert loaded.ids() == [1, 2]


def test_shuffled_joins_give_the_same_graph(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {"types": TYPES, "on_bad_rows": "quarantine"}
    sent = load(spark, tmp_path, *files(tmp_path), **given)
    monkeypatch.setattr(ids_module, "BROADCAST_VERTICES", {})
    monkeypatch.setattr(ids_module, "_BROADCAST_OTHERS", -1)
    monkeypatch.setattr(load_module, "_MANY_PARTS", 0)
    shuffled = load(spark, tmp_path, *files(tmp_path), **given)
    assert shuffled.edges == sent.edges
    assert shuffled.quarantine == sent.quarantine


def test_more_rows_than_numbers(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_module, "MOST", {"vertices": 5, "edges": 5})
    (tmp_path / "e.csv").write_text("src,dst\n" + "1,2\n" * 6)
    with pytest.raises(LimitError, match="6 rows of edges are more than one graph can hold"):
        load(spark, tmp_path, tmp_path / "e.csv")
    (tmp_path / "e.csv").write_text("src,dst\n1,2\n3,4\n5,6\n")
    with pytest.raises(LimitError, match="6 vertices are more"):
        load(spark, tmp_path, tmp_path / "e.csv")


def test_bytes_that_are_not_utf8(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_bytes(b"src,dst,n\n1,2,caf\xe9\n2,3,ok\n")
    with pytest.raises(InputError, match="1 × is not UTF-8"):
        load(spark, tmp_path, tmp_path / "e.csv")


def test_many_small_files_become_few_parts(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for place in range(70):
        (folder / f"{place:03d}.csv").write_text(f"src,dst\n{place},{place + 1}\n")
    loaded = load(spark, tmp_path, folder)
    assert loaded.pairs() == [(place, place + 1) for place in range(70)]
    parts = list((tmp_path / "catalog/graphs/g/g-000001/edges").iterdir())
    assert len(parts) < 10


CONTENTS: list[tuple[str, bytes | None, str]] = [
    ("missing.csv", None, "no such file"),
    ("empty.csv", b"", "nothing but empty files"),
    ("blank.csv", b"\n  \n\n", "nothing but empty files"),
    ("binary.csv", b"\x7fELF\0\0\1\2", "not text"),
    ("utf16.csv", "src,dst\n1,2\n".encode("utf-16"), "UTF-16"),
    ("wrong.csv", b"src:dst\n1:2\n", "one column only"),
    ("names.csv", b"a,b,c\nx,y,1\n", "no column for src and dst"),
    ("both.csv", b"u,v,from,to\n1,2,3,4\n", "more than one possible column"),
    ("twice.csv", b"src,dst,x,x\n1,2,3,4\n", "more than once"),
    ("case.csv", b"src,dst,x,X\n1,2,3,4\n", "differ by case"),
    ("ours.csv", b"src,dst,_src\n1,2,3\n", "Graphtide's own"),
    ("broken.csv.gz", gzip.compress(b"src,dst\n1,2\n" * 9999)[:60], "cannot be read"),
]


@pytest.mark.parametrize(("name", "content", "message"), CONTENTS, ids=[c[0] for c in CONTENTS])
def test_files_that_make_no_sense(
    spark: SparkSession, tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        load(spark, tmp_path, tmp_path / name)


def test_a_folder_without_files_and_a_glob_without_match(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="has no files"):
        load(spark, tmp_path, tmp_path / "none")
    with pytest.raises(InputError, match="no file matches"):
        load(spark, tmp_path, str(tmp_path / "*.csv"))


def test_files_with_different_headers(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("src,dst\n1,2\n")
    (tmp_path / "b.csv").write_text("dst,src\n1,2\n")
    with pytest.raises(InputError, match="different headers"):
        load(spark, tmp_path, [tmp_path / "a.csv", tmp_path / "b.csv"])
