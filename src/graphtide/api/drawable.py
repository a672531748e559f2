"""What a page draws of collections, runs and live graphs: their versions, with edges by vertex."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.api.collection import Collection
from graphtide.api.memory_views import MemoryCollection
from graphtide.api.run import Run
from graphtide.plan.collection import CollectionPlan, PlanStep, PlanTotals
from graphtide.run.catalog.opened_runs import versions_text
from graphtide.run.collection.runs_in_memory import FixedVertices, RoutesInMemory
from graphtide.run.collection.steps import ViewVertices
from graphtide.run.collection.stored_graph import check_edges
from graphtide.run.collection.stored_vertices import StoredVertices
from graphtide.run.live.named_graph import NO_TABLE
from graphtide.run.views.drawable import (
    DrawableGraph,
    RunProperties,
    SnapshotProperties,
    StoredProperties,
)
from graphtide.run.views.snapshot import Snapshot
from graphtide.store.collection import graph_behind
from graphtide.store.tables import edge_table


def drawable_collection(collection: Collection | MemoryCollection[Any]) -> DrawableGraph:
    """The views of a collection. Reads the ends of all edges. O(edges of the graph)."""
    views = collection._arranged
    grouped = views.grouped_edges  # type: ignore[attr-defined]
    names = tuple(view.name for view in views.views)
    known = ViewVertices.of(views.views)
    if isinstance(collection, MemoryCollection):
        snapshot: Snapshot = collection._made.snapshot
        rows = np.searchsorted(snapshot.numbers, grouped.edges)
        return DrawableGraph(
            *(names, views.plan, grouped.offsets, snapshot.src[rows], snapshot.dst[rows]),
            *(grouped.edges, FixedVertices(snapshot.ids), snapshot.directed),
            *(SnapshotProperties(snapshot), known),
        )
    graph = graph_behind(collection._space.catalog, collection._stored)
    check_edges(graph, collection._stored)
    ends = edge_table(graph, ["_src", "_dst"])
    src, dst = (ends.column(name).to_numpy()[grouped.edges] for name in ("_src", "_dst"))
    return DrawableGraph(
        *(names, views.plan, grouped.offsets, src, dst, grouped.edges),
        *(StoredVertices(graph), graph.directed, StoredProperties(graph), known),
    )


def drawable_run(run: Run) -> DrawableGraph:
    """The views of a run, as they were when it was made."""
    contents, touched = run._contents, run._contents.touched()
    known, names = contents.steps.vertices, contents.steps.names
    rows, plan, grouped = contents.rows.vertices, touched.plan, touched.grouped
    src, dst = touched.ends(grouped.edges)
    properties: Any = None
    if isinstance(rows, StoredVertices):
        properties, numbers = StoredProperties(rows.stored), grouped.edges
    elif isinstance(contents.find_routes, RoutesInMemory):
        versions = contents.find_routes.versions
        inside = versions.known.resident.numbers
        outside = np.empty(len(inside), np.int64)
        outside[inside] = np.arange(len(inside))
        table = versions.known.vertex_columns.table
        properties = RunProperties(table, len(rows), versions.told)
        numbers = outside[grouped.edges]
    else:
        properties, numbers = RunProperties(NO_TABLE, len(rows), None), grouped.edges
    return DrawableGraph(
        *(names, plan, grouped.offsets, src, dst, numbers, rows),
        *(touched.directed, properties, known),
    )


def drawable_live(now: Snapshot, before: Snapshot | None, names: list[str]) -> DrawableGraph:
    """One version of a graph in memory, or two, of which the first is the parent of the second."""
    early = now if before is None else before
    numbers = np.union1d(early.numbers, now.numbers)
    kind = np.isin(numbers, now.numbers) + 2 * np.isin(numbers, early.numbers) - 1
    order = np.argsort(kind, kind="stable")
    numbers = numbers[order]
    src, dst = (_of_either(now, early, numbers, end) for end in ("src", "dst"))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(kind, minlength=3))])
    # Classes: 0 came, 1 went, 2 stayed.
    steps = [PlanStep(0, None, -1, _classes(1, 2), _classes())]
    if before is not None:
        steps.append(PlanStep(1, None, 0, _classes(0), _classes(1)))
    plan = CollectionPlan("chain", tuple(steps), PlanTotals(0, 0, None, 0, 0), 3)
    return DrawableGraph(
        *(tuple(names), plan, offsets, src, dst, numbers),
        *(FixedVertices(now.ids), now.directed, SnapshotProperties(now, before)),
    )


def drawable_key(thing: Collection | MemoryCollection[Any] | Run) -> str | None:
    """What two things have in common that are drawn alike: a state of one stored collection."""
    if isinstance(thing, Collection):
        return versions_text(thing._stored)
    if isinstance(thing, Run) and isinstance(thing._contents.rows.vertices, StoredVertices):
        return thing._contents.facts.versions
    return None


def _of_either(
    now: Snapshot, early: Snapshot, numbers: NDArray[np.integer], end: str
) -> NDArray[np.int32]:
    """An end of each edge, from the version that has it."""
    ends = np.zeros(len(numbers), np.int32)
    for snapshot in (early, now):
        places = np.minimum(np.searchsorted(snapshot.numbers, numbers), len(snapshot.numbers) - 1)
        if len(snapshot.numbers):
            there = snapshot.numbers[places] == numbers
            ends[there] = getattr(snapshot, end)[places[there]]
    return ends


def _classes(*numbers: int) -> NDArray[np.int32]:
    return np.array(numbers, np.int32)
