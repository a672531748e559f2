"""The cheapest chain that can be found: one view after the other, nothing undone.

A chain pays the size of its first view and then the distance of each view to the next; its end is
free. Ordering the views best is NP-hard (it is consecutive block minimisation, and a travelling
salesman). So: the given order; Christofides' tour, cut at the empty version, in both directions;
and a search from there, each kept only if it is cheaper. The chain is never worse than the given
order, and the search is skipped where a chain already meets the spanning tree, its lower bound,
as nested windows do at once.

The search is fast_tsp's, which wants a closed tour and distances below 65,536. An extra point,
next to the empty version and equally far from all views, closes the tour; what all starts have in
common is taken off, very long steps are cut to a common length, and the rest is scaled. Only the
true cost decides what is kept.
"""

from __future__ import annotations

import time
from functools import partial

import fast_tsp
import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.christofides import christofides_tour
from graphtide.optimize.distances import STRIP, Distances
from graphtide.optimize.moves import Lengths, improve_path
from graphtide.optimize.tree import Numbers, Tree, edge_lengths

LONGEST = 2**16 - 1

MOVED_EXACTLY = 2000
"""Views up to which exact moves finish the search; beyond, one pass takes too long to be felt."""


def chain_length(distance: Distances, order: Numbers) -> int:
    """The differences along a chain of points, from the empty version (0) on."""
    path = np.concatenate([[0], order])
    return int(distance[path[:-1], path[1:]].sum(dtype=np.int64))


def find_chain(distance: Distances, tree: Tree, seconds: float) -> Numbers:
    """The views, as points 1, 2, ..., in the cheapest order found.

    `tree` is a minimum spanning tree of the distances; `seconds` is for the search, which uses
    all of them unless the lower bound is met. Results of a search differ from run to run where
    it ends by the clock.
    """
    length = partial(chain_length, distance)
    lowest = int(edge_lengths(distance, tree).sum())
    given = np.arange(1, len(distance))
    if length(given) <= lowest:
        return given
    tour = christofides_tour(distance, tree)
    best = min((given, tour, tour[::-1]), key=length)
    if length(best) <= lowest or seconds <= 0:
        return best
    return min((best, _search(distance, tree, best, seconds)), key=length)


def _search(distance: Distances, tree: Tree, start: Numbers, seconds: float) -> Numbers:
    """The better of the start and fast_tsp's tour, taken to a local optimum if it is short."""
    deadline = time.monotonic() + seconds
    best = start
    if len(start) > 2:
        rounded = _rounded(distance, _longest_wanted(distance, tree))
        tour = fast_tsp.find_tour(rounded, duration_seconds=0.8 * seconds)
        chains = (start, *_as_chains(tour, len(start) + 1))
        best = min(chains, key=partial(chain_length, distance))
    if len(start) > MOVED_EXACTLY:
        return best
    lengths = _closing_lengths(distance)
    path = np.concatenate([[0], best, [len(lengths) - 1]])
    return improve_path(lengths, path, deadline)[1:-1]


def _closing_lengths(distance: Distances) -> Lengths:
    """The distances with one more point, the end, which is as near as can be from everywhere."""
    points = len(distance)
    lengths = np.zeros((points + 1, points + 1))
    lengths[:-1, :-1] = distance
    return lengths


def _rounded(distance: Distances, cut: float) -> NDArray[np.uint16]:
    """Integers below 65,536 for a closed tour through the end and the empty version."""
    points = len(distance)
    scale = LONGEST / max(cut, LONGEST)
    rounded = np.zeros((points + 1, points + 1), dtype=np.uint16)
    for first in range(1, points, STRIP):
        strip = distance[first : first + STRIP, 1:]
        rounded[first : first + len(strip), 1:-1] = np.rint(np.minimum(strip, cut) * scale)
    start = distance[0, 1:] - distance[0, 1:].min()
    rounded[0, 1:-1] = rounded[1:-1, 0] = np.rint(np.minimum(start, cut) * scale)
    rounded[-1, 1:-1] = rounded[1:-1, -1] = np.rint(cut * scale)
    return rounded


def _longest_wanted(distance: Distances, tree: Tree) -> float:
    """Four times the longest step of the spanning tree, the first step from nothing set aside.

    Longer steps are not wanted in a chain, and would cost the short ones their precision.
    """
    steps = edge_lengths(distance, tree)
    steps[tree.order[1] - 1] = 0
    return 4.0 * float(steps.max()) + 1.0


def _as_chains(tour: list[int], end: int) -> list[Numbers]:
    """The chains a closed tour stands for: cut at the empty version, and at the end, both ways."""
    chains: list[Numbers] = []
    for cut in (0, end):
        at = tour.index(cut)
        turned = np.array(tour[at:] + tour[:at], dtype=np.intp)
        chain = turned[(turned != 0) & (turned != end)]
        chains += [chain, chain[::-1]]
    return chains
