"""Counts in words: `1 view`, `2,000 views`."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """So many of a thing: `1 view`, `2 views`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
