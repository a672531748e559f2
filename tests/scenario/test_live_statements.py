"""Live graphs and queries in GVDL: carried out, shown, explained and refused. No Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphtide as gt
from graphtide.lang.gvdl.parse import parse_statement
from graphtide.lang.gvdl.unparse import unparse
from graphtide.model.errors import InputError, LanguageError, StoreError
from graphtide.model.schema import GraphSchema, PropertyType
from graphtide.run.statements.live import query_of, statement_of
from tests.graphs import write_graph

Q = gt.queries
SCHEMA = GraphSchema(PropertyType.INT)
FLIGHTS = """src,dst,km,airline
LHR,DXB,5500,EK
LHR,SIN,10900,SQ
DXB,SYD,12000,EK
SIN,SYD,6300,QF
"""
TRIP = "create query \"LHR to SYD\" on live graph flights path from 'LHR' to 'SYD' weight km"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> gt.Session:
    monkeypatch.chdir(tmp_path)
    Path("flights.csv").write_text(FLIGHTS, encoding="utf-8")
    found = gt.session(tmp_path / "data", progress=False)
    found.execute("create live graph flights with edges from 'flights.csv'")
    return found


def said(session: gt.Session, text: str) -> str:
    return "\n".join(map(str, session.execute(text)))


def rows(session: gt.Session, text: str) -> list[Any]:
    (answer,) = session.execute(text)
    assert answer.table is not None
    return answer.table.to_pylist()


def test_edges_without_a_direction_are_said_of_files(session: gt.Session) -> None:
    told = said(session, "create live graph ways with edges from 'flights.csv' undirected")
    assert told == "undirected live graph 'ways' is at version 0: 4 vertices and 4 edges"
    back = rows(session, "create query back on live graph ways path from 'SYD' to 'LHR' weight km")
    assert back[0]["distance"] == 17200.0
    assert not session.live("ways").directed
    write_graph(session.catalog, "kept", SCHEMA, [{"id": 0}], [])
    with pytest.raises(LanguageError, match="'undirected' is said of files, and the graph 'kept'"):
        session.execute("create live graph kept undirected")


def test_a_script_begins_asks_and_advances(session: gt.Session) -> None:
    assert rows(session, TRIP) == [
        {"source": "LHR", "target": "SYD", "distance": 17200.0, "path": ["LHR", "SIN", "SYD"]}
    ]
    Path("gone.csv").write_text("src,dst\nSIN,SYD\n", encoding="utf-8")
    pq.write_table(
        pa.table({"src": ["LHR"], "dst": ["PER"], "km": [14500], "airline": ["QF"]}), "new.parquet"
    )
    batch = "advance live graph flights insert from 'new.parquet' delete from 'gone.csv' id 'one'"
    state = "live graph 'flights' is at version 1: 5 vertices and 4 edges"
    assert said(session, batch) == state
    assert said(session, batch) == f"the batch 'one' was applied before; {state}"
    show = "show query `LHR to SYD` on live graph flights"
    assert rows(session, show)[0]["distance"] == 17500.0
    assert rows(session, "show queries") == rows(session, "show queries on live graph flights")
    assert rows(session, "show queries")[0] == {
        "query": "LHR to SYD",
        "live graph": "flights",
        "asks": "path from 'LHR' to 'SYD' weight km",
        "since version": 0,
    }
    known = rows(session, "show live graphs")
    assert known == rows(session, "show live graph flights")
    assert list(known[0].values()) == ["flights", 1, 5, 4, 0, 1, None]
    explained = said(session, "explain query `LHR to SYD` on live graph flights")
    assert "weight='km'" in explained
    again = gt.session(session.catalog.root, progress=False)
    assert rows(again, show)[0]["distance"] == 17500.0
    assert said(session, "drop query `LHR to SYD` on live graph flights").endswith("is dropped")
    assert rows(again, "show queries") == []


def test_a_cell_is_missing_where_it_is_empty_and_nowhere_else(session: gt.Session) -> None:
    text = 'src,dst,km,airline\nNA,null,1,NA\nNA,nan,2,\nNA,null,3,""\n'
    Path("odd.csv").write_text(text, encoding="utf-8")
    said(session, "advance live graph flights insert from 'odd.csv'")
    said(session, "create live graph odd with edges from 'odd.csv'")
    for name, skipped in (("flights", 4), ("odd", 0)):
        edges = session.live_at_hand(name).edges().to_pydict()
        assert edges["dst"][skipped:] == ["null", "nan", "null"]
        assert edges["airline"][skipped:] == ["NA", None, ""]
    Path("wrong.csv").write_text("src,dst,km,airline\nLHR,SIN,NA,SQ\n", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read"):
        said(session, "advance live graph flights insert from 'wrong.csv'")


def test_all_that_an_advance_takes(session: gt.Session) -> None:
    Path("u.csv").write_text("src;dst;km;airline\nLHR;DXB;5500;BA\n", encoding="utf-8")
    Path("v.csv").write_text("id\nPER\nADL\n", encoding="utf-8")
    Path("r.csv").write_text("id\nSIN\n", encoding="utf-8")
    said(
        session,
        "advance live graph flights update from 'u.csv' match km separator ';';"
        "advance live graph flights vertices from 'v.csv' remove from 'r.csv'",
    )
    graph = session.live("flights")
    assert graph.vertices()["id"].to_pylist()[-2:] == ["PER", "ADL"]
    assert {(r["src"], r["dst"], r["airline"]) for r in graph.edges().to_pylist()} == {
        ("LHR", "DXB", "BA"),
        ("DXB", "SYD", "EK"),
    }


def test_a_graph_in_python_and_in_statements_is_one(session: gt.Session) -> None:
    graph = session.live("flights")
    said(session, "create query near on live graph flights hops 1 from 'LHR'")
    assert len(graph.queries["near"]) == 3
    said(session, "delete graph flights")
    with pytest.raises(InputError, match="was closed"):
        graph.advance()
    other = gt.session(session.catalog.root, progress=False)
    held = other.live("more", gt.Graph(["a"], ["b"]))
    said(other, "create query all on live graph more reach from 'a'")
    assert list(held.queries) == ["all"]


def test_a_query_names_a_vertex_that_is_not_there_yet(session: gt.Session) -> None:
    create = "create query far on live graph flights path from 'LHR' to 'AKL' weight km"
    show = "show query far on live graph flights"
    for text in (create, show):
        (answer,) = session.execute(text)
        assert answer.notes[0].startswith("not in the graph yet: 'AKL'; until it comes")
        assert answer.table.to_pylist() == [
            {"source": "LHR", "target": "AKL", "distance": None, "path": None}
        ]
    Path("new.csv").write_text("src,dst,km,airline\nSYD,AKL,2200,NZ\n", encoding="utf-8")
    said(session, "advance live graph flights insert from 'new.csv'")
    (answer,) = session.execute(show)
    assert (answer.notes, answer.table["distance"].to_pylist()) == ((), [19400.0])


def test_edges_expire_and_ids_stay_texts(session: gt.Session) -> None:
    Path("e.csv").write_text("from,to,at\na7,b,2026-01-01\nb,c,2026-01-05\n", encoding="utf-8")
    said(session, "create live graph e with edges from 'e.csv' src 'from' dst to keep 7 days by at")
    Path("n.csv").write_text("from,to,at\n007,008,2026-01-09\n", encoding="utf-8")
    said(session, "advance live graph e insert from 'n.csv'")
    assert session.live("e").edges()["from"].to_pylist() == ["b", "007"]
    assert rows(session, "show live graph e")[0]["keep"] == "7 days by at"


QUERIES = [
    Q.Path("a", "b", weight="km", bound=3.5, direction="both"),
    Q.Paths([("a", "b"), (1, 2)], direction="in"),
    Q.Hops("a", 3),
    Q.Reach("a", direction="in"),
    Q.Reach("a", "b"),
    Q.Regular("knows/likes*", "ann", "b", label="kind", weight="km", bound=2),
    Q.Regular("(a)-[:KNOWS]->(b)", "ann"),
]


@pytest.mark.parametrize("asked", QUERIES, ids=lambda asked: type(asked).__name__)
def test_a_query_is_said_as_it_was_asked(asked: Any) -> None:
    statement = statement_of("q", "g", asked)
    assert query_of(statement) == asked
    read = parse_statement(unparse(statement))
    assert query_of(read) == asked  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("create query q on live graph flihts reach from 'a'", "no live graph", "flights"),
        ("create query q on live graph flights reach from 7", "ids of this graph are texts", ""),
        ("create query q on live graph flights hops 2 from 'LHR' weight km", "no weight", "counts"),
        ("create query q on live graph flights reach from 'LHR' bound 2", "no bound", "`hops 3"),
        (
            "create query q on live graph flights regular 'a' from 'LHR' direction in",
            "no dir",
            "^k",
        ),
        ("create query q on live graph flights path from 'a' to 'b' label x", "no label", "reg"),
        ("create query q on live graph flights path from 'a' to 'b' src x", "'src'", "`label`"),
        ("create query q on live graph flights path from LHR to 'SYD'", "by its id", "quotes"),
        ("create query q on flights reach from 'LHR'", "on a live graph", "show live graphs"),
        ("create query q reach from 'LHR'", "on a live graph", "on live graph GRAPH"),
        ("create query on live graph flights reach from 'LHR'", "no name", "create query NAME"),
        ("create query q on live graph flights regular a/b from 'LHR'", "is a text", "'knows"),
        ("create query q on live graph flights pth from 'a' to 'b'", "'pth'", "`path`"),
        ("drop query q on flights", "on a live graph", "on live graph GRAPH"),
        ("drop query q on live graph flights", "there is no query 'q'", "none"),
        ("show query q on live graph flights", "there is no query 'q'", "none"),
        ("drop live graph flights", "'drop'", "`delete`"),
        ("insert into flights values (1)", "`advance`", "insert from"),
        ("advance flights insert from 'x.csv'", "only live graphs", "advance live graph"),
        ("advance live graph flights insert 'x.csv'", "`from` is missing", "insert from"),
        ("advance live graph flights", "ends too early", "`insert`"),
        ("create live graph g with edges from 'flights.csv' label kind", "no labels", "property"),
        ("create live graph g with edges from 'flights.csv' keep 2 months by km", "", ""),
    ],
)
def test_mistakes_are_told_with_place_and_hint(
    session: gt.Session, text: str, what: str, hint: str
) -> None:
    with pytest.raises(LanguageError) as caught:
        session.execute(text)
    assert what in caught.value.what
    assert hint in (caught.value.hint or "")
    assert "line 1, column" in (caught.value.where or "")


def test_files_that_cannot_be_read(session: gt.Session) -> None:
    Path("odd.csv").write_text("src,dst,km,airline\na,b,many,x\n", encoding="utf-8")
    Path("few.csv").write_text("who\na\n", encoding="utf-8")
    for clause in ("insert from 'no.csv'", "insert from 'odd.csv'", "remove from 'few.csv'"):
        with pytest.raises(InputError) as caught:
            session.execute(f"advance live graph flights {clause}")
        assert ".csv" in (caught.value.where or "")
    with pytest.raises(InputError, match="one character"):
        session.execute("advance live graph flights insert from 'odd.csv' separator '--'")
    with pytest.raises(StoreError, match="a live graph 'flights' already"):
        session.execute("create live graph flights with edges from 'flights.csv'")
    assert session.live("flights").version == 0


OWN = """
Program Hops
Parameter (source: vertex)
Vertex (active, out_nbrs, hops: double = Infinity, best: Accm<double, MIN>)

Initialize (u):
  u.hops = u == source ? 0 : Infinity;
  u.active = u == source;

Traverse (u):
  For v in u.out_nbrs
    v.best.Accumulate(u.hops + 1);

Update (u):
  If (u.best < u.hops)
    u.hops = u.best;
    u.active = true;
"""
FLOW = """import graphtide as gt


@gt.dataflow.program("others", int, missing=0)
def others(edges):
    return edges.count(by="src")
"""
TRIANGLES = "create program corners on live graph flights run triangles"


def test_programs_are_registered_shown_replaced_and_there_after_a_start(
    session: gt.Session,
) -> None:
    made = "create program reached on live graph flights run bfs(source='LHR')"
    wanted = [
        {"id": "LHR", "hops": 0.0},
        {"id": "DXB", "hops": 1.0},
        {"id": "SIN", "hops": 1.0},
        {"id": "SYD", "hops": 2.0},
    ]
    assert sorted(rows(session, made), key=str) == sorted(wanted, key=str)
    assert rows(session, TRIANGLES)
    Path("new.csv").write_text("src,dst,km,airline\nLHR,SYD,17000,QF\n", encoding="utf-8")
    said(session, "advance live graph flights insert from 'new.csv'")
    again = gt.session(session.catalog.root, progress=False)
    show = "show program reached on live graph flights"
    assert {"id": "SYD", "hops": 1.0} in rows(session, show)
    assert {"id": "SYD", "hops": 1.0} in rows(again, show)
    assert rows(again, "show program corners on live graph flights")
    listed = rows(again, "show programs")
    assert listed == rows(again, "show programs on live graph flights")
    assert [list(row.values()) for row in listed] == [
        ["reached", "flights", "BFS", "source='LHR'", 0],
        ["corners", "flights", "Triangles", "", 0],
    ]
    assert "maintained in" in said(again, "explain program reached on live graph flights")
    with pytest.raises(InputError, match="registered as 'reached' already"):
        session.execute(made)
    other = "create or replace program reached on live graph flights run wcc"
    assert len(rows(session, other)) == 4
    said(session, "drop program reached on live graph flights")
    assert [row["program"] for row in rows(again, "show programs")] == ["corners"]


def test_a_registered_program_reads_the_column_that_it_is_given(session: gt.Session) -> None:
    words = "create program far on live graph flights run shortest_paths(source='LHR', weight='km')"
    table = rows(session, words)
    assert {row["id"]: row["dist"] for row in table}["SYD"] == 17200.0
    shown = rows(session, "show programs on live graph flights")
    assert shown[0]["parameters"] == "source='LHR', weight='km'"
    assert "e.km: float" in said(session, "explain program far on live graph flights")
    again = gt.session(session.catalog.root, progress=False)
    assert rows(again, "show program far on live graph flights") == table
    with pytest.raises(LanguageError) as caught:
        session.execute(words.replace("far", "near").replace("weight=", "wieght="))
    assert "did you mean `weight`?" in str(caught.value)
    with pytest.raises(InputError) as missing:
        session.execute(words.replace("far", "near").replace("'km'", "'kms'"))
    assert "did you mean `km`?" in str(missing.value)


def test_a_program_of_a_file_outlives_the_file(session: gt.Session) -> None:
    Path("mine.nga").write_text(OWN, encoding="utf-8")
    made = "create program mine on live graph flights run 'mine.nga' (source='DXB')"
    assert {"id": "SYD", "hops": 1.0} in rows(session, made)
    Path("mine.nga").unlink()
    again = gt.session(session.catalog.root, progress=False)
    assert rows(again, "show program mine on live graph flights") == rows(
        session, "show program mine on live graph flights"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("create program p on live graph flights run nothing", "there is no computation named"),
        ("create program p on live graph nowhere run wcc", "there is no live graph 'nowhere'"),
        ("create program p on flights run wcc", "a program is registered on a live graph"),
        ("create program p on live graph flights wcc", "does not say what to run"),
        ("drop program p on live graph flights", "no program is registered as 'p'"),
        ("show program p on live graph flights", "no program is registered as 'p'"),
        ("create program p on live graph flights run 'flow.py'", "a dataflow of a file"),
        ("set budget 'much' on live graph flights", "a budget cannot be 'much'"),
        ("set landmarks 0 on live graph flights", "there cannot be 0 landmarks"),
    ],
)
def test_programs_and_settings_that_cannot_be_are_refused(
    session: gt.Session, text: str, told: str
) -> None:
    Path("flow.py").write_text(FLOW, encoding="utf-8")
    with pytest.raises(LanguageError, match=told):
        session.execute(text)


def test_a_budget_and_landmarks_are_there_after_a_start(session: gt.Session) -> None:
    session.execute(TRIP)
    said(session, "set landmarks 2 far on live graph flights")
    assert "budget: 2.0 MB" in said(session, "set budget '2 MB' on live graph flights")
    session.live("flights").close()
    again = gt.session(session.catalog.root, progress=False)
    graph = again.live("flights")
    assert (graph.budget, graph.landmarks) == (2_000_000, Q.Landmarks(2, "far"))
    assert graph.queries["LHR to SYD"].value == 17200.0
    reader = gt.live(graph.folder, readonly=True)
    said(again, "set budget none on live graph flights")
    said(again, "set landmarks none on live graph flights")
    reader.refresh()
    assert (reader.budget, reader.landmarks) == (None, None)
    reader.set_budget("1 MB")
    reader.refresh()
    assert reader.budget == 1_000_000
