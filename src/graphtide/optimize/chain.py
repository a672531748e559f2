"""The cheapest chain that can be found: one view after the other, nothing undone.

A chain pays the size of its first view and then the distance of each view to the next; its end is
free. Ordering the views best is NP-hard (it is consecutive block minimisation, and a travelling
salesman). So: the given order; a walk round the spanning tree, in both directions; and a search,
each kept only if it is cheaper. The walk passes every edge of the tree at most twice, and no chain
is shorter than the tree, so the chain is at most twice the best one, and never worse than the given
order. The search is skipped where a chain already meets the spanning tree, as nested windows do.

The search is fast_tsp's, which wants a closed tour and distances below 65,536. An extra point,
next to the empty version and equally far from all views, closes the tour; what all starts have in
common is taken off, very long steps are cut to a common length, and the rest is scaled. Only the
true cost decides what is kept.
"""

from __future__ import annotations

from functools import partial

import fast_tsp
import numpy as np
from numpy.typing import NDArray

from graphtide.optimize.distances import STRIP, Distances
from graphtide.optimize.steps import visiting_order
from graphtide.optimize.tree import Numbers, Tree, edge_lengths

LONGEST = 2**16 - 1


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
    lengths = edge_lengths(distance, tree)
    lowest = int(lengths.sum())
    given = np.arange(1, len(distance))
    if length(given) <= lowest:
        return given
    walk = np.array(visiting_order(lengths, tree), np.intp)
    best = min((given, walk, walk[::-1]), key=length)
    if length(best) <= lowest or seconds <= 0 or len(given) <= 2:
        return best
    rounded = _rounded(distance, _longest_wanted(distance, tree))
    tour = fast_tsp.find_tour(rounded, duration_seconds=seconds)
    return min((best, *_as_chains(tour, len(distance))), key=length)


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
