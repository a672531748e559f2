"""Grouped graphs through Spark: random ones beside a naive answer, and whole ones by hand."""

from __future__ import annotations

import datetime as dt
import math
import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import graphtide as gt
from graphtide.api.session import Session
from graphtide.model.errors import LimitError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.plan import grouping as g
from graphtide.plan import predicates as p
from graphtide.spark.gateway import SparkGateway, graph_frames
from graphtide.spark.grouping import grouped_edges, grouped_vertices
from graphtide.spark.session import private_session
from graphtide.store.catalog import Catalog
from tests.examples import repeats
from tests.graphs import write_graph
from tests.oracle.grouping import Rows, grouped

pytestmark = pytest.mark.spark

TYPES = PropertyType
SCHEMA = GraphSchema(
    TYPES.INT,
    vertex=(
        Property("city", TYPES.STRING),
        Property("age", TYPES.INT),
        Property("score", TYPES.FLOAT),
        Property("active", TYPES.BOOL),
        Property("born", TYPES.DATE),
    ),
    edge=(
        Property("kind", TYPES.STRING),
        Property("size", TYPES.INT),
        Property("weight", TYPES.FLOAT),
        Property("at", TYPES.TIMESTAMP),
    ),
)
MOMENT = dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC)
VALUES: dict[PropertyType, list[Any]] = {
    TYPES.STRING: ["", "null", "a, b", "it's", "a\\", " a", "a=b", "München", "b\n", "\U0001f600"],
    TYPES.INT: [-3, 0, 7, 2**62, -(2**62), 2**53 + 1],
    TYPES.FLOAT: [-0.0, 0.0, 1.5, -2.25, math.inf, math.nan],
    TYPES.BOOL: [True, False],
    TYPES.DATE: [dt.date(1969, 12, 31), dt.date(2020, 2, 29)],
    TYPES.TIMESTAMP: [MOMENT, MOMENT + dt.timedelta(microseconds=10)],
}
SEEDS = range(repeats(2))
SECTIONS = 2


def random_value(pick: random.Random, item: Property) -> Any:
    return None if pick.random() < 0.2 else pick.choice(VALUES[item.type])


def random_graph(pick: random.Random) -> tuple[Rows, Rows]:
    """Loops, parallel edges and missing values; few vertices, so that groups are shared."""
    count = pick.randrange(1, 14)
    vertices = [
        {"id": at, **{item.name: random_value(pick, item) for item in SCHEMA.vertex}}
        for at in range(count)
    ]
    edges = [
        {
            "src": pick.randrange(count),
            "dst": pick.randrange(count),
            **{item.name: random_value(pick, item) for item in SCHEMA.edge},
        }
        for _ in range(pick.randrange(40))
    ]
    return vertices, edges


def refs(owners: tuple[p.Owner, ...]) -> list[p.PropertyRef]:
    own = {"edge": SCHEMA.edge, "src": SCHEMA.vertex, "dst": SCHEMA.vertex}
    return [p.PropertyRef(owner, i.name, i.type) for owner in owners for i in own[owner]]


def random_predicate(pick: random.Random, known: list[p.PropertyRef]) -> p.Predicate:
    item = pick.choice(known)
    value = pick.choice(VALUES[item.type])
    signs = ["=", "<>"] if item.type is TYPES.BOOL else [sign.value for sign in p.Operator]
    told: p.Predicate = p.Comparison(
        p.Operator(pick.choice(signs)), item, p.Constant(value, item.type)
    )
    return pick.choice([told, p.Not(told), p.IsNull(item), p.EVERYTHING])


def random_section(pick: random.Random, owners: tuple[p.Owner, ...], place: int) -> g.GroupSection:
    known = refs(owners)
    groupings = []
    for order in range(pick.randrange(1, 3)):
        chosen = pick.sample(known, pick.randrange(0, 3))
        keys = tuple(g.Key(item, f"{item.owner}_{item.name}") for item in chosen)
        has_condition = pick.random() < 0.5
        condition = random_predicate(pick, known) if has_condition else p.EVERYTHING
        # Names make every grouping another one, as the language sees to.
        name = f"{order}{pick.choice(VALUES[TYPES.STRING])}"
        groupings.append(g.RowGrouping(keys, condition, name, keys))
    numbers = [item for item in known if item.type.is_number]
    ordered = [item for item in known if item.type is not TYPES.BOOL]
    asked = [
        g.GroupAggregate(g.AggregateFunction.COUNT, None, f"n{place}"),
        g.GroupAggregate(g.AggregateFunction.COUNT, pick.choice(known), f"known{place}"),
        g.GroupAggregate(g.AggregateFunction.AVG, pick.choice(numbers), f"mean{place}"),
        g.GroupAggregate(g.AggregateFunction.MIN, pick.choice(ordered), f"least{place}"),
        g.GroupAggregate(g.AggregateFunction.MAX, pick.choice(ordered), f"most{place}"),
        g.GroupAggregate(g.AggregateFunction.SUM, _ref(known, "score", "weight"), f"total{place}"),
    ]
    where = random_predicate(pick, known)
    label = pick.choice([None, f"label{place}"])
    return g.GroupSection(where, tuple(groupings), tuple(asked), label, None, label or f"#{place}")


def _ref(known: list[p.PropertyRef], *names: str) -> p.PropertyRef:
    return next(item for item in known if item.name in names)


def random_plan(pick: random.Random) -> g.GroupPlan:
    """Several sections, each a case of its own: one job answers them all."""
    vertices = tuple(random_section(pick, ("src",), place) for place in range(SECTIONS))
    edges = [random_section(pick, ("edge", "src", "dst"), place) for place in range(SECTIONS)]
    ends = (pick.randrange(SECTIONS), pick.randrange(SECTIONS))
    edges[0] = g.GroupSection(**{**vars(edges[0]), "between": ends})
    return g.GroupPlan(
        g.GroupTable(vertices, "group"), g.GroupTable(tuple(edges), "group"), named_keys=True
    )


def sortable(rows: Rows) -> list[str]:
    return sorted(repr({name: shown(value) for name, value in row.items()}) for row in rows)


def shown(value: Any) -> Any:
    """Sums of floats come in any order, and zero has two signs."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else round(value + 0.0, 9)
    return value.astimezone(dt.UTC) if isinstance(value, dt.datetime) else value


@pytest.mark.parametrize("seed", SEEDS)
def test_random_groups_are_the_naive_ones(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    pick = random.Random(20261116 + seed)
    vertices, edges = random_graph(pick)
    plan = random_plan(pick)
    stored = write_graph(Catalog(tmp_path), "g", SCHEMA, vertices, edges)
    frames = graph_frames(private_session(spark), stored)
    expected = grouped(plan, vertices, edges)
    renamed = {f"_graphtide_{name}": name for name in ("id", "src", "dst", "label")}
    for make, rows in zip((grouped_vertices, grouped_edges), expected, strict=True):
        found = make(frames, plan).withColumnsRenamed(renamed).toArrow().to_pylist()
        assert sortable(found) == sortable(rows)
        if make is grouped_vertices:
            assert [row["id"] for row in found] == [row["id"] for row in rows]


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Session:
    made = Session(
        tmp_path_factory.mktemp("grouped"), lambda: SparkGateway(lambda: spark), progress=False
    )
    made.load(
        "Calls",
        vertices=[
            {"id": 1, "city": "Berlin", "age": 30},
            {"id": 2, "city": "Berlin", "age": 20},
            {"id": 3, "city": None, "age": 50},
            {"id": 4, "city": "null", "age": None},
        ],
        edges=[
            {"src": 1, "dst": 2, "duration": 5},
            {"src": 2, "dst": 1, "duration": 6},
            {"src": 1, "dst": 3, "duration": None},
            {"src": 3, "dst": 4, "duration": 2**62},
            {"src": 4, "dst": 4, "duration": 2**62},
        ],
    )
    return made


def test_a_grouped_graph_is_a_graph_like_any_other(session: Session) -> None:
    [answer] = session.execute(
        "create view Cities on Calls vertices group by city aggregate count(*), avg(age) "
        "edges where duration > 0 or duration is null aggregate count(*), sum(duration)"
    )
    graph = session.graph("Cities")
    assert answer.value is not None
    assert graph.vertices().to_pylist() == [
        {"id": "Berlin", "city": "Berlin", "count": 2, "avg_age": 25.0},
        {"id": "null", "city": None, "count": 1, "avg_age": 50.0},
        {"id": "'null'", "city": "null", "count": 1, "avg_age": None},
    ]
    assert graph.edges().to_pylist() == [
        {"src": "Berlin", "dst": "Berlin", "count": 2, "sum_duration": 11},
        {"src": "Berlin", "dst": "null", "count": 1, "sum_duration": None},
        {"src": "null", "dst": "'null'", "count": 1, "sum_duration": 2**62},
        {"src": "'null'", "dst": "'null'", "count": 1, "sum_duration": 2**62},
    ]
    assert session.check("Cities").column("state").to_pylist() == ["ok"]
    [listed] = [
        row
        for row in session.execute("show graphs")[0].table.to_pylist()
        if row["graph"] == "Cities"
    ]
    assert listed["source"].startswith("create view Cities on Calls vertices group by city")
    views = graph.collection("c", {"all": "true", "busy": "count > 1 or src.count > 1"})
    run = views.run(gt.algorithms.WCC(), results=False)
    assert {row["view"] for row in run.record().to_pylist()} == {"all", "busy"}
    assert session.current_graph() == "Calls"


def test_the_same_from_python(session: Session) -> None:
    graph = session.graph("Calls").group(
        "Ages",
        [{"young": "age < 30", "old": "age >= 30"}, "city"],
        where="age > 0",
        vertices={"people": "count(*)"},
        edges=["min(duration)"],
    )
    assert graph.vertices().to_pylist() == [
        {"id": "young, Berlin", "city": "Berlin", "group": "young", "people": 1},
        {"id": "old, Berlin", "city": "Berlin", "group": "old", "people": 1},
        {"id": "old, null", "city": None, "group": "old", "people": 1},
    ]
    assert graph.edges().to_pylist() == [
        {"src": "old, Berlin", "dst": "young, Berlin", "min_duration": 5},
        {"src": "young, Berlin", "dst": "old, Berlin", "min_duration": 6},
        {"src": "old, Berlin", "dst": "old, null", "min_duration": None},
    ]


def test_groups_of_an_undirected_graph_are_joined_by_one_edge(session: Session) -> None:
    people = [{"id": at, "city": "Rome" if at % 2 else "Oslo"} for at in range(5)]
    ends = [(0, 1), (1, 2), (3, 4), (1, 3), (2, 2)]
    session.load("Met", edges=ends, vertices=people, directed=False)
    graph = session.graph("Met").group("Cities", ["city"], edges=["count(*)"], replace=True)
    session.execute("use graph Calls")
    assert not graph.directed
    joined = {
        frozenset((row["src"], row["dst"])): row["count"] for row in graph.edges().to_pylist()
    }
    assert joined == {
        frozenset(("Oslo", "Rome")): 3,
        frozenset(("Rome",)): 1,
        frozenset(("Oslo",)): 1,
    }
    assert graph.num_edges == 3


def test_a_script_of_graphsurge_s_with_sections(session: Session, tmp_path: Path) -> None:
    [answer] = session.execute(
        f"""
        create view Sections with
            vertices as grown where age >= 30 group by [(city)] aggregate {{num: count(*)}}
            vertices as rest where age < 30
            edges as between_them between (grown, rest) aggregate {{calls: count(*)}}
            save to '{tmp_path}'
        """
    )
    graph = session.graph("Sections")
    assert graph.vertices().column("id").to_pylist() == [
        *("grown: city=Berlin", "grown: city=null", "rest: id=2")
    ]
    ends = [(row["src"], row["dst"], row["calls"]) for row in graph.edges().to_pylist()]
    assert ends == [
        ("grown: city=Berlin", "rest: id=2", 1),
        ("rest: id=2", "grown: city=Berlin", 1),
    ]
    assert (tmp_path / "edges.csv").is_file()
    assert "CSV" in answer.notes[0]


def test_no_group_at_all(session: Session) -> None:
    graph = session.graph("Calls").group("Nobody", "city", where="age > 99", edges="count(*)")
    assert (graph.num_vertices, graph.num_edges) == (0, 0)


def test_on_a_view_and_every_vertex_by_itself(session: Session) -> None:
    session.graph("Calls").view("short", "duration < 10")
    session.execute("create view Simple on short with edges aggregate count(*)")
    graph = session.graph("Simple")
    assert graph.vertices().column("id").to_pylist() == ["1", "2", "3", "4"]
    assert graph.vertices().column("age").to_pylist() == [30, 20, 50, None]
    assert [(row["src"], row["dst"]) for row in graph.edges().to_pylist()] == [
        ("1", "2"),
        ("2", "1"),
    ]


def test_a_sum_that_64_bits_cannot_hold_is_an_error_and_leaves_nothing(session: Session) -> None:
    with pytest.raises(LimitError, match=r"sum_duration: .* 64 bits: 9223372036854775819"):
        session.graph("Calls").group("Large", {"all": "true"}, edges="sum(duration)")
    assert "Large" not in session.graphs()
