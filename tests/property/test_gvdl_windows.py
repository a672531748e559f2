"""Windows against a plain loop over the definition, with its own calendar.

The oracle adds months day by day on paper and finds local times by trying offsets, so that it
shares neither the arithmetic nor the treatment of clock changes with what it checks.
"""

from __future__ import annotations

import calendar
import datetime as dt
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphtide.lang.gvdl import tree as t
from graphtide.lang.gvdl.lower import lower_views
from graphtide.model.errors import LanguageError
from graphtide.model.schema import GraphSchema, Property, PropertyType
from graphtide.plan.predicates import Predicate, PropertyRef
from tests.examples import examples
from tests.oracle.predicates import holds

MANY = settings(deadline=None, max_examples=examples(150))
SCHEMA = GraphSchema(
    PropertyType.INT,
    edge=(
        Property("n", PropertyType.INT),
        Property("x", PropertyType.FLOAT),
        Property("day", PropertyType.DATE),
        Property("ts", PropertyType.TIMESTAMP),
    ),
)
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo"]
MOST = 300


class Rows:
    """The facts of a list of values of one property."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def bounds(self, property: PropertyRef, where: Predicate) -> tuple[Any, Any] | None:
        return (min(self.values), max(self.values)) if self.values else None

    def edges(self, where: Predicate, limit: int) -> list[Any]:
        raise AssertionError("windows need no edges")

    vertices = edges


def local_to_utc(local: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    """The earliest moment at which the zone's clocks show this; after a gap, later by the gap."""
    guess = local.replace(tzinfo=dt.UTC)
    offsets = {
        (guess + dt.timedelta(hours=hours)).astimezone(zone).utcoffset() for hours in (-30, 0, 30)
    }
    moments = sorted(guess - (offset or dt.timedelta()) for offset in offsets)
    shown = [m for m in moments if m.astimezone(zone).replace(tzinfo=None) == local]
    if shown:
        return shown[0]
    before = (guess - dt.timedelta(hours=30)).astimezone(zone).utcoffset() or dt.timedelta()
    return guess - before


def add_months(day: dt.date, count: int) -> dt.date:
    year, month = day.year, day.month
    for _ in range(count):
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
    return dt.date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def moved(start: Any, amounts: list[tuple[int, t.Duration]], zone: ZoneInfo) -> Any:
    """The start and so many of each duration: months, then days, then the exact rest."""
    months = sum(n * a.count * {"month": 1, "year": 12}.get(a.unit, 0) for n, a in amounts)
    days = sum(n * a.count * {"day": 1, "week": 7}.get(a.unit, 0) for n, a in amounts)
    exact = sum(
        (
            n * a.count * dt.timedelta(**{a.unit + "s": 1})
            for n, a in amounts
            if a.unit in ("millisecond", "second", "minute", "hour")
        ),
        dt.timedelta(),
    )
    if not isinstance(start, dt.datetime):
        return add_months(start, months) + dt.timedelta(days=days)
    if months or days:
        local = start.astimezone(zone).replace(tzinfo=None)
        day = add_months(local.date(), months) + dt.timedelta(days=days)
        start = local_to_utc(dt.datetime.combine(day, local.time()), zone)
    return start + exact


def boundary(start: Any, amounts: list[tuple[int, Any]], zone: ZoneInfo) -> Any:
    if isinstance(start, dt.date):
        return moved(start, amounts, zone)
    exact = Decimal(repr(start)) + sum(n * Decimal(repr(a)) for n, a in amounts)
    whole = isinstance(start, int) and all(isinstance(a, int) for _, a in amounts)
    return int(exact) if whole else float(exact)


def naive_windows(
    kind: str, start: Any, until: Any, width: Any, step: Any, zone: ZoneInfo
) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    while len(found) <= MOST:
        i = len(found)
        end = boundary(start, [(i, step), (1, width)], zone)
        low = start if kind == "expanding" else boundary(start, [(i, step)], zone)
        if low >= until:
            break
        found.append((low, end))
        if kind == "expanding" and end >= until:
            break
    return found


def floored(value: Any, width: Any, zone: ZoneInfo) -> Any:
    if not isinstance(width, t.Duration):
        return value
    if isinstance(value, dt.datetime):
        # The last start of a unit that is not after the value, found by looking back.
        local = value.astimezone(zone).replace(tzinfo=None)
        if width.unit == "hour":
            moment = value
            while (moment.astimezone(zone).minute, moment.second, moment.microsecond) != (0, 0, 0):
                moment = moment.replace(second=0, microsecond=0) - dt.timedelta(
                    minutes=0 if moment.second or moment.microsecond else 1
                )
            return moment
        day = floored(local.date(), width, zone)
        return local_to_utc(dt.datetime.combine(day, dt.time()), zone)
    if width.unit == "week":
        return value - dt.timedelta(days=value.weekday())
    if width.unit == "month":
        return dt.date(value.year, value.month, 1)
    return dt.date(value.year, 1, 1) if width.unit == "year" else value


def durations(units: list[str], most: int) -> st.SearchStrategy[t.Duration]:
    return st.builds(t.Duration, st.integers(1, most), st.sampled_from(units))


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, list[Any], Any, Any]:
    """A property, values of it, a width and a step."""
    name = draw(st.sampled_from(["n", "x", "day", "ts"]))
    kind: st.SearchStrategy[Any]
    amount: st.SearchStrategy[Any]
    if name == "n":
        kind, amount = st.integers(-30, 60), st.integers(1, 20) | st.sampled_from([0.5, 2.5])
    elif name == "x":
        kind = st.sampled_from([-1.0, -0.3, 0.0, 0.1, 0.3, 0.7, 1.0, 2.5])
        amount = st.sampled_from([0.1, 0.25, 0.3, 1, 1.5])
    elif name == "day":
        kind = st.dates(dt.date(2019, 11, 20), dt.date(2020, 4, 10))
        amount = durations(["day", "week", "month", "year"], 3)
    else:
        # Around the days when the clocks change.
        kind = st.datetimes(
            dt.datetime(2020, 3, 26), dt.datetime(2020, 4, 6), timezones=st.just(dt.UTC)
        ) | st.datetimes(
            dt.datetime(2017, 10, 12), dt.datetime(2017, 11, 6), timezones=st.just(dt.UTC)
        )
        amount = durations(["hour", "day", "week", "month"], 30)
    values = draw(st.lists(kind, min_size=1, max_size=8))
    if name == "ts":
        values = [value for value in values if abs(value - values[0]) < dt.timedelta(days=30)]
    return name, values, draw(amount), draw(amount)


@MANY
@given(
    cases(),
    st.sampled_from(["expanding", "sliding", "tumbling"]),
    st.sampled_from(ZONES),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
    st.data(),
)
def test_windows_are_what_the_definition_says(
    case: tuple[str, list[Any], Any, Any],
    kind: Any,
    zone_name: str,
    options: tuple[bool, bool, bool],
    data: st.DataObject,
) -> None:
    name, values, width, step = case
    zone = ZoneInfo(zone_name if name == "ts" else "UTC")
    give_start, give_until, drop_partial = options
    if kind == "tumbling":
        step = width
    start = data.draw(st.sampled_from(values)) if give_start else None
    until = data.draw(st.sampled_from(values)) if give_until else None
    node = t.Windows(
        kind,
        t.PropertyName(name),
        width if isinstance(width, t.Duration) else t.Literal(width),
        None if kind == "tumbling" else step if isinstance(step, t.Duration) else t.Literal(step),
        None if start is None else t.Literal(start),
        None if until is None else t.Literal(until),
        timezone=zone_name if name == "ts" else None,
        drop_partial=drop_partial,
        name="{index}",
    )
    first = start if start is not None else floored(min(values), width, zone)
    # Whatever lies past the largest value, but before the next that the type can hold.
    last = until if until is not None else just_past(max(values))
    expected = naive_windows(kind, first, last, width, step, zone)
    assume(len(expected) <= MOST)
    kept = [(low, high) for low, high in expected if not (drop_partial and high > last)]
    try:
        lowered = lower_views((node,), SCHEMA, Rows(values))
    except LanguageError:
        assert not kept
        return
    assert [view.name for view in lowered.views] == [str(i + 1) for i in range(len(kept))]
    probes = [*values, *(edge for window in kept for edge in window)]
    for view, (low, high) in zip(lowered.views, kept, strict=True):
        end = min(high, last) if until is not None else high
        for value in probes:
            row = {"edge": {name: value}, "src": {}, "dst": {}}
            assert holds(view.predicate, row) == (low <= value < end)


def just_past(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return value + dt.timedelta(microseconds=1)
    if isinstance(value, dt.date):
        return value + dt.timedelta(days=1)
    return value + 1 if isinstance(value, int) else value + 1e-9


@MANY
@given(cases(), st.sampled_from(ZONES))
def test_tumbling_windows_neither_overlap_nor_leave_gaps(
    case: tuple[str, list[Any], Any, Any], zone: str
) -> None:
    name, values, width, _ = case
    amount = width if isinstance(width, t.Duration) else t.Literal(width)
    node = t.Windows(
        "tumbling", t.PropertyName(name), amount, timezone=zone if name == "ts" else None
    )
    views = lower_views((node,), SCHEMA, Rows(values)).views
    assert len({view.name for view in views}) == len(views)
    for value in values:
        row = {"edge": {name: value}, "src": {}, "dst": {}}
        assert sum(holds(view.predicate, row) for view in views) == 1
