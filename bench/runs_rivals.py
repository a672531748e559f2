"""What users run today for the same views: a loop over views, each from scratch, and Raphtory.

Windows of an RMAT graph whose edges arrive one after the other. Everybody is given the edges as
arrays sorted by arrival and answers for every view; making a library's graph of a view is part of
its time, as it is of the user's. Ours is the whole call of `run` over a planned collection, by the
default strategy. Numbers of components and ranks are compared with the plain loops' ones.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import runs_libraries as libraries
from bench.figures import Figure
from bench.peers import AbsentError
from bench.runs_collections import Views, ranges
from bench.runs_graphs import EdgeTable, Int64
from bench.runs_loops import loop_components, loop_ranks
from bench.timing import seconds_of, without_collector
from graphtide.algorithms import WCC, PageRank

ITERATIONS, ROUNDS, SHARE = 20, 3, 0.5
Answer = NDArray[np.float64]


@dataclass(frozen=True)
class Windows:
    """The edges in the order of their arrival, and the bounds of every view."""

    graph: EdgeTable
    starts: Int64
    stops: Int64


def rivals(graph: EdgeTable, count: int) -> list[Figure]:
    """Components and PageRank over expanding and over sliding windows."""
    figures: list[Figure] = []
    stops = np.linspace(0, graph.edges, count + 1)[1:].astype(np.int64)
    first = np.linspace(0, graph.edges * (1 - SHARE), count).astype(np.int64)
    width = int(graph.edges * SHARE)
    kinds = ("expanding", np.zeros_like(stops), stops), ("sliding", first, first + width)
    for word, starts, ends in kinds:
        views, windows = ranges(graph, word, starts, ends), Windows(graph, starts, ends)
        figures += _components(views, windows)
        figures += _ranks(views, windows)
    return figures


def _components(views: Views, windows: Windows) -> list[Figure]:
    program: Any = WCC
    ours, found = _ours(views, program(), _count_components)
    others: dict[str, Callable[[], Answer]] = {
        "a union-find loop": lambda: loop_components(windows),
        "SciPy": lambda: libraries.scipy_components(windows),
        "igraph": lambda: libraries.igraph_components(windows),
        "NetworKit": lambda: libraries.networkit_components(windows),
        "NetworKit, dynamic": lambda: libraries.networkit_dynamic(windows),
        "Raphtory": lambda: libraries.raphtory_components(windows),
    }
    return _figures("components", views, (ours, found), others)


def _ranks(views: Views, windows: Windows) -> list[Figure]:
    program: Any = PageRank
    ours, found = _ours(views, program(iterations=ITERATIONS), _sum_of_squares)
    others: dict[str, Callable[[], Answer]] = {
        "a plain loop": lambda: loop_ranks(windows, ITERATIONS),
        "SciPy": lambda: libraries.scipy_ranks(windows, ITERATIONS),
        "igraph": lambda: libraries.igraph_ranks(windows),
        "NetworKit": lambda: libraries.networkit_ranks(windows, ITERATIONS),
        "Raphtory": lambda: libraries.raphtory_ranks(windows, ITERATIONS),
    }
    return _figures("PageRank", views, (ours, found), others)


def _ours(
    views: Views, program: Any, told: Callable[[NDArray[Any]], float]
) -> tuple[float, Answer]:
    """Median seconds of our default, and a number a view that tells its results."""
    times, run = [], views.collection.run(program, progress=False)
    for _ in range(ROUNDS):
        with without_collector():
            times.append(seconds_of(lambda: views.collection.run(program, progress=False)))
    found = np.array([told(run.values(view)) for view in range(len(views))])
    return statistics.median(times), found


def _figures(
    title: str,
    views: Views,
    ours: tuple[float, Answer],
    others: dict[str, Callable[[], Answer]],
) -> list[Figure]:
    section, (mine, right) = views.name, ours
    figures: list[Figure] = []
    for who, ask in others.items():
        name = f"{title}, faster than {who}"
        try:
            theirs, found = _theirs(ask, 3 if " loop" in who else 1)
        except AbsentError as reason:
            figures.append(Figure(name, None, "at least", 1, "x", str(reason), section))
            continue
        note = f"{mine:.3g} s, they {theirs:.3g} s"
        if len(found):
            wrong = int((~np.isclose(found, right, rtol=1e-6)).sum())
            note += f"; {wrong} views differ" if wrong else "; all views agree"
        else:
            note += "; nothing to compare"
        figures.append(Figure(name, theirs / mine, "at least", 1, "x", note, section))
    return figures


def _theirs(ask: Callable[[], Answer], rounds: int) -> tuple[float, Answer]:
    found = ask() if rounds > 1 else np.empty(0)
    times = []
    for _ in range(rounds):
        with without_collector():
            kept: list[Answer] = []
            times.append(seconds_of(lambda: kept.append(ask())))  # noqa: B023
            found = kept[0]
    return statistics.median(times), found


def _count_components(labels: NDArray[Any]) -> float:
    return float((labels == np.arange(len(labels))).sum())


def _sum_of_squares(ranks: NDArray[Any]) -> float:
    return float((ranks * ranks).sum())
