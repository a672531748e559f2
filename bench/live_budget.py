"""How many pairs fit a budget: the part `budget` of `python -m bench live`.

Everything kept: what some pairs take without a budget says how many fit. Self-tuned: twice as many
pairs as the bar asks for are asked within the budget, and batches of one edge follow: one that
leaves, and then one that comes back. All answers of a sample are compared with the definition.
"""

from __future__ import annotations

import statistics
import sys
import time
from functools import partial

import numpy as np

import graphtide as gt
from bench.figures import Figure
from bench.live_inputs import Labelled
from bench.timing import seconds_of, without_collector
from graphtide.queries import Path

TRIED, SAMPLE, MOST_MILLISECONDS, LEAST_TIMES = 24, 3, 10.0, 20


def budget_figures(
    given: Labelled, budget: int, batches: int, times: int = 2 * LEAST_TIMES
) -> list[Figure]:
    """Pairs that fit the budget with everything kept and self-tuned, and what a batch takes."""
    kept, kept_batch = _everything_kept(given, budget, batches)
    wanted = times * kept
    graph = given.graph()
    graph.set_budget(budget)
    pairs = given.starts(wanted).tolist()
    _say(f"{wanted:,} pairs within {budget:,} bytes")
    for at, pair in enumerate(pairs):
        graph.query(str(at), Path(*pair))
    _say("batches")
    median, mean = _batches(graph, given, batches)
    asked = list(graph.queries.values())
    for query in asked[:SAMPLE] + asked[-SAMPLE:]:
        query.verify()
    kept_in = graph._queries().engine.budget
    assert kept_in.highest <= budget
    section = f"{given.name}, pairs within {budget / 2**20:,.0f} MB"
    fitting = wanted if mean * 1e3 <= MOST_MILLISECONDS else None
    note = f"median {1e3 * median:.3f}, at most {kept_in.highest / 2**20:,.0f} MB in use"
    return [
        Figure("everything kept", kept, "at least", None, "pairs", "", section),
        Figure("everything kept: a batch", 1e3 * kept_batch, "at most", None, "ms", "", section),
        Figure(
            "self-tuned, over everything kept",
            None if fitting is None else fitting / kept,
            *("at least", LEAST_TIMES, "times", f"{wanted:,} pairs", section),
        ),
        Figure(
            "self-tuned: the mean batch",
            1e3 * mean,
            *("at most", MOST_MILLISECONDS, "ms", note, section),
        ),
    ]


def _everything_kept(given: Labelled, budget: int, batches: int) -> tuple[int, float]:
    """How many pairs fit with all their entries, and the mean batch of as many as were tried."""
    graph = given.graph()
    _say(f"{TRIED} pairs, everything kept")
    empty = 0
    for at, pair in enumerate(given.starts(TRIED).tolist()):
        graph.query(str(at), Path(*pair))
        empty = empty or graph._queries().nbytes
    each = (graph._queries().nbytes - empty) / (TRIED - 1)
    _, mean = _batches(graph, given, batches)
    return max(1, int((budget - empty) / each)), mean


def _batches(graph: gt.Graph, given: Labelled, batches: int) -> tuple[float, float]:
    """Median and mean seconds of a batch that takes an edge out, or brings it back."""
    edges = np.random.default_rng(6).choice(len(given.src), batches + 2, replace=False).tolist()
    times = []
    with without_collector():
        for edge in edges:
            times.append(seconds_of(partial(graph.advance, delete=[edge])))
            times.append(seconds_of(partial(graph.advance, insert=[edge])))
    return statistics.median(times[4:]), statistics.fmean(times[4:])  # The first ones compile.


def _say(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} budget: {what}", file=sys.stderr, flush=True)
