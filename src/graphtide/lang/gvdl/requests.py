"""What Python users write for views and groups, brought to one form: the syntax tree of GVDL.

A predicate is GVDL text. Views are GVDL text (`for y in 2000..2020 [upto-{y}: year <= y]`), a
mapping from names to predicates, a list of predicates, a generator such as `sliding(...)`, or a
list that mixes these, in which a pair of texts is a name and its predicate. Generators are the
same as GVDL's, spelled as functions; the reference of GVDL says exactly what windows mean.

A grouped graph has one section of vertices and one of edges here. Several sections, and `between`,
are written as GVDL: `session.execute("create view ...")`.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import replace as with_fields
from itertools import chain
from typing import Any
from typing import Literal as OneOf

import numpy as np

from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.calendar import unit_of
from graphtide.lang.gvdl.parse import (
    parse_aggregates,
    parse_amount,
    parse_groupings,
    parse_predicate,
    parse_property,
    parse_views,
)
from graphtide.lang.gvdl.statements import CreateGrouped, Ordering
from graphtide.lang.gvdl.tree import AggregateCall, Alternatives, Grouping, Section, Term, View
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
    try:
        return Ordering(order)
    except ValueError:
        known = ", ".join(f"'{item.value}'" for item in Ordering)
        raise InputError(f"order cannot be {order!r}", hint=f"use one of {known}") from None


def _listed_items(item: Views) -> tuple[tree.Item, ...]:
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


Bound = int | float | str | dt.date | dt.datetime
Amount = int | float | str | dt.timedelta | np.timedelta64 | np.integer[Any] | np.floating[Any]
"""A width or step: a number for numbers; for times `"7d"`, `"1 month"`, `timedelta(days=7)`."""

_TEXT = re.compile(r"([+-]?\d+)?\s*([^\W\d_]+)")
_NUMBER = re.compile(r"[+-]?[\d.]+(?:e[+-]?\d+)?\s*[^\W\d_]*", re.IGNORECASE)
# Spellings of pandas and NumPy that GVDL, which reads units in any case, does not have.
_OF_OTHERS: dict[str, tree.Unit] = dict.fromkeys(("M", "MS", "ME"), "month")
_OF_OTHERS |= dict.fromkeys(("A", "Y", "YS", "YE"), "year")
_FORMS = (
    "for dates and timestamps give '7 days', '7d', '1w', '12h', '30min', '1 month', a timedelta "
    "or a pandas Timedelta; for numbers a number such as 10"
)


def expanding(
    property: str,
    width: Amount,
    step: Amount | None = None,
    *,
    start: Bound | None = None,
    until: Bound | None = None,
    timezone: str | None = None,
    drop_partial: bool = False,
    drop_empty: bool = False,
    name: str | None = None,
) -> tree.Windows:
    """Windows from one start, each longer by `step` (default: `width`) than the one before.

    `width` is a number, or of dates and timestamps `"7d"`, `"1 month"`, `"12h"`, or a timedelta.
    Whole days are days of the calendar in `timezone`, which is that of the graph (UTC, if nothing
    else was said when it was loaded) unless it is given. Windows go from `start` on until `until`,
    which is exclusive; both default to the data. `drop_partial` leaves out what ends past `until`,
    `drop_empty` windows without an edge. `name` is a pattern, such as `"until-{end}"`.
    """
    return tree.Windows(
        "expanding",
        parse_property(property),
        _amount("width", width),
        None if step is None else _amount("step", step),
        *_ends(start, until),
        timezone,
        drop_partial,
        drop_empty,
        name,
    )


def sliding(
    property: str,
    width: Amount,
    step: Amount,
    *,
    start: Bound | None = None,
    until: Bound | None = None,
    timezone: str | None = None,
    drop_partial: bool = False,
    drop_empty: bool = False,
    name: str | None = None,
) -> tree.Windows:
    """Windows of one width whose starts are `step` apart: the last 7 days, every day.

    `sliding("at", "7d", "1d")`. What can be given is as for `expanding`.
    """
    return tree.Windows(
        "sliding",
        parse_property(property),
        _amount("width", width),
        _amount("step", step),
        *_ends(start, until),
        timezone,
        drop_partial,
        drop_empty,
        name,
    )


def tumbling(
    property: str,
    width: Amount,
    *,
    start: Bound | None = None,
    until: Bound | None = None,
    timezone: str | None = None,
    drop_partial: bool = False,
    drop_empty: bool = False,
    name: str | None = None,
) -> tree.Windows:
    """Windows of one width, one after the other: each day, each week.

    `tumbling("at", "1d")`, `tumbling("year", 10)`. What can be given is as for `expanding`.
    """
    return tree.Windows(
        "tumbling",
        parse_property(property),
        _amount("width", width),
        None,
        *_ends(start, until),
        timezone,
        drop_partial,
        drop_empty,
        name,
    )


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


def _amount(name: str, amount: object) -> tree.Literal | tree.Duration:
    """A width or step as GVDL has it; InputError that lists the forms for anything else."""
    read = _read_text(name, amount) if isinstance(amount, str) else _read_amount(name, amount)
    if read is None:
        raise InputError(f"{name} cannot be {amount!r}", hint=_FORMS)
    size = read.count if isinstance(read, tree.Duration) else read.value
    if not (isinstance(size, int | float) and 0 < size < math.inf):
        raise InputError(f"{name} cannot be {amount!r}: it must be more than 0", hint=_FORMS)
    return read


def _read_text(name: str, text: str) -> tree.Literal | tree.Duration | None:
    """`7d`, `W`, `2 weeks`, `10`."""
    written = _TEXT.fullmatch(text.strip())
    if written is None:
        return parse_amount(text) if _NUMBER.fullmatch(text.strip()) else None
    digits, word = written.groups()
    unit = _OF_OTHERS.get(word) or unit_of(word)
    if word == "m":
        raise InputError(
            f"{name} cannot be {text!r}: 'm' is a month or a minute",
            hint=f"write '{digits or 1} month' or '{digits or 1}min'",
        )
    return None if unit is None else tree.Duration(int(digits or 1), unit)


def _read_amount(name: str, amount: Any) -> tree.Literal | tree.Duration | None:
    """A number, or a duration of Python, NumPy or pandas; None for anything else."""
    if isinstance(amount, np.timedelta64) and np.datetime_data(amount)[0] in ("Y", "M", "W"):
        unit, size = np.datetime_data(amount)
        if np.isnat(amount):
            return None
        units: dict[str, tree.Unit] = {"Y": "year", "M": "month", "W": "week"}
        return tree.Duration(int(amount.astype(np.int64)) * size, units[unit])
    if isinstance(amount, np.timedelta64) and not np.isnat(amount):
        return _of_microseconds(name, amount, int(amount.astype("timedelta64[us]").astype(int)))
    if isinstance(amount, dt.timedelta) and amount == amount:  # Not so for what pandas has as NaT.
        return _of_microseconds(name, amount, amount // dt.timedelta(microseconds=1))
    if isinstance(getattr(amount, "freqstr", None), str):  # An offset of pandas, such as Day(7).
        return _read_text(name, amount.freqstr)
    value = _plain_value(amount)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return tree.Literal(value)


def _of_microseconds(name: str, amount: object, count: int) -> tree.Duration:
    """An exact duration in the greatest unit that it is a whole number of, from days down.

    Whole days become days of the calendar, which are 23 or 25 hours long where clocks change.
    """
    units: tuple[tuple[tree.Unit, int], ...] = (
        ("day", 86_400_000_000),
        ("hour", 3_600_000_000),
        ("minute", 60_000_000),
        ("second", 1_000_000),
        ("millisecond", 1_000),
    )
    for unit, size in units:
        if count % size == 0:
            return tree.Duration(count // size, unit)
    raise InputError(
        f"{name} cannot be {amount!r}", hint="give a whole number of milliseconds, or more"
    )


def _ends(start: object, until: object) -> tuple[tree.Literal | None, tree.Literal | None]:
    return (
        None if start is None else _bound("start", start),
        None if until is None else _bound("until", until),
    )


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
        if value != value:  # What pandas has where there is no time.
            return None
        value = dt.datetime.fromisoformat(value.isoformat(timespec="microseconds"))
    return value


TermText = str | Mapping[str, str]
Groupings = TermText | Iterable[TermText | Iterable[TermText]]
Aggregates = str | Iterable[str] | Mapping[str, str]


@dataclass(frozen=True)
class SectionRequest:
    """What is asked of the vertices or of the edges."""

    where: str | None
    aggregates: Aggregates
    by: Groupings = ()

    def section(self) -> Section:
        where = None if self.where is None else written_predicate(self.where)
        groupings, calls = written_groupings(self.by), written_aggregates(self.aggregates)
        return Section(None, where, groupings, calls)


def grouped_statement(
    name: str, base: str, vertices: SectionRequest, edges: SectionRequest, *, replace: bool
) -> CreateGrouped:
    """The statement that makes a grouped graph of one section of vertices and one of edges."""
    return CreateGrouped(name, (vertices.section(),), (edges.section(),), base, replace)


def written_groupings(by: Groupings) -> tuple[Grouping, ...]:
    if isinstance(by, str):
        return parse_groupings(by)
    if isinstance(by, Mapping):
        return (_grouping([by]),)
    terms = _listed(by)
    if terms and all(_is_list(term) for term in terms):
        return tuple(_grouping(_listed(term)) for term in terms)
    return (_grouping(terms),) if terms else ()


def written_aggregates(aggregates: Aggregates) -> tuple[AggregateCall, ...]:
    """Aggregates from text, a list of texts, or a dict of texts by name."""
    if isinstance(aggregates, str):
        return parse_aggregates(aggregates)
    if isinstance(aggregates, Mapping):
        return tuple(_named_aggregate(name, text) for name, text in aggregates.items())
    return tuple(call for text in _listed(aggregates) for call in parse_aggregates(_text(text)))


def _grouping(terms: Iterable[object]) -> Grouping:
    return Grouping(tuple(map(_term, terms)))


def _term(item: object) -> Term:
    if not isinstance(item, Mapping):
        return written_predicate(item)
    if not item:
        raise _unusable_grouping(item)
    return Alternatives(
        tuple(View(written_predicate(text), name=str(name)) for name, text in item.items())
    )


def _named_aggregate(name: object, text: object) -> AggregateCall:
    calls = parse_aggregates(_text(text))
    if len(calls) != 1 or not isinstance(name, str):
        raise InputError(
            f"{name!r} names {len(calls)} aggregates", hint='name each: {"mean": "avg(age)"}'
        )
    return with_fields(calls[0], name=name)


def _text(item: object) -> str:
    if isinstance(item, str):
        return item
    raise InputError(
        f"an aggregate is GVDL text, not a {type(item).__name__}",
        hint='["count(*)", "avg(age)"], or by name: {"mean": "avg(age)"}',
    )


def _is_list(item: object) -> bool:
    return isinstance(item, Iterable) and not isinstance(item, str | Mapping)


def _listed(items: object) -> list[object]:
    if isinstance(items, Iterable) and not isinstance(items, str | Mapping):
        return list(items)
    raise _unusable_grouping(items)


def _unusable_grouping(item: object) -> InputError:
    return InputError(
        f"{item!r} does not say what to group by",
        hint='give properties and conditions: by=["city", "age > 30"], or GVDL: by="city, state"',
    )
