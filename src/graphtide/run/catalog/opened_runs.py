"""Runs of the catalog, found again by name: what is finished of them, and the graph behind them.

The results of a run can be a frame of Spark, read by its tasks where tasks have written them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.delta import EdgeIds
from graphtide.model.errors import GraphtideError, InputError, NotFoundError, StoreError
from graphtide.run.collection.contents import RunContents, StoredBase, ViewDegrees
from graphtide.run.collection.differences import RunDifferences
from graphtide.run.collection.facts import RunFacts, facts_from
from graphtide.run.collection.start import base_values
from graphtide.run.collection.steps import RunVersions, ViewVertices, steps_from
from graphtide.run.collection.stored_graph import (
    check_edges,
    check_memory,
    load_graph,
    load_vertices,
)
from graphtide.run.collection.stored_vertices import StoredVertices
from graphtide.run.collection.tables import column_name, tidy_reader
from graphtide.run.live.programs import Compiled
from graphtide.run.live.results import PairRows, Pairs, ResultRows
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection, graph_behind, open_collection
from graphtide.store.files import well_formed
from graphtide.store.graph import StoredGraph, find_state, open_graph
from graphtide.store.parts import PartsOnDisk
from graphtide.store.results import open_run, paths
from graphtide.store.tables import edge_rows, edge_table

if TYPE_CHECKING:
    from graphtide.run.live.programs import Compiled
    from graphtide.run.routes import ViewRoutes
    from graphtide.spark.gateway import SparkGateway
    from graphtide.spark.types import DataFrame


def stored_versions(catalog: Catalog, stored: StoredCollection, compiled: Compiled) -> RunVersions:
    """The views of a collection, with the edges and whatever the program reads of them."""
    known, grouped = load_graph(graph_behind(catalog, stored), stored, compiled.needed)
    return RunVersions(stored.plan, _names(stored), known, grouped, ViewVertices.of(stored.views))


def edgeless_versions(
    catalog: Catalog, stored: StoredCollection, compiled: Compiled
) -> RunVersions:
    """The same without edges, for planning: all vertices, and the sizes of classes."""
    graph = graph_behind(catalog, stored)
    check_memory(int(stored.weights.sum()), f"the views of '{stored.name}' hold")
    known = load_vertices(graph, compiled.needed)
    vertices = ViewVertices.of(stored.views)
    return RunVersions(stored.plan, _names(stored), known, stored.grouped_sizes, vertices)


def _names(stored: StoredCollection) -> tuple[str, ...]:
    return tuple(view.name for view in stored.views)


SOURCE = "source"
"""Where a run has its program, as live graphs store one, if that has routes."""


def open_stored_run(catalog: Catalog, name: str) -> RunContents:
    stored = open_run(catalog, name)
    facts = facts_from(name, stored.manifest)
    try:
        graph = open_graph(catalog, facts.graph)
    except NotFoundError:
        graph = None
    state = None if graph is None else find_state(graph, facts.graph_identity)
    if graph is None or state is None:
        raise StoreError(
            f"the graph '{facts.graph}' behind the run '{name}' "
            + ("is gone" if graph is None else "has been loaded anew since"),
            hint="the ids of its results are not known any more: run the program again",
        )
    # Vertices keep their numbers and ids for good: the first so many are those of then.
    then, differences = graph.at(state.state), RunDifferences(stored.parts, facts.results)
    with well_formed(stored.generation.what, stored.path):
        steps, base = steps_from(stored.steps()), base_values(stored.base())
        if differences.finished > len(steps) or not {*facts.fields, *facts.globals} <= {*base}:
            raise ValueError("it has results of what was not run")
        for removed in steps.vertices.removed.values():
            if not all(0 <= vertex < then.vertices for vertex in removed):
                raise ValueError("a view is without a vertex that is not there")
    rows = result_rows(then, facts.pairs, paged=facts.on_shards)
    if facts.on_shards:
        base = StoredBase(base, stored.parts, then.vertices)
    touched = partial(touched_vertices, catalog, facts)
    routes = partial(view_routes, catalog, facts, stored.manifest.get(SOURCE))
    return RunContents(facts, steps, differences, base, rows, touched, routes)


def program_source(compiled: Compiled) -> dict[str, Any]:
    """What a run stores of a program that has routes, to find them again; else nothing."""
    # Imported here: programs, which who looks at other results does not need.
    from graphtide.run.durable.registrations import stored_program
    from graphtide.run.routes import routed

    try:
        routed(compiled)
        return {SOURCE: stored_program(compiled.bound)}
    except GraphtideError:
        return {}


def view_routes(catalog: Catalog, facts: RunFacts, source: Any) -> ViewRoutes:
    """The routes of a stored run, whose program is made again of its text."""
    from graphtide.run.durable.registrations import Trust, made_program
    from graphtide.run.live.programs import compiled_program
    from graphtide.run.routes import ViewRoutes

    if not isinstance(source, dict):
        raise InputError(
            f"{facts.program} has no routes behind its results",
            hint="BFS, ShortestPaths, NearestSource and WidestPath have, and programs of your own "
            "that keep one best value",
        )
    stored = collection_behind(catalog, facts, "which edges its views have")
    graph = graph_behind(catalog, stored)
    compiled = compiled_program(made_program(source, Trust()), "auto", directed=graph.directed)
    versions = stored_versions(catalog, stored, compiled)
    numbers = np.empty(len(versions.known.resident.numbers), np.int64)
    numbers[versions.grouped.edges] = stored.grouped_edges.edges
    numbers = numbers[versions.known.resident.numbers]
    return ViewRoutes(replace(versions, told=partial(_told, graph, numbers)), compiled)


def _told(graph: StoredGraph, numbers: EdgeIds, rows: NDArray[np.int64]) -> pa.Table:
    """Edges as users know them, with their numbers."""
    from graphtide.run.views.snapshot import free_name

    chosen = numbers[rows]
    order = np.argsort(chosen)
    table = edge_rows(graph, chosen[order]).take(pa.array(np.argsort(order)))
    return table.add_column(0, free_name("edge", table.column_names), pa.array(chosen))


def touched_vertices(catalog: Catalog, facts: RunFacts) -> ViewDegrees:
    """The vertices that views touch, from the collection as it was when the run was made."""
    instead = ", or count all: vertices='all' in Python, --all-vertices on the command line"
    stored = collection_behind(catalog, facts, "which vertices its views touch", instead)
    graph = graph_behind(catalog, stored)
    check_edges(graph, stored)
    ends_of = edge_table(graph, ["_src", "_dst"])
    src, dst = (ends_of.column(name).to_numpy() for name in ("_src", "_dst"))
    names = [view.name for view in stored.views]
    ends = lambda edges: (src[edges], dst[edges])  # noqa: E731
    return ViewDegrees(stored.plan, names, stored.grouped_edges, ends, graph.directed)


def collection_behind(
    catalog: Catalog, facts: RunFacts, what: str, instead: str = ""
) -> StoredCollection:
    """The collection that a run was over, as it was then; `what` is not known without it."""
    try:
        stored = open_collection(catalog, facts.collection)
    except NotFoundError:
        stored = None
    if stored is None or versions_text(stored) != facts.versions:
        raise StoreError(
            f"the collection '{facts.collection}' behind the run '{facts.name}' "
            + ("is gone" if stored is None else "has been made anew since"),
            hint=f"{what} is not known any more: run the program again{instead}",
        )
    return stored


def versions_text(stored: StoredCollection) -> str:
    return f"{stored.name}|{stored.created.isoformat()}|{stored.facts.graph_identity}"


def result_rows(graph: StoredGraph, pairs: Pairs | None, *, paged: bool = False) -> ResultRows:
    vertices = StoredVertices(graph, paged=paged)
    return vertices if pairs is None else PairRows(vertices, pairs)


def results_to_spark(contents: RunContents, gateway: SparkGateway) -> DataFrame:
    """The tidy table; of a run on shards in any order, and nothing of it comes to this process."""
    parts, rows = contents.differences.parts, contents.rows
    of_tasks = contents.facts.on_shards and bool(contents.finished_views())
    of_tasks &= not any(
        contents.named_by(field) is not None and contents.empty(field).ndim > 1
        for field in contents.fields
    )
    if not of_tasks or not isinstance(parts, PartsOnDisk) or not isinstance(rows, StoredVertices):
        return gateway.table_frame(tidy_reader(contents).read_all())
    views = contents.finished_views()
    names = {int(contents.step_of[view]): contents.steps.names[view] for view in views}
    files = []
    for field in contents.fields:
        base = paths(parts, 0, f"{field}.base", gateway.checksums)
        each = [paths(parts, at, f"{field}.field", gateway.checksums) for at in range(len(parts))]
        steps = [path for some in each for path in some]
        names_vertices = contents.named_by(field) is not None
        files.append((base, steps, column_name(contents, field), names_vertices))
    removed = {int(contents.step_of[view]): contents.removed(view) for view in views}
    return gateway.result_frame(rows.stored, names, files, removed)
