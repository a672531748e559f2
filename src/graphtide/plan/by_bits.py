"""Parts of plans that compare by the bits of their numbers.

What is compiled for a program, or converted for it, is found by its plan. Python finds 1, 1.0 and
True equal, and 0.0 and -0.0, though a program divides by them with other results. So whatever in a
plan holds a number of the user's compares by type and bits.
"""

from __future__ import annotations


class ByBits:
    """The base of a frozen dataclass, declared with `eq=False`, that compares its numbers so."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _identity(self) == _identity(other)

    def __hash__(self) -> int:
        return hash(_identity(self))


def _identity(item: object) -> tuple[object, ...]:
    return tuple(map(_bits, vars(item).values()))


def _bits(value: object) -> object:
    if isinstance(value, float):
        return float, value.hex()
    return (bool, value) if isinstance(value, bool) else value
