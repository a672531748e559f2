"""What a run over a stored collection visits, with its edges or without."""

from __future__ import annotations

from graphtide.run.collection.steps import ViewVertices
from graphtide.run.collection.stored_graph import check_memory, load_graph, load_vertices
from graphtide.run.collection.versions import Versions
from graphtide.run.live.programs import Compiled
from graphtide.store.behind import graph_behind
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection


def stored_versions(catalog: Catalog, stored: StoredCollection, compiled: Compiled) -> Versions:
    """The views of a collection, with the edges and whatever the program reads of them."""
    known, grouped = load_graph(graph_behind(catalog, stored), stored, compiled.needed)
    return Versions(stored.plan, _names(stored), known, grouped, ViewVertices.of(stored.views))


def edgeless_versions(catalog: Catalog, stored: StoredCollection, compiled: Compiled) -> Versions:
    """The same for who only plans: all vertices, sizes of classes, and no edge is read."""
    graph = graph_behind(catalog, stored)
    check_memory(int(stored.weights.sum()), f"the views of '{stored.name}' hold")
    known = load_vertices(graph, compiled.needed)
    vertices = ViewVertices.of(stored.views)
    return Versions(stored.plan, _names(stored), known, stored.grouped_sizes, vertices)


def _names(stored: StoredCollection) -> tuple[str, ...]:
    return tuple(view.name for view in stored.views)
