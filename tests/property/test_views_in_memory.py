"""Views of a graph in memory equal views told row by row, whatever the columns and predicates."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtide.model.column_types import MEMORY_TYPES
from graphtide.model.schema import Property, PropertyType
from graphtide.plan import predicates as p
from graphtide.run.live.edge_rows import ColumnNames
from graphtide.run.live.vertex_ids import VertexIds
from graphtide.run.views.build import SnapshotFacts
from graphtide.run.views.classes import edge_classes, matching_edges, matching_vertices
from graphtide.run.views.snapshot import Snapshot, ViewColumns
from tests.examples import examples
from tests.oracle.predicates import Row, holds
from tests.property.strategies import PROPERTIES, SCHEMA, edge_rows, predicates, vertex_rows


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Snapshot, list[Row]]:
    """A graph with every type of column, and its edges as rows for the oracle."""
    vertices = draw(st.lists(vertex_rows(), min_size=1, max_size=5))
    edges = draw(st.lists(edge_rows(), max_size=12))
    places = st.integers(0, len(vertices) - 1)
    src, dst = (draw(st.lists(places, min_size=len(edges), max_size=len(edges))) for _ in "sd")
    return made_of(vertices, edges, (src, dst))


def made_of(
    vertices: list[dict[str, Any]], edges: list[dict[str, Any]], ends: tuple[list[int], list[int]]
) -> tuple[Snapshot, list[Row]]:
    snapshot = Snapshot(
        numbers=np.arange(len(edges), dtype=np.int32),
        src=np.array(ends[0], np.int32),
        dst=np.array(ends[1], np.int32),
        properties={},
        ids=VertexIds(np.arange(len(vertices))),
        names=ColumnNames("src", "dst"),
        simple=False,
        columns=ViewColumns(table(edges, SCHEMA.edge), table(vertices, SCHEMA.vertex)),
    )
    rows = [
        {"edge": edge, "src": vertices[one], "dst": vertices[other]}
        for edge, one, other in zip(edges, *ends, strict=True)
    ]
    return snapshot, rows


def table(rows: list[dict[str, Any]], properties: tuple[Property, ...]) -> pa.Table:
    return pa.table(
        {
            item.name: pa.array([row.get(item.name) for row in rows], MEMORY_TYPES[item.type])
            for item in properties
        }
    )


@settings(max_examples=examples(300), deadline=None)
@given(graphs(), st.lists(predicates(), min_size=1, max_size=5))
def test_edges_are_in_the_views_that_their_rows_satisfy(
    graph: tuple[Snapshot, list[Row]], views: list[p.Predicate]
) -> None:
    snapshot, rows = graph
    of_edge, classes = edge_classes(snapshot, views)
    held = np.stack([classes.views.held(view) for view in range(len(views))], axis=1)
    for row, number in zip(rows, of_edge.tolist(), strict=True):
        expected = [holds(view, row) for view in views]
        assert expected == ([False] * len(views) if number < 0 else held[number].tolist())
    for view in views:
        assert matching_edges(snapshot, view).tolist() == [holds(view, row) for row in rows]


@settings(max_examples=examples(100), deadline=None)
@given(graphs(), predicates())
def test_vertices_match_by_their_own_properties(
    graph: tuple[Snapshot, list[Row]], predicate: p.Predicate
) -> None:
    snapshot, _ = graph
    if any(item.owner != "src" for atom in p.atoms_of(predicate) for item in p.properties_of(atom)):
        return
    vertices = snapshot.columns.vertices.to_pylist()
    expected = [holds(predicate, {"edge": {}, "src": row, "dst": {}}) for row in vertices]
    assert matching_vertices(snapshot, predicate).tolist() == expected


@settings(max_examples=examples(100), deadline=None)
@given(graphs(), st.sampled_from(PROPERTIES), predicates())
def test_bounds_are_those_of_the_rows_that_match(
    graph: tuple[Snapshot, list[Row]], item: p.PropertyRef, where: p.Predicate
) -> None:
    if item.type in ("bool", "string"):
        return
    snapshot, rows = graph
    values = [row[item.owner][item.name] for row in rows if holds(where, row)]
    values = [value for value in values if value is not None and value == value]
    found = SnapshotFacts(snapshot).bounds(item, where)
    assert found == ((min(values), max(values)) if values else None)
    distinct = SnapshotFacts(snapshot).values(item, where, 100)
    assert list(distinct) == sorted(set(values))
    if found is not None and item.type == "timestamp":
        assert isinstance(found[0], dt.datetime)
        assert found[0].tzinfo is not None


INTS = [-(2**63), -(2**53) - 1, -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1, None]
FLOATS = [-math.inf, -(2.0**63), -(2.0**53), -1.0, -0.0, 0.0, 0.5, 2.0**53, 2.0**63, math.inf]


def test_ints_and_floats_are_compared_exactly() -> None:
    pairs = [{"year": one, "weight": two} for one in INTS for two in [*FLOATS, math.nan, None]]
    snapshot, rows = made_of([{}], pairs, ([0] * len(pairs), [0] * len(pairs)))
    year = p.PropertyRef("edge", "year", PropertyType.INT)
    weight = p.PropertyRef("edge", "weight", PropertyType.FLOAT)
    for left, right in ((year, weight), (weight, year), (weight, weight), (year, year)):
        for operator in p.Operator:
            view = p.Comparison(operator, left, right)
            assert matching_edges(snapshot, view).tolist() == [holds(view, row) for row in rows]


def test_both_zeros_are_one_value() -> None:
    snapshot, _ = made_of([{}], [{"weight": -0.0}, {"weight": 0.0}], ([0, 0], [0, 0]))
    weight = p.PropertyRef("edge", "weight", PropertyType.FLOAT)
    assert list(SnapshotFacts(snapshot).values(weight, p.EVERYTHING, 1)) == [0.0]
