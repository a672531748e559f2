"""From what strategies took to figures: ratios, bars, and how many values were wrong."""

from __future__ import annotations

from bench.figures import Figure
from bench.runs_collections import Views, arranged
from bench.runs_programs import COMPONENTS, HOPS, PAIRS, PATHS, RANKS, tasks
from bench.runs_trials import STRATEGIES, Took, Trial
from graphtide.run.collection.start import Versions

ALL = (COMPONENTS, HOPS, PATHS, RANKS, PAIRS)
DAILY = {COMPONENTS: 20.0, HOPS: 40.0, PATHS: 40.0}
ADAPTIVE, PRODUCT = 1.25, 1.3


def compare(
    views: Views,
    bars: dict[str, float] | None = None,
    titles: tuple[str, ...] = ALL,
    versions: Versions | None = None,
) -> tuple[list[Figure], dict[str, dict[str, Took]]]:
    """Every program under every strategy, with bars for differential over scratch."""
    versions = versions or arranged(views)
    figures: list[Figure] = []
    took: dict[str, dict[str, Took]] = {}
    for title in titles:
        found = Trial(views, versions, tasks(views.graph)[title]).times(STRATEGIES)
        took[title] = found
        section = f"{views.name} ({len(views):,} views)"
        figures += _over_scratch(title, found, (bars or {}).get(title), section)
        figures.append(_adaptive(title, found, section))
        figures.append(wrong_values(title, found, section))
    return figures, took


def better_than_both(title: str, found: dict[str, Took], section: str) -> Figure:
    """How much faster adaptive is than the better of the two others."""
    better = min(found["scratch"].median, found["differential"].median)
    ratio = better / found["adaptive"].median
    name = f"{title}, adaptive faster than both"
    return Figure(name, ratio, "at least", PRODUCT, "x", _note(found), section)


def wrong_values(title: str, found: dict[str, Took], section: str) -> Figure:
    """Values that differ from those of plain loops over the edges of a few views."""
    wrong, note = sum(item.wrong for item in found.values()), "plain loops on 4 views a strategy"
    return Figure(f"{title}, values that differ", wrong, "at most", 0, "", note, section)


def _over_scratch(
    title: str, found: dict[str, Took], bar: float | None, section: str
) -> list[Figure]:
    scratch, differential = found["scratch"], found["differential"]
    ratio = scratch.median / differential.median
    note = _note(found)
    if not scratch.whole and not differential.whole:
        ratio *= differential.finished / scratch.finished
    name = f"{title}, differential faster than scratch"
    return [Figure(name, ratio, "at least", bar, "x", note, section)]


def _adaptive(title: str, found: dict[str, Took], section: str) -> Figure:
    """Adaptive over the better of both, by the time a view where all were broken off."""
    a_view = {name: item.median / item.finished for name, item in found.items()}
    ratio = a_view["adaptive"] / min(a_view["scratch"], a_view["differential"])
    moves = found["adaptive"].moves
    note = f"{moves['differential']:,} differential, {moves['scratch']:,} from scratch"
    name = f"{title}, adaptive over the better of both"
    return Figure(name, ratio, "at most", ADAPTIVE, "x", note, section)


def _note(found: dict[str, Took]) -> str:
    return ", ".join(_told(name, item) for name, item in found.items())


def _told(name: str, item: Took) -> str:
    broken = "" if item.whole else f" (broken off at {item.finished:.0%})"
    return f"{name} {item.median:.3g} s{broken}"
