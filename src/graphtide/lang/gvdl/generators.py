"""Generators of views, for Python: the same as GVDL's, spelled as functions.

Each returns a piece of syntax that `graph.collection` takes, alone or in a list; the collection's
`statement` is the GVDL it stands for. What windows mean exactly is said in the reference of GVDL.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any
from typing import Literal as OneOf

import numpy as np

from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.parse import parse_amount, parse_property
from graphtide.lang.gvdl.requests import Views, view_items, written_predicate
from graphtide.model.errors import InputError
from graphtide.model.schema import name_hint

Bound = int | float | str | dt.date | dt.datetime
Amount = int | float | str


def expanding(property: str, *, width: Amount, **options: Bound | bool) -> tree.Windows:
    """Windows from one start, each longer by `step` (default: `width`) than the one before.

    Options: `step`, `start`, `until`, `timezone`, `drop_partial`, `drop_empty`, `name`.
    """
    return _windows("expanding", property, width, options)


def sliding(property: str, *, width: Amount, step: Amount, **options: Bound | bool) -> tree.Windows:
    """Windows of one width whose starts are `step` apart. Options as for `expanding`."""
    return _windows("sliding", property, width, {"step": step, **options})


def tumbling(property: str, *, width: Amount, **options: Bound | bool) -> tree.Windows:
    """Windows of one width, one after the other. Options as for `expanding`, but no `step`."""
    return _windows("tumbling", property, width, options)


def cross(*factors: Views) -> tree.Product:
    """Every view of each factor with every view of the others, joined by `and`."""
    return tree.Product(tuple(_one_item(factor) for factor in factors))


def without(count: int, views: Views, *, name: str | None = None) -> tree.Combinations:
    """Each choice of `count` of the views removed from the graph."""
    return tree.Combinations(count, view_items(views), name=name)


def without_each(
    what: OneOf["edge", "vertex"],
    *,
    where: str | None = None,
    pairs: bool = False,
    name: str | None = None,
) -> tree.Outages:
    """Each edge or vertex that satisfies `where` removed in turn (N-1), or each pair (N-2)."""
    if what not in ("edge", "vertex"):
        raise InputError(f"{what!r} cannot be removed", hint="use 'edge' or 'vertex'")
    condition = None if where is None else written_predicate(where)
    return tree.Outages(what=what, pairs=pairs, where=condition, name=name)


def without_each_value(
    property: str,
    *,
    where: str | None = None,
    pairs: bool = False,
    name: str | None = None,
) -> tree.Outages:
    """Each value of a property removed in turn with all edges that have it, or each pair of values.

    `without_each_value("airline")` is a view an airline: all flights but its own. Values are those
    of the edges that satisfy `where`; an edge without a value stays in all views.
    """
    condition = None if where is None else written_predicate(where)
    return tree.Outages("value", pairs, condition, name, parse_property(property))


def _one_item(factor: Views) -> tree.Item:
    items = view_items(factor)
    return items[0] if len(items) == 1 else tree.Group(items)


def _windows(
    kind: tree.WindowKind, property: str, width: Amount, options: Mapping[str, Bound | bool]
) -> tree.Windows:
    _check_options(kind, options)
    given: dict[str, Any] = dict(options)
    for name in ("start", "until"):
        if given.get(name) is not None:
            given[name] = _bound(name, given[name])
    if given.get("step") is not None:
        given["step"] = _amount("step", given["step"])
    return tree.Windows(kind, parse_property(property), _amount("width", width), **given)


def _check_options(kind: tree.WindowKind, options: Mapping[str, object]) -> None:
    known = ["start", "until", "timezone", "drop_partial", "drop_empty", "name"]
    if kind != "tumbling":
        known.append("step")
    for name in options:
        if name not in known:
            raise InputError(
                f"{kind} windows have no option '{name}'",
                hint=name_hint(name, known, f"options are {', '.join(known)}", "'"),
            )


def _amount(name: str, amount: object) -> tree.Literal | tree.Duration:
    if isinstance(amount, str):
        return parse_amount(amount)
    value = _plain_value(amount)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} cannot be {amount!r}", hint="give 10, 0.5 or '1 month'")
    return tree.Literal(value)


def _bound(name: str, bound: object) -> tree.Literal:
    value = _plain_value(bound)
    if isinstance(value, bool) or not isinstance(value, int | float | str | dt.date):
        raise InputError(
            f"{name} cannot be {bound!r}",
            hint="give a number, a date, a datetime or a text such as '2020-01-31'",
        )
    return tree.Literal(value)


def _plain_value(value: object) -> object:
    """The value as a type of Python's own, where NumPy and pandas have theirs for the same."""
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dt.datetime) and type(value) is not dt.datetime:
        value = dt.datetime.fromisoformat(value.isoformat(timespec="microseconds"))
    return value
