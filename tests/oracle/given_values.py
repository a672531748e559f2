"""Texts and dates as a program sees them: what the documentation says of them, and nothing more."""

from __future__ import annotations

import datetime as dt
from typing import Any

from tests.oracle import machine_numbers as machine


class Word:
    """A text, or a missing one, which equals nothing."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        theirs = other.text if isinstance(other, Word) else other
        return self.text is not None and self.text == theirs

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


class Day(int):
    """A date: its days since 1970 began. Ordered; a difference of two is a number of days."""

    def __sub__(self, other: Any) -> Any:
        assert isinstance(other, Day)
        return machine.Int(int(self) - int(other))


def day_of(value: Any) -> Day:
    date = dt.date.fromisoformat(value) if isinstance(value, str) else value
    return Day((date - dt.date(1970, 1, 1)).days)


def given_value(kind: type, value: Any) -> Any:
    """A value of the data, or of a parameter, in its declared type."""
    if kind is str:
        return Word(value)
    return day_of(value) if kind is Day else machine.of_type(kind, value)
