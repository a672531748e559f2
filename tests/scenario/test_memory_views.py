"""Views and collections of a graph in memory, as users call them."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphtide as gt
from graphtide.algorithms import WCC, ShortestPaths
from graphtide.model.errors import InputError, LanguageError, LimitError, NotFoundError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.run.collection import figures
from tests.graphs import write_graph

PEOPLE = {
    "id": ["ann", "bob", "cat", "dan", "eve"],
    "city": ["London", "Paris", "London", "Rome", None],
    "age": [30, 40, None, 20, 50],
    "joined": [dt.date(2010 + at, 1, 1) for at in range(5)],
}
NUMBERS = {"year": 1, "minutes": 1.0, "bill": 3, "paid": None}
DAYS = [dt.date(2017, 5, 1), dt.date(2018, 2, 1), dt.date(2018, 3, 1), dt.date(2019, 1, 1), None]


def calls(vertices: Any = PEOPLE) -> gt.Graph:
    return gt.Graph(
        ["ann", "bob", "cat", "ann", "dan", "eve"],
        ["bob", "cat", "ann", "dan", "eve", "ann"],
        vertices=vertices,
        year=[2017, 2018, 2018, 2019, 2019, 2020],
        minutes=[12.0, 3.0, 25.0, None, 31.0, 5.0],
        line=["work", "home", "work", None, "cell", "work"],
        day=[*DAYS, dt.date(2020, 5, 5)],
        bill=[7, None, 9007199254740993, 9007199254740992, 1, 2],
        paid=[True, False, None, True, True, False],
        at=pd.Series(pd.to_datetime(["2020-01-01 12:00:00.000001"] * 5 + [None])),
    )


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("minutes > 10 and dst.city = 'London'", [2]),
        ("minutes is null", [3]),
        ("minutes > 10 or minutes <= 10", [0, 1, 2, 4, 5]),
        ("line like 'w%' and not line = 'home'", [0, 2, 5]),
        ("line is null", [3]),
        ("line in ('home', 'cell')", [1, 4]),
        ("day between date '2018-01-01' and '2018-12-31'", [1, 2]),
        ("bill = 9007199254740993", [2]),
        ("paid", [0, 3, 4]),
        ("not paid", [1, 5]),
        ("at > timestamp '2020-01-01 12:00:00'", [0, 1, 2, 3, 4]),
        ("at > timestamp '2020-01-01 12:00:00.000001'", []),
        ("src.age > dst.age", [3, 5]),
        ("src.city = dst.city", [2]),
        ("src.joined < dst.joined and dst.id <> 'dan'", [0, 1, 4]),
        ("src.id = 'ann'", [0, 3]),
        ("id >= 4", [4, 5]),
        ("bill > minutes", [2]),
        ("true", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_predicates_reach_every_column(where: str, expected: list[int]) -> None:
    view = calls().view(where)
    assert view.edge_ids.tolist() == expected
    assert len(view) == view.to_arrow().num_rows == len(expected)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_vertices_come_with_properties_from_any_frame(kind: Callable[[Any], Any]) -> None:
    graph = calls(kind(PEOPLE))
    assert graph.vertices().column_names == ["id", "city", "age", "joined"]
    assert graph.view("src.age > 25 and dst.city = 'London'").edge_ids.tolist() == [1, 5]
    with pytest.raises(InputError, match="has no column 'id'"):
        calls(kind({"name": PEOPLE["id"]}))


def test_a_column_of_ids_is_no_frame() -> None:
    for ids in (pd.Series(PEOPLE["id"]), pa.array(PEOPLE["id"]), np.array(PEOPLE["id"])):
        assert calls(ids).vertices().column_names == ["id"]


def test_a_frame_keeps_its_texts_for_views() -> None:
    frame = pd.DataFrame({"src": [1, 2], "dst": [2, 3], "kind": ["a", "b"], "weight": [1.0, 2.0]})
    graph = gt.Graph.from_frame(frame)
    assert graph.view("kind = 'b'").to_arrow().to_pylist() == [
        {"edge": 1, "src": 2, "dst": 3, "weight": 2.0, "kind": "b"}
    ]
    assert "edge properties weight, kind" in repr(graph)


def test_programs_do_not_read_texts_as_numbers() -> None:
    graph = gt.Graph([1], [2], weight=["heavy"], size=[2])
    runs: list[Callable[[Any], Any]] = [
        graph.maintain,
        graph.collection("[a: true]").run,
        graph.collection("[a: true]").explain_run,
        lambda program: graph.run(program, [[0]]),
    ]
    for run in runs:
        with pytest.raises(InputError, match="'weight' as float, and it holds texts"):
            run(ShortestPaths(source=1))
    with pytest.raises(InputError, match=r"they have: size, kind; give"):
        gt.Graph([1], [2], kind=["a"], size=[2]).maintain(ShortestPaths(source=1))


def test_the_verbs_of_a_view() -> None:
    view = calls().view("work", "line = 'work'")
    assert (view.name, view.predicate) == ("work", "line = 'work'")
    assert repr(view) == "<view 'work': 3 edges where line = 'work'>"
    assert view.head(1).to_pylist()[0]["src"] == "ann"
    assert pa.table(view).num_rows == len(view.to_pandas()) == 3
    assert view.vertices()["id"].to_pylist() == ["ann", "bob", "cat", "eve"]
    network = view.to_networkx()
    assert network.nodes["ann"]["city"] == "London"
    assert network.nodes["eve"].keys() == {"age", "joined"}
    assert network["cat"]["ann"]["line"] == "work"
    assert len(view.to_networkx(vertices="all")) == 5
    with pytest.raises(InputError, match="vertices cannot be 'some'"):
        view.to_networkx(vertices="some")  # type: ignore[arg-type]
    assert "line = " in view._repr_html_()


def test_a_view_becomes_a_graph_of_its_own() -> None:
    graph = calls().view("line = 'work' and minutes > 10").to_graph()
    assert graph.vertices()["id"].to_pylist() == ["ann", "bob", "cat"]
    assert graph.edges()["line"].to_pylist() == ["work", "work"]
    assert graph.view("dst.city = 'London'").to_arrow()["src"].to_pylist() == ["cat"]
    graph.advance(insert=[{"src": "bob", "dst": "dan", **NUMBERS}])
    assert graph.view("line is null").edge_ids.tolist() == [2]
    assert graph.edges()["bill"].to_pylist() == [7, 9007199254740993, 3]
    whole = calls().view("year = 2017").to_graph(vertices="all")
    assert (whole.num_vertices, whole.num_edges) == (5, 1)


def test_a_collection_has_the_verbs_of_a_stored_one() -> None:
    years = calls().collection("years", "for y in 2017..2020 [upto-{y}: year <= y]")
    assert years.names == [f"upto-{y}" for y in range(2017, 2021)]
    assert [len(view) for view in years] == [1, 3, 5, 6]
    assert years["upto-2018"].edge_ids.tolist() == years[1].edge_ids.tolist() == [0, 1, 2]
    assert years.statement.startswith("create view collection years for y in")
    assert years.differences == years.plan.totals.chain == 6
    assert years.weights.sum() == 6
    assert "chain of 4 views" in years.explain()
    assert "fixpoint mode" in years.explain_run(WCC)
    assert pa.table(years)["inserted"].to_pylist() == [1, 2, 2, 1]
    assert [step.delta.inserted.tolist() for step in years.steps()] == [[0], [1, 2], [3, 4], [5]]
    assert "a graph in memory" in repr(years)
    assert "differences" in years._repr_html_()
    with pytest.raises(NotFoundError, match="did you mean 'upto-2018'"):
        years["upto2018"]


def test_views_are_written_in_every_form() -> None:
    graph = calls()
    forms: list[tuple[Any, list[str]]] = [
        ({"early": "year < 2018", "late": "year >= 2018"}, ["early", "late"]),
        (["year < 2018", ("b", "line = 'work'")], ["view-1", "b"]),
        (gt.tumbling("year", width=2), ["2017", "2019"]),
        (gt.expanding("day", width="1 year", start="2017-01-01"), []),
        (gt.sliding("at", width="2 days", step="1 day"), []),
        (gt.without_each("edge", where="line = 'work'"), []),
        (gt.without_each("vertex", where="city = 'London'"), ["without ann", "without cat"]),
        (gt.without_each_value("line"), ["without cell", "without home", "without work"]),
        (gt.without(1, {"work": "line = 'work'"}), ["without work"]),
        (gt.cross("[a: year < 2019] [b: true]", "[c: paid]"), ["a * c", "b * c"]),
    ]
    for written, names in forms:
        found = graph.collection(written)
        assert found.name == "views"
        assert found.names == names or (not names and len(found)), written
    some = graph.collection("some", "[a: true]", within="year = 2018", order="manual")
    assert some[0].edge_ids.tolist() == [1, 2]
    dropped = graph.collection("tumbling windows over year from 2000 until 2021 width 5 drop empty")
    assert len(dropped) == 2


def test_runs_equal_runs_on_the_views_alone() -> None:
    graph = calls()
    for views in (gt.without_each("edge"), "for y in 2017..2020 [{y}: year <= y]"):
        made = graph.collection("some", views)
        run = made.run(WCC, verify=1)
        assert (run.name, run.collection) == ("some-WCC", "some")
        for view in made:
            alone = view.to_graph(vertices="all").maintain(WCC)
            assert run.values(view.name).tolist() == alone["component"].tolist()
    ways = gt.Graph([1, 1], [2, 3], weight=[2.0, 3.0], kind=["a", "b"]).collection("[a: kind='a']")
    assert ways.run(ShortestPaths(source=1)).values("a").tolist() == [0.0, 2.0, np.inf]


def test_pictures(tmp_path: Any) -> None:
    years = calls().collection("for y in 2017..2020 [upto-{y}: year <= y]")
    years.picture(tmp_path / "views.png")
    years.run(WCC).picture(tmp_path / "run.svg")
    assert {path.name for path in tmp_path.iterdir()} == {"views.png", "run.svg"}


def test_views_stay_what_they_are_while_the_graph_advances() -> None:
    graph = calls()
    view = graph.view("line = 'work'")
    made = graph.collection("[all: true] [work: line = 'work']")
    before = view.to_arrow().to_pylist(), made.run(WCC).to_arrow()
    graph.advance(insert=[{"src": "x", "dst": "y", **NUMBERS}], delete=[0, 2])
    assert (view.to_arrow().to_pylist(), made.run(WCC).to_arrow()) == before
    assert graph.view("line = 'work'").edge_ids.tolist() == [5]


def test_windows_over_infinite_values_say_what_is_infinite() -> None:
    graph = gt.Graph([1, 2], [2, 3], weight=[1.0, float("inf")])
    with pytest.raises(gt.GraphtideError, match="weight is infinite at some edge"):
        graph.collection("tumbling windows over weight width 1")
    views = graph.collection("tumbling windows over weight from 0 until 2 width 1")
    assert [view.edge_ids.tolist() for view in views] == [[], [0]]


class TestAdvancing:
    def test_rows_give_values_for_all_columns(self) -> None:
        graph = gt.Graph([1], [2], weight=[1.0], kind=["a"], day=[DAYS[0]])
        graph.advance(insert=[(2, 3, 2.0, "b", DAYS[1]), (3, 4, 3.0, None, DAYS[2])])
        graph.advance(insert={"src": [4], "dst": [1], "weight": [0.5], "kind": ["a"]})
        graph.advance(insert=pd.DataFrame({"src": [4], "dst": [2], "weight": 1.0, "kind": ["c"]}))
        assert graph.edges()["kind"].to_pylist() == ["a", "b", None, "a", "c"]
        assert graph.edges()["day"].to_pylist() == [*DAYS[:3], None, None]
        assert graph.view("kind = 'a'").edge_ids.tolist() == [0, 3]

    def test_an_inserted_row_is_a_new_edge(self) -> None:
        """It must not take a known edge that has left, which has another text."""
        graph = gt.Graph([1], [2], weight=[1.0], kind=["a"])
        graph.advance(delete=[(1, 2)])
        graph.advance(insert=[(1, 2, 1.0, "b")])
        assert graph.edges().to_pylist() == [
            {"edge": 1, "src": 1, "dst": 2, "weight": 1.0, "kind": "b"}
        ]
        graph.advance(insert=[0])
        assert graph.edges()["kind"].to_pylist() == ["a", "b"]

    def test_rollbacks_and_refusals_leave_the_texts_right(self) -> None:
        graph = gt.Graph([1], [2], weight=[1.0], kind=["a"])
        graph.advance(insert=[(2, 3, 1.0, "b"), (2, 4, 1.0, "c")])
        graph.rollback()
        with pytest.raises(InputError):
            graph.advance(insert=[(2, 3, 1.0, "wrong")], delete=[(7, 8)])
        graph.advance(insert=[(2, 3, 1.0, "d")])
        assert graph.edges()["kind"].to_pylist() == ["a", "d"]

    @pytest.mark.parametrize(
        "rows", [[(1, 2, 1.0, "b")], [{"src": 1, "dst": 2, "kind": "b"}], [(1, 2, 1.0, None)]]
    )
    def test_rows_to_delete_name_edges_by_texts(self, rows: Any) -> None:
        graph = gt.Graph([1, 1, 1, 1], [2, 2, 2, 2], weight=[1.0] * 4, kind=["a", "b", None, "b"])
        graph.advance(delete=rows)
        kinds = ["a", "b", None, "b"]
        kinds.remove(rows[0]["kind"] if isinstance(rows[0], dict) else rows[0][3])
        assert graph.edges()["kind"].to_pylist() == kinds
        graph.rollback()
        assert graph.edges()["edge"].to_pylist() == [0, 1, 2, 3]

    def test_the_nth_of_equal_rows_takes_the_nth_edge(self) -> None:
        graph = gt.Graph([1, 1, 1], [2, 2, 2], kind=["b", "a", "b"])
        graph.advance(delete=[(1, 2, "b"), (1, 2, "b")])
        assert graph.edges()["edge"].to_pylist() == [1]
        with pytest.raises(InputError, match="names edges that are not there") as refused:
            graph.advance(delete=[(1, 2, "b")])
        assert "(1, 2, 'b')" in str(refused.value)

    def test_whole_numbers_of_which_some_are_missing_are_not_rounded(self) -> None:
        far = 2**53
        graph = gt.Graph([1, 1, 1], [2, 2, 2], amount=[far, far + 1, None])
        graph.advance(delete=[(1, 2, far + 1)])
        assert graph.edges()["edge"].to_pylist() == [0, 2]

    def test_texts_of_another_type_are_refused(self) -> None:
        graph = gt.Graph([1], [2], kind=["a"])
        with pytest.raises(InputError, match="'kind' holds values of type string"):
            graph.advance(delete=[(1, 2, 7)])

    @pytest.mark.parametrize(
        ("rows", "problem"),
        [
            ([(1, 2, 1.0, 7)], "'kind' holds values of type string"),
            ([(1, 2, 1.0, "a", 8)], "rows that are no edges"),
            ([(1, 2, 1.0, "a"), (1, 2)], "rows that are no edges"),
            ([{"src": 1, "dst": 2, "sort": "a"}], "a column 'sort'"),
            ([(1, 2)], "no value for the property 'weight'"),
            ({"src": [1], "dst": [2], "weight": [1.0], "kind": ["a", "b"]}, "differ in length"),
        ],
    )
    def test_wrong_rows_are_refused(self, rows: Any, problem: str) -> None:
        graph = gt.Graph([1], [2], weight=[1.0], kind=["a"])
        with pytest.raises(InputError, match=problem):
            graph.advance(insert=rows)
        assert graph.edges()["kind"].to_pylist() == ["a"]

    def test_new_vertices_miss_their_properties(self) -> None:
        graph = gt.Graph([1], [2], vertices={"id": [1, 2], "city": ["x", "y"]})
        graph.advance(insert=[(2, 3)])
        assert graph.vertices()["city"].to_pylist() == ["x", "y", None]
        assert graph.view("dst.city is null").edge_ids.tolist() == [1]
        graph.rollback()
        assert graph.vertices()["city"].to_pylist() == ["x", "y"]

    @pytest.mark.parametrize("way", [lambda it: pickle.loads(pickle.dumps(it)), copy.copy])
    def test_copies_have_the_columns(self, way: Callable[[gt.Graph], gt.Graph]) -> None:
        graph = calls()
        graph.advance(delete=[0])
        made = way(graph)
        assert made.edges().to_pandas().equals(graph.edges().to_pandas())
        assert made.vertices() == graph.vertices()
        made.advance(insert=[{"src": "eve", "dst": "bob", **NUMBERS, "line": "x"}])
        assert made.view("line = 'x'").edge_ids.tolist() == [6]
        assert len(graph.view("line = 'x'")) == 0


def test_mistakes_are_told() -> None:
    graph = calls()
    with pytest.raises(LanguageError, match="did you mean"):
        graph.view("mintes > 10")
    with pytest.raises(LanguageError):
        graph.view("line > 10")
    with pytest.raises(InputError, match="order cannot be 'best'"):
        graph.collection("[a: true]", order="best")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="a name is a text"):
        graph.collection(["year > 3"], "years")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="every view of 'views' is empty"):
        graph.collection("tumbling windows over year from 1990 until 1995 width 5 drop empty")
    with pytest.raises(InputError, match="differ in length"):
        gt.Graph([1], [2], kind=["a", "b"])
    with pytest.raises(InputError, match="does not hold numbers of 64 bits or truth"):
        gt.Graph([1], [2], kind=[["a"]])
    with pytest.raises(InputError, match="'tags' of `vertices` holds what no property can hold"):
        gt.Graph([1], [2], vertices={"id": [1, 2], "tags": [["a"], ["b"]]})


def test_too_many_views_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from graphtide.run.views.build import SnapshotFacts

    facts = SnapshotFacts(calls()._snapshot())
    from graphtide.plan.predicates import EVERYTHING

    for ask in (facts.edges, facts.vertices):
        with pytest.raises(LimitError, match="each would make a view"):
            ask(EVERYTHING, 4)


def test_empty_graphs_and_odd_ids() -> None:
    empty = gt.Graph([], [], vertices=2, year=[])
    assert len(empty.view("year > 3")) == 0
    assert empty.collection("[a: true]").run(WCC).summary()["components"].to_pylist() == [2]
    pairs = gt.Graph([("a", 1)], [("a", 2)], kind=["x"])
    assert pairs.view(r"dst.id = '(\'a\', 2)'").edge_ids.tolist() == [0]
    large = gt.Graph([2**64 - 1], [5])
    assert large.view("src.id = '18446744073709551615'").edge_ids.tolist() == [0]


def test_networkx_attributes_come_along() -> None:
    networkx = pytest.importorskip("networkx")
    network = networkx.DiGraph()
    network.add_node("a", city="Rome")
    network.add_edge("a", "b", kind="x", weight=2.0, odd=[1])
    with pytest.warns(UserWarning, match="the attribute 'odd' of edges is left out.* it has list"):
        graph = gt.Graph.from_networkx(network)
    assert graph.edges().column_names == ["edge", "src", "dst", "weight", "kind"]
    assert graph.view("src.city = 'Rome' and kind = 'x'").edge_ids.tolist() == [0]


def test_neither_spark_nor_a_jvm_is_needed() -> None:
    script = """
import subprocess, sys
import graphtide as gt

def refuse(*_, **__):
    raise AssertionError("no process may be started")

subprocess.Popen.__init__ = refuse
graph = gt.Graph([1, 2, 3], [2, 3, 1], kind=["a", "b", None], year=[1, 2, 3])
made = graph.collection("some", gt.expanding("year", width=1))
made.run(gt.algorithms.WCC).summary()
graph.view("kind like 'a%'").to_arrow()
found = [name for name in sys.modules if name.split(".")[0] in ("pyspark", "py4j")]
assert not found, found
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def stations() -> gt.Graph:
    """Three lines of a small network; f is where nothing goes."""
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]
    days = pd.to_datetime(["2025-01-01", "2025-01-01", "2025-01-02", "2025-01-04"])
    src, dst = zip(*edges, strict=True)
    return gt.Graph(list(src), list(dst), vertices={"id": [*"abcdef"]}, day=days)


@pytest.mark.parametrize("little", [0, 1 << 60])
def test_a_vertex_that_is_taken_out_is_not_there(
    little: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "_LITTLE", little)
    graph = stations()
    views = graph.collection([("everything", "true"), gt.without_each("vertex", where="id <> 'a'")])
    run = views.run(WCC)
    assert run.table("without c")["id"].to_pylist() == [*"abdef"]
    assert run.table("without c", vertices="all")["id"].to_pylist() == [*"abdef"]
    assert run.table("everything").num_rows == 6
    assert run.history("c").column(1).to_pylist() == ["a", "c", None, "a", "a", "a"]
    # Each view beside NetworkX, of the graph that has no such node.
    drawn = graph.view("true").to_networkx(vertices="all").to_undirected()
    for row in run.summary().to_pylist():
        there = drawn.subgraph(set("abcdef") - {row["view"].removeprefix("without ")})
        sizes = sorted(map(len, nx.connected_components(there)), reverse=True)
        counted = row["vertices"], row["components"], row["largest"], row["single"]
        assert counted == (len(there), len(sizes), sizes[0], sizes.count(1)), row["view"]
        assert sorted(run.components(row["view"])["size"].to_pylist(), reverse=True) == sizes
    gone = run.changes("everything", "without c")
    assert gone["id"].to_pylist() == ["d", "e"]
    tidy = run.to_arrow().to_pylist()
    assert len(tidy) == 6 + 5 * 5
    assert not [row for row in tidy if row["view"] == f"without {row['id']}"]
    lost = {row["view"]: row for row in run.losses("everything").to_pylist()}
    assert (lost["without c"]["cut_off"], lost["without c"]["components_more"]) == (2, 1)
    assert (lost["without e"]["cut_off"], lost["without e"]["components_more"]) == (0, 0)
    assert sorted(views["without c"].to_networkx(vertices="all")) == [*"abdef"]
    assert views["without c"].to_graph(vertices="all").num_vertices == 5


@pytest.mark.parametrize("little", [0, 1 << 60])
def test_ranks_leave_out_who_is_taken_out(little: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "_LITTLE", little)
    run = stations().collection("each", gt.without_each("vertex")).run(gt.algorithms.PageRank)
    for row in run.summary().to_pylist():
        there = run.table(row["view"])["rank"].to_numpy()
        assert row["vertices"] == len(there) == 5
        assert (row["least"], row["greatest"]) == (there.min(), there.max())
        assert row["mean"] == pytest.approx(there.mean())
    for row in run.top(5).to_pylist():
        assert row["view"] != f"without {row['id']}"
    best = [row["id"] for row in run.top(5).to_pylist() if row["view"] == "without f"]
    assert sorted(best) == [*"abcde"]
    pairs = stations().collection("two", gt.without_each("vertex", pairs=True)).run(WCC)
    assert {row["vertices"] for row in pairs.summary().to_pylist()} == {4}
    crossed = [gt.cross({"all": "true"}, gt.without_each("vertex", where="id = 'c'"))]
    assert stations().collection(crossed).run(WCC).table(0)["id"].to_pylist() == [*"abdef"]


def test_windows_count_the_vertices_that_they_touch() -> None:
    views = [("everything", "true"), gt.tumbling("day", "1d")]
    run = stations().collection("days", views).run(WCC)
    rows = {row["view"]: row for row in run.summary().to_pylist()}
    counted = {name: (row["vertices"], row["components"]) for name, row in rows.items()}
    assert counted == {
        "everything": (6, 2),
        "2025-01-01": (3, 1),
        "2025-01-02": (2, 1),
        "2025-01-03": (0, 0),
        "2025-01-04": (2, 1),
    }
    assert run.table("2025-01-01")["id"].to_pylist() == ["a", "b", "c"]
    assert run.components("2025-01-02")["size"].to_pylist() == [2]
    assert run.table("2025-01-01", vertices="all").num_rows == 6
    everyone = run.summary(vertices="all")
    assert everyone["components"].to_pylist() == [2, 4, 5, 6, 5]
    assert "vertices" not in everyone.column_names
    touched = run.summary(vertices="touched").to_pylist()
    assert [row["vertices"] for row in touched] == [5, 3, 2, 0, 2]
    assert run.to_arrow().num_rows == 30


def test_edges_without_a_time_are_told_of(caplog: pytest.LogCaptureFixture) -> None:
    days = calls().collection("days", gt.tumbling("day", "1 year", until="2019-06-01"))
    assert days.unviewed == {"day is missing": 1, "day is behind the last window": 1}
    said = "2 edges are in no view (day is missing: 1; day is behind the last window: 1)"
    assert said in repr(days)
    assert said in days.explain()
    assert said in days._repr_html_()
    assert caplog.messages == [f"collection 'days': {said}"]
    years = calls().collection("for y in 2018..2019 [{y}: year = y]")
    assert years.unviewed == {"no view asks for them": 2}
    assert repr(years).endswith("; 2 edges are in no view>")
    assert calls().collection(gt.tumbling("year", 1)).unviewed == {}
    gaps = calls().collection(gt.sliding("minutes", 1, 20, start=3, until=40))
    assert gaps.unviewed == {
        "minutes is missing": 1,
        "minutes is behind the last window": 2,
        "no view asks for them": 2,
    }
    both = [gt.tumbling("year", 1, start=2019), gt.tumbling("minutes", 5, start=0, until=5)]
    # Of the edges before 2019, one has no minutes that a window reaches, and one is in one.
    assert calls().collection(both).unviewed == {"year is before the first window": 2}


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize("machine", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_a_day_does_not_depend_on_the_machine(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time without an offset is in UTC; days are UTC's, or those of the windows' time zone."""
    monkeypatch.setenv("TZ", machine)
    time.tzset()
    try:
        naive = pd.to_datetime(["2025-03-29 22:30", "2025-03-29 23:30", "2025-03-30 21:59"])
        forms = [naive, naive.to_pydatetime().tolist(), naive.values, pl.Series(naive.to_list())]
        forms.append(naive.tz_localize("UTC").tz_convert("Europe/Berlin"))
        for form in forms:
            graph = gt.Graph([1, 2, 3], [2, 3, 1], at=form)
            days = {view.name: len(view) for view in graph.collection(gt.tumbling("at", "1d"))}
            assert days == {"2025-03-29": 2, "2025-03-30": 1}
            there = graph.collection(gt.tumbling("at", "1d", timezone="Europe/Berlin"))
            assert {view.name: len(view) for view in there} == {"2025-03-29": 1, "2025-03-30": 2}
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(("day", "hours"), [("2025-03-30", 23), ("2025-10-26", 25)])
def test_days_on_which_clocks_change(day: str, hours: int) -> None:
    """An edge every half an hour: a calendar day in Berlin has 23 or 25 hours of them."""
    start = dt.datetime.fromisoformat(day).replace(tzinfo=BERLIN) - dt.timedelta(days=1)
    times = [start.astimezone(dt.UTC) + dt.timedelta(minutes=30 * at) for at in range(150)]
    graph = gt.Graph([1] * 150, [2] * 150, at=times)
    days = graph.collection(gt.tumbling("at", dt.timedelta(days=1), timezone="Europe/Berlin"))
    oracle = [at.astimezone(BERLIN).date().isoformat() for at in times]
    assert {view.name: len(view) for view in days} == {one: oracle.count(one) for one in oracle}
    assert len(days[day]) == 2 * hours
    exact = graph.collection(gt.tumbling("at", "24h", timezone="Europe/Berlin"))
    assert {len(view) for view in exact} == {48, 150 - 3 * 48}


def test_a_graph_in_memory_keeps_the_time_zone_that_it_was_loaded_with(tmp_path: Any) -> None:
    schema = GraphSchema(PropertyType.INT, edge=(Property("at", PropertyType.TIMESTAMP),))
    first = dt.datetime(2025, 3, 29, 22, 30, tzinfo=dt.UTC)
    times = [first, first + dt.timedelta(hours=1)]
    edges = [{"src": 0, "dst": 1, "at": at} for at in times]
    session = gt.session(tmp_path, progress=False)
    write_graph(
        session.catalog, "G", schema, [{"id": 1}, {"id": 2}], edges, timezone="Europe/Berlin"
    )
    memory = session.graph("G").to_memory()
    part = memory.view("id >= 0").to_graph()
    live = session.live("G")
    for graph in (memory, part, copy.deepcopy(memory), pickle.loads(pickle.dumps(memory)), live):
        days = graph.collection(gt.tumbling("at", "1 day"))
        assert {view.name: len(view) for view in days} == {"2025-03-29": 1, "2025-03-30": 1}
        assert len(graph.view("at < '2025-03-30'")) == 1
    live.close()
    with gt.live(tmp_path / "own", start=memory) as own:
        own.advance(insert=[(1, 2, times[1])])
        assert len(own.view("at < '2025-03-30'")) == 1
    with gt.live(tmp_path / "own") as again:
        assert len(again.view("at < '2025-03-30'")) == 1
        again.checkpoint()
    with gt.live(tmp_path / "own", readonly=True) as read:
        assert len(read.view("at < '2025-03-30'")) == 1


@pytest.mark.parametrize("count", [1, 4, 100])
def test_who_leads_in_a_window_has_an_edge_in_it(count: int) -> None:
    pick = np.random.default_rng(count)
    src, dst, day = (pick.integers(0, most, 120).tolist() for most in (40, 40, 12))
    windows = [gt.tumbling("day", 1), ("all", "true"), gt.expanding("day", 3)]
    run = gt.Graph(src, dst, day=day).collection(windows).run(gt.algorithms.PageRank)
    rows = run.top(count).to_pylist()
    before: dict[int, int] = {}
    for view in run.views:
        table = run.table(view).to_pylist()
        table.sort(key=lambda row: -row["rank"])  # Stable: the same ones by their numbers.
        places = {row["id"]: place for place, row in enumerate(table, start=1)}
        found = [row for row in rows if row["view"] == view]
        assert [row["id"] for row in found] == [row["id"] for row in table[:count]]
        assert [row["place"] for row in found] == list(range(1, len(found) + 1))
        for row in found if before else ():
            if row["new"]:
                assert row["rose"] is None
            else:
                assert row["rose"] == before[row["id"]] - row["place"]
            assert row["new"] or row["id"] in before
        before = places
