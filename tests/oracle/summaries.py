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
    usual = [value for value in values if math.isfinite(value) and value != missing]
    found: dict[str, Any] = {}
    if missing is not None:
        found["reached"] = sum(value != missing for value in values)
    found["least"] = min(usual, default=None)
    found["greatest"] = max(usual, default=None)
    found["mean"] = mean(usual) if usual else None
    found["not_finite"] = sum(not math.isfinite(value) and value != missing for value in values)
    return found


def without_zeros(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows as they are told: how many are not finite, only where there are any."""
    if not any(row.get("not_finite") for row in rows):
        return [{k: v for k, v in row.items() if k != "not_finite"} for row in rows]
    return rows


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

    Infinity, or the greatest int, only where it stands for what is not reached.
    """

    def key(at: int) -> tuple[bool, float, int]:
        far = missing is not None and missing > 0 and values[at] == missing
        last = math.isnan(values[at]) or far
        return last, 0 if last else -values[at], at

    return sorted(range(len(values)), key=key)


def top(
    views: Sequence[Sequence[float]],
    count: int,
    missing: float | None = None,
    base: Sequence[float] | None = None,
    removed: Sequence[tuple[int, ...]] | None = None,
) -> list[tuple[Any, ...]]:
    """View, place, vertex, value, the places that the vertex rose since the view before, and new.

    A vertex is new that had what it has without edges, `base`, and has something else now; or that
    was removed from the view before.
    """
    rows: list[tuple[Any, ...]] = []
    away = [()] * len(views) if removed is None else removed
    there = [
        [vertex for vertex in order(values, missing) if vertex not in away[view]]
        for view, values in enumerate(views)
    ]
    for view, values in enumerate(views):
        for place, vertex in enumerate(there[view][:count], start=1):
            row = (view, place, vertex, values[vertex])
            if view == 0:
                rows.append((*row, None, None))
                continue
            without = 0.0 if base is None else base[vertex]
            if vertex in away[view - 1]:
                rows.append((*row, None, True))
                continue
            new = _same(views[view - 1][vertex], without) and not _same(values[vertex], without)
            rose = there[view - 1].index(vertex) + 1 - place
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


def farther(
    before: Sequence[float], after: Sequence[float], missing: float = math.inf
) -> dict[str, Any]:
    """How many are no longer reached, how many are farther, and by how much on average."""
    sign = 1 if missing > 0 else -1
    both = [(old, new) for old, new in zip(before, after, strict=True) if missing not in (old, new)]
    finite = [(old, new) for old, new in both if math.isfinite(old) and math.isfinite(new)]
    more = [sign * (Fraction(new) - Fraction(old)) for old, new in finite]
    return {
        "lost": sum(old != missing == new for old, new in zip(before, after, strict=True)),
        "worse": sum(sign * new > sign * old for old, new in both),
        "mean_worse": nearest(sum(more) / len(more)) if more else None,
        "not_finite": len(both) - len(finite) - sum(map(_same_and_not_finite, both)),
    }


def less(before: Sequence[float], after: Sequence[float]) -> dict[str, Any]:
    """How much less there is in all, in how many vertices, and of one vertex at most."""
    pairs = list(zip(before, after, strict=True))
    finite = [(old, new) for old, new in pairs if math.isfinite(old) and math.isfinite(new)]
    whole = all(isinstance(value, int) for value in (*before, *after))
    lost = sum(Fraction(old) - Fraction(new) for old, new in finite)
    most = max((Fraction(old) - Fraction(new) for old, new in finite), default=0)
    return {
        "lost": int(lost) if whole else nearest(lost),
        "lower": sum(old > new for old, new in finite),
        "most": int(max(most, 0)) if whole else nearest(max(most, 0)),
        "not_finite": len(pairs) - len(finite) - sum(map(_same_and_not_finite, pairs)),
    }


def _same_and_not_finite(pair: tuple[float, float]) -> bool:
    return not math.isfinite(pair[0]) and _same(*pair)


def nearest(number: Fraction | int) -> float:
    """The nearest float, or an infinity."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
