"""CSV files and edge lists as graphs in memory: types, missing values, bad rows, oddities."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphtide as gt
from graphtide.model.errors import InputError
from tests.examples import examples

PAYMENTS = """from,to,amount,units,day,at,code,ok,note
a,b,1.5,3,2025-01-31,2025-01-01T10:00:00,007,true,hi
b,c,NA,-,2025-02-28,2025-01-02 11:00+01:00,008,FALSE,NA
c,a,3,,,,009,,"x,y"
"""


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(text: str | bytes, name: str = "edges.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_types_ends_and_missing_values_are_found(written: Any) -> None:
    rows = gt.read_csv(written(PAYMENTS)).edges().to_pylist()
    assert [(row["from"], row["to"]) for row in rows] == [("a", "b"), ("b", "c"), ("c", "a")]
    amounts = [row["amount"] for row in rows]
    assert (amounts[0], amounts[2]) == (1.5, 3.0)
    assert amounts[1] is None or math.isnan(amounts[1])
    assert [row["units"] for row in rows] == [3, None, None]
    assert [row["day"] for row in rows] == [dt.date(2025, 1, 31), dt.date(2025, 2, 28), None]
    first, second = (dt.datetime(2025, 1, day, 10, tzinfo=dt.UTC) for day in (1, 2))
    assert [row["at"] for row in rows] == [first, second, None]
    assert [row["code"] for row in rows] == ["007", "008", "009"]
    assert [row["ok"] for row in rows] == [True, False, None]
    assert [row["note"] for row in rows] == ["hi", "NA", "x,y"]


BAD = "src,dst,amount,day\n" + "".join(
    f"{at},{at + 1},{at}.5,2025-01-{at % 28 + 1:02d}\n" for at in range(100)
)
BAD += "5,6,abc,2025-02-30\n7,,1,2025-01-01\n1,2\n"


def test_bad_rows_are_refused_by_name(written: Any) -> None:
    with pytest.raises(InputError) as refused:
        gt.read_csv(written(BAD))
    for told in (
        "3 rows of the edges cannot be used",
        "column 'amount', row 101: 'abc': no number",
        "column 'day', row 101: '2025-02-30': no date",
        "column 'dst', row 102: nothing: an edge needs both ends",
        "not 4 columns: '1,2'",
        "on_bad_rows='drop'",
        "types={'amount': str}",
    ):
        assert told in str(refused.value)


def test_bad_rows_are_left_out_with_a_warning_that_points_at_the_caller(written: Any) -> None:
    with pytest.warns(UserWarning, match=r"edges.csv: 3 rows left out") as told:
        graph = gt.read_csv(written(BAD), on_bad_rows="drop")
    assert told[0].filename == __file__
    assert graph.num_edges == 100
    assert graph.edges().schema.field("amount").type == pa.float64()


def test_a_column_that_is_mixed_is_text_and_says_so(written: Any) -> None:
    mixed = "src,dst,x\n" + "".join(f"{at},0,{at if at % 5 else 'A12'}\n" for at in range(50))
    with pytest.warns(UserWarning, match=r"'x' is text: 40 of 50 .* row 1: 'A12'") as told:
        graph = gt.read_csv(written(mixed))
    assert told[0].filename == __file__
    assert graph.edges()["x"][1].as_py() == "1"
    assert gt.read_csv(written(mixed), types={"x": str}).num_edges == 50


def test_ids_are_whole_numbers_only_where_all_are_printed_as_such(written: Any) -> None:
    assert gt.read_csv(written("u,v\n1,2\n")).vertices()["id"].to_pylist() == [1, 2]
    assert gt.read_csv(written("u,v\n007,7\n")).vertices()["id"].to_pylist() == ["007", "7"]
    people = written("node,city\n1,Rome\nx,\n", "people.csv")
    graph = gt.read_csv(written("u,v\n1,x\n"), vertices=people)
    assert graph.vertices().to_pylist() == [{"id": "1", "city": "Rome"}, {"id": "x", "city": None}]


def test_bad_ends_are_refused_beside_missing_ones(written: Any) -> None:
    path = written("src,dst\n1,2\nx,3\n4,\n")
    with pytest.raises(InputError, match=r"2 rows of the edges"):
        gt.read_csv(path, types={"src": int, "dst": int})
    with pytest.warns(UserWarning, match="2 rows left out"):
        graph = gt.read_csv(path, types={"src": int, "dst": int}, on_bad_rows="drop")
    assert graph.edges().to_pylist() == [{"edge": 0, "src": 1, "dst": 2}]


def test_types_in_the_header_count(written: Any) -> None:
    graph = gt.read_csv(written(":START_ID,:END_ID,code:string,n:float\n1,2,7,1\n"))
    assert graph.edges()["code"].to_pylist() == ["7"]
    assert graph.edges()["n"].to_pylist() == [1.0]


def test_long_numbers_are_not_rounded(written: Any) -> None:
    graph = gt.read_csv(written("u,v,card\n1,2,99999999999999999999\n2,1,12345678901234567890\n"))
    assert graph.edges()["card"][0].as_py() == "99999999999999999999"
    exact = gt.read_csv(written("u,v,n\n1,2,9007199254740993\n"))
    assert exact.edges()["n"].to_pylist() == [2**53 + 1]


@pytest.mark.parametrize(
    ("text", "options", "edges"),
    [
        ("# a comment\n0\t1\n1\t2\n", {"comment": "#"}, [(0, 1), (1, 2)]),
        ("0 1\n1  2\n", {}, [(0, 1), (1, 2)]),
        ("\ufeffsrc;dst\na;b\n", {}, [("a", "b")]),
        ("src,dst\r\na,b\r\n\r\nb,a\r\n", {}, [("a", "b"), ("b", "a")]),
        ("von,nach\na,b\n", {"src": "von", "dst": "nach"}, [("a", "b")]),
        ('src,dst\n"a\nb",c\n', {}, [("a\nb", "c")]),
        ("src,dst\né,b\n".encode("latin-1"), {"encoding": "latin-1"}, [("é", "b")]),
        ("src,dst\n", {}, []),
    ],
)
def test_layouts(
    written: Any, text: str | bytes, options: dict[str, Any], edges: list[tuple[Any, Any]]
) -> None:
    table = gt.Graph.from_csv(written(text), **options).edges().to_pandas()
    assert list(table.iloc[:, 1:3].itertuples(index=False, name=None)) == edges


def test_packed_files_and_parquet(written: Any, tmp_path: Path) -> None:
    packed = gt.read_csv(written(gzip.compress(PAYMENTS.encode()), "p.csv.gz"))
    assert packed.num_edges == 3
    pq.write_table(packed.edges().drop_columns("edge").to_arrow(), tmp_path / "p.parquet")
    again = gt.read_parquet(tmp_path / "p.parquet", "from", "to")
    assert again.edges().drop_columns("amount") == packed.edges().drop_columns("amount")


def test_a_first_line_of_words_is_not_taken_for_a_row_in_silence(written: Any) -> None:
    with pytest.warns(UserWarning, match=r"'von,nach', is taken for a row. header=True") as told:
        graph = gt.read_csv(written("von,nach\na,b\n"))
    assert told[0].filename == __file__
    assert graph.num_edges == 2
    assert gt.read_csv(written("von,nach\na,b\n"), header=False).num_edges == 2


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        ("", {}, "the file of edges is empty"),
        ("von,nach\na,b\n", {"header": True}, "src='...' dst='...'"),
        ("src,dst\n\xe9,b\n".encode("latin-1"), {}, "encoding='latin-1'"),
        ("src,dst\na,b\n", {"types": {"amout": int}}, "types names columns that are not there"),
        ("src,dst\na,b\n", {"types": {"dst": "thing"}}, "unknown property type 'thing'"),
        ("src,dst\na,b\n", {"on_bad_rows": "coerce"}, "'drop' leaves them out"),
        ("src,dst\na,b\n", {"types": {"dst": int}}, "'b': no whole number"),
    ],
)
def test_what_cannot_be_read_is_told(
    written: Any, text: str | bytes, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(InputError) as refused:
        gt.read_csv(written(text), **options)
    assert told in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file of edges"):
        gt.read_csv(tmp_path / "none.csv")


VALUES = {
    "int": st.integers(-(2**62), 2**62),
    "float": st.floats(allow_nan=False, allow_infinity=False, width=32).filter(
        lambda value: value != int(value) and abs(value) < 1e15
    ),
    "bool": st.booleans(),
    "date": st.dates(dt.date(1970, 1, 1)),
    "timestamp": st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2200, 1, 1)),
}


@settings(deadline=None, max_examples=examples(40))
@given(data=st.data(), kind=st.sampled_from(sorted(VALUES)))
def test_what_python_writes_is_read_again(
    data: st.DataObject, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    values = data.draw(st.lists(st.none() | VALUES[kind], min_size=1, max_size=6))
    out = io.StringIO()
    csv.writer(out).writerows([("src", "dst", "x"), *((at, 0, x) for at, x in enumerate(values))])
    path = tmp_path_factory.mktemp("written") / "edges.csv"
    path.write_text(out.getvalue())
    found = gt.read_csv(path, types={"x": kind}).edges()["x"].to_pylist()
    wanted = [v.replace(tzinfo=dt.UTC) if isinstance(v, dt.datetime) else v for v in values]
    if kind == "float":
        found = [None if x is None or math.isnan(x) else x for x in found]
    assert found == wanted
