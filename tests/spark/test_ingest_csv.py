"""Text files of every shape, against a naive reading of the same cells."""

from __future__ import annotations

import bz2
import csv
import gzip
import math
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from graphtide.model.errors import InputError
from graphtide.spark import session as session_module
from tests.oracle.ingest import Cell, naive_graph
from tests.spark.loading import Loaded, load

pytestmark = pytest.mark.spark

WORDS = st.text(
    st.sampled_from(
        ["a", "Z", "0", "7", " ", ",", ";", '"', "'", "\\", "#", "ü", "日", "😀", "-", "|"]
    ),
    max_size=6,
)
CELLS: dict[str, st.SearchStrategy[str]] = {
    "int": st.integers(-(2**63), 2**63 - 1).map(str),
    "small": st.integers(-20, 20).map(str),
    "float": st.floats(allow_nan=False, allow_infinity=False).map(repr),
    "odd": st.sampled_from(
        ["007", "+5", "1e5", "-0", ".5", "5.", "nan", "inf", "1_0", "0x1f", "99999999999999999999"]
    ),
    "bool": st.sampled_from(["true", "False", "TRUE"]),
    "date": st.dates().map(lambda value: value.isoformat()),
    "time": st.datetimes().map(lambda value: value.isoformat(sep=" ")),
    "zoned": st.datetimes().map(lambda value: value.isoformat() + "+02:00"),
    "text": WORDS,
}


@st.composite
def columns(draw: st.DrawFn, rows: int) -> list[Cell]:
    """The cells of one column: of one or two kinds, some missing."""
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=2))
    cell = st.one_of(st.none(), *(CELLS[kind] for kind in kinds))
    return draw(st.lists(cell, min_size=rows, max_size=rows))


@st.composite
def tables(draw: st.DrawFn, keys: list[st.SearchStrategy[Cell]]) -> list[list[Cell]]:
    """Rows with some keys and two properties; now and then a row too short or too long."""
    rows = draw(st.integers(1, 12))
    parts = [draw(st.lists(key, min_size=rows, max_size=rows)) for key in keys]
    parts += [draw(columns(rows)), draw(columns(rows))]
    table = [list(row) for row in zip(*parts, strict=True)]
    for place in draw(st.lists(st.integers(0, rows - 1), max_size=1)):
        table[place] = draw(st.sampled_from([table[place] + ["extra"], table[place][:-1]]))
    return table


IDS = st.sampled_from([None, "1", "2", "3", "4", "10", " 7"])
NAMES = st.sampled_from([None, "", "1", "a", "b c", 'd"e', "ü", "f,g"])


def quoted(cell: Cell, always: bool) -> str:
    if cell is None:
        return ""
    if always or cell == "" or any(character in cell for character in ',"'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def written(rows: list[list[Cell]], header: list[str], ends: str, always: bool) -> str:
    lines = [",".join(header), "# a comment, with cells", ""]
    lines += [",".join(quoted(cell, always) for cell in row) for row in rows]
    text = ends.join(lines) + ends
    for row, cells in zip(rows, csv.reader(lines[3:]), strict=True):
        assert [cell or "" for cell in row] == cells, "the file says what was meant"
    return text


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-15) or a == b
    return (bool(a == b) and type(a) is type(b)) or (hasattr(a, "tzinfo") and a == b)


def is_row(row: list[Cell], always: bool) -> bool:
    """Not a line that is blank or a comment to the reader."""
    line = ",".join(quoted(cell, always) for cell in row)
    return bool(line.strip(" \t")) and not line.startswith("#")


def check(loaded: Loaded, edges: list[list[Cell]], vertices: list[list[Cell]] | None) -> None:
    naive = naive_graph(edges, vertices, (4, 3))
    assert loaded.ids() == naive.ids
    assert [(row["_src"], row["_dst"]) for row in loaded.edges] == naive.edges
    assert [item.type.value for item in loaded.schema.edge] == naive.edge_types
    found = [[row["p"], row["q"]] for row in loaded.edges]
    for row, expected in zip(found, naive.edge_rows, strict=True):
        assert all(map(same, row, expected)), (row, expected)
    if vertices is not None:
        assert [item.type.value for item in loaded.schema.vertex] == naive.vertex_types
        for row, expected in zip(loaded.vertices, naive.vertex_rows, strict=True):
            assert all(map(same, [row["p"], row["q"]], expected)), (row, expected)
    told = [(row["kind"], row["line"], row["reason"].split(" (")[0]) for row in loaded.quarantine]
    assert told == [(kind, place + 4, reason) for kind, place, reason in naive.bad]


SLOW = settings(
    deadline=None,
    max_examples=100 if "GRAPHTIDE_CAMPAIGN" in os.environ else 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@SLOW
@given(
    st.one_of(tables([IDS, IDS]), tables([NAMES, NAMES])),
    st.one_of(st.none(), tables([IDS]), tables([NAMES])),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_any_cells_load_as_the_naive_reading_says(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    edges: list[list[Cell]],
    vertices: list[list[Cell]] | None,
    ends: str,
    always: bool,
) -> None:
    root = tmp_path_factory.mktemp("any")
    edges = [row for row in edges if is_row(row, always)] or [["1", "2", None, None]]
    (root / "e.csv").write_text(written(edges, ["src", "dst", "p", "q"], ends, always), newline="")
    if vertices is not None:
        vertices = [row for row in vertices if is_row(row, always)] or [["1", None, None]]
        (root / "v.csv").write_text(written(vertices, ["id", "p", "q"], ends, always), newline="")
    loaded = load(
        spark,
        root,
        root / "e.csv",
        None if vertices is None else root / "v.csv",
        separator=",",
        comment="#",
        on_bad_rows="quarantine",
    )
    check(loaded, edges, vertices)


EDGES = "src,dst,w\na,b,1\nb,c,2\n\nc,a,\n"


@pytest.mark.masters
def test_edges_alone_make_their_vertices_sorted(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(EDGES)
    loaded = load(spark, tmp_path, tmp_path / "e.csv")
    assert loaded.ids() == ["a", "b", "c"]
    assert loaded.pairs() == [("a", "b"), ("b", "c"), ("c", "a")]
    assert loaded.column("w") == [1, 2, None]
    assert loaded.schema.id_type == "string"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("src\tdst\tw\na\tb\t1\nb\tc\t2\n\nc\ta\t\n", {}),
        ("src;dst;w\na;b;1\nb;c;2\nc;a;\n", {}),
        ("src|dst|w\r\na|b|1\r\nb|c|2\r\nc|a|", {}),
        (
            "% note\na b  1\nb\tc 2\nc a -\n",
            {"comment": "%", "null_values": ["-"], "edge_columns": ["src", "dst", "w"]},
        ),
        ("a,b,1\nb,c,2\nc,a,\n", {"header": False, "edge_columns": ["src", "dst", "w"]}),
        ("Source,x,Target,w\na,,b,1\nb,,c,2\nc,,a,\n", {"drop": ["x"]}),
        ("w,to,from\n1,b,a\n2,c,b\n,a,c\n", {}),
        ("w,y,x\n1,b,a\n2,c,b\n,a,c\n", {"src": "x", "dst": "y", "header": True}),
        ("src,dst,w\n'a',b,1\nb,'c',2\nc,a,''\n", {"quote": "'"}),
        ("\ufeffsrc,dst,w\na,b,1\nb,c,2\nc,a,\n", {}),
    ],
)
def test_the_same_edges_in_other_clothes(
    spark: SparkSession, tmp_path: Path, text: str, options: dict[str, Any]
) -> None:
    (tmp_path / "e.txt").write_text(text, encoding="utf-8", newline="")
    loaded = load(spark, tmp_path, tmp_path / "e.txt", **options)
    assert loaded.pairs() == [("a", "b"), ("b", "c"), ("c", "a")]
    assert loaded.column("w") == [1, 2, None]


def test_lines_are_counted_across_splits_and_files(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Splits of 150 bytes: every few lines another task, and a bad row in many of them."""
    small = {"spark.sql.files.maxPartitionBytes": "150", "spark.sql.files.openCostInBytes": "150"}
    monkeypatch.setattr(
        session_module, "_PRIVATE_SETTINGS", session_module._PRIVATE_SETTINGS | small
    )
    expected = []
    pairs = []
    for name in ("b.csv", "a d.csv"):
        lines = ["# first", "src,dst"]
        for place in range(24):
            lines.append(f"{place},{place * 7 % 24}" if place % 9 else f"{place},")
            if place % 13 == 0:
                lines.append("# in between")
        (tmp_path / name).write_text("\n".join(lines))
        expected += [
            (str(tmp_path / name), number)
            for number, line in enumerate(lines, 1)
            if line[-1] == ","
        ]
        pairs += [tuple(map(int, line.split(","))) for line in lines if line[-1].isdigit()]
    files = [tmp_path / name for name in ("b.csv", "a d.csv")]
    loaded = load(spark, tmp_path, files, comment="#", on_bad_rows="quarantine")
    assert sorted(expected) == [(row["file"], row["line"]) for row in loaded.quarantine]
    assert loaded.pairs() == pairs


def test_compressed_files_folders_and_globs(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.csv.gz").write_bytes(gzip.compress(b"src,dst\n1,2\n"))
    (folder / "2.csv.bz2").write_bytes(bz2.compress(b"# odd\nsrc,dst\n2,3\n"))
    (folder / "3.csv").write_text("src,dst\n3,1")
    (folder / "4.csv").write_text("")
    with pa.output_stream(folder / "5.csv.zst", compression="zstd") as packed:
        packed.write(b"src,dst\n1,1\n")
    (folder / "_SUCCESS").write_text("")
    pairs = [(1, 2), (2, 3), (3, 1), (1, 1)]
    for source in (folder, str(folder / "*.csv*"), sorted(folder.glob("[1-5]*"))):
        assert load(spark, tmp_path, source, comment="#").pairs() == pairs


def test_a_packed_file_that_is_none(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "edges.csv.zst").write_text("src,dst\n1,2\n")
    with pytest.raises(InputError, match="ZSTD decompress failed"):
        load(spark, tmp_path, tmp_path / "edges.csv.zst")


def test_names_of_files_may_be_odd(spark: SparkSession, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("_a.csv", "b:c.csv", "d [1] {e}*.csv", "ü %20.csv")]
    for place, file in enumerate(files):
        file.write_text(f"src,dst\n{place},{place + 1}\nx\n")
    loaded = load(spark, tmp_path, files, separator=",", on_bad_rows="quarantine")
    assert loaded.pairs() == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert {row["file"] for row in loaded.quarantine} == set(map(str, files))


def test_records_may_span_lines_if_told(spark: SparkSession, tmp_path: Path) -> None:
    text = 'src,dst,note\n1,2,"one\ntwo"\n2,3,"say ""hi"""\n3\n'
    (tmp_path / "e.csv").write_text(text)
    loaded = load(spark, tmp_path, tmp_path / "e.csv", multiline=True, on_bad_rows="quarantine")
    assert loaded.column("note") == ["one\ntwo", 'say "hi"']
    assert [(row["line"], row["text"]) for row in loaded.quarantine] == [(3, "3")]
    with pytest.raises(InputError, match="quote not closed"):
        load(spark, tmp_path, tmp_path / "e.csv")


def test_a_quote_inside_a_cell_is_a_character(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text('src,dst,note\n1,2,5" pipe\n2,3,"a ""b"", c"\n')
    loaded = load(spark, tmp_path, tmp_path / "e.csv")
    assert loaded.column("note") == ['5" pipe', 'a "b", c']


def test_backslash_as_escape(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text('src,dst,note\n1,2,"a \\"b\\", c"\n')
    assert load(spark, tmp_path, tmp_path / "e.csv", escape="\\").column("note") == ['a "b", c']
