"""From what strategies took to figures: ratios, bars, and how many values were wrong."""

from __future__ import annotations

from bench.figures import Figure
from bench.runs_collections import Views
from bench.runs_programs import COMPONENTS, HOPS, PAIRS, PATHS, RANKS, tasks
from bench.runs_trials import STRATEGIES, Took, time_strategies

ALL = (COMPONENTS, HOPS, PATHS, RANKS, PAIRS)
DAILY = {COMPONENTS: 20.0, HOPS: 40.0, PATHS: 40.0}
ADAPTIVE = 1.25
"""Learning may cost so much beside whoever had known the better strategy beforehand."""


def compare(
    views: Views,
    bars: dict[str, float] | None = None,
    titles: tuple[str, ...] = ALL,
    quick: bool = False,
) -> tuple[list[Figure], dict[str, dict[str, Took]]]:
    """Every program under every strategy, with bars for differential over scratch."""
    figures: list[Figure] = []
    took: dict[str, dict[str, Took]] = {}
    for title in titles:
        found = time_strategies(views, tasks(views.graph)[title], STRATEGIES, quick)
        took[title] = found
        figures.append(_over_scratch(title, found, (bars or {}).get(title), views.section))
        figures.append(_adaptive(title, found, views.section))
        figures.append(wrong_values(title, found, views.section))
    return figures, took


def better_than_both(title: str, found: dict[str, Took], section: str) -> Figure:
    """How much faster adaptive is than the better of the two others."""
    ratio = _better(found) / found["adaptive"].median
    name = f"{title}, adaptive faster than both"
    return Figure(name, ratio, "at least", None, "x", _note(found), section)


def wrong_values(title: str, found: dict[str, Took], section: str) -> Figure:
    """Values that differ from those of plain loops over the edges of a few views."""
    wrong, note = sum(item.wrong for item in found.values()), "plain loops on 4 views a strategy"
    return Figure(f"{title}, values that differ", wrong, "at most", 0, "", note, section)


def _over_scratch(title: str, found: dict[str, Took], bar: float | None, section: str) -> Figure:
    ratio = found["scratch"].median / found["differential"].median
    name = f"{title}, differential faster than scratch"
    return Figure(name, ratio, "at least", bar, "x", _note(found), section)


def _adaptive(title: str, found: dict[str, Took], section: str) -> Figure:
    """Adaptive over the better of both; nothing to tell where all three were broken off."""
    ratio = found["adaptive"].median / _better(found)
    moves = found["adaptive"].moves
    note = f"{moves['differential']:,} differential, {moves['scratch']:,} from scratch"
    name = f"{title}, adaptive over the better of both"
    if not any(item.whole for item in found.values()):
        return Figure(name, None, "at most", ADAPTIVE, "x", "all were broken off", section)
    return Figure(name, ratio, "at most", ADAPTIVE, "x", note, section)


def _better(found: dict[str, Took]) -> float:
    """Seconds of the better of the two fixed strategies, of those that came to an end."""
    whole = [found[name].median for name in ("scratch", "differential") if found[name].whole]
    return min(whole, default=min(item.median for item in found.values()))


def _note(found: dict[str, Took]) -> str:
    return ", ".join(_told(name, item) for name, item in found.items())


def _told(name: str, item: Took) -> str:
    return f"{name} {item.median:.3g} s" + ("" if item.whole else " (broken off)")
