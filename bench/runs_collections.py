"""Collections as the benchmark runs them: classes of edges, a plan, and a graph in memory.

Made by the planner that stored collections are made by, without Spark and without a store: only the
runs are measured.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.runs_graphs import EdgeTable, Int32, Int64, authors
from graphtide.engine.resident import ResidentGraph
from graphtide.optimize import plan_collection
from graphtide.optimize.planner import Order
from graphtide.plan.collection import ViewMatrix
from graphtide.run.collection.versions import Versions
from graphtide.run.live.edge_rows import ColumnNames
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.vertex_ids import VertexIds
from graphtide.store.collection import group_edges

DAY = 86_400
LENGTHS = {"day": 1, "week": 7, "month": 30, "half-year": 182, "year": 365}


@dataclass(frozen=True)
class Views:
    """The views of a graph: the class of every edge, -1 where no view has it, and the matrix."""

    name: str
    graph: EdgeTable
    classes: Int32
    matrix: ViewMatrix

    def __len__(self) -> int:
        return self.matrix.views

    def held(self, view: int) -> Int64:
        """The edges of a view."""
        held = np.append(self.matrix.membership[:, view], False)
        return np.flatnonzero(held[self.classes])


def expanding(graph: EdgeTable, word: str, days: float) -> Views:
    """Windows from the first edge on that grow by so many days."""
    bucket = _buckets(graph.time, days)
    upto = np.arange(bucket[-1] + 1) if len(bucket) else np.arange(0)
    return _views(f"{word} expanding windows", graph, bucket, lambda at: at[:, None] <= upto)


def disjoint(graph: EdgeTable, word: str, days: float) -> Views:
    """Windows of so many days that do not overlap; those without an edge are left out."""
    _, bucket = np.unique(_buckets(graph.time, days), return_inverse=True)
    views = np.arange(bucket.max() + 1)
    return _views(f"{word} separate windows", graph, bucket, lambda at: at[:, None] == views)


def products(graph: EdgeTable) -> Views:
    """Each year of citing papers, and in each year papers of at most 1, 2, 3 ... authors."""
    year = _buckets(graph.time, 365.25)
    count = authors(graph)
    _, year = np.unique(year, return_inverse=True)
    most = int(count.max())
    cells = year * most + (count - 1)
    view_year, view_most = np.divmod(np.arange((int(year.max()) + 1) * most), most)

    def holds(cell: Int64) -> NDArray[np.bool_]:
        years, counts = np.divmod(cell[:, None], most)
        return np.asarray((years == view_year) & (counts <= view_most))

    return _views("years x authors", graph, cells, holds)


def removals(graph: EdgeTable, communities: list[list[int]]) -> Views:
    """All ways to remove half of the communities, with every edge that touches them."""
    touched = np.zeros(graph.edges, np.int64)
    for number, members in enumerate(communities):
        inside = np.isin(graph.ids, members)
        touched |= (inside[graph.src] | inside[graph.dst]).astype(np.int64) << number
    half = itertools.combinations(range(len(communities)), len(communities) // 2)
    removed = np.array([sum(1 << number for number in chosen) for chosen in half])
    return _views("community removals", graph, touched, lambda key: key[:, None] & removed == 0)


def outages(graph: EdgeTable) -> Views:
    """Every edge out in turn."""
    edges = np.arange(graph.edges)
    return _views("single outages", graph, edges, lambda edge: edge[:, None] != edges)


def sliding(graph: EdgeTable, count: int, share: float) -> Views:
    """So many windows of one width, a share of the whole, at even steps; edges come by number."""
    starts = np.linspace(0, graph.edges * (1 - share), count).astype(np.int64)
    stops = starts + int(graph.edges * share)
    return _ranges(f"{count} sliding windows", graph, starts, stops)


def growing(graph: EdgeTable, count: int) -> Views:
    """So many windows from the first edge on, at even steps; edges come by number."""
    stops = np.linspace(0, graph.edges, count + 1)[1:].astype(np.int64)
    return _ranges(f"{count} expanding windows", graph, np.zeros_like(stops), stops)


def arranged(
    views: Views, order: Order = "auto", given: NDArray[np.intp] | None = None
) -> Versions:
    """The views with a plan, ready to be run; in a given order where there is one."""
    matrix, names = views.matrix, np.arange(len(views))
    if given is not None:
        matrix, order, names = _reordered(matrix, given), "manual", given
    plan = plan_collection(matrix, order=order, compare=order == "auto")
    graph, used = views.graph, np.flatnonzero(views.classes >= 0)
    ends = graph.src[used], graph.dst[used]
    properties = {"weight": graph.weight[used]}
    resident = ResidentGraph(graph.vertices, *ends, properties, live=False)
    columns = ColumnNames("src", "dst", ("weight",))
    known = KnownEdges(resident, VertexIds(np.arange(graph.vertices)), columns, simple=False)
    grouped = group_edges(resident.numbers, views.classes[used], matrix.classes)
    return Versions(plan, tuple(map(str, names.tolist())), known, grouped)


def _reordered(matrix: ViewMatrix, order: NDArray[np.intp]) -> ViewMatrix:
    return ViewMatrix(np.ascontiguousarray(matrix.membership[:, order]), matrix.weights)


def _buckets(time: Int64, days: float) -> Int64:
    return np.asarray((time - time.min()) / (DAY * days)).astype(np.int64)


def _ranges(name: str, graph: EdgeTable, starts: Int64, stops: Int64) -> Views:
    cuts = np.unique(np.concatenate([starts, stops]))
    piece = np.searchsorted(cuts, np.arange(graph.edges), side="right") - 1

    def holds(at: Int64) -> NDArray[np.bool_]:
        first = cuts[at][:, None]
        return (starts <= first) & (first < stops)

    return _views(name, graph, piece, holds)


def _views(name: str, graph: EdgeTable, keys: Int64, holds: object) -> Views:
    """Edges by a key that decides which views have them; `holds` makes a matrix of keys."""
    assert callable(holds)
    distinct, classes, counts = np.unique(keys, return_inverse=True, return_counts=True)
    membership: NDArray[np.bool_] = holds(distinct)
    used = membership.any(axis=1)
    numbers = np.where(used, np.cumsum(used) - 1, -1)
    matrix = ViewMatrix(np.ascontiguousarray(membership[used]), counts[used])
    return Views(f"{graph.name}, {name}", graph, numbers[classes].astype(np.int32), matrix)
