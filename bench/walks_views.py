"""Clustering coefficients over collections: windows of days, and a community without each edge.

What is timed is the whole call of `collection.run`, as in `bench.runs_trials`. From scratch, a
spread of the views is run, and each of the others is taken to cost as much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphtide as gt
from bench import data, plain_triangles
from bench.figures import Figure
from bench.peers import AbsentError
from bench.plain import PlainGraph
from bench.runs_collections import DAY, Views
from bench.runs_graphs import EdgeTable, Int64, read_edges
from bench.runs_programs import Task
from bench.runs_trials import Took, time_strategies
from bench.walks_inputs import CLUSTERING

WINDOWS, AUTHORS = "sx-mathoverflow.txt.gz", "com-dblp.txt.gz"
COMMUNITIES = "com-dblp-communities.txt.gz"
DAYS, FASTER = 500, 20.0
FOLLOWING = ("differential", "adaptive")
Make = Callable[[EdgeTable, Int64], Views]


def view_figures(*, quick: bool) -> Iterator[Figure]:
    """Both collections; skipped where their files are not there."""
    table = read_edges(WINDOWS, directed=True)
    if table is None:
        yield _skipped("until each day", data.missing(WINDOWS))
    else:
        days = np.unique((table.time - table.time.min()) // DAY)[-(5 if quick else DAYS) :]
        yield from _compared(table, until_days, days, 3 if quick else 50, quick)
    community = largest_community()
    if community is None:
        yield _skipped("without each edge", data.missing(COMMUNITIES))
    else:
        edges = np.arange(10 if quick else community.edges)
        yield from _compared(community, without_edges, edges, 3 if quick else 500, quick)


def until_days(table: EdgeTable, days: Int64) -> Views:
    """All edges until each of the days."""
    day = (table.time - table.time.min()) // DAY
    views = {f"upto-{last}": f"day <= {last}" for last in days.tolist()}
    collection = _graph(table, day=day).collection(views)
    name = f"{table.name}, until each day"
    return Views(name, table, collection, lambda at: day <= days[at])


def without_edges(table: EdgeTable, edges: Int64) -> Views:
    """The whole graph without each of the edges, which are told in order."""
    number = np.arange(table.edges)
    graph = _graph(table, chosen=np.isin(number, edges))
    collection = graph.collection(gt.without_each("edge", where="chosen"))
    name = f"{table.name}, without each edge"
    return Views(name, table, collection, lambda at: number != edges[at])


def largest_community() -> EdgeTable | None:
    """The largest community of com-dblp, and the edges inside of it; None without the files."""
    table, groups = read_edges(AUTHORS, directed=False), data.find(COMMUNITIES)
    if table is None or groups is None:
        return None
    (members,) = data.largest_communities(groups, 1)
    inside = np.isin(table.ids, members)
    chosen = inside[table.src] & inside[table.dst]
    number = np.cumsum(inside).astype(np.int32) - 1
    return replace(
        table,
        name="largest community of com-dblp",
        vertices=int(inside.sum()),
        src=number[table.src[chosen]],
        dst=number[table.dst[chosen]],
        weight=table.weight[chosen],
        ids=table.ids[inside],
    )


def coefficients(arcs: PlainGraph) -> NDArray[np.float64]:
    """The coefficients of a version, whichever way its edges go and however many there are."""
    vertices = len(arcs.out.start) - 1
    src = np.repeat(np.arange(vertices), np.diff(arcs.out.start))
    ends = np.minimum(src, arcs.out.neighbour), np.maximum(src, arcs.out.neighbour)
    lower, greater = np.unique(np.stack(ends)[:, ends[0] < ends[1]], axis=1).astype(np.int32)
    return plain_triangles.clustering(plain_triangles.neighbours(vertices, lower, greater))


def _compared(
    table: EdgeTable, make: Make, chosen: Int64, sample: int, quick: bool
) -> Iterator[Figure]:
    """How many times faster a view is than from scratch, and how many values differ."""
    views = make(table, chosen)
    try:
        task = Task(CLUSTERING.title, CLUSTERING.find(), coefficients, CLUSTERING.field)
    except AbsentError as reason:
        yield _skipped(views.name, str(reason))
        return
    spread = chosen[np.linspace(0, len(chosen) - 1, sample).astype(int)]
    few = make(table, spread)
    scratch = time_strategies(few, task, ["scratch"], quick)["scratch"]
    following = time_strategies(views, task, FOLLOWING, quick)
    for strategy, took in following.items():
        ratio = (scratch.median / len(few)) / (took.median / len(views)) if took.whole else None
        bar = FASTER if strategy == "differential" else None
        name = f"clustering, {strategy} faster than scratch"
        note = _note(took, scratch, len(few))
        yield Figure(name, ratio, "at least", bar, "x", note, views.section)
    wrong = scratch.wrong + sum(took.wrong for took in following.values())
    name, note = "clustering, values that differ", "plain loops on 4 views a strategy"
    yield Figure(name, wrong, "at most", 0, "", note, views.section)


def _note(took: Took, scratch: Took, sample: int) -> str:
    """What both took; a run from scratch that was broken off took more, and a bound is told."""
    if not took.whole:
        return f"skipped: broken off after {took.median:.3g} s"
    more = "" if scratch.whole else " (broken off)"
    return f"{took.median:.3g} s; {sample} views from scratch {scratch.median:.3g} s{more}"


def _graph(table: EdgeTable, **columns: Any) -> gt.Graph:
    return gt.Graph(table.src, table.dst, vertices=table.vertices, **columns)


def _skipped(section: str, reason: str) -> Figure:
    name = "clustering, differential faster than scratch"
    return Figure(name, None, "at least", FASTER, "x", reason, section)
