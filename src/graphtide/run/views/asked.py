"""Views and collections of a graph in memory as users ask for them, made."""

from __future__ import annotations

from graphtide.lang.gvdl.lower import LoweredViews, lower_view, lower_views
from graphtide.lang.gvdl.requests import Views, view_list, written_order, written_predicate
from graphtide.lang.gvdl.statements import CreateCollection, CreateView
from graphtide.lang.gvdl.unparse import unparse_statement
from graphtide.model.errors import InputError
from graphtide.optimize.planner import Order
from graphtide.run.progress import shown
from graphtide.run.views.build import ViewsInMemory, build_views
from graphtide.run.views.facts import SnapshotFacts
from graphtide.run.views.snapshot import Snapshot


def given_name(name: object) -> str:
    """The name of a view or collection; InputError if it is none."""
    if isinstance(name, str):
        return name
    raise InputError(f"a name is a text, not {name!r}", hint="give the name first, then the views")


def view_in_memory(snapshot: Snapshot, name: str, where: str) -> ViewsInMemory:
    """The view of the edges that satisfy a predicate."""
    statement = CreateView(name, written_predicate(where))
    named = lower_view(statement, snapshot.schema, timezone=snapshot.timezone)
    text = unparse_statement(statement)
    lowered = LoweredViews((named,))
    return build_views(snapshot, lowered, name=name, statement=text, order="manual")


def collection_in_memory(
    snapshot: Snapshot,
    name: str,
    views: Views,
    *,
    within: str | None,
    order: Order,
    effort: float | None,
) -> ViewsInMemory:
    """A collection of views, whatever they are written as."""
    written = view_list(views, within)
    ordering = written_order(order)
    statement = CreateCollection(name, written.items, within=written.within, ordering=ordering)
    with shown(f"collection {name}") as report:
        report("finding the classes of the edges")
        facts, zone = SnapshotFacts(snapshot), snapshot.timezone
        lowered = lower_views(statement, snapshot.schema, facts, timezone=zone)
        text = unparse_statement(statement)
        return build_views(snapshot, lowered, name=name, statement=text, order=order, effort=effort)
