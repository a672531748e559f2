"""One computation over a whole collection: `python -m bench runs`.

Ratios within one run, by processor time: strategies to each other on collections of real graphs,
plans to each other, our default to what others take for the same views, and files to pyarrow.
"""

from __future__ import annotations

import shutil
import sys
import time

import numpy as np

from bench import data
from bench.figures import Figure
from bench.runs_collections import (
    LENGTHS,
    arranged,
    disjoint,
    expanding,
    outages,
    products,
    removals,
)
from bench.runs_figures import ALL, DAILY, better_than_both, compare
from bench.runs_fixed import fixed_costs
from bench.runs_graphs import read_edges, read_grid, rmat_edges
from bench.runs_hindsight import best_in_hindsight
from bench.runs_programs import COMPONENTS, HOPS, PAIRS, PATHS, tasks
from bench.runs_rivals import rivals
from bench.runs_settling import settling_ranks
from bench.runs_storage import storage
from bench.runs_trials import Trial
from graphtide.optimize.planner import Order

WINDOWS, CITATIONS, AUTHORS = "sx-mathoverflow.txt.gz", "cit-HepPh.txt.gz", "com-dblp.txt.gz"
COMMUNITIES, GRID = "com-dblp-communities.txt.gz", "grid-2869pegase-branch.csv.gz"
SELECTING = (COMPONENTS, HOPS, PATHS)
RANDOM_ORDERS = 3
PLANS: tuple[Order, ...] = ("tree", "chain")


def run(*, quick: bool) -> list[Figure]:
    """All figures of this benchmark."""
    if not quick:
        return _figures(quick=False)
    with data.stand_ins() as folder:
        shutil.copy(folder / WINDOWS, folder / CITATIONS)
        return _figures(quick=True)


def _figures(*, quick: bool) -> list[Figure]:
    """Everything; a quick run makes do with two lengths of windows and two programs."""
    figures: list[Figure] = []
    figures += single_outages()
    figures += rivals(
        rmat_edges(8, 2000) if quick else rmat_edges(14, 200_000), 10 if quick else 100
    )
    figures += windows(quick)
    figures += settling_ranks(rounds=1 if quick else 3)
    figures += year_products(quick)
    figures += community_removals(quick)
    figures += storage()
    return figures


def windows(quick: bool) -> list[Figure]:
    """Windows of sx-mathoverflow of five lengths, expanding and separate."""
    graph = read_edges(WINDOWS, directed=True)
    if graph is None:
        return [_missing(f"windows, {title}", bar, WINDOWS) for title, bar in DAILY.items()]
    figures: list[Figure] = []
    for word, days in LENGTHS.items():
        if quick and word not in ("half-year", "year"):
            continue
        for make in (expanding, disjoint):
            views = make(graph, word, days)
            _say(views.name)
            bars = DAILY if word == "day" and make is expanding else {}
            figures += compare(views, bars, SELECTING if quick else ALL)[0]
    return figures


def year_products(quick: bool) -> list[Figure]:
    """Years x authors of cit-HepPh: by the default plan, and in the order that they were given."""
    graph = read_edges(CITATIONS, directed=True)
    if graph is None:
        return [_missing("years x authors, adaptive faster than both", 1.3, CITATIONS)]
    views = products(graph)
    figures: list[Figure] = []
    orders: dict[str, Order] = {"default plan": "auto", "given order": "manual"}
    for word, order in orders.items():
        _say(f"{views.name}, {word}")
        versions = arranged(views, order)
        found, took = compare(views, None, SELECTING if quick else ALL, versions)
        figures += [_named(item, word) for item in found]
        section = found[0].section
        for title, times in took.items():
            figures.append(_named(better_than_both(title, times, section), word))
        for title in SELECTING if quick else (*SELECTING, PAIRS):
            bound = best_in_hindsight(title, Trial(views, versions, tasks(graph)[title]), section)
            figures.append(_named(bound, word))
    return figures


def community_removals(quick: bool) -> list[Figure]:
    """Half of ten communities of com-dblp removed: planned, and in random orders."""
    graph, groups = read_edges(AUTHORS, directed=False), data.find(COMMUNITIES)
    if graph is None or groups is None:
        return [_missing("community removals, planned over random order", 2, AUTHORS)]
    views = removals(graph, data.largest_communities(groups, 10))
    _say(views.name)
    titles = (COMPONENTS, HOPS) if quick else ALL
    figures, took = compare(views, None, titles)
    random, section = np.random.default_rng(6), figures[0].section
    orders = [random.permutation(len(views)) for _ in range(1 if quick else RANDOM_ORDERS)]
    for title in (COMPONENTS, HOPS):
        _say(f"{views.name}, random orders, {title}")
        found = []
        for order in orders:
            trial = Trial(views, arranged(views, given=order), tasks(graph)[title])
            found.append(trial.times(["differential"])["differential"])
        mean = sum(item.median / item.finished for item in found) / len(found)
        whole = took[title]["differential"]
        planned = whole.median / whole.finished
        name = f"{title}, planned faster than a random order"
        note = f"{planned:.3g} s, in random order {mean:.3g} s on average"
        figures.append(Figure(name, mean / planned, "at least", 2, "x", note, section))
    return figures


def single_outages() -> list[Figure]:
    """Every branch of the European grid out in turn: as a tree, as a chain, as planned."""
    graph = read_grid()
    if graph is None:
        return [_missing("all outages", 1, GRID), _missing("tree over chain", 1.5, GRID)]
    views = outages(graph)
    _say(views.name)
    auto = arranged(views)
    figures, took = compare(views, None, SELECTING, auto)
    plans = {kind: arranged(views, kind) for kind in PLANS}
    section = figures[0].section
    for title in SELECTING:
        planned = took[title]["differential"].median
        bar = None if title == PATHS else 1.0
        name = f"{title}, all outages together"
        figures.append(Figure(name, planned, "below", bar, "s", "differential", section))
        times = {
            kind: Trial(views, plan, tasks(graph)[title]).times(["differential"])["differential"]
            for kind, plan in plans.items()
        }
        tree, chain = times["tree"].median, times["chain"].median
        note = f"{tree:.3g} s over {chain:.3g} s"
        name = f"{title}, tree faster than chain"
        figures.append(Figure(name, chain / tree, "at least", 1.5, "x", note, section))
        same = times[auto.plan.kind].median / min(tree, chain)
        name = f"{title}, default plan over the better one"
        figures.append(Figure(name, same, "at most", 1.1, "x", auto.plan.kind, section))
    return [*figures, *fixed_costs(views, auto)]


def _missing(name: str, bar: float, file: str) -> Figure:
    return Figure(name, None, "at least", bar, "x", data.missing(file))


def _named(item: Figure, word: str) -> Figure:
    return Figure(
        item.name,
        item.measured,
        item.direction,
        item.bar,
        item.unit,
        item.note,
        f"{item.section}, {word}",
    )


def _say(what: str) -> None:
    """Show that a long run goes on."""
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)
