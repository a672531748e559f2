"""Least values of walks where hubs lose edges: what it gains to count who sent the least.

Every vertex has the least mark of all that are two steps away. An edge of a hub is part of many
such walks. Where marks are few, a vertex got its least one from many walks, and losing one of them
changes nothing: a count beside the value says so. Where all marks differ, it got it from one or
two, and looks through its walks as soon as those leave. Paper 003 counts so too (section 5.4).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench.figures import Figure
from bench.maintained import Rows, median_batch
from bench.timing import clock
from bench.walks_inputs import Pairs
from bench.walks_support_program import LeastMark

HUBS, EDGES, ROUNDS = 16, 5, 12


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


def at_hubs(pairs: Pairs, batches: int) -> list[np.ndarray]:
    """Edges of the vertices with the most neighbours, a few at a time and each once."""
    given = pairs.given
    loaded = given.loaded
    ends = np.concatenate([given.src[loaded], given.dst[loaded]])
    hubs = np.argsort(np.bincount(ends, minlength=given.vertices))[-HUBS:]
    there = loaded[np.isin(given.src[loaded], hubs) | np.isin(given.dst[loaded], hubs)]
    drawn = np.random.default_rng(3).permutation(there)[: batches * EDGES]
    return [np.sort(part) for part in np.array_split(drawn, batches)]
