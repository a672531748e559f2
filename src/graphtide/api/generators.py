"""Generators of views, for Python: the same as GVDL's, spelled as functions.

Each returns a piece of syntax that `graph.collection` takes, alone or in a list, and that prints
as the GVDL it stands for. What windows mean exactly is said in the reference of GVDL.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Literal as OneOf

from graphtide.api.requests import Views, view_items
from graphtide.lang.gvdl.parse import parse_amount, parse_predicate, parse_property
from graphtide.lang.gvdl.tree import (
    Combinations,
    Duration,
    Group,
    Item,
    Literal,
    Outages,
    Product,
    WindowKind,
    Windows,
)

Bound = int | float | str | dt.date | dt.datetime
Amount = int | float | str


def expanding(property: str, *, width: Amount, **options: Bound | bool) -> Windows:
    """Windows from one start, each longer by `step` (default: `width`) than the one before.

    Options: `step`, `start`, `until`, `timezone`, `drop_partial`, `drop_empty`, `name`.
    """
    return _windows("expanding", property, width, options)


def sliding(property: str, *, width: Amount, step: Amount, **options: Bound | bool) -> Windows:
    """Windows of one width whose starts are `step` apart. Options as for `expanding`."""
    return _windows("sliding", property, width, {"step": step, **options})


def tumbling(property: str, *, width: Amount, **options: Bound | bool) -> Windows:
    """Windows of one width, one after the other. Options as for `expanding`, but no `step`."""
    return _windows("tumbling", property, width, options)


def cross(*factors: Views) -> Product:
    """Every view of each factor with every view of the others, joined by `and`."""
    return Product(tuple(_one_item(factor) for factor in factors))


def without(count: int, views: Views, *, name: str | None = None) -> Combinations:
    """Each choice of `count` of the views removed from the graph."""
    return Combinations(count, view_items(views), name=name)


def without_each(
    what: OneOf["edge", "vertex"],
    *,
    where: str | None = None,
    pairs: bool = False,
    name: str | None = None,
) -> Outages:
    """Each edge or vertex that satisfies `where` removed in turn (N-1), or each pair (N-2)."""
    condition = None if where is None else parse_predicate(where)
    return Outages(what=what, pairs=pairs, where=condition, name=name)


def _one_item(factor: Views) -> Item:
    items = view_items(factor)
    return items[0] if len(items) == 1 else Group(items)


def _windows(
    kind: WindowKind, property: str, width: Amount, options: Mapping[str, Bound | bool]
) -> Windows:
    known = {"step", "start", "until", "timezone", "drop_partial", "drop_empty", "name"}
    unknown = set(options) - known
    if unknown:
        raise TypeError(
            f"{kind}() got an unexpected option '{sorted(unknown)[0]}'; "
            f"it takes {', '.join(sorted(known))}"
        )
    given = dict(options)
    for name in ("start", "until"):
        if name in given:
            given[name] = Literal(given[name])  # type: ignore[assignment]
    if "step" in given:
        given["step"] = _amount(given["step"])  # type: ignore[assignment, arg-type]
    return Windows(kind, parse_property(property), _amount(width), **given)  # type: ignore[arg-type]


def _amount(amount: Amount) -> Literal | Duration:
    return parse_amount(amount) if isinstance(amount, str) else Literal(amount)
