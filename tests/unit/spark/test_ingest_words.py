"""What is told from names, options and first lines alone, without Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from graphtide.model.errors import InputError
from graphtide.spark.ingest.files import TextLine, find_files, find_layout, read_preview
from graphtide.spark.ingest.options import IngestOptions, Wording, ingest_options, option_text
from graphtide.spark.ingest.roles import assign_roles, parse_typed_header
from graphtide.spark.ingest.source import GraphSource, TableSource

EDGES = TableSource("edges", None)
VERTICES = TableSource("vertices", None)


def layout(text: str, kind: Any = "edges", **options: Any) -> tuple[str, tuple[str, ...], bool]:
    """Separator, columns, and whether there is a header."""
    lines = [TextLine(number, line) for number, line in enumerate(text.splitlines(), 1)]
    found = find_layout(lines, kind, IngestOptions(**options), "file")
    return found.separator, found.columns, found.header is not None


@pytest.mark.parametrize(
    ("text", "separator", "columns", "header"),
    [
        ("1 2\n3 4", " ", ("src", "dst"), False),
        ("1\t2\t5\n3\t4\t6", "\t", ("src", "dst", "p2"), False),
        ("src,dst\n1,2", ",", ("src", "dst"), True),
        ("a;b;1,5\nc;d;2,5", ";", ("src", "dst", "p2"), False),
        ("who|whom|w\na|b|1", "|", ("who", "whom", "w"), True),
        ("alice,bob\nbob,carol", ",", ("src", "dst"), False),
        ("source,target\nbob,carol", ",", ("source", "target"), True),
        ('"a,b",c,5\n"d,e",f,6', ",", ("src", "dst", "p2"), False),
        ("id:START_ID(A)|:END_ID(B)|w:INT\n1|2|3", "|", ("id", "dst", "w"), True),
        ("src,dst,\n1,2,3", ",", ("src", "dst", "p2"), True),
    ],
)
def test_first_lines_tell_the_layout(
    text: str, separator: str, columns: tuple[str, ...], header: bool
) -> None:
    assert layout(text) == (separator, columns, header)


def test_what_is_said_about_the_layout_wins() -> None:
    assert layout("1,2\n3,4", header=True) == (",", ("1", "2"), True)
    assert layout("src,dst\n3,4", header=False) == (",", ("src", "dst"), False)
    assert layout("1,2 3\n3,4 5", separator=" ")[1] == ("src", "dst")
    assert layout("1,2\n3,4", edge_columns=["a", "b"]) == (",", ("a", "b"), False)
    assert layout("7\n8", kind="vertices") == ("\t", ("id",), False)
    with pytest.raises(InputError, match="3 names are given"):
        layout("1,2\n3,4", edge_columns=["a", "b", "c"])


def test_a_named_column_makes_a_header_in_any_case() -> None:
    assert layout("Sid,Eid\nann,bob")[2] is False
    assert layout("Sid,Eid\nann,bob", src="sid", dst="eid") == (",", ("Sid", "Eid"), True)
    assert layout("Sid,Eid,Kind\nann,bob,x", edge_label="kind")[2] is True


def test_options_about_vertices_need_some() -> None:
    IngestOptions(id="k").check_tables({"vertices", "edges"})
    for options in ({"id": "k"}, {"label": "k"}, {"vertex_columns": ["k"]}):
        with pytest.raises(InputError, match="about a table of vertices, and there is none"):
            ingest_options(options).check_tables({"edges"})


def test_one_column_of_edges_is_a_wrong_separator() -> None:
    with pytest.raises(InputError, match="one column only") as caught:
        layout("#src:dst\n1:2")
    assert "comment=" in str(caught.value)


def test_typed_headers() -> None:
    found = parse_typed_header(["id:ID(Person)", "name", "born:date", "tags:string[]", "x:IGNORE"])
    assert found is not None
    assert [(c.name, c.role, c.type, c.space) for c in found] == [
        ("id", "id", None, "Person"),
        ("name", "property", "string", None),
        ("born", "property", "date", None),
        ("tags", "property", "string", None),
        ("x", "ignore", None, None),
    ]
    assert parse_typed_header(["src", "dst", "at:utc"]) is None
    with pytest.raises(InputError, match="unknown property type 'colour'"):
        parse_typed_header(["a:START_ID", "b:END_ID", "c:colour"])


@pytest.mark.parametrize(
    ("table", "header", "expected"),
    [
        (VERTICES, "id,year:int,authors:int", (0,)),
        (VERTICES, "vid,name,year:int", (0,)),
        (VERTICES, "name,id,year:int", (1,)),
        (EDGES, "sid,eid,year:int", (0, 1)),
        (EDGES, "a:start_id,b,year:int", (0, 1)),
        (EDGES, "weight,src,dst,year:int", (1, 2)),
        (EDGES, "year:int,from,to", (1, 2)),
        (EDGES, "from,to,u,v,year:int", (0, 1)),
    ],
)
def test_types_without_marks_leave_ids_first(
    table: TableSource, header: str, expected: tuple[int, ...]
) -> None:
    declared = parse_typed_header(header.split(","))
    assert declared is not None
    columns = [column.name for column in declared]
    roles = assign_roles(table, columns, IngestOptions(), declared)
    assert tuple(key.place for key in roles.keys) == expected
    types = {item.name: str(item.spec) for item in roles.properties}
    assert types["year"] == "int"
    assert set(types.values()) <= {"int", "string"}


@pytest.mark.parametrize("header", ["year:int,a,b", "a:int,b,c:int", "a,b:end_id,c:start_id,d:int"])
def test_ids_are_not_where_types_or_other_marks_are(header: str) -> None:
    declared = parse_typed_header(header.split(","))
    assert declared is not None
    columns = [column.name for column in declared]
    if "start_id" in header:
        roles = assign_roles(EDGES, columns, IngestOptions(), declared)
        assert [key.place for key in roles.keys] == [2, 1]
        return
    with pytest.raises(InputError, match="no column for src and dst"):
        assign_roles(EDGES, columns, IngestOptions(), declared)


@pytest.mark.parametrize(
    ("wording", "hint"),
    [
        ("python", "say which it is with src='...' dst='...'"),
        ("gvdl", "say which it is with src '...' dst '...'"),
        ("shell", "say which it is with --src ... --dst ..."),
    ],
)
def test_hints_are_in_the_language_of_the_load(wording: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        places(EDGES, ["sid", "eid"], hints=wording)
    assert caught.value.hint == hint


def test_options_in_words() -> None:
    said = {
        wording: [
            option_text(wording, "drop", ("a", "b")),
            option_text(wording, "types", {"a": "string"}),
            option_text(wording, "edge_columns", ("a", "b")),
            option_text(wording, "on_bad_rows", "quarantine"),
            option_text(wording, "header", False),
            option_text(wording, "quote", None),
        ]
        for wording in get_args(Wording)
    }
    assert said["python"] == [
        "drop=['a', 'b']",
        "types={'a': 'string'}",
        "edge_columns=['a', 'b']",
        "on_bad_rows='quarantine'",
        "header=False",
        "quote=None",
    ]
    assert said["shell"] == [
        "--drop a --drop b",
        "--type a=string",
        "--edge-columns a,b",
        "--on-bad-rows quarantine",
        "--no-header",
        "--quote none",
    ]
    assert said["gvdl"] == [
        "--drop a --drop b of `graphtide load`",
        "--type a=string of `graphtide load`",
        "--edge-columns a,b of `graphtide load`",
        "on bad rows quarantine",
        "has_headers false",
        "--quote none of `graphtide load`",
    ]


def places(table: TableSource, columns: list[str], **options: Any) -> tuple[int, ...]:
    return tuple(key.place for key in assign_roles(table, columns, IngestOptions(**options)).keys)


def test_columns_are_found_by_name() -> None:
    assert places(EDGES, ["w", "DST", "Src"]) == (2, 1)
    assert places(EDGES, ["target", "source"]) == (1, 0)
    assert places(EDGES, ["a", "b", "c"], src="c", dst="A") == (2, 0)
    assert places(VERTICES, ["name", "node"]) == (1,)
    assert places(EDGES, ["id", "src", "dst"]) == (1, 2)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (["a", "b"], {}, "no column for src and dst"),
        (["u", "v", "from", "to"], {}, "more than one possible"),
        (["src", "dts"], {"src": "src", "dst": "dst"}, "dst='dts'"),
        (["src", "dst", "x", "x"], {}, "more than once"),
        (["src", "dst", "_label"], {}, "Graphtide's own"),
    ],
)
def test_columns_that_cannot_be_told(
    columns: list[str], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        places(EDGES, columns, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": "::"}, "single character"),
        ({"on_bad_rows": "ignore"}, "'refuse' or 'quarantine'"),
        ({"timezone": "Mars/Phobos"}, "unknown time zone"),
        ({"header": "yes"}, "header must be"),
        ({"drop": "x"}, "must be a list"),
        ({"quote": ",", "separator": ","}, "must differ"),
        ({"seperator": ","}, "did you mean 'separator'"),
    ],
)
def test_options_are_checked_when_given(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ingest_options(options)


def test_sources_are_tables_with_labels() -> None:
    source = GraphSource({("A", "to", "B"): "e.csv", "near": "n.csv"}, {"A": "a.csv"})
    assert [(t.kind, t.label, t.src_space, t.dst_space) for t in source.tables()] == [
        ("vertices", "A", None, None),
        ("edges", "to", "A", "B"),
        ("edges", "near", None, None),
    ]
    assert source.describe() == (
        "vertices 'A' from a.csv; edges 'to' from e.csv; edges 'near' from n.csv"
    )
    with pytest.raises(InputError, match="is not a label"):
        GraphSource({7: "e.csv"}).tables()


def test_files_are_listed_in_order(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", ".hidden", "_SUCCESS"):
        (tmp_path / name).write_text("1,2")
    listed = [Path(path).name for path in find_files(tmp_path, "edges").paths]
    assert listed == ["a.csv", "b.csv"]
    given = find_files([tmp_path / "b.csv", tmp_path / "a.csv"], "edges")
    assert [Path(path).name for path in given.paths] == ["b.csv", "a.csv"]
    assert find_files(f"file://{tmp_path}/a.csv", "edges").paths == (str(tmp_path / "a.csv"),)
    with pytest.raises(InputError, match=r"did you mean .*a\.csv"):
        find_files(tmp_path / "a.cvs", "edges")


def test_parquet_and_text_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"PAR1...")
    (tmp_path / "b").write_bytes(b"1,2")
    assert find_files(tmp_path / "a", "edges").format == "parquet"
    with pytest.raises(InputError, match="mixed"):
        find_files(tmp_path, "edges")


def test_previews_count_lines_past_comments(tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_bytes(b"\xef\xbb\xbf# one\r\n\r\nsrc dst\r\n1 2\r\n")
    assert read_preview(str(tmp_path / "e.txt"), "#") == [
        TextLine(3, "src dst"),
        TextLine(4, "1 2"),
    ]


def test_none_of_this_imports_pyspark() -> None:
    code = "import sys, graphtide.spark.ingest.files, graphtide.spark.ingest.files, "
    code += "graphtide.spark.ingest.roles; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
