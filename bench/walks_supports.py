"""Least values of walks where hubs lose edges: what it gains to count who sent the least.

Every vertex has the least mark of all that are two steps away. An edge of a hub is part of many
such walks. Where marks are few, a vertex got its least one from many walks, and losing one of them
changes nothing: a count beside the value says so. Where all marks differ, it got it from one or
two, and looks through its walks as soon as those leave. Paper 003 counts so too (section 5.4).

Programs of one step have fixpoints instead: who loses what its value came by looks through its
edges until it meets another support. All that a count could save there is what such a batch takes
beyond the same batch on a graph without programs.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

import numpy as np

import graphtide as gt
from bench.figures import Figure
from bench.maintained import Rows, median_batch
from bench.timing import clock, without_collector
from bench.walks_inputs import Pairs
from bench.walks_support_program import LeastMark

HUBS, EDGES, ROUNDS, SEARCHES = 16, 5, 12, 100


def support_figures(pairs: Pairs, rounds: int = ROUNDS) -> Iterator[Figure]:
    """How many times faster a batch at hubs is than from scratch; few marks, and all different."""
    section = f"{pairs.given.name}: least values at hubs"
    for title, marks in (("8 marks", 8), ("marks that all differ", pairs.given.vertices)):
        live = pairs.graph().maintain(LeastMark(marks=marks))
        maintainer = live._kept.maintainer
        maintainer.scratch()
        batches = [Rows(None, pairs.columns(edges)) for edges in at_hubs(pairs, rounds + 1)]
        ours = median_batch(live, batches)
        began = clock()
        found = maintainer.scratch()
        scratch = clock() - began
        note = f"{ours * 1e3:.3g} ms; from scratch {scratch * 1e3:.3g} ms"
        name = f"{title}, {EDGES} edges of hubs deleted, over from scratch"
        yield Figure(name, scratch / ours, "at least", None, "x", note, section)
        differing = int((live["nearest"] != found["nearest"]).sum())
        name = f"{title}, values that differ from scratch"
        yield Figure(name, differing, "at most", 0, "", "", section)


def search_figures(pairs: Pairs, rounds: int = SEARCHES) -> Iterator[Figure]:
    """What programs of fixpoints take beyond the graph alone where hubs lose edges."""
    section = f"{pairs.given.name}: least values at hubs"
    given = pairs.given
    busiest = int(np.bincount(np.concatenate([given.src, given.dst])).argmax())
    source = int(pairs.ids[busiest])
    programs = {"components": gt.algorithms.WCC, "hops": gt.algorithms.BFS(source=source)}
    batches = [pairs.columns(edges) for edges in at_hubs(pairs, rounds + 1)]
    alone = _median_deletion(pairs.graph(), batches)
    for title, program in programs.items():
        graph = pairs.graph()
        live = graph.maintain(program)
        seconds = _median_deletion(graph, batches)
        name = f"{title} by fixpoints, {EDGES} edges of hubs deleted, beyond the graph alone"
        note = f"{seconds * 1e3:.3g} ms, the graph alone {alone * 1e3:.3g} ms"
        yield Figure(name, (seconds - alone) * 1e3, "at most", None, "ms", note, section)
        found = live._kept.maintainer.scratch()
        kept = live._kept
        differing = sum(int((kept.values(name) != found[name]).sum()) for name in live.fields)
        name = f"{title}, values that differ from scratch"
        yield Figure(name, differing, "at most", 0, "", "", section)


def _median_deletion(graph: gt.Graph, batches: list[Any]) -> float:
    seconds = []
    with without_collector():
        for rows in batches:
            began = clock()
            graph.advance(delete=rows)
            seconds.append(clock() - began)
            graph.forget()
    return statistics.median(seconds[1:])


def at_hubs(pairs: Pairs, batches: int) -> list[np.ndarray]:
    """Edges of the vertices with the most neighbours, a few at a time and each once."""
    given = pairs.given
    loaded = given.loaded
    ends = np.concatenate([given.src[loaded], given.dst[loaded]])
    hubs = np.argsort(np.bincount(ends, minlength=given.vertices))[-HUBS:]
    there = loaded[np.isin(given.src[loaded], hubs) | np.isin(given.dst[loaded], hubs)]
    drawn = np.random.default_rng(3).permutation(there)[: batches * EDGES]
    return [np.sort(part) for part in np.array_split(drawn, batches)]
