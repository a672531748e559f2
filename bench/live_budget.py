"""How many pairs fit a budget: the part `budget` of `python -m bench live`.

Everything kept: what some pairs take without a budget says how many fit. Then twice as many pairs
as the bar asks for are asked within the budget, and batches of one edge follow: one that leaves,
and then one that comes back. That is done self-tuned, with answers alone (`patience=0`), and by
histories at some shares that are dropped (`live_fit.py`). What is left to the limits is taken in
proportion. Answers of a sample are compared with those of a graph that has never changed.

And queries that are no pairs (`whole_figures`): what some of them take without a budget, and in a
share of that: how many can be asked, how many of a thousand advances are refused, and what one
takes beside those of the graph without a budget.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import graphtide as gt
from bench.figures import Figure, say
from bench.live_fit import fitting
from bench.live_inputs import Labelled
from bench.live_settings import ON_DEMAND, SETTINGS, Stream
from bench.timing import clock, seconds_of, without_collector
from graphtide.model.errors import LimitError
from graphtide.queries import Histories, Hops, Path, QueryKind, Reach, Regular

SHARE = 0.75
"""Of what queries take without a budget, that they are given as one."""

TRIED, SAMPLE, MOST_MILLISECONDS, LEAST_TIMES, BEST = 24, 8, 10.0, 20, 1.2
SWEEP = {
    ON_DEMAND: SETTINGS[ON_DEMAND],
    "Det-Drop at one half": Histories(drop=0.5),
    "Det-Drop at nine tenths": Histories(drop=0.9),
    "Prob-Drop at one half": Histories(drop=0.5, how="probabilistic"),
}
HISTORIES_ASKED = 16


class Measured(NamedTuple):
    """Pairs within a budget: how many, seconds to ask them and of a batch; bytes in use at most."""

    pairs: int
    asking: float
    median: float
    mean: float
    worst: float
    highest: int

    def fit(self, empty: float) -> float:
        """How many pairs would fit the time, in proportion; their answers fit the memory long."""
        return (MOST_MILLISECONDS / 1e3 - empty) / max((self.mean - empty) / self.pairs, 1e-12)


def budget_figures(
    given: Labelled,
    budget: int,
    batches: int,
    times: int = 2 * LEAST_TIMES,
    sweep: Mapping[str, Histories] = SWEEP,
) -> list[Figure]:
    """Pairs that fit the budget in every way, and what a batch takes."""
    kept, kept_batch, empty = _everything_kept(given, budget, batches)
    wanted = times * kept
    section = f"{given.name}, pairs within {budget / 2**20:,.0f} MB"
    figures = [
        Figure("everything kept", kept, "at least", None, "pairs", "", section),
        Figure("everything kept: a batch", 1e3 * kept_batch, "at most", None, "ms", "", section),
    ]
    tuned = _within(given, budget, batches, wanted, 1.0)
    figures += _tuned_figures(tuned, kept, section)
    fixed = {"answers alone": _within(given, budget, batches, wanted, 0.0).fit(empty)}
    stream = Stream.of(given.src, given.dst, min(40, batches))
    for setting, histories in sweep.items():
        say(f"budget: {setting}")
        fixed[setting], _ = fitting(stream, histories, min(HISTORIES_ASKED, wanted))
    figures += [
        Figure(f"fixed: {name}", count, "at least", None, "pairs", "in proportion", section)
        for name, count in fixed.items()
    ]
    share, note = tuned.fit(empty) / max(fixed.values()), f"of {1 / BEST:.2f} and more"
    name = "self-tuned, over the best fixed setting"
    return [*figures, Figure(name, share, "at least", 1 / BEST, "times", note, section)]


def _tuned_figures(tuned: Measured, kept: int, section: str) -> list[Figure]:
    fits = tuned.mean * 1e3 <= MOST_MILLISECONDS
    used = f"median {1e3 * tuned.median:.3f}, at most {tuned.highest / 2**20:,.0f} MB in use"
    ratio = tuned.pairs / kept if fits else None
    worst = f"{1e3 * tuned.worst:.1f} ms, beside {tuned.asking:.2f} s to ask all"
    return [
        Figure(
            "self-tuned, over everything kept",
            ratio,
            *("at least", LEAST_TIMES, "times", f"{tuned.pairs:,} pairs", section),
        ),
        Figure(
            "self-tuned: the mean batch",
            1e3 * tuned.mean,
            *("at most", MOST_MILLISECONDS, "ms", used, section),
        ),
        Figure(
            "self-tuned: the worst batch",
            tuned.worst / tuned.asking,
            *("at most", 2, "times from scratch", worst, section),
        ),
    ]


def _within(given: Labelled, budget: int, batches: int, wanted: int, patience: float) -> Measured:
    graph = given.graph()
    graph.set_budget(budget, patience=patience)
    pairs = given.starts(wanted).tolist()
    say(f"budget: {wanted:,} pairs within {budget:,} bytes, patience {patience:g}")
    with without_collector():
        asking = seconds_of(lambda: _ask(graph, pairs))
    say("budget: batches")
    times = _batches(graph, given, batches)
    say("budget: batches are done")
    _check_some(graph, given, pairs)
    kept_in = graph._queries().engine.budget
    assert kept_in.highest <= budget
    mean, median = statistics.fmean(times), statistics.median(times)
    return Measured(wanted, asking, median, mean, max(times), kept_in.highest)


def _check_some(graph: gt.Graph, given: Labelled, pairs: list[list[int]]) -> None:
    """Compare some answers with those of a graph that has no budget, and has never changed."""
    fresh, asked = given.graph(), graph.queries
    for at in [*range(SAMPLE), *range(len(pairs) - SAMPLE, len(pairs))]:
        wanted = fresh.query(f"again {at}", Path(pairs[at][0], pairs[at][1])).value
        assert asked[str(at)].value == wanted, f"pair {at} has another answer"


def _ask(graph: gt.Graph, pairs: list[list[int]]) -> None:
    for at, (start, target) in enumerate(pairs):
        graph.query(str(at), Path(start, target))


def _everything_kept(given: Labelled, budget: int, batches: int) -> tuple[int, float, float]:
    """How many pairs fit with all their entries, the mean batch of those tried, and of none."""
    graph = given.graph()
    alone = statistics.fmean(_batches(graph, given, batches))
    say(f"budget: {TRIED} pairs, everything kept")
    empty = 0
    for at, pair in enumerate(given.starts(TRIED).tolist()):
        graph.query(str(at), Path(*pair))
        empty = empty or graph._queries().nbytes
    each = (graph._queries().nbytes - empty) / (TRIED - 1)
    mean = statistics.fmean(_batches(graph, given, batches))
    return max(1, int((budget - empty) / each)), mean, alone


def _batches(graph: gt.Graph, given: Labelled, batches: int) -> list[float]:
    """Seconds of each batch that takes an edge out, or brings it back."""
    edges = np.random.default_rng(6).choice(len(given.src), batches + 2, replace=False).tolist()
    times = []
    with without_collector():
        for edge in edges:
            times.append(seconds_of(partial(graph.advance, delete=[edge])))
            times.append(seconds_of(partial(graph.advance, insert=[edge])))
    return times[4:]  # The first ones compile.


def whole_figures(given: Labelled, queries: int, advances: int) -> list[Figure]:
    """Queries for all that walks reach, within a share of what they take without a budget."""
    path = given.path("Q2")
    kinds: dict[str, Callable[[int], QueryKind]] = {
        "5 hops": lambda start: Hops(start, 5),
        "reach": lambda start: Reach(start),
        given.paths["Q2"]: lambda start: Regular(path, start, label="kind"),
    }
    return [
        figure
        for name, make in kinds.items()
        for figure in _kind_figures(given, f"{queries} of {name}", make, (queries, advances))
    ]


def _kind_figures(
    given: Labelled, name: str, make: Callable[[int], QueryKind], sizes: tuple[int, int]
) -> list[Figure]:
    queries, advances = sizes
    section = f"{given.name}, queries within {SHARE:.0%} of what they take without a budget"
    free, within = given.graph(), given.graph()
    starts = given.starts(queries)[:, 0].tolist()
    _ask_whole(free, make, starts)
    taken = free.query_bytes
    say(f"budget: {name}, {SHARE} of {taken:,} bytes")
    within.set_budget(int(SHARE * taken))
    asked = _ask_whole(within, make, starts)
    figures = [
        Figure(f"{name}: asked", asked, "at least", queries, "queries", f"{taken:,} B", section)
    ]
    for act in ("insertions", "deletions and insertions"):
        alone, _ = _single_edges(free, given, advances, act)
        times, refused = _single_edges(within, given, advances, act)
        mean, median = 1e3 * statistics.fmean(times), 1e3 * statistics.median(times)
        beside = f"median {median:.3f}, without a budget {1e3 * statistics.fmean(alone):.3f}"
        title = f"{name}: {advances:,} single {act}"
        figures += [
            Figure(f"{title}: refused", refused, "at most", 0, "advances", "", section),
            Figure(f"{title}: the mean", mean, "at most", None, "ms", beside, section),
        ]
    for at in range(0, asked, max(1, asked // SAMPLE)):
        wanted, found = (graph.queries[str(at)].table() for graph in (free, within))
        assert wanted == found, f"query {at} has another answer"
    return figures


def _ask_whole(graph: gt.Graph, make: Callable[[int], QueryKind], starts: list[int]) -> int:
    """Ask from each start, until one does not fit; how many fit."""
    for at, start in enumerate(starts):
        try:
            graph.query(str(at), make(start))
        except LimitError:
            return at
    return len(starts)


def _single_edges(
    graph: gt.Graph, given: Labelled, advances: int, act: str
) -> tuple[list[float], int]:
    """Seconds of each advance by an edge at random, the first ones left out; how many are refused.

    Edges that come join vertices at random; where some go as well, every other advance is of one.
    """
    random, times, refused = np.random.default_rng(7), [], 0
    gone = random.choice(len(given.src), advances, replace=False).tolist()
    vertices = int(max(given.src.max(), given.dst.max())) + 1
    with without_collector():
        for at in range(advances):
            source, target, label = (int(random.integers(most)) for most in (vertices, vertices, 5))
            rows = pa.table({"src": [source], "dst": [target], "kind": [label]})
            deletes = act != "insertions" and at % 2
            batch = {"delete": [gone[at]]} if deletes else {"insert": rows}
            began = clock()
            try:
                graph.advance(**batch)
            except LimitError:
                refused += 1
            times.append(clock() - began)
    return times[4:], refused
