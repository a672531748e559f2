"""Whether collections are up to date with their graphs, in words."""

from __future__ import annotations

from graphtide.model.errors import DamagedError, StoreError
from graphtide.model.wording import counted
from graphtide.store.behind import latest_behind, state_behind
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection, open_collection
from graphtide.store.history import FoundState


def found_behind(catalog: Catalog, stored: StoredCollection) -> FoundState | None:
    """The state of the graph that a collection was made from; None if that graph is no more.

    DamagedError if the graph cannot be read.
    """
    try:
        return state_behind(stored, latest_behind(catalog, stored))
    except DamagedError:
        raise
    except StoreError:
        return None


def is_stale(catalog: Catalog, stored: StoredCollection) -> bool:
    """Whether the graph has changed since a collection was made of it."""
    origin = found_behind(catalog, stored)
    return origin is not None and (origin.behind > 0 or origin.graph is None)


def stale_notes(catalog: Catalog, stored: StoredCollection) -> tuple[str, ...]:
    """What to say beside a collection that is stale; nothing beside one that is not."""
    return (state_text(catalog, stored),) if is_stale(catalog, stored) else ()


def stale_collections(catalog: Catalog) -> list[str]:
    """The names of all collections and views whose graphs have changed since."""
    return [name for name in catalog.collections() if is_stale_by_name(catalog, name)]


def is_stale_by_name(catalog: Catalog, name: str) -> bool:
    """The same where collection or graph may be damaged: then it is not called stale."""
    try:
        return is_stale(catalog, open_collection(catalog, name))
    except StoreError:
        return False


def state_text(catalog: Catalog, stored: StoredCollection) -> str:
    """Which state of the graph a collection was made from, and what has come since."""
    origin = found_behind(catalog, stored)
    graph = f"the graph '{stored.facts.graph}'"
    if origin is None:
        return f"made from {graph}, which is gone, or has been loaded anew"
    text = f"made from generation {origin.state.generation} of {graph}"
    if not origin.behind:
        return f"{text}, which is up to date"
    text += f", {counted(origin.behind, 'append')} behind"
    if origin.graph is None:
        return f"{text}; a merge has replaced rows of then: refresh it"
    return f"{text}: refresh it to see them"
