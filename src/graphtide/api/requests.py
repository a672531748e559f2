"""What users write for views, brought to one form: the syntax tree of GVDL.

A predicate is GVDL text. Views are GVDL text (`for y in 2000..2020 [upto-{y}: year <= y]`), a
mapping from names to predicates, a list of predicates, a generator of `graphtide.generators`, or
a list of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphtide.lang.gvdl.parse import parse_predicate, parse_views
from graphtide.lang.gvdl.tree import (
    And,
    Combinations,
    Group,
    Item,
    Loop,
    Outages,
    Predicate,
    Product,
    View,
    ViewList,
    Windows,
)
from graphtide.model.errors import InputError

Views = str | Item | Mapping[str, str] | Iterable["str | Item | tuple[str, str]"]

_ITEMS = (View, Loop, Windows, Group, Product, Combinations, Outages)


def view_list(views: Views, within: str | None = None) -> ViewList:
    """A view list, whatever it was written as; `within` joins what the text itself shares."""
    written = parse_views(views) if isinstance(views, str) else ViewList(view_items(views))
    shared = [] if within is None else [written_predicate(within)]
    shared += [] if written.within is None else [written.within]
    return ViewList(
        written.items, And(tuple(shared)) if len(shared) > 1 else next(iter(shared), None)
    )


def view_items(views: Views) -> tuple[Item, ...]:
    """The items of a view list, where nothing can be shared by them all."""
    if isinstance(views, str):
        written = parse_views(views)
        if written.within is not None:
            raise InputError(
                "'within' cannot stand inside another generator",
                hint="give it to the whole collection: graph.collection(..., within=...)",
            )
        return written.items
    if isinstance(views, _ITEMS):
        return (views,)
    if isinstance(views, Mapping):
        return tuple(_named(name, text) for name, text in views.items())
    if isinstance(views, Iterable):
        return tuple(_item(item) for item in views)
    raise _unusable(views)


def written_predicate(text: object) -> Predicate:
    """A predicate from its text; an error for whatever else somebody hopes to pass."""
    if isinstance(text, str):
        return parse_predicate(text)
    raise InputError(
        f"a predicate is GVDL text, not a {type(text).__name__}",
        hint="for example \"year = 2019 and src.state = 'CA'\"",
    )


def _item(item: object) -> Item:
    match item:
        case str():
            return View(parse_predicate(item))
        case (str() as name, str() as text):
            return _named(name, text)
        case View() | Loop() | Windows() | Group() | Product() | Combinations() | Outages():
            return item
    raise _unusable(item)


def _named(name: str, text: str) -> View:
    if not isinstance(name, str) or not isinstance(text, str):
        raise _unusable((name, text))
    return View(parse_predicate(text), name=name)


def _unusable(item: object) -> InputError:
    return InputError(
        f"{item!r} does not describe views",
        hint="give GVDL text, a dict of names and predicates, a list of predicates, or a "
        "generator such as graphtide.expanding('ts', width='1 day')",
    )
