"""What users write for views, brought to one form: the syntax tree of GVDL.

A predicate is GVDL text. Views are GVDL text (`for y in 2000..2020 [upto-{y}: year <= y]`), a
mapping from names to predicates, a list of predicates, a generator of `graphtide.generators`, or
a list that mixes these, in which a pair of texts is a name and its predicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.parse import parse_predicate, parse_views
from graphtide.lang.gvdl.statements import Ordering
from graphtide.model.errors import InputError, LanguageError

Views = str | tree.Item | Mapping[str, str] | Iterable["Views"]

_ITEMS = (
    tree.View,
    tree.Loop,
    tree.Windows,
    tree.Group,
    tree.Product,
    tree.Combinations,
    tree.Outages,
)


def view_list(views: Views, within: str | None = None) -> tree.ViewList:
    """A view list, whatever it was written as; `within` joins what the text itself shares."""
    written = parse_views(views) if isinstance(views, str) else tree.ViewList(view_items(views))
    shared = [] if within is None else [written_predicate(within)]
    shared += [] if written.within is None else [written.within]
    return tree.ViewList(
        written.items, tree.And(tuple(shared)) if len(shared) > 1 else next(iter(shared), None)
    )


def view_items(views: Views) -> tuple[tree.Item, ...]:
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
        return tuple(chain.from_iterable(map(_listed_items, views)))
    raise _unusable(views)


def written_predicate(text: object) -> tree.Predicate:
    """A predicate from its text; an error for whatever else somebody hopes to pass."""
    if isinstance(text, str):
        return parse_predicate(text)
    raise InputError(
        f"a predicate is GVDL text, not a {type(text).__name__}",
        hint="for example \"year = 2019 and src.state = 'CA'\"",
    )


def written_order(order: str) -> Ordering:
    """An order by its name; InputError if there is no such order."""
    try:
        return Ordering(order)
    except ValueError:
        known = ", ".join(f"'{item.value}'" for item in Ordering)
        raise InputError(f"order cannot be {order!r}", hint=f"use one of {known}") from None


def _listed_items(item: Views) -> tuple[tree.Item, ...]:
    """The items that one member of a list stands for."""
    match item:
        case str():
            return _predicate_or_views(item)
        case (str() as name, str() as text) if isinstance(item, tuple):
            return (_named(name, text),)
    return view_items(item)


def _predicate_or_views(text: str) -> tuple[tree.Item, ...]:
    """A text in a list is a predicate, or else views, which a mistaken one with brackets is."""
    try:
        return (tree.View(parse_predicate(text)),)
    except LanguageError as error:
        try:
            return view_items(text)
        except LanguageError:
            if "[" in text:
                raise
            raise error from None


def _named(name: str, text: str) -> tree.View:
    if not isinstance(name, str) or not isinstance(text, str):
        raise _unusable((name, text))
    return tree.View(parse_predicate(text), name=name)


def _unusable(item: object) -> InputError:
    return InputError(
        f"{item!r} does not describe views",
        hint="give GVDL text, a dict of names and predicates, a list of predicates, or a "
        "generator such as graphtide.expanding('ts', width='1 day')",
    )
