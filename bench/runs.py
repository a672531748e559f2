"""One computation over a whole collection: `python -m bench runs`.

Everything goes through `graphtide` alone, and the whole call of `run` is timed. Ratios within one
run, by processor time: strategies to each other on collections of real graphs, plans to each
other, our default to what others take for the same views, and files to pyarrow.
"""

from __future__ import annotations

import shutil

import numpy as np

from bench import data
from bench.figures import Figure, say
from bench.runs_collections import (
    LENGTHS,
    Order,
    Views,
    disjoint,
    expanding,
    outages,
    products,
    removals,
)
from bench.runs_figures import ADAPTIVE, ALL, DAILY, better_than_both, compare
from bench.runs_graphs import read_edges, read_grid, rmat_edges
from bench.runs_programs import COMPONENTS, HOPS, PATHS, Task, tasks
from bench.runs_rivals import rivals
from bench.runs_settling import settling_ranks
from bench.runs_storage import storage
from bench.runs_trials import Took, time_strategies

WINDOWS, CITATIONS, AUTHORS = "sx-mathoverflow.txt.gz", "cit-HepPh.txt.gz", "com-dblp.txt.gz"
COMMUNITIES, GRID = "com-dblp-communities.txt.gz", "grid-2869pegase-branch.csv.gz"
SELECTING = (COMPONENTS, HOPS, PATHS)
QUICK = (COMPONENTS, PATHS)
RANDOM_ORDERS = 3
ORDERS: dict[str, Order] = {"default plan": "auto", "given order": "manual"}
PLANS: tuple[Order, ...] = ("tree", "chain")
FIXED = 0.1
"""Milliseconds that a view may take beyond its kernel."""


def run(*, quick: bool) -> list[Figure]:
    """All figures of this benchmark."""
    if not quick:
        return _figures(quick=False)
    with data.stand_ins() as folder:
        shutil.copy(folder / WINDOWS, folder / CITATIONS)
        return _figures(quick=True)


def _figures(*, quick: bool) -> list[Figure]:
    """Everything; a quick run makes do with one length of windows and two programs."""
    figures: list[Figure] = []
    figures += single_outages(quick)
    figures += rivals(
        rmat_edges(6, 200) if quick else rmat_edges(14, 200_000), 10 if quick else 100
    )
    figures += windows(quick)
    figures += settling_ranks(quick=quick)
    figures += year_products(quick)
    figures += community_removals(quick)
    figures += storage()
    return figures


def windows(quick: bool) -> list[Figure]:
    """Windows of sx-mathoverflow of five lengths, expanding and separate."""
    table = read_edges(WINDOWS, directed=True)
    if table is None:
        return [_missing(f"windows, {title}", bar, WINDOWS) for title, bar in DAILY.items()]
    figures: list[Figure] = []
    for word, days in LENGTHS.items():
        if quick and word != "year":
            continue
        for make in (expanding, disjoint):
            views = make(table, word, days)
            say(views.name)
            bars = DAILY if word == "day" and make is expanding else {}
            figures += compare(views, bars, QUICK if quick else ALL, quick)[0]
    return figures


def year_products(quick: bool) -> list[Figure]:
    """Years x authors of cit-HepPh: by the default plan, and in the order that they were given."""
    table = read_edges(CITATIONS, directed=True)
    if table is None:
        return [_missing("years x authors, adaptive over the better of both", ADAPTIVE, CITATIONS)]
    figures: list[Figure] = []
    for word, order in ORDERS.items():
        views = products(table, order)
        say(f"{views.name}, {word}")
        found, took = compare(views, None, QUICK if quick else ALL, quick)
        found += [better_than_both(title, times, views.section) for title, times in took.items()]
        figures += [_named(item, word) for item in found]
    return figures


def community_removals(quick: bool) -> list[Figure]:
    """Half of ten communities of com-dblp removed: planned, and in random orders."""
    table, groups = read_edges(AUTHORS, directed=False), data.find(COMMUNITIES)
    if table is None or groups is None:
        return [_missing("community removals, planned over random order", 2, AUTHORS)]
    communities = data.largest_communities(groups, 4 if quick else 10)
    views = removals(table, communities)
    say(views.name)
    titles = (COMPONENTS,) if quick else (COMPONENTS, HOPS)
    figures, took = compare(views, None, titles if quick else ALL, quick)
    random = np.random.default_rng(6)
    orders = [random.permutation(len(views)) for _ in range(1 if quick else RANDOM_ORDERS)]
    say(f"{views.name}, random orders")
    shuffled = [removals(table, communities, order.tolist()) for order in orders]
    for title in titles:
        task = tasks(table)[title]
        found = [_differential(each, task, quick) for each in shuffled]
        mean = sum(item.median for item in found) / len(found)
        planned = took[title]["differential"].median
        name = f"{title}, planned faster than a random order"
        note = f"{planned:.3g} s, in random order {mean:.3g} s on average"
        figures.append(Figure(name, mean / planned, "at least", 2, "x", note, views.section))
    return figures


def single_outages(quick: bool) -> list[Figure]:
    """Every branch of the European grid out in turn: as a tree, as a chain, as planned."""
    table = read_grid()
    if table is None:
        return [_missing("all outages", 1, GRID), _missing("tree over chain", 1.5, GRID)]
    views = outages(table)
    say(views.name)
    titles = QUICK if quick else SELECTING
    figures, took = compare(views, None, titles, quick)
    section, kind = views.section, views.collection.plan.kind
    plans = {each: outages(table, each) for each in PLANS}
    for title in titles:
        planned = took[title]["differential"].median
        bar = None if title == PATHS else 1.0
        name = f"{title}, all outages together"
        figures.append(Figure(name, planned, "below", bar, "s", "differential", section))
        name = f"{title}, a view with its kernel"
        cost = planned / len(views) * 1e3
        figures.append(Figure(name, cost, "below", FIXED, "ms", "outage and back", section))
        task = tasks(table)[title]
        seconds = {each: _differential(plan, task, quick).median for each, plan in plans.items()}
        tree, chain = seconds["tree"], seconds["chain"]
        note = f"{tree:.3g} s over {chain:.3g} s"
        name = f"{title}, tree faster than chain"
        figures.append(Figure(name, chain / tree, "at least", 1.5, "x", note, section))
        same = seconds[kind] / min(tree, chain)
        name = f"{title}, default plan over the better one"
        figures.append(Figure(name, same, "at most", 1.1, "x", kind, section))
    return figures


def _differential(views: Views, task: Task, quick: bool) -> Took:
    return time_strategies(views, task, ["differential"], quick)["differential"]


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
