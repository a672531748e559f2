"""Turns statements into requests: names, predicates and views resolved against their graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from graphtide.lang.gvdl.facts import GraphFacts
from graphtide.lang.gvdl.lower import lower_view, lower_views
from graphtide.lang.gvdl.lower_groups import lower_groups
from graphtide.lang.gvdl.parse import parse_predicate, parse_script
from graphtide.lang.gvdl.resolve import resolve_predicate
from graphtide.lang.gvdl.statements import CreateCollection, CreateGrouped, CreateView
from graphtide.lang.gvdl.unparse import unparse_statement
from graphtide.model.errors import InputError, NotFoundError
from graphtide.model.schema import name_hint
from graphtide.plan.grouping import GroupPlan
from graphtide.plan.predicates import EVERYTHING, Predicate
from graphtide.run.catalog.build import CollectionRequest
from graphtide.run.catalog.facts import StoredGraphFacts
from graphtide.run.catalog.workspace import Workspace
from graphtide.store.behind import latest_behind, state_behind
from graphtide.store.catalog import Catalog
from graphtide.store.collection import StoredCollection, open_collection, view_names
from graphtide.store.graph import StoredGraph, open_graph

FactsOf = Callable[[StoredGraph], GraphFacts]


@dataclass(frozen=True)
class GroupedRequest:
    """A grouped graph that a user asks for, with its groups resolved."""

    graph: StoredGraph
    plan: GroupPlan
    statement: str


def grouped_request(space: Workspace, statement: CreateGrouped) -> GroupedRequest:
    """A statement with its groups resolved; asks nothing of Spark."""
    graph, base = base_of(space, statement.base)
    if statement.name == graph.name:
        raise InputError(
            f"'{graph.name}' is the graph that is to be grouped",
            hint="give the grouped graph a name of its own",
        )
    plan = lower_groups(statement, graph.schema, base=base, timezone=graph.timezone)
    return GroupedRequest(graph, plan, unparse_statement(statement))


def view_request(space: Workspace, statement: CreateView) -> CollectionRequest:
    """A statement with its predicate resolved; asks nothing of Spark."""
    graph, base = base_of(space, statement.base)
    named = lower_view(statement, graph.schema, base=base, timezone=graph.timezone)
    return CollectionRequest(
        name=statement.name,
        kind="view",
        graph=graph,
        views=(named,),
        statement=unparse_statement(statement),
        base=base,
        replace=statement.replace,
    )


def collection_request(
    space: Workspace,
    statement: CreateCollection,
    *,
    effort: float | None = None,
    facts_of: FactsOf | None = None,
) -> CollectionRequest:
    """A statement with its views lowered; generators may ask Spark for bounds or rows.

    They ask `facts_of` the graph instead, if that is given.
    """
    graph, base = base_of(space, statement.base)
    facts = StoredGraphFacts(graph, space.gateway) if facts_of is None else facts_of(graph)
    lowered = lower_views(statement, graph.schema, facts, base=base, timezone=graph.timezone)
    return CollectionRequest(
        name=statement.name,
        kind="collection",
        graph=graph,
        views=lowered.views,
        statement=unparse_statement(statement),
        base=base,
        drop_empty=lowered.drop_empty,
        order=statement.ordering.value,
        effort=effort,
        replace=statement.replace,
        unviewed=lowered.unviewed,
    )


def request_again(space: Workspace, stored: StoredCollection) -> CollectionRequest:
    """The request that would make a stored collection again, on the graph as it is now."""
    (statement,) = parse_script(stored.facts.statement)
    assert isinstance(statement, CreateView | CreateCollection)
    base = statement.base or stored.facts.graph
    if isinstance(statement, CreateView):
        return view_request(space, replace(statement, base=base, replace=True))
    return collection_request(space, replace(statement, base=base, replace=True))


def base_of(space: Workspace, name: str | None) -> tuple[StoredGraph, Predicate]:
    """The graph behind a name and the predicate of the view that the name stands for.

    The graph is as it is now, whatever state of it the view was made from.
    """
    name = name or space.current_graph()
    if space.catalog.has_graph(name):
        return open_graph(space.catalog, name), EVERYTHING
    if not space.catalog.has_collection(name):
        raise _no_base(space.catalog, name)
    stored = open_collection(space.catalog, name)
    if stored.facts.kind != "view":
        raise InputError(
            f"'{name}' is a collection: a view needs a graph or a single view to stand on",
            hint="name a graph or a view behind 'on'",
        )
    graph = latest_behind(space.catalog, stored)
    state_behind(stored, graph)  # Refuses a view whose graph was loaded anew since.
    text = stored.views[0].predicate
    return graph, resolve_predicate(parse_predicate(text), graph.schema)


def _no_base(catalog: Catalog, name: str) -> NotFoundError:
    known = [*catalog.graphs(), *view_names(catalog)]
    listed = ", ".join(known[:10]) or "nothing yet"
    return NotFoundError(
        f"there is no graph or view named '{name}'",
        where=str(catalog.root),
        hint=name_hint(name, known, f"there is: {listed}", "'"),
    )
