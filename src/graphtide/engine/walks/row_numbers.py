"""Numbers of rows that walks report, such that rows can be counted and sorted.

No NaN equals another, and none is before or behind any number: a row that holds one would never be
found again when it leaves, and no order of rows would be one. So all of them are one object here,
which equals itself and comes behind all numbers.
"""

from __future__ import annotations

from typing import Any


class _NotANumber(float):
    """NaN, but for how it compares."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return 0

    def __lt__(self, other: Any) -> bool:
        return False

    def __le__(self, other: Any) -> bool:
        return self is other

    def __gt__(self, other: Any) -> bool:
        return self is not other

    def __ge__(self, other: Any) -> bool:
        return True


NOT_A_NUMBER = _NotANumber("nan")


def comparable(values: list[Any]) -> list[Any]:
    """A column of rows, any NaN in which is the one that equals itself."""
    if any(value != value for value in values):
        return [NOT_A_NUMBER if value != value else value for value in values]
    return values
