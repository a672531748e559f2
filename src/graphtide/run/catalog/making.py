"""Graphs, views and collections, made and stored in the catalog of a workspace."""

from __future__ import annotations

from dataclasses import replace as replaced
from typing import Any

from graphtide.lang.gvdl.statements import CreateCollection, CreateGrouped, CreateView
from graphtide.run.catalog.build import CollectionRequest, build_collection
from graphtide.run.catalog.requests import collection_request, grouped_request, view_request
from graphtide.run.catalog.row_counts import RowCounts, counts_of_load
from graphtide.run.catalog.workspace import Workspace
from graphtide.run.durable.state import AppliedBatches, BatchId
from graphtide.run.progress import shown
from graphtide.spark.ingest.options import ingest_options
from graphtide.spark.ingest.python_rows import is_networkx
from graphtide.spark.ingest.source import GraphSource
from graphtide.store.collection import StoredCollection
from graphtide.store.commit import begin
from graphtide.store.graph import StoredGraph, graph_manifest, open_graph


def load_graph(
    space: Workspace,
    name: str,
    source: GraphSource,
    options: dict[str, Any],
    *,
    replace: bool,
    batch: BatchId | None = None,
) -> tuple[StoredGraph, RowCounts]:
    """Load a graph into the catalog, and count its rows; it is the current graph from now on.

    A `batch` that the graph of that name has taken before does nothing, unless the graph is to be
    replaced.
    """
    folder = space.catalog.graph_folder(name)
    chosen = ingest_options(options)
    if chosen.directed is None and is_networkx(source.edges):
        chosen = replaced(chosen, directed=source.edges.is_directed())
    if batch is not None and not replace and space.catalog.has_graph(name):
        there = open_graph(space.catalog, name)
        if AppliedBatches.of_graph(there).has(batch):
            space.current = name
            return there, RowCounts(name, id=batch, applied_before=True)
    with (
        shown(f"load {name}", enabled=space.progress) as report,
        begin(folder, replace=replace, what=f"the graph '{name}'") as commit,
    ):
        summary = space.gateway.load(commit.path, source, chosen, report)
        report("checking", None)
        manifest = graph_manifest(summary) | AppliedBatches().entries(batch, 0)
        commit.finish(manifest, checksums=space.gateway.checksums)
    space.current = name
    stored = open_graph(space.catalog, name)
    return stored, replaced(counts_of_load(space.catalog, stored, summary.notes), id=batch)


def make_view(space: Workspace, statement: CreateView) -> StoredCollection:
    """Store the view that a statement describes."""
    return _build(space, view_request(space, statement))


def make_collection(
    space: Workspace, statement: CreateCollection, *, effort: float | None = None
) -> StoredCollection:
    """Store the collection that a statement describes."""
    return _build(space, collection_request(space, statement, effort=effort))


def make_grouped(space: Workspace, statement: CreateGrouped) -> StoredGraph:
    """Store the grouped graph that a statement describes. The current graph stays current."""
    request, name = grouped_request(space, statement), statement.name
    folder = space.catalog.graph_folder(name)
    with (
        shown(f"group {name}", enabled=space.progress) as report,
        begin(folder, replace=statement.replace, what=f"the graph '{name}'") as commit,
    ):
        summary = space.gateway.group(
            commit.path, request.graph, request.plan, request.statement, report
        )
        commit.finish(graph_manifest(summary), checksums=space.gateway.checksums)
    return open_graph(space.catalog, name)


def _build(space: Workspace, request: CollectionRequest) -> StoredCollection:
    with shown(f"{request.kind} {request.name}", enabled=space.progress) as report:
        return build_collection(space.catalog, space.gateway, request, report)
