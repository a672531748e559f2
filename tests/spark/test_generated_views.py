"""Every generator of GVDL, from text to stored edges, against views worked out in plain Python."""

from __future__ import annotations

import datetime as dt
import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pyspark.sql import SparkSession

import graphtide as gt
from graphtide.api.session import Session
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.spark.gateway import SparkGateway
from tests.graphs import write_graph

pytestmark = pytest.mark.spark

Row = dict[str, Any]
Test = Callable[[Row], bool]

SCHEMA = GraphSchema(
    PropertyType.STRING,
    vertex=(Property("state", PropertyType.STRING), Property("c0", PropertyType.BOOL)),
    edge=(
        Property("year", PropertyType.INT),
        Property("authors", PropertyType.INT),
        Property("ts", PropertyType.TIMESTAMP),
        Property("day", PropertyType.DATE),
        Property("weight", PropertyType.FLOAT),
    ),
)
START = dt.datetime(2020, 3, 27, 18, 30, tzinfo=dt.UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def _rows() -> tuple[list[Row], list[Row]]:
    pick = random.Random(7)
    vertices = [
        {
            "id": name,
            "state": pick.choice(["CA", "NY", None]),
            "c0": pick.choice([True, False, None]),
        }
        for name in "abcdefgh"
    ]
    edges = []
    for _ in range(120):
        moment = START + dt.timedelta(minutes=pick.randrange(6 * 24 * 60))
        edges.append(
            {
                "src": pick.randrange(8),
                "dst": pick.randrange(8),
                "year": pick.choice([None, *range(2000, 2010)]),
                "authors": pick.choice([None, *range(1, 9)]),
                "ts": pick.choice([None, moment, moment, moment]),
                "day": pick.choice([None, dt.date(2020, 1, 29) + dt.timedelta(pick.randrange(90))]),
                "weight": pick.choice([None, pick.randrange(100) / 10]),
            }
        )
    return vertices, edges


VERTICES, EDGES = _rows()


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Session:
    made = Session(tmp_path_factory.mktemp("generated"), lambda: SparkGateway(lambda: spark))
    write_graph(made.catalog, "G", SCHEMA, VERTICES, EDGES)
    return made


def check(collection: gt.Collection, expected: dict[str, Test]) -> None:
    assert collection.names == list(expected)
    for name, wanted in expected.items():
        numbers = [at for at, edge in enumerate(EDGES) if wanted(edge)]
        assert collection[name].edge_ids.tolist() == numbers, name


def make(session: Session, views: Any, **options: Any) -> gt.Collection:
    """The collection, which is the same as that of the graph in memory."""
    graph = session.graph("G")
    made = graph.collection("views", views, replace=True, **options)
    ours = graph.to_memory().collection("views", views, **options)
    assert ours.names == made.names
    assert ours.to_arrow() == made.to_arrow()
    assert ours.unviewed == made.unviewed
    for one, other in zip(ours, made, strict=True):
        assert one.predicate == other.predicate
        assert one.edge_ids.tolist() == other.edge_ids.tolist()
    return made


def has(edge: Row, name: str) -> bool:
    return edge[name] is not None


def test_loops(session: Session) -> None:
    found = make(session, "for y in 2000..2008 step 4 [upto-{y}: year <= y]")
    check(
        found,
        {
            f"upto-{y}": lambda edge, y=y: has(edge, "year") and edge["year"] <= y
            for y in (2000, 2004, 2008)
        },
    )


def test_tumbling_days_across_a_change_of_clocks(session: Session) -> None:
    """29 March 2020 has 23 hours in Berlin."""
    found = make(session, gt.tumbling("ts", width="1 day", timezone="Europe/Berlin"))
    moments = [edge["ts"] for edge in EDGES if has(edge, "ts")]
    first = min(moments).astimezone(BERLIN).date()
    last = max(moments).astimezone(BERLIN).date()
    days = [first + dt.timedelta(at) for at in range((last - first).days + 1)]
    check(
        found,
        {
            day.isoformat(): lambda edge, day=day: (
                has(edge, "ts") and edge["ts"].astimezone(BERLIN).date() == day
            )
            for day in days
        },
    )


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_a_day_is_that_of_the_graph_whatever_zone_spark_has(
    spark: SparkSession, tmp_path: Path, zone: str
) -> None:
    """Of the graph's zone, or of the windows': never of Spark's session, which shows times so."""
    local = [f"2020-03-{day} {hour:02}:30:00" for day in (28, 29, 30) for hour in (0, 5, 12, 23)]
    texts = tmp_path / "at.csv"
    texts.write_text("src,dst,at\n" + "".join(f"1,2,{at}\n" for at in local))
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        made = Session(tmp_path / "zones", lambda: SparkGateway(lambda: spark), progress=False)
        graph = made.load("G", edges=str(texts), timezone=zone)
        moments = [dt.datetime.fromisoformat(at).replace(tzinfo=ZoneInfo(zone)) for at in local]
        for chosen in (None, "America/New_York"):
            days = [at.astimezone(ZoneInfo(chosen or zone)).date().isoformat() for at in moments]
            wanted = {day: days.count(day) for day in sorted(set(days))}
            for name, any_graph in (("days", graph), ("days", graph.to_memory())):
                again = {} if any_graph is not graph else {"replace": True}
                windows = gt.tumbling("at", dt.timedelta(days=1), timezone=chosen)
                found = any_graph.collection(name, [windows], **again)  # type: ignore[call-overload]
                assert {view.name: len(view) for view in found} == wanted
        frame = made.load("frame", edges=graph.edges_to_spark().select("src", "dst", "at"))
        assert frame.edges().column("at").to_pylist() == graph.edges().column("at").to_pylist()
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_edges_in_no_window_are_told_with_why(session: Session, caplog: Any) -> None:
    first, last = START + dt.timedelta(days=2), START + dt.timedelta(days=4)
    windows = gt.tumbling("ts", "1 day", start=first, until=last)
    found = make(session, windows, within="year is not null")
    times = [edge["ts"] for edge in EDGES if has(edge, "year")]
    assert found.unviewed == {
        "ts is missing": sum(at is None for at in times),
        "ts is before the first window": sum(at is not None and at < first for at in times),
        "ts is behind the last window": sum(at is not None and at >= last for at in times),
    }
    total = sum(found.unviewed.values())
    said = f"{total} edges are in no view (ts is missing: {found.unviewed['ts is missing']}; "
    assert said in repr(found)
    assert said in found.explain()
    assert said in found._repr_html_()
    assert caplog.messages.count(f"collection 'views': {repr(found).split('; ', 1)[1][:-1]}") == 2
    (answer,) = session.execute("show collection views")
    assert said in str(answer)


def test_expanding_numbers(session: Session) -> None:
    found = make(session, "expanding windows over weight from 0 until 10 width 2.5")
    check(
        found,
        {
            f"until-{end:g}": lambda edge, end=end: has(edge, "weight") and edge["weight"] < end
            for end in (2.5, 5.0, 7.5, 10.0)
        },
    )


def test_sliding_months_of_dates_are_counted_from_the_start(session: Session) -> None:
    """From 31 January: the last day of each month, never drifting to the 28th."""
    text = (
        "sliding windows over day from date '2020-01-31' until date '2020-06-01' "
        "width 1 month step 1 month"
    )
    found = make(session, text)
    ends = [
        dt.date(2020, 1, 31),
        dt.date(2020, 2, 29),
        dt.date(2020, 3, 31),
        dt.date(2020, 4, 30),
        dt.date(2020, 5, 31),
        dt.date(2020, 6, 1),
    ]
    for view, (start, end) in zip(found, itertools.pairwise(ends), strict=True):
        numbers = [
            at for at, edge in enumerate(EDGES) if has(edge, "day") and start <= edge["day"] < end
        ]
        assert view.edge_ids.tolist() == numbers, view.name


def test_empty_windows_stay_unless_dropped(session: Session) -> None:
    text = "tumbling windows over year from 1990 until 2010 width 5"
    assert [len(view) for view in make(session, text)][:2] == [0, 0]
    assert all(len(view) for view in make(session, text + " drop empty"))


def test_products(session: Session) -> None:
    years = "for y in 2002..2004 [{y}: year = y]"
    found = make(session, gt.cross(years, "for a in (2, 5) [at-most-{a}: authors <= a]"))
    check(
        found,
        {
            f"{y} * at-most-{a}": lambda edge, y=y, a=a: (
                edge["year"] == y and has(edge, "authors") and edge["authors"] <= a
            )
            for y in (2002, 2003, 2004)
            for a in (2, 5)
        },
    )


def test_combinations_leave_edges_of_unknown_membership(session: Session) -> None:
    parts: dict[str, Test] = {
        "flagged": lambda edge: bool(VERTICES[edge["src"]]["c0"] or VERTICES[edge["dst"]]["c0"]),
        "early": lambda edge: has(edge, "year") and edge["year"] < 2003,
        "local": lambda edge: (
            VERTICES[edge["src"]]["state"] is not None
            and VERTICES[edge["src"]]["state"] == VERTICES[edge["dst"]]["state"]
        ),
    }
    found = make(
        session,
        gt.without(
            2,
            {
                "flagged": "src.c0 or dst.c0",
                "early": "year < 2003",
                "local": "src.state = dst.state",
            },
        ),
    )
    check(
        found,
        {
            f"without {one}, {other}": lambda edge, pair=(one, other): (
                not any(parts[name](edge) for name in pair)
            )
            for one, other in itertools.combinations(parts, 2)
        },
    )


def test_each_value_out_in_turn(session: Session) -> None:
    years = sorted({edge["year"] for edge in EDGES if has(edge, "year") and edge["year"] > 2004})
    check(
        make(session, gt.without_each_value("year", where="year > 2004")),
        {f"without {year}": lambda edge, year=year: edge["year"] != year for year in years},
    )
    states = make(session, "without each value of src.state where src.state is not null")
    check(
        states,
        {
            f"without {state}": lambda edge, state=state: VERTICES[edge["src"]]["state"] != state
            for state in ("CA", "NY")
        },
    )


@pytest.mark.masters
def test_each_edge_and_each_vertex_out_in_turn(session: Session) -> None:
    found = make(session, gt.without_each("edge", where="year >= 2008"))
    out = [at for at, edge in enumerate(EDGES) if has(edge, "year") and edge["year"] >= 2008]
    assert len(found) == len(out)
    for view, number in zip(found, out, strict=True):
        assert view.edge_ids.tolist() == [at for at in range(len(EDGES)) if at != number]
    assert found.differences <= len(EDGES) + len(found)
    gone = make(session, gt.without_each("vertex", where="state = 'CA'"))
    wanted = [at for at, vertex in enumerate(VERTICES) if vertex["state"] == "CA"]
    check(
        gone,
        {
            f"without {VERTICES[number]['id']}": lambda edge, number=number: (
                number not in (edge["src"], edge["dst"])
            )
            for number in wanted
        },
    )


def test_runs_tell_of_the_vertices_that_views_have(session: Session) -> None:
    views = [gt.without_each("vertex", where="state = 'CA'"), gt.tumbling("ts", "1 day")]
    graph = session.graph("G")
    run = graph.collection("told", views, replace=True).run(gt.algorithms.WCC, workers=1)
    ours = graph.to_memory().collection("told", views).run(gt.algorithms.WCC, workers=1)
    out = [vertex["id"] for vertex in VERTICES if vertex["state"] == "CA"]
    for found in (run, session.results(run.name)):
        assert found.summary().equals(ours.summary())
        assert found.to_arrow().equals(ours.to_arrow())
        for view in found.views:
            assert found.table(view).equals(ours.table(view))
        for vertex in out:
            at = found.views.index(f"without {vertex}")
            assert found.history(vertex).column(1).to_pylist()[at] is None
    rows = {row["view"]: row["vertices"] for row in run.summary().to_pylist()}
    assert {rows[f"without {vertex}"] for vertex in out} == {7}
    days = [view for view in run.views if not view.startswith("without")]
    for day in days:
        ends = {EDGES[at][end] for at in run_edges(session, day) for end in ("src", "dst")}
        assert rows[day] == len(ends)
    session.delete_collection("told")
    with pytest.raises(gt.GraphtideError, match=r"is gone(?s:.)*--all-vertices"):
        session.results(run.name).summary()
    assert "is gone" in session.results(run.name)._repr_html_()
    assert session.results(run.name).summary(vertices="all").num_rows == len(run)


def run_edges(session: Session, view: str) -> list[int]:
    found: list[int] = session.collection("told")[view].edge_ids.tolist()
    return found


def test_each_pair_out(session: Session) -> None:
    found = make(session, "without each pair of edges where year = 2001")
    out = [at for at, edge in enumerate(EDGES) if edge["year"] == 2001]
    pairs = list(itertools.combinations(out, 2))
    assert len(found) == len(pairs)
    for view, pair in zip(found, pairs, strict=True):
        assert view.edge_ids.tolist() == [at for at in range(len(EDGES)) if at not in pair]


def test_views_on_views_and_a_common_filter(session: Session) -> None:
    session.graph("G").view("late", "year > 2004", replace=True)
    session.execute("create or replace view late-and-local on late where src.state = dst.state")
    late = session.execute(
        "create or replace view collection late-years on late-and-local "
        "within authors > 2 for y in 2005..2006 [{y}: year = y]"
    )[0].value
    assert isinstance(late, gt.Collection)

    def local(edge: Row) -> bool:
        ends = VERTICES[edge["src"]]["state"], VERTICES[edge["dst"]]["state"]
        return ends[0] is not None and ends[0] == ends[1]

    check(
        late,
        {
            str(y): lambda edge, y=y: (
                edge["year"] == y and local(edge) and has(edge, "authors") and edge["authors"] > 2
            )
            for y in (2005, 2006)
        },
    )


def test_within_in_the_text_and_beside_it(session: Session) -> None:
    found = make(session, "within year > 2002 [few: authors < 4]", within="weight > 3")
    check(
        found,
        {
            "few": lambda edge: (
                has(edge, "year")
                and edge["year"] > 2002
                and has(edge, "authors")
                and edge["authors"] < 4
                and has(edge, "weight")
                and edge["weight"] > 3
            )
        },
    )


def test_a_view_in_every_form(session: Session) -> None:
    view = session.graph("G").view("some", "year in (2001, 2002)", replace=True)
    rows = [edge for edge in EDGES if edge["year"] in (2001, 2002)]
    ends = sorted((VERTICES[row["src"]]["id"], VERTICES[row["dst"]]["id"]) for row in rows)
    assert sorted((row["src"], row["dst"]) for row in view.to_arrow().to_pylist()) == ends
    assert sorted((row["src"], row["dst"]) for row in view.to_spark().collect()) == ends
    assert sorted(zip(view.to_pandas()["src"], view.to_pandas()["dst"], strict=True)) == ends
    assert sorted((src, dst) for src, dst, _ in view.to_networkx(multigraph=True).edges) == ends
    assert len(view.to_networkx(vertices="all")) == len(VERTICES)
    assert len(view) == len(rows)


def test_deltas_as_a_spark_frame(session: Session) -> None:
    found = make(session, "for y in 2000..2005 [{y}: year = y]")
    rows = found.to_spark().collect()
    expected = {
        (step.index, int(edge), sign)
        for step in found.steps()
        for edges, sign in ((step.delta.inserted, 1), (step.delta.deleted, -1))
        for edge in edges
    }
    assert {tuple(row) for row in rows} == expected
    assert len(rows) == found.differences


def test_a_graph_loaded_anew_makes_its_collections_say_so(session: Session, tmp_path: Path) -> None:
    write_graph(session.catalog, "H", SCHEMA, VERTICES, EDGES)
    collection = session.graph("H").collection("of-h", ["year > 2003"])
    write_graph(session.catalog, "H", SCHEMA, VERTICES, EDGES[:50])
    with pytest.raises(gt.GraphtideError, match="loaded anew"):
        collection[0].to_arrow()
