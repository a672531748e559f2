"""What a stored collection was made of, found again."""

from __future__ import annotations

from graphtide.model.errors import InputError, NotFoundError, StoreError
from graphtide.model.wording import shortened
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection, open_collection
from graphtide.store.graph import StoredGraph, open_graph


def open_view(catalog: Catalog, name: str) -> StoredCollection:
    """The single view of that name; InputError for a collection of several."""
    stored = open_collection(catalog, name)
    if stored.facts.kind != "view":
        raise InputError(
            f"'{name}' is a collection of {len(stored.views):,} views",
            hint=f"take one of them: session.collection('{name}')[0]",
        )
    return stored


def graph_behind(catalog: Catalog, stored: StoredCollection) -> StoredGraph:
    """The graph that a collection was made of; an error if it is gone or has been loaded anew."""
    facts = stored.facts
    remedy = f"create the {facts.kind} again: {shortened(facts.statement)}"
    try:
        graph = open_graph(catalog, facts.graph)
    except NotFoundError:
        raise StoreError(
            f"the graph '{facts.graph}' behind the {facts.kind} '{stored.name}' is gone",
            hint="load the graph again, then " + remedy,
        ) from None
    if graph.identity != facts.graph_identity:
        raise StoreError(
            f"the graph '{facts.graph}' has been loaded anew since the {facts.kind} "
            f"'{stored.name}' was made of it",
            hint=remedy,
        )
    return graph
