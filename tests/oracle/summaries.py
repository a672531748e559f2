"""What sums up the results of one version, in plain Python: counted and sorted anew."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any


def components(labels: Sequence[int]) -> dict[str, Any]:
    sizes = list(Counter(labels).values())
    return {
        "components": len(sizes),
        "largest": max(sizes, default=0),
        "single": sizes.count(1),
    }


def numbers(values: Sequence[float], missing: float | None) -> dict[str, Any]:
    usual = [value for value in values if math.isfinite(value)]
    found: dict[str, Any] = {}
    if missing is not None:
        found["reached"] = sum(value != missing for value in values)
    found["least"] = min(usual, default=None)
    found["greatest"] = max(usual, default=None)
    found["mean"] = mean(usual) if usual else None
    return found


def mean(values: Sequence[float]) -> float:
    """The exact sum, rounded, over the count; whole numbers and huge sums are rounded once."""
    total = sum(map(Fraction, values))
    if all(isinstance(value, int) for value in values):
        return float(total / len(values))
    try:
        return float(total) / len(values)
    except OverflowError:
        return float(total / len(values))


def order(values: Sequence[float], missing: float | None) -> list[int]:
    """All vertices, greater values first, the same ones in their order, last NaN and infinity.

    Infinity only where it stands for what is not reached.
    """

    def key(at: int) -> tuple[bool, float, int]:
        last = math.isnan(values[at]) or (values[at] == missing == math.inf)
        return last, 0 if last else -values[at], at

    return sorted(range(len(values)), key=key)


def top(
    views: Sequence[Sequence[float]],
    count: int,
    missing: float | None = None,
    base: Sequence[float] | None = None,
) -> list[tuple[Any, ...]]:
    """View, place, vertex, value, the places that the vertex rose since the view before, and new.

    A vertex is new that had what it has without edges, `base`, and has something else now.
    """
    rows: list[tuple[Any, ...]] = []
    for view, values in enumerate(views):
        for place, vertex in enumerate(order(values, missing)[:count], start=1):
            row = (view, place, vertex, values[vertex])
            if view == 0:
                rows.append((*row, None, None))
                continue
            without = 0.0 if base is None else base[vertex]
            new = _same(views[view - 1][vertex], without) and not _same(values[vertex], without)
            rose = order(views[view - 1], missing).index(vertex) + 1 - place
            rows.append((*row, None if new else rose, new))
    return rows


def _same(one: float, other: float) -> bool:
    return one == other or (one != one and other != other)


def touched(edges: Sequence[tuple[Any, ...]]) -> set[int]:
    """The vertices with an edge."""
    return {end for edge in edges for end in edge[:2]}


def cut_off(before: Sequence[int], after: Sequence[int]) -> int:
    """Vertices that are not with the greatest part of what was their component."""
    parts: dict[int, Counter[int]] = {}
    for old, new in zip(before, after, strict=True):
        parts.setdefault(old, Counter())[new] += 1
    return sum(sum(part.values()) - max(part.values()) for part in parts.values())


def farther(before: Sequence[float], after: Sequence[float]) -> tuple[int, int, float | None]:
    """How many are no longer reached, how many are farther, and by how much on average."""
    pairs = list(zip(before, after, strict=True))
    lost = sum(old != math.inf and new == math.inf for old, new in pairs)
    more = [Fraction(new) - Fraction(old) for old, new in pairs if math.inf not in (old, new)]
    return lost, sum(item > 0 for item in more), float(sum(more) / len(more)) if more else None
