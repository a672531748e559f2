"""Steps of time: calendar steps in a time zone, and exact durations.

Days, weeks, months and years are steps of the calendar: one day after ten o'clock is ten
o'clock, whatever the clocks did in between. Hours and less are exact. A step is always taken
from the same start, n times at once, and never step by step: January 31 and one month is
February 28 (or 29), and two months is March 31. Of a mixed step the months come first, then
the days, then the exact part.

Local times that do not exist (clocks put forward) move forward by the gap; those that happen
twice (clocks put back) mean the earlier. Timestamps are UTC outside of here. Leaving the years
1 to 9999 raises OverflowError.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import cast
from zoneinfo import ZoneInfo

from graphtide.lang.gvdl.tree import Unit

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
class Step:
    """A distance in time."""

    months: int = 0
    days: int = 0
    microseconds: int = 0

    def times(self, count: int) -> Step:
        """This step, so many times at once."""
        return Step(self.months * count, self.days * count, self.microseconds * count)

    def plus(self, other: Step) -> Step:
        """Both steps at once."""
        return Step(
            self.months + other.months,
            self.days + other.days,
            self.microseconds + other.microseconds,
        )


def step_of(count: int, unit: Unit) -> Step:
    """So many of a unit as a step."""
    return Step(
        count * _MONTHS.get(unit, 0), count * _DAYS.get(unit, 0), count * _MICROSECONDS.get(unit, 0)
    )


def is_whole_days(unit: Unit) -> bool:
    """True for the units that a date can be moved by."""
    return unit not in _MICROSECONDS


def move_date(day: dt.date, step: Step) -> dt.date:
    """The date a step of whole days away."""
    return _add_months(day, step.months) + dt.timedelta(days=step.days)


def move_time(moment: dt.datetime, step: Step, zone: ZoneInfo) -> dt.datetime:
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
