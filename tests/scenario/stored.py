"""A small catalog written without Spark: two graphs, a view and a collection, by plain rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.optimize import plan_collection
from graphtide.plan.collection import ViewMatrix
from graphtide.store.catalog import Catalog
from graphtide.store.collection import EDGES, CollectionFacts, StoredView, write_collection
from graphtide.store.commit import begin
from graphtide.store.graph import StoredGraph
from tests.graphs import write_graph

Row = dict[str, Any]

SCHEMA = GraphSchema(
    id_type=PropertyType.STRING,
    vertex=(Property("state", PropertyType.STRING),),
    edge=(Property("year", PropertyType.INT), Property("note", PropertyType.STRING)),
)
PEOPLE: list[Row] = [
    {"id": "ann", "state": "CA"},
    {"id": "Zoë", "state": "NY"},
    {"id": "<b>李雷</b>", "state": None},
]
CALLS: list[Row] = [
    {"src": at % 3, "dst": (at + 1) % 3, "year": 2010 + at % 30, "note": "a & b" if at else None}
    for at in range(60)
]


def write_catalog(root: Path) -> Catalog:
    """Graphs Calls and Empty, the view `early` and the collection `years` (upto-2010, ...)."""
    catalog = Catalog(root)
    calls = write_graph(catalog, "Calls", SCHEMA, PEOPLE, CALLS)
    write_graph(catalog, "Empty", SCHEMA, PEOPLE, [])
    write_views(catalog, calls, "view", "early", {"early": lambda row: row["year"] < 2015})
    years = {f"upto-{year}": _up_to(year) for year in range(2010, 2040)}
    write_views(catalog, calls, "collection", "years", years)
    return catalog


def write_views(
    catalog: Catalog,
    graph: StoredGraph,
    kind: Literal["view", "collection"],
    name: str,
    views: dict[str, Callable[[Row], bool]],
    rows: list[Row] = CALLS,
) -> None:
    """Every edge is a class of its own: no signature is worked out."""
    held = np.array([[holds(row) for holds in views.values()] for row in rows])
    used = np.flatnonzero(held.any(axis=1))
    matrix = ViewMatrix(held[used], np.ones(len(used), np.int64))
    facts = CollectionFacts(kind, graph.name, graph.identity, "true", f"create ... {name}", 0.1)
    stored = [
        StoredView(view, f"predicate of {view}", int(size))
        for view, size in zip(views, matrix.sizes(), strict=True)
    ]
    with begin(catalog.collection_folder(name), replace=True, what=name) as commit:
        (commit.path / EDGES).mkdir()
        classes = np.arange(len(used), dtype=np.int32)
        edges = pa.table({"_edge": used.astype(np.int32), "_class": classes})
        pq.write_table(edges, commit.path / EDGES / "part.parquet")
        write_collection(commit, facts, stored, plan_collection(matrix), matrix.weights)


def _up_to(year: int) -> Callable[[Row], bool]:
    return lambda row: bool(row["year"] <= year)
