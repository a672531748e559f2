"""The boundaries of windows: X + i x step + j x width on a number line, a calendar or a clock.

Boundaries are always counted from the start X and never accumulated, so that the thousandth
is as exact as the first: numbers are added as decimal fractions (0.1 three times is 0.3) and
calendar steps at once (see `calendar`). For a fixed j they grow with i.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo

from graphtide.lang.gvdl.calendar import Step, move_date, move_time
from graphtide.plan.predicates import Value


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
    step: Step
    width: Step

    def boundary(self, steps: int, widths: int) -> dt.date:
        """All steps and widths are taken from the start at once."""
        return move_date(self.start, self.step.times(steps).plus(self.width.times(widths)))


@dataclass(frozen=True)
class TimeAxis:
    """Boundaries that are moments, calendar steps being taken on the clocks of a zone."""

    start: dt.datetime
    step: Step
    width: Step
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
