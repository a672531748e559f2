"""Statements to named predicates of the plan: the last step, and the only one that asks data.

Every predicate is complete: it holds what the base view asks, what the collection shares (`within`)
and what the view itself asks, so that it can be evaluated on the graph. This module cannot know
whether a window is empty: it returns the names of the windows that the caller must drop if they
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphtide.lang.diagnostics import Span, language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.count import check_limit, count_views
from graphtide.lang.gvdl.facts import EdgeFact, GraphFacts, RememberedFacts, VertexFact
from graphtide.lang.gvdl.generate import Generated, Ground, generate_views
from graphtide.lang.gvdl.resolve import resolve
from graphtide.lang.gvdl.scope import Scope
from graphtide.lang.gvdl.statements import CreateCollection, CreateView
from graphtide.lang.gvdl.windows import outside_windows
from graphtide.model.schema import GraphSchema
from graphtide.plan.predicates import (
    ANY_EDGE,
    EVERYTHING,
    NamedPredicate,
    Predicate,
    Unviewed,
    conjunction,
)

__all__ = ["EdgeFact", "GraphFacts", "LoweredViews", "VertexFact", "lower_view", "lower_views"]


@dataclass(frozen=True)
class LoweredViews:
    """The views of a collection in the order written, and which to drop if they are empty.

    `unviewed` says why edges may be in none of them.
    """

    views: tuple[NamedPredicate, ...]
    drop_empty: frozenset[str] = frozenset()
    unviewed: Unviewed = ANY_EDGE


def lower_view(
    statement: CreateView,
    schema: GraphSchema,
    *,
    base: Predicate = EVERYTHING,
    timezone: str = "UTC",
) -> NamedPredicate:
    """The view that a statement creates, as a predicate over the graph."""
    predicate = resolve(statement.predicate, Scope.of(schema, timezone))
    return NamedPredicate(statement.name, conjunction(base, predicate))


def lower_views(
    written: CreateCollection | tree.ViewList | Sequence[tree.Item],
    schema: GraphSchema,
    facts: GraphFacts,
    *,
    base: Predicate = EVERYTHING,
    timezone: str = "UTC",
) -> LoweredViews:
    """The views of a collection, as predicates over the graph.

    `base` is the predicate of the view that the collection stands on, `timezone` the graph's.
    Nothing is built if there would be too many views.
    """
    if not isinstance(written, CreateCollection | tree.ViewList):
        written = tree.ViewList(tuple(written))
    scope = Scope.of(schema, timezone)
    if written.within is not None:
        base = conjunction(base, resolve(written.within, scope))
    ground = Ground(RememberedFacts(facts), base)
    check_limit(count_views(written.items, scope, ground), written.span)
    views = generate_views(written.items, scope, ground)
    _check_names(views, written.span)
    return LoweredViews(
        tuple(
            NamedPredicate(
                str(view.name), conjunction(base, view.predicate), view.removed, bool(view.windows)
            )
            for view in views
        ),
        frozenset(str(view.name) for view in views if view.drop_empty),
        Unviewed(base, outside_windows([item for view in views for item in view.windows])),
    )


def _check_names(found: Sequence[Generated], span: Span | None) -> None:
    if not found:
        raise language_error("this collection has no views", span, "write at least one `[...]`")
    seen: set[str | None] = set()
    for view in found:
        if view.name in seen:
            raise language_error(
                f"two views are called '{view.name}'",
                view.span,
                "name each apart: in a loop with its variable, as in `[upto-{y}: ...]`; "
                "windows and removals take `named '...'`",
            )
        seen.add(view.name)
