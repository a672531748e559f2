"""Figures that docs/papers.md compares with the papers and that no other benchmark has.

    python -m bench.papers            a few minutes; needs com-dblp and soc-Epinions1
    python -m bench.papers --quick    a smoke test; its figures mean nothing

*Orders*: the differences of community removals as planned and in random orders (Graphsurge, table
4.3). *Refinement*: programs of sums after batches of edges, beside starting anew (GraphBolt,
table 5 and figure 6), and triangles in the same way. *Reuse* (GraphBolt, table 1):
`papers_reuse`; ranks beside Differential Dataflow (its section 5.4): `papers_ranks`. No figure has
a bar: they are there to be read beside the papers'.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import graphtide as gt
from bench import data
from bench.figures import Figure, print_figures
from bench.papers_ranks import ranks
from bench.papers_reuse import reuse
from bench.runs_collections import removals
from bench.runs_graphs import EdgeTable, read_edges
from bench.streams import Batch, Input, Size, batches, real_input, rmat_input
from bench.timing import median_of, seconds_of, without_collector
from graphtide.algorithms.dataflow import Triangles as TrianglesDataflow

AUTHORS, COMMUNITIES, TRUST = "com-dblp.txt.gz", "com-dblp-communities.txt.gz", "soc-Epinions1"
RANDOM_ORDERS = 3
SIZES = (Size(1, 0, 5), Size(5, 5, 3), Size(50, 50, 3), Size(500, 500, 3))
KNOWN = 100
"""How many vertices of each class a program that spreads labels knows at first."""
WAYS: dict[str, dict[str, Any]] = {
    "every digit": {},
    "within 1e-3": {"tolerance": 1e-3},
    "keeping 2 iterations": {"keep": 2},
}


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small inputs: a smoke test only")
    quick = parser.parse_args().quick
    trust = _trust(quick)
    figures = [*orders(), *refinement(quick), *triangles(quick), *reuse(trust)]
    print_figures("beside the papers", [*figures, *ranks(trust, quick)])


def orders() -> Iterator[Figure]:
    """How many times fewer differences the plans have than three random orders on average."""
    graph, groups = read_edges(AUTHORS, directed=False), data.find(COMMUNITIES)
    for count in (7, 10):
        section = f"com-dblp without half of {count} communities"
        if graph is None or groups is None:
            yield Figure("planned", None, "at least", None, "x", data.missing(AUTHORS), section)
            continue
        communities = data.largest_communities(groups, count)
        views = removals(graph, communities)
        totals = views.collection.plan.totals
        random = _mean_of_random_orders(graph, communities)
        for name, planned in (("chain", totals.chain), ("tree", totals.tree)):
            if planned is not None:
                note = f"{planned:,} differences; {random:,.0f} in random order, {len(views)} views"
                yield Figure(
                    f"fewer, {name}", random / planned, "at least", None, "x", note, section
                )


def triangles(quick: bool) -> Iterator[Figure]:
    """The same for triangles, a dataflow; vertices with many edges are numbered last."""
    given = _trust(quick)
    if given is None:
        return
    given = _by_degree(given)
    graph, program = _graph(given), TrianglesDataflow
    anew = median_of(lambda: graph.maintain(program), 1)
    live = graph.maintain(program)
    for size, group in zip(SIZES, batches(given, SIZES), strict=True):
        seconds, _ = _advance(live, given, group)
        note = f"{seconds * 1e3:.3g} ms, a fresh dataflow {anew * 1e3:.3g} ms"
        section = f"{given.name}: Triangles"
        yield Figure(str(size), anew / seconds, "at least", None, "x", note, section)


def refinement(quick: bool) -> Iterator[Figure]:
    """How many times faster a batch is than starting anew, and the edges that it looks at.

    Ranks go along an edge one way in an iteration, the other programs both ways. Who trusts whom
    with a weight is also who rates what: every vertex is a user, and again an item.
    """
    given = _trust(quick)
    if given is None:
        yield Figure(TRUST, None, "at least", None, "x", data.missing(f"{TRUST}.txt.gz"))
        return
    for program in _programs(given.vertices):
        for way, options in WAYS.items():
            section = f"{given.name}: {str(program).partition('(')[0]}, {way}"
            yield from _refined(given, program, options, section)
    rated = replace(given, dst=given.dst + given.vertices, vertices=2 * given.vertices)
    for way, options in WAYS.items():
        section = f"{given.name} as ratings: CollaborativeFiltering, {way}"
        program = gt.algorithms.CollaborativeFiltering()
        yield from _refined(rated, program, options, section)


def _refined(given: Input, program: Any, options: dict[str, Any], section: str) -> Iterator[Figure]:
    graph = _graph(given)
    anew = median_of(lambda: graph.maintain(program, **options), 3)
    live = graph.maintain(program, **options)
    whole = len(given.loaded) * program.iterations * (1 if "PageRank" in section else 2)
    for size, group in zip(SIZES, batches(given, SIZES), strict=True):
        seconds, touched = _advance(live, given, group)
        share = 100 * touched / whole
        note = f"{seconds * 1e3:.3g} ms, anew {anew * 1e3:.3g} ms; {share:.3g}% of edges"
        yield Figure(str(size), anew / seconds, "at least", None, "x", note, section)


def _advance(live: Any, given: Input, group: list[Batch]) -> tuple[float, float]:
    """Median seconds of a batch and edges looked at, behind two batches that warm up."""
    seconds, touched = [], []
    with without_collector():
        for batch in group:
            rows = _rows(given, batch.inserted), _rows(given, batch.deleted)
            seconds.append(seconds_of(lambda rows=rows: live.advance(*rows)))  # type: ignore[misc]
            touched.append(live.touched)
    return statistics.median(seconds[2:]), statistics.median(touched[2:])


def _trust(quick: bool) -> Input | None:
    return rmat_input(8) if quick else real_input(TRUST, directed=True)


def _by_degree(given: Input) -> Input:
    degrees = np.bincount(np.concatenate([given.src, given.dst]), minlength=given.vertices)
    numbers = np.argsort(np.argsort(degrees, kind="stable")).astype(np.int32)
    return replace(given, src=numbers[given.src], dst=numbers[given.dst])


def _graph(given: Input) -> gt.Graph:
    at = given.loaded
    ends = given.src[at], given.dst[at]
    return gt.Graph(*ends, weight=given.weight[at].astype(float), vertices=given.vertices)


def _rows(given: Input, arcs: Any) -> dict[str, Any]:
    ends = {"src": given.src[arcs], "dst": given.dst[arcs]}
    return {**ends, "weight": given.weight[arcs].astype(float)}


def _programs(vertices: int) -> list[Any]:
    count = min(KNOWN, vertices // 4)
    chosen = np.random.default_rng(0).permutation(vertices)[: 2 * count].tolist()
    first, second = chosen[:count], chosen[count:]
    library: Any = gt.algorithms
    return [
        library.PageRank(),
        library.LabelPropagation(first=first, second=second),
        library.CoTrainingEM(positive=first, negative=second),
        library.BeliefPropagation(first=first, second=second),
    ]


def _mean_of_random_orders(graph: EdgeTable, communities: list[list[int]]) -> float:
    """The differences of the views in three orders drawn at random."""
    random, count = np.random.default_rng(6), len(removals(graph, communities))
    orders = [random.permutation(count).tolist() for _ in range(RANDOM_ORDERS)]
    plans = [removals(graph, communities, order).collection.plan for order in orders]
    return float(np.mean([plan.totals.given for plan in plans]))


if __name__ == "__main__":
    main()
