"""The graph behind a collection, in the state that the collection was made from."""

from __future__ import annotations

from graphtide.model.errors import InputError, NotFoundError, StoreError
from graphtide.model.wording import shortened
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection, open_collection
from graphtide.store.graph import StoredGraph, open_graph
from graphtide.store.history import FoundState, find_state


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
    """The graph that a collection was made of, as it was then.

    An error if it is gone, has been loaded anew, or if a merge has replaced rows of then.
    """
    facts = stored.facts
    behind = state_behind(stored, latest_behind(catalog, stored))
    if behind.graph is None:
        raise StoreError(
            f"the graph '{facts.graph}' has changed since the {facts.kind} '{stored.name}' was "
            f"made of it (generation {behind.state.generation}), and a merge has replaced rows of "
            "then",
            hint=f"bring the {facts.kind} up to date: collection.refresh(), or "
            f"'graphtide refresh {stored.name}'",
        )
    return behind.graph


def latest_behind(catalog: Catalog, stored: StoredCollection) -> StoredGraph:
    """The graph that a collection was made of, as it is now; an error if it is gone."""
    facts = stored.facts
    try:
        return open_graph(catalog, facts.graph)
    except NotFoundError:
        raise StoreError(
            f"the graph '{facts.graph}' behind the {facts.kind} '{stored.name}' is gone",
            hint="load the graph again, then " + _again(stored),
        ) from None


def state_behind(stored: StoredCollection, graph: StoredGraph) -> FoundState:
    """The state of a graph that a collection was made from; an error if it was loaded anew."""
    facts = stored.facts
    behind = find_state(graph, facts.graph_identity)
    if behind is None:
        raise StoreError(
            f"the graph '{facts.graph}' has been loaded anew since the {facts.kind} "
            f"'{stored.name}' was made of it",
            hint=_again(stored),
        )
    return behind


def _again(stored: StoredCollection) -> str:
    return f"create the {stored.facts.kind} again: {shortened(stored.facts.statement)}"
