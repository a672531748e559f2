"""Collections through Spark: every view, put together from deltas, equals the naive answer."""

from __future__ import annotations

import datetime as dt
import math
import os
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from graphtide.model.progress import silent
from graphtide.model.schema import PropertyType
from graphtide.plan import predicates as p
from graphtide.plan.signatures import layout_signatures
from graphtide.run.catalog.build import build_collection
from graphtide.run.views.build import CollectionRequest
from graphtide.spark.gateway import SparkGateway
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection
from graphtide.store.graph import StoredGraph
from tests.examples import repeats
from tests.graphs import write_graph
from tests.oracle.predicates import holds
from tests.property.strategies import SCHEMA, predicates, random_row

pytestmark = pytest.mark.spark

VERTICES = 12


ROWS = 160


def random_rows(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    pick = random.Random(seed)
    vertices = [{"id": 100 + at, **random_row(pick, SCHEMA.vertex)} for at in range(VERTICES)]
    edges = [
        {
            "src": pick.randrange(VERTICES),
            "dst": pick.randrange(VERTICES),
            **random_row(pick, SCHEMA.edge),
        }
        for _ in range(ROWS)
    ]
    return vertices, edges


VERTEX_ROWS, EDGE_ROWS = random_rows(seed=20261115)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return Catalog(tmp_path_factory.mktemp("catalog"))


@pytest.fixture(scope="module")
def graph(catalog: Catalog) -> StoredGraph:
    return write_graph(catalog, "random", SCHEMA, VERTEX_ROWS, EDGE_ROWS)


@pytest.fixture(scope="module")
def gateway(spark: SparkSession) -> SparkGateway:
    return SparkGateway(lambda: spark)


def build(
    catalog: Catalog,
    gateway: SparkGateway,
    graph: StoredGraph,
    views: list[p.Predicate],
    **options: Any,
) -> StoredCollection:
    named = tuple(p.NamedPredicate(f"v{at}", view) for at, view in enumerate(views))
    request = CollectionRequest("c", "collection", graph, named, "test", replace=True, **options)
    return build_collection(catalog, gateway, request, silent)


def expected_edges(view: p.Predicate) -> list[int]:
    return [
        number
        for number, edge in enumerate(EDGE_ROWS)
        if holds(
            view,
            {
                "edge": {"id": number, "_edge": number, **edge},
                "src": {**VERTEX_ROWS[edge["src"]], "_vertex": edge["src"]},
                "dst": {**VERTEX_ROWS[edge["dst"]], "_vertex": edge["dst"]},
            },
        )
    ]


def check_views(stored: StoredCollection, views: list[p.Predicate]) -> None:
    for at, view in enumerate(views):
        assert stored.view_edges(at).tolist() == expected_edges(view), str(view)
        assert stored.views[at].size == len(expected_edges(view))
    check_deltas(stored)


def check_deltas(stored: StoredCollection) -> None:
    """Walk the plan by its deltas alone, as a run does."""
    versions: list[set[int]] = []
    for at, step in enumerate(stored.plan.steps):
        version = set() if step.parent < 0 else set(versions[step.parent])
        delta = stored.delta(at)
        entering, leaving = set(delta.inserted.tolist()), set(delta.deleted.tolist())
        assert not entering & version
        assert leaving <= version
        versions.append((version | entering) - leaving)
        if step.view is not None:
            assert versions[at] == set(stored.view_edges(step.view).tolist())


@pytest.mark.masters
@settings(
    max_examples=repeats(3),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize="GRAPHTIDE_CAMPAIGN" not in os.environ,
)
@given(views=st.lists(predicates(), min_size=1, max_size=12), many=st.booleans())
def test_random_views_equal_the_naive_answer(
    catalog: Catalog,
    gateway: SparkGateway,
    graph: StoredGraph,
    views: list[p.Predicate],
    many: bool,
) -> None:
    """Whether they are planned over all distances or as many views are, by runs of classes."""
    with pytest.MonkeyPatch.context() as patch:
        if many:
            patch.setattr("graphtide.plan.classes.packs", lambda views, rows: False)
        check_views(build(catalog, gateway, graph, views), views)


def many_cuts(item: p.PropertyRef, values: list[Any]) -> list[p.Predicate]:
    operators = list(p.Operator)
    return [
        p.Comparison(operators[at % 6], item, p.Constant(value, item.type))
        for at, value in enumerate(values)
    ]


MOMENT = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        pytest.param("year", list(range(-30, 30)), id="even ints"),
        pytest.param(
            "year",
            [2**k for k in range(62)] + [-(2**k) for k in range(64)],
            id="uneven",
        ),
        pytest.param("year", list(range(2**63 - 20, 2**63)), id="at the end of the ints"),
        pytest.param("weight", [at / 8 for at in range(-40, 40)] + [math.inf], id="floats"),
        pytest.param("kind", [chr(at) for at in range(37, 127)] + ["é", "￿"], id="strings"),
        pytest.param(
            "day", [dt.date(2020, 2, 1) + dt.timedelta(days=at) for at in range(60)], id="days"
        ),
        pytest.param(
            "ts",
            [MOMENT + dt.timedelta(microseconds=at) for at in range(-9, 30)],
            id="micros",
            marks=pytest.mark.masters,
        ),
    ],
)
def test_many_cuts_of_one_property(
    catalog: Catalog, gateway: SparkGateway, graph: StoredGraph, name: str, values: list[Any]
) -> None:
    (kind,) = [item.type for item in SCHEMA.edge if item.name == name]
    views = many_cuts(p.PropertyRef("edge", name, kind), values)
    check_views(build(catalog, gateway, graph, views), views)


def test_removing_edges_and_vertices_by_number(
    catalog: Catalog, gateway: SparkGateway, graph: StoredGraph
) -> None:
    edge = p.PropertyRef("edge", "_edge", PropertyType.INT)
    ends = [p.PropertyRef(side, "_vertex", PropertyType.INT) for side in ("src", "dst")]
    views: list[p.Predicate] = [differs(edge, number) for number in range(ROWS)]
    stored = build(catalog, gateway, graph, views)
    check_views(stored, views)
    assert stored.plan.differences(stored.weights) <= ROWS + len(views)
    views = [p.And(tuple(differs(end, vertex) for end in ends)) for vertex in range(VERTICES)]
    check_views(build(catalog, gateway, graph, views), views)


def differs(item: p.PropertyRef, number: int) -> p.Comparison:
    return p.Comparison(p.Operator.NE, item, p.Constant(number, PropertyType.INT))


@pytest.mark.parametrize("order", ["auto", "chain", "tree", "manual"])
def test_every_order_holds_the_same_views(
    catalog: Catalog, gateway: SparkGateway, graph: StoredGraph, order: Any
) -> None:
    year = p.PropertyRef("edge", "year", PropertyType.INT)
    views = many_cuts(year, [3, 0, 2, 1, -1, 2**53])
    stored = build(catalog, gateway, graph, views, order=order)
    check_views(stored, views)
    if order == "manual":
        assert [step.view for step in stored.plan.steps] == list(range(len(views)))


def test_views_of_everything_and_of_nothing(
    catalog: Catalog, gateway: SparkGateway, graph: StoredGraph
) -> None:
    views: list[p.Predicate] = [p.Always(True), p.Always(False)]
    check_views(build(catalog, gateway, graph, views), views)
    nothing: list[p.Predicate] = [p.Always(False)]
    check_views(build(catalog, gateway, graph, nothing), nothing)


def test_empty_views_are_dropped_where_that_was_asked(
    catalog: Catalog, gateway: SparkGateway, graph: StoredGraph
) -> None:
    views: list[p.Predicate] = [p.Always(True), p.Always(False), p.Always(False)]
    stored = build(catalog, gateway, graph, views, drop_empty=frozenset({"v0", "v2"}))
    assert [view.name for view in stored.views] == ["v0", "v1"]


def test_a_graph_without_edges(catalog: Catalog, gateway: SparkGateway) -> None:
    graph = write_graph(catalog, "empty", SCHEMA, VERTEX_ROWS, [])
    year = p.PropertyRef("edge", "year", PropertyType.INT)
    stored = build(catalog, gateway, graph, many_cuts(year, [1, 2, 3]))
    assert [view.size for view in stored.views] == [0, 0, 0]
    assert stored.view_edges(0).tolist() == []


def test_the_size_of_the_expression_does_not_grow_with_the_views(
    gateway: SparkGateway, graph: StoredGraph
) -> None:
    year = p.PropertyRef("edge", "year", PropertyType.INT)

    def operators(count: int) -> int:
        layout = layout_signatures(many_cuts(year, list(range(count))))
        plan = gateway.collection_jobs(graph, layout).explain()
        return plan.count(">=") + plan.count("CASE")

    assert operators(2000) <= operators(20)
