"""The view of a stored graph that has all of its edges: what a run on shards takes for the graph.

It is stored under a name of its own, `GRAPH-whole`, made by Spark when somebody first asks for it
and again when the graph has changed. Shards and results belong to it, as to any other view.
"""

from __future__ import annotations

from graphtide.lang.gvdl.parse import parse_predicate
from graphtide.lang.gvdl.statements import CreateView
from graphtide.model.errors import InputError, StoreError
from graphtide.plan.predicates import EVERYTHING
from graphtide.run.catalog.making import make_view
from graphtide.run.catalog.workspace import Workspace
from graphtide.store.collection import StoredCollection, open_collection
from graphtide.store.graph import StoredGraph


def whole_view(space: Workspace, graph: StoredGraph) -> StoredCollection:
    """The view of all edges of a graph in the state that it was opened in, made if need be."""
    name = f"{graph.name}-whole"
    there = None
    if space.catalog.has_collection(name):
        there = open_collection(space.catalog, name)
        _check_whole(there, graph)
    if there is None or there.facts.graph_identity != graph.identity:
        everything = parse_predicate(str(EVERYTHING))
        there = make_view(space, CreateView(name, everything, base=graph.name, replace=True))
    if there.facts.graph_identity != graph.identity:
        raise StoreError(
            f"the graph '{graph.name}' has changed since it was opened",
            hint=f"open it again: session.graph('{graph.name}')",
        )
    return there


def is_whole(stored: StoredCollection) -> bool:
    """Whether a view has all edges of its graph."""
    facts, predicates = stored.facts, [view.predicate for view in stored.views]
    wanted = "view", str(EVERYTHING), [str(EVERYTHING)]
    return (facts.kind, facts.base, predicates) == wanted


def _check_whole(there: StoredCollection, graph: StoredGraph) -> None:
    """Refuse to replace a view or a collection of somebody's own that has the name."""
    facts = there.facts
    if facts.graph != graph.name or not is_whole(there):
        raise InputError(
            f"'{there.name}' is to be the view of all edges of '{graph.name}', and is another "
            f"{facts.kind}",
            hint="delete it, or create it again under another name; or run the program on a view "
            "of your own: session.collection(...).run(..., on='shards')",
        )
