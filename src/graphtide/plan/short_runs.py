"""Boolean algebra over a few runs, in plain Python: faster than arrays up to some dozen bounds.

A set of numbers is written as its bounds, strictly increasing: at each bound the set begins or
ceases to hold numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

Bounds = tuple[int, ...]


def covered(parts: Sequence[Bounds], least: int) -> Bounds:
    """What at least so many of the parts hold: 1 is their union, all of them the intersection."""
    if len(parts) == 1:
        return parts[0]
    changes: dict[int, int] = {}
    for part in parts:
        for place, bound in enumerate(part):
            changes[bound] = changes.get(bound, 0) + (-1 if place & 1 else 1)
    bounds: list[int] = []
    count = 0
    for bound in sorted(changes):
        before, count = count, count + changes[bound]
        if (before >= least) != (count >= least):
            bounds.append(bound)
    return tuple(bounds)


def opposite(part: Bounds, limit: int) -> Bounds:
    """The numbers from 0 to limit that are not in the part."""
    bounds = part[1:] if part and part[0] == 0 else (0, *part)
    return bounds[:-1] if bounds and bounds[-1] == limit else (*bounds, limit)


def runs_of_rows(rows: Sequence[int]) -> Bounds:
    """The bounds of a few rows, given in order."""
    bounds: list[int] = []
    for row in rows:
        if bounds and bounds[-1] == row:
            bounds[-1] = row + 1
        else:
            bounds += (row, row + 1)
    return tuple(bounds)
