"""Steps of time in a time zone; boundaries X + i x step + j x width on numbers, days or clocks.

Days, weeks, months and years are steps of the calendar: one day after ten o'clock is ten
o'clock, whatever the clocks did in between. Hours and less are exact. A step is always taken
from the same start, n times at once, and never step by step: January 31 and one month is
February 28 (or 29), and two months is March 31. Of a mixed step the months come first, then
the days, then the exact part.

Local times that do not exist (clocks put forward) move forward by the gap; those that happen
twice (clocks put back) mean the earlier. Timestamps are UTC outside of here. Leaving the years
1 to 9999 raises OverflowError.

Boundaries too are always counted from the start X and never accumulated, so that the thousandth
is as exact as the first; numbers are added as decimal fractions (0.1 three times is 0.3). For a
fixed j boundaries grow with i.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol, cast
from zoneinfo import ZoneInfo

from graphtide.lang.gvdl.tree import Unit
from graphtide.plan.predicates import Value

_MONTHS = {"month": 1, "year": 12}
_DAYS = {"day": 1, "week": 7}
_MICROSECONDS = {
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
}

_SHORT: dict[str, Unit] = {
    "ms": "millisecond",
    "s": "second",
    "sec": "second",
    "min": "minute",
    "h": "hour",
    "hr": "hour",
    "d": "day",
    "w": "week",
    "mo": "month",
    "y": "year",
}


def unit_of(word: str) -> Unit | None:
    """The unit that a word names in any case: `days`, `day`, `d`; None if it names none.

    `m` names none: some mean a month by it, others a minute.
    """
    known = word.lower()
    if known in _SHORT:
        return _SHORT[known]
    known = known.removesuffix("s")
    if known in _MONTHS or known in _DAYS or known in _MICROSECONDS:
        return cast(Unit, known)
    return _SHORT.get(known) if len(known) > 1 else None


@dataclass(frozen=True)
class TimeStep:
    """A distance in time."""

    months: int = 0
    days: int = 0
    microseconds: int = 0

    def times(self, count: int) -> TimeStep:
        return TimeStep(self.months * count, self.days * count, self.microseconds * count)

    def plus(self, other: TimeStep) -> TimeStep:
        return TimeStep(
            self.months + other.months,
            self.days + other.days,
            self.microseconds + other.microseconds,
        )


def step_of(count: int, unit: Unit) -> TimeStep:
    return TimeStep(
        count * _MONTHS.get(unit, 0), count * _DAYS.get(unit, 0), count * _MICROSECONDS.get(unit, 0)
    )


def is_whole_days(unit: Unit) -> bool:
    return unit not in _MICROSECONDS


def move_date(day: dt.date, step: TimeStep) -> dt.date:
    return _add_months(day, step.months) + dt.timedelta(days=step.days)


def move_time(moment: dt.datetime, step: TimeStep, zone: ZoneInfo) -> dt.datetime:
    """The moment a step away, in UTC; calendar parts are taken on the clocks of the zone."""
    if step.months or step.days:
        local = moment.astimezone(zone).replace(tzinfo=None, fold=0)
        day = move_date(local.date(), step)
        moment = localise(dt.datetime.combine(day, local.time()), zone)
    return moment.astimezone(dt.UTC) + dt.timedelta(microseconds=step.microseconds)


def _add_months(day: dt.date, months: int) -> dt.date:
    if not months:
        return day
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not dt.MINYEAR <= year <= dt.MAXYEAR:
        raise OverflowError("year out of range")
    return dt.date(year, month + 1, min(day.day, _days_in(year, month + 1)))


def _days_in(year: int, month: int) -> int:
    if month == 2:
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return 29 if leap else 28
    return 30 if month in (4, 6, 9, 11) else 31


def localise(local: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    """The moment in UTC of a time on the clocks of a zone; a time with an offset keeps it."""
    if local.tzinfo is None:
        # fold=0 takes the offset before a change of clocks: the earlier of two times, and in a
        # gap the time that is later by the gap.
        local = local.replace(tzinfo=zone, fold=0)
    return local.astimezone(dt.UTC)


def floor_date(day: dt.date, unit: Unit) -> dt.date:
    """The start of the week (Monday), month or year around a date."""
    if unit == "week":
        return day - dt.timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if unit == "year" else day


def floor_time(moment: dt.datetime, unit: Unit, zone: ZoneInfo) -> dt.datetime:
    """The start of the unit around a moment on the clocks of a zone, in UTC."""
    local = moment.astimezone(zone)
    if unit in _MICROSECONDS:
        floored = (local - _since_start(local, unit)).replace(fold=local.fold)
        return floored.astimezone(dt.UTC)
    day = floor_date(local.date(), unit)
    return localise(dt.datetime.combine(day, dt.time()), zone)


def _since_start(local: dt.datetime, unit: Unit) -> dt.timedelta:
    midnight = dt.timedelta(
        hours=local.hour,
        minutes=local.minute,
        seconds=local.second,
        microseconds=local.microsecond,
    )
    return midnight % dt.timedelta(microseconds=_MICROSECONDS[unit])


def write_time(moment: dt.datetime, zone: ZoneInfo) -> str:
    """`2020-01-05` on midnight, else `2020-01-05T10:00:00`, on the clocks of the zone.

    A time that happens twice carries its offset, so that no two moments share a text.
    """
    local = moment.astimezone(zone)
    clock = local.replace(tzinfo=None, fold=0)
    twice = local.utcoffset() != local.replace(fold=1 - local.fold).utcoffset()
    if twice:
        return clock.isoformat() + local.isoformat()[len(clock.isoformat()) :]
    return clock.date().isoformat() if clock.time() == dt.time() else clock.isoformat()


class Axis(Protocol):
    """Boundaries of one list of windows. Leaving the calendar raises OverflowError."""

    def boundary(self, steps: int, widths: int) -> Value:
        """The start moved by so many steps and so many widths."""


@dataclass(frozen=True)
class NumberAxis:
    """Boundaries that are ints where start, step and width are, and floats otherwise."""

    start: int | float
    step: int | float
    width: int | float

    def boundary(self, steps: int, widths: int) -> int | float:
        """Each float boundary is the one nearest to the exact decimal."""
        exact = _exact(self.start) + steps * _exact(self.step) + widths * _exact(self.width)
        whole = all(isinstance(item, int) for item in (self.start, self.step, self.width))
        return int(exact) if whole else float(exact)


@lru_cache(maxsize=64)
def _exact(value: int | float) -> Fraction:
    return Fraction(repr(value))


@dataclass(frozen=True)
class DateAxis:
    """Boundaries that are dates."""

    start: dt.date
    step: TimeStep
    width: TimeStep

    def boundary(self, steps: int, widths: int) -> dt.date:
        """All steps and widths are taken from the start at once."""
        return move_date(self.start, self.step.times(steps).plus(self.width.times(widths)))


@dataclass(frozen=True)
class TimeAxis:
    """Boundaries that are moments, calendar steps being taken on the clocks of a zone."""

    start: dt.datetime
    step: TimeStep
    width: TimeStep
    zone: ZoneInfo

    def boundary(self, steps: int, widths: int) -> dt.datetime:
        """All steps and widths are taken from the start at once."""
        step = self.step.times(steps).plus(self.width.times(widths))
        return move_time(self.start, step, self.zone)


def count_below(axis: Axis, widths: int, limit: Value) -> int:
    """How many of the boundaries 0, 1, 2, ... (moved by `widths`) lie below a limit."""
    return count_while(lambda index: axis.boundary(index, widths) < limit)  # type: ignore[operator]


def count_while(holds: Callable[[int], bool]) -> int:
    """How many of 0, 1, 2, ... satisfy a condition that holds up to some number and not beyond.

    Found by doubling and halving, so that a slip of a million windows is told at once. Where
    the condition leaves the calendar, it does not hold.
    """
    high = 1
    while _holds(holds, high - 1):
        high *= 2
    low, high = high // 2, high - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _holds(holds, middle) else (low, middle)
    return low


def _holds(holds: Callable[[int], bool], index: int) -> bool:
    try:
        return holds(index)
    except OverflowError:
        return False
