"""Stored graphs that change at random, beside the plain lists that they must equal."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import graphtide as gt
from graphtide.lang.gvdl.requests import view_list
from graphtide.lang.gvdl.statements import CreateCollection
from graphtide.model.schema import GraphSchema, GraphSummary, Property, PropertyType
from graphtide.optimize import plan_collection
from graphtide.plan.predicates import OTHERWISE
from graphtide.run.catalog.build import stored_request
from graphtide.run.views.classes import StoredEdgeRows, viewed_edges
from graphtide.store.catalog import Catalog
from graphtide.store.collection import EDGES, CollectionFacts, write_collection
from graphtide.store.commit import begin
from graphtide.store.graph import graph_manifest, open_graph
from graphtide.store.tables import live_edges
from tests.graphs import write_graph
from tests.oracle.changing_graph import ChangingGraph, Row

SCHEMA = GraphSchema(
    id_type=PropertyType.INT,
    vertex=(Property("city", PropertyType.STRING), Property("age", PropertyType.INT)),
    edge=(Property("year", PropertyType.INT), Property("kind", PropertyType.STRING)),
)
IDS = 12
CITIES = ("Oslo", "Rome", None)
YEARS = (2000, 2001, 2002, 2003, None)
KINDS = ("call", "mail", None)


def random_edge(pick: random.Random) -> Row:
    """Often parallel to another, and at times a loop."""
    ends = pick.randrange(IDS), pick.randrange(IDS)
    return dict(
        zip(("src", "dst"), ends, strict=True), year=pick.choice(YEARS), kind=pick.choice(KINDS)
    )


def random_vertex(pick: random.Random, id_: int) -> Row:
    return {"id": id_, "city": pick.choice(CITIES), "age": pick.randrange(3)}


def begin_graph(
    root: Path, pick: random.Random, *, listed: bool = True, edges: int = 20
) -> tuple[gt.CatalogGraph, ChangingGraph]:
    """A graph of random edges, and what it holds. Only where not all vertices are `listed` do new
    ends become vertices."""
    vertices = [random_vertex(pick, at) for at in range(IDS)]
    rows = [random_edge(pick) for _ in range(edges)]
    catalog = Catalog(root)
    write_graph(catalog, "g", SCHEMA, vertices, rows)
    if not listed:
        _forget_list(catalog)
    return gt.session(root, progress=False).graph("g"), ChangingGraph(vertices, rows)


def random_append(
    pick: random.Random, known: ChangingGraph, *, listed: bool = True
) -> dict[str, Any]:
    """Rows to append, delete, change: any of them may be left out."""
    change: dict[str, Any] = {}
    new = range(IDS, IDS + 30)
    if pick.random() < 0.4:
        ids = pick.sample(range(IDS + 8), 3)
        change["vertices"] = [random_vertex(pick, id_) for id_ in ids]
    if pick.random() < 0.7:
        rows = [random_edge(pick) for _ in range(pick.randrange(1, 8))]
        if not listed and pick.random() < 0.5:
            rows[0]["src"] = pick.choice(new)
        change["edges"] = rows
    if pick.random() < 0.6 and known.edges:
        gone = pick.sample(known.edges, min(len(known.edges), pick.randrange(1, 6)))
        names = pick.choice([("src", "dst"), ("src", "dst", "year"), tuple(known.edges[0])])
        change["delete"] = [{name: row[name] for name in names} for row in gone]
    if pick.random() < 0.5:
        update = _clear_update(pick, known, change)
        if update is not None:
            change["update"] = [update]
            change["match"] = ["kind"]
    return change or {"edges": [random_edge(pick)]}


def check_rows(graph: gt.CatalogGraph, known: ChangingGraph) -> None:
    """The tables of a graph hold what the lists hold."""
    assert graph.num_vertices == len(known.vertices)
    assert graph.num_edges == len(known.edges)
    assert graph.vertices().to_pylist() == known.vertices
    assert graph.edges().to_pylist() == known.edges


def check_same(graph: gt.CatalogGraph, known: ChangingGraph) -> None:
    """Everything that shows a graph without Spark shows what the lists hold."""
    check_rows(graph, known)
    assert graph.head(3).to_pylist() == known.edges[:3]
    assert graph.to_networkx().number_of_edges() == len(known.edges)
    memory = graph.to_memory()
    rows = memory.edges().drop_columns(["edge"]).to_pylist()
    assert [(row["src"], row["dst"]) for row in rows] == [
        (row["src"], row["dst"]) for row in known.edges
    ]
    assert memory.vertices().column("id").to_pylist() == [row["id"] for row in known.vertices]


VIEWS: dict[str, tuple[str, Callable[[Row, Row, Row], bool]]] = {
    "early": ("year <= 2001", lambda e, s, d: e["year"] is not None and e["year"] <= 2001),
    "calls": ("kind = 'call'", lambda e, s, d: e["kind"] == "call"),
    "home": (
        "src.city = 'Oslo' and dst.age >= 1",
        lambda e, s, d: s["city"] == "Oslo" and d["age"] is not None and d["age"] >= 1,
    ),
    "others": (
        "kind = 'mail' or year = 2003",
        lambda e, s, d: e["kind"] == "mail" or e["year"] == 2003,
    ),
}
"""Predicates, and what they mean of an edge and its two ends."""


def make_views(
    graph: gt.CatalogGraph, name: str, chosen: Sequence[str] | str = tuple(VIEWS)
) -> gt.Collection:
    """A collection of some of VIEWS, or of GVDL, made without Spark from the graph as it is."""
    space, stored = graph._space, graph._stored
    known = {view: VIEWS[view][0] for view in chosen if view in VIEWS}
    written = view_list(chosen if isinstance(chosen, str) else known, None)
    statement = CreateCollection(name, written.items, base=graph.name)
    request = stored_request(space, statement)
    numbers = live_edges(stored)
    of_row, classes, unviewed = viewed_edges(
        StoredEdgeRows(stored, numbers), request.predicates, request.why_unviewed
    )
    facts = CollectionFacts(
        *("collection", stored.name, stored.identity, "true", request.statement, 0),
        unviewed=unviewed,
    )
    inside = of_row >= 0
    with begin(space.catalog.collection_folder(name), replace=True, what=name) as commit:
        (commit.path / EDGES).mkdir()
        table = pa.table({"_edge": numbers[inside], "_class": of_row[inside]})
        pq.write_table(table, commit.path / EDGES / "part-0.parquet")
        views, matrix = request.views_of(classes)
        plan = plan_collection(matrix)
        wide = stored.has_wide_numbers
        write_collection(commit, facts, views, plan, matrix.weights, wide=wide)
    return space.collection(name)  # type: ignore[attr-defined, no-any-return]


def check_views(collection: gt.Collection, known: ChangingGraph) -> None:
    """Every view holds the edges that its predicate is true of, and the plan adds up to them."""
    vertices = {row["id"]: row for row in known.vertices}
    means = [VIEWS[view.name][1] for view in collection]
    ends = [(row, vertices[row["src"]], vertices[row["dst"]]) for row in known.edges]
    nowhere = sum(not any(holds(*row) for holds in means) for row in ends)
    assert collection.unviewed == ({OTHERWISE: nowhere} if nowhere else {})
    list(collection.plan.versions())
    for view in collection:
        means = VIEWS[view.name][1]
        wanted = [
            row for row in known.edges if means(row, vertices[row["src"]], vertices[row["dst"]])
        ]
        assert view.to_arrow().to_pylist() == wanted
        assert len(view) == len(wanted)
    assert (collection.weights > 0).all()


def _clear_update(pick: random.Random, known: ChangingGraph, change: dict[str, Any]) -> Row | None:
    """A new year for an edge that its ends and kind name alone, also after what is deleted."""
    trial = ChangingGraph(known.vertices, known.edges)
    trial.append(delete=change.get("delete", ()))
    for row in pick.sample(trial.edges, len(trial.edges)):
        named = {name: row[name] for name in ("src", "dst", "kind")}
        if len(trial._having(named)) == 1:
            return named | {"year": pick.choice(YEARS)}
    return None


def _forget_list(catalog: Catalog) -> None:
    """The same graph, as a load of edges alone has written it.

    Spark marks the columns in which no value can be missing; here, those without a missing one.
    """
    stored = open_graph(catalog, "g")
    tables = {name: stored.generation.table(name) for name in ("vertices", "edges")}
    with begin(catalog.graph_folder("g"), replace=True, what="g") as commit:
        for name, table in tables.items():
            (commit.path / name).mkdir()
            marked = [
                item.with_nullable(table.column(item.name).null_count > 0) for item in table.schema
            ]
            table = table.cast(pa.schema(marked))
            pq.write_table(table, commit.path / name / f"part-{0:012d}.parquet")
        facts = GraphSummary(SCHEMA, stored.vertices, stored.edges, 0, "a test", listed=0)
        commit.finish(graph_manifest(facts))
