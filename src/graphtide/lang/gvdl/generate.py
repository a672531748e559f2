"""Items of a view list to views: plain views, loops, windows, products, removals.

An item that is removed takes away the edges of which its predicate is true; an edge of which
it is unknown stays. So a removal is `not (p is true)`, not `not p`.

`count` says how many views there will be, before any is built.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphtide.lang.diagnostics import Span, language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.facts import GraphFacts
from graphtide.lang.gvdl.loops import loop_values
from graphtide.lang.gvdl.outages import Removal, list_removals
from graphtide.lang.gvdl.resolve import resolve
from graphtide.lang.gvdl.scope import Scope, fill_holes, write_value
from graphtide.lang.gvdl.windows import WindowList, list_windows
from graphtide.plan import predicates as plan

MAX_VIEWS = 100_000


class Generated(NamedTuple):
    """A view without what all views share; nameless if it is to be named by its place."""

    name: str | None
    predicate: plan.Predicate
    span: Span | None
    drop_empty: bool = False
    removed: tuple[int, ...] = ()
    windows: tuple[WindowList, ...] = ()


@dataclass(frozen=True)
class Ground:
    """What views are made of: the facts of a graph, and the predicate that all views share."""

    facts: GraphFacts
    base: plan.Predicate


def generate_views(items: Sequence[tree.Item], scope: Scope, ground: Ground) -> list[Generated]:
    """All views of a list, in order; those without a name are named by their place in it."""
    views = [view for item in items for view in generate_item(item, scope, ground)]
    return [
        view if view.name is not None else view._replace(name=f"view-{place}")
        for place, view in enumerate(views, start=1)
    ]


def generate_item(node: tree.Item, scope: Scope, ground: Ground) -> Iterator[Generated]:
    """The views of one item, in order."""
    match node:
        case tree.View():
            yield _view(node, scope)
        case tree.Loop(variable, values, body):
            for value in loop_values(values, scope):
                inner = scope.bind(variable, value)
                for item in body:
                    yield from generate_item(item, inner, ground)
        case tree.Group(items):
            yield from generate_views(items, scope, ground)
        case tree.Windows():
            windows = list_windows(node, scope, ground.facts, ground.base)
            for view in windows.views():
                named = view.name, view.predicate
                yield Generated(*named, node.span, node.drop_empty, windows=(windows,))
        case tree.Product():
            yield from _product(node, scope, ground)
        case tree.Combinations():
            yield from _combinations(node, scope, ground)
        case tree.Outages():
            yield from _outages(node, scope, ground)


def _view(node: tree.View, scope: Scope) -> Generated:
    name = node.name
    if name is not None:
        name = fill_holes(name, scope, {}, node.span)
    elif scope.variables:
        bound = scope.variables.items()
        name = ", ".join(f"{item}={write_value(value, scope.zone)}" for item, value in bound)
    return Generated(name, resolve(node.predicate, scope), node.span)


def _product(node: tree.Product, scope: Scope, ground: Ground) -> Iterator[Generated]:
    factors = [generate_views((factor,), scope, ground) for factor in node.factors]
    for parts in itertools.product(*factors):
        yield Generated(
            " * ".join(str(part.name) for part in parts),
            plan.conjunction(*(part.predicate for part in parts)),
            parts[0].span,
            any(part.drop_empty for part in parts),
            tuple(sorted({vertex for part in parts for vertex in part.removed})),
            tuple(windows for part in parts for windows in part.windows),
        )


def _combinations(node: tree.Combinations, scope: Scope, ground: Ground) -> Iterator[Generated]:
    parts = generate_views(node.items, scope, ground)
    for part in parts:
        if part.drop_empty:
            hint = "leave `drop empty` out: removing nothing is a view too"
            raise language_error("an empty item can be removed as well", part.span, hint)
    removals = [Removal(str(part.name), plan.Not(plan.IsTrue(part.predicate))) for part in parts]
    for place, chosen in enumerate(itertools.combinations(removals, node.count), start=1):
        yield _removed(node, place, chosen, scope)


def _outages(node: tree.Outages, scope: Scope, ground: Ground) -> Iterator[Generated]:
    removals = list_removals(node, scope, ground.facts, ground.base, MAX_VIEWS)
    size = 2 if node.pairs else 1
    for place, chosen in enumerate(itertools.combinations(removals, size), start=1):
        yield _removed(node, place, chosen, scope)


def _removed(
    node: tree.Combinations | tree.Outages,
    place: int,
    chosen: Sequence[Removal],
    scope: Scope,
) -> Generated:
    names = ", ".join(item.name for item in chosen)
    if node.name is None:
        name = f"without {names}"
    else:
        holes = {"names": names, "index": str(place)}
        name = fill_holes(node.name, scope, holes, node.span)
    stays = plan.conjunction(*(item.stays for item in chosen))
    removed = tuple(sorted(item.vertex for item in chosen if item.vertex is not None))
    return Generated(name, stays, node.span, removed=removed)
