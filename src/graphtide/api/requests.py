"""What users write for views, brought to one form: the syntax tree of GVDL.

A predicate is GVDL text. Views are GVDL text (`for y in 2000..2020 [upto-{y}: year <= y]`), a
mapping from names to predicates, a list of predicates, a generator of `graphtide.generators`, or
a list of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphtide.lang.gvdl.parse import parse_predicate, parse_views
from graphtide.lang.gvdl.tree import (
    Combinations,
    Group,
    Item,
    Loop,
    Outages,
    Product,
    View,
    Windows,
)
from graphtide.model.errors import InputError

Views = str | Item | Mapping[str, str] | Iterable["str | Item | tuple[str, str]"]

_ITEMS = (View, Loop, Windows, Group, Product, Combinations, Outages)


def view_items(views: Views) -> tuple[Item, ...]:
    """The items of a view list, whatever it was written as."""
    if isinstance(views, str):
        return tuple(parse_views(views).items)
    if isinstance(views, _ITEMS):
        return (views,)
    if isinstance(views, Mapping):
        return tuple(_named(name, text) for name, text in views.items())
    if isinstance(views, Iterable):
        return tuple(_item(item) for item in views)
    raise _unusable(views)


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
