"""PageRank: from scratch beside a plain loop and NetworKit, then kept within a tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench import plain, reference
from bench.figures import Figure
from bench.maintained import WARM_UP, as_rows, median_batch, resident_graph, users_graph
from bench.peers import AbsentError
from bench.peers.libraries import networkit_page_rank
from bench.scratch import first_version
from bench.streams import Input, Size, batches
from bench.timing import median_of, medians_in_turns
from graphtide.algorithms import PageRank
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.maintainer import SynchronousMaintainer

DAMPING, ITERATIONS = 0.85, 10
OVER_SCRATCH = (20.0, None, None, None)


def ranks_from_scratch(given: Input, rounds: int) -> list[Figure]:
    """Ten iterations, a round of which others are compared with."""
    loops, ours = first_version(given), _maintainer(resident_graph(given))
    section = f"{given.name}: PageRank"
    works: dict[str, Any] = {
        "ours": ours.scratch,
        "plain": lambda: plain.page_rank(loops, DAMPING, ITERATIONS),
    }
    asked, reason = None, ""
    try:
        asked = networkit_page_rank(loops, DAMPING, ITERATIONS)
        works["NetworKit"] = asked.ask
    except AbsentError as error:
        reason = str(error)
    took = {name: seconds / ITERATIONS for name, seconds in medians_in_turns(works, rounds).items()}
    ranks = ours.scratch()["rank"]
    wrong = _largest_error(ranks, plain.page_rank(loops, DAMPING, ITERATIONS))
    figures = [
        _round("a plain loop", took["ours"], took["plain"], 1.5, "", section),
        _round("NetworKit", took["ours"], took.get("NetworKit"), 1.0, reason, section),
        Figure("largest error against a plain loop", wrong, "at most", 1e-9, "", section=section),
    ]
    if asked is not None:
        wrong = _largest_error(ranks / ranks.sum(), asked.answer(asked.ask()))
        name = "largest error against NetworKit"
        figures.append(Figure(name, wrong, "at most", 1e-9, "", section=section))
    return figures


def ranks_maintained(given: Input, sizes: tuple[Size, ...], tolerance: float) -> list[Figure]:
    """Batches within a relative tolerance, over a run from scratch."""
    section = f"{given.name}: PageRank"
    scratch = median_of(_maintainer(resident_graph(given)).scratch, 5)
    took, wrong = _time_sizes(given, tolerance, sizes)
    figures = []
    for size, bar, seconds in zip(sizes, OVER_SCRATCH, took, strict=False):
        name = f"within {tolerance:g}, {size}, over scratch"
        note = f"{seconds * 1e3:.3g} ms; from scratch {scratch * 1e3:.3g} ms"
        figures.append(Figure(name, scratch / seconds, "at least", bar, "x", note, section))
    return [*figures, _within(tolerance, wrong, section)]


def ranks_over_graphbolt(
    given: Input, sizes: tuple[Size, ...], tolerance: float, took: tuple[float, ...]
) -> list[Figure]:
    """Batches within the tolerance that GraphBolt was given, ahead of what it took."""
    section = f"{given.name}: PageRank"
    seconds, wrong = _time_sizes(given, tolerance, sizes)
    figures = []
    for size, mine, theirs in zip(sizes, seconds, took, strict=True):
        name = f"within {tolerance:g}, {size}, over GraphBolt"
        note = f"{mine * 1e3:.3g} ms; they {theirs:.3g} ms"
        ratio = theirs / (mine * 1e3)
        figures.append(Figure(name, ratio, "at least", 1.0, "x", note, section))
    return [*figures, _within(tolerance, wrong, section)]


def graphbolt_took(scale: int) -> tuple[float, ...]:
    """Milliseconds of GraphBolt's PageRank a batch, ten rounds, epsilon 1e-7."""
    return reference.GRAPHBOLT_PAGE_RANK[scale]


def _maintainer(graph: ResidentGraph) -> Any:
    plan: Any = PageRank
    return SynchronousMaintainer(graph, plan.plan, (DAMPING, ITERATIONS))


def _time_sizes(
    given: Input, tolerance: float, sizes: tuple[Size, ...]
) -> tuple[list[float], float]:
    """Median seconds of a batch of each size, and the largest error after any size."""
    program: Any = PageRank
    bound = program(damping=DAMPING, iterations=ITERATIONS)
    live = users_graph(given).maintain(bound, tolerance=tolerance)
    seconds, wrong = [], 0.0
    for group in batches(given, sizes, WARM_UP):
        seconds.append(median_batch(live, as_rows(given, group)))
        error = _largest_error(live["rank"], live._kept.maintainer.scratch()["rank"])
        wrong = max(wrong, error)
    return seconds, wrong


def _within(tolerance: float, wrong: float, section: str) -> Figure:
    """How far the ranks were off, and how far they may be."""
    bar = (1 - tolerance) ** -ITERATIONS - 1
    name = f"within {tolerance:g}, largest error after any size"
    return Figure(name, wrong, "at most", bar, "", section=section)


def _round(
    who: str, ours: float, theirs: float | None, bar: float, note: str, section: str
) -> Figure:
    name = f"a round from scratch, times {who}"
    if theirs is None:
        return Figure(name, None, "at most", bar, "x", note, section)
    note = f"{ours * 1e3:.3g} ms over {theirs * 1e3:.3g} ms"
    return Figure(name, ours / theirs, "at most", bar, "x", note, section)


def _largest_error(found: Any, right: Any) -> float:
    return float(np.max(np.abs(found - right) / np.abs(right)))
