"""Which pairs a batch may concern, of those that keep no more than their cost and their path.

A deleted edge concerns the pairs whose path it is on: of any other the path stands, and no walk has
become cheaper by that. An inserted edge from a to b concerns the pairs whose cost is more than that
of reaching a, the edge, and going on from b. Nobody knows these costs, but a ball that is grown
against walks from a knows of every start what it costs at least to reach a, and one along walks
from b what it costs at least to go on to every target: the balls are grown together for all pairs,
until no pair is left or asking the pairs that are left takes no longer than the balls took.
Landmarks bound the same costs for one pair at a time. They are asked once for those that are left,
when that takes no longer than the balls took.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphtide.kernels.jit import bare_kernel, inner_kernel
from graphtide.kernels.queries.balls import LOOKED, Ball, begin_ball, is_complete, least_at, widen
from graphtide.kernels.queries.landmarks import Marks, least_between, rounding
from graphtide.kernels.queries.records import WEIGHT, Float64, Int32, Int64, searches_of
from graphtide.kernels.queries.stepping import class_of, cost_of, fact, step_of


class Pairs(NamedTuple):
    """By pair: its search, -1 where there is none; the first search whose walks are the same; its
    ends and cost; below what an inserted edge helps, `limit`; and what it `keeps`, `length` numbers
    of `edge` from `first` on. `mark` says which a batch concerns, `left` is room for a list.
    """

    search: Int32
    shape: Int32
    start: Int32
    target: Int32
    cost: Float64
    limit: Float64
    first: Int64
    length: Int32
    keeps: Any
    mark: Any
    left: Int32
    edge: Int32


A_PATH, WHO_REACHES, WHO_IS_REACHED = range(3)
"""What a pair keeps: the edges of its path, if it has one; or, where it has none, all vertices from
which walks lead to its target or to which they lead from its start, in order: few, and an inserted
edge that leads to none of them, or from none, makes no path."""


class Shape(NamedTuple):
    """Walks that several pairs share: a search, what rounding may make of its costs as a share, how
    many edges one pair takes to be asked again, and the landmarks."""

    search: int
    slack: float
    looks: float
    marks: Marks


_FIRST = 32
"""Balls grow by this many edges before they are first asked."""

_AS_LONG = 2
"""Reading one landmark of one vertex takes as long as looking at this many edges."""


@bare_kernel
def mark_broken(pairs: Pairs, deleted: Int32) -> int:
    """Mark the pairs whose paths have one of the deleted edges, which come in order; how many."""
    count = 0
    for pair in range(len(pairs.search)):
        pairs.mark[pair] = 0
        if pairs.search[pair] < 0 or pairs.keeps[pair] != A_PATH:
            continue
        first = pairs.first[pair]
        for place in range(first, first + pairs.length[pair]):
            at = np.searchsorted(deleted, pairs.edge[place])
            if at < len(deleted) and deleted[at] == pairs.edge[place]:
                pairs.mark[pair] = 1
        count += pairs.mark[pair]
    return count


@bare_kernel
def mark_helped(
    words: Int64,
    pairs: Pairs,
    balls: tuple[Ball, Ball],
    shape: Shape,
    inserted: Int32,
    ends: tuple[Int32, Int32],
) -> int:
    """Mark the pairs of a shape that inserted edges may help; how many edges that looked at."""
    looked, search = 0, shape.search
    for at in range(len(inserted)):
        edge, cost = inserted[at], cost_of(words, shape.search, inserted[at])
        letter = 2 * class_of(words, search, edge)
        source, target = ends[0][at], ends[1][at]
        if source == target:
            continue
        if step_of(words, search, 0, letter) >= 0:
            looked += mark_across(words, pairs, balls, shape, (source, target, cost))
        if step_of(words, search, 0, letter + 1) >= 0:
            looked += mark_across(words, pairs, balls, shape, (target, source, cost))
    return looked


@inner_kernel
def mark_across(
    words: Int64,
    pairs: Pairs,
    balls: tuple[Ball, Ball],
    shape: Shape,
    step: tuple[int, int, float],
) -> int:
    """The same for one edge one way: from where, to where, and its cost."""
    forward, backward = balls
    weighted = fact(words, shape.search, WEIGHT) >= 0
    begin_ball(backward, step[0], weighted)
    begin_ball(forward, step[1], weighted)
    count = 0
    for pair in range(len(pairs.search)):
        if pairs.search[pair] < 0 or pairs.shape[pair] != shape.search or pairs.mark[pair]:
            continue
        if pairs.keeps[pair] == A_PATH:
            pairs.left[count] = pair
            count += 1
        elif is_listed(pairs, pair, step):  # Path or not, its list is another one.
            pairs.mark[pair] = 1
    quota, unasked = _FIRST, shape.marks.size > 0
    pair_asks = 4 * _AS_LONG * shape.marks.size
    while True:
        count = sift(words, pairs, balls, shape, (count, step[2]))
        spent = forward.sizes[LOOKED] + backward.sizes[LOOKED]
        whole = is_complete(forward) and is_complete(backward)
        if unasked and count * pair_asks <= spent:
            count, unasked = sift_by_marks(words, pairs, balls, shape, (count, step)), False
        if count == 0 or whole or count * shape.looks <= spent:
            break
        grow_both(words, forward, backward, shape.search, quota)
        quota *= 2
    if unasked and pair_asks < shape.looks:
        count = sift_by_marks(words, pairs, balls, shape, (count, step))
    for at in range(count):
        pairs.mark[pairs.left[at]] = 1
    return int(spent)


@inner_kernel
def is_listed(pairs: Pairs, pair: int, step: tuple[int, int, float]) -> bool:
    """Whether a pair without a path keeps a list that an edge leads into, or out of."""
    vertex = step[1] if pairs.keeps[pair] == WHO_REACHES else step[0]
    first, last = pairs.first[pair], pairs.first[pair] + pairs.length[pair]
    at = first + np.searchsorted(pairs.edge[first:last], vertex)
    return bool(at < last and pairs.edge[at] == vertex)


@inner_kernel
def sift(
    words: Int64,
    pairs: Pairs,
    balls: tuple[Ball, Ball],
    shape: Shape,
    given: tuple[int, float],
) -> int:
    """Keep those on the list whom the edge may still help; `given` is how many there are and its
    cost."""
    forward, backward = balls
    kept = 0
    for at in range(given[0]):
        pair = pairs.left[at]
        least = least_at(backward, pairs.start[pair]) + given[1]
        least += least_at(forward, pairs.target[pair])
        if may_help(words, pairs, pair, least, shape.slack):
            pairs.left[kept] = pair
            kept += 1
    return kept


@inner_kernel
def sift_by_marks(
    words: Int64,
    pairs: Pairs,
    balls: tuple[Ball, Ball],
    shape: Shape,
    given: tuple[int, tuple[int, int, float]],
) -> int:
    """The same by landmarks, where these know more than the balls."""
    forward, backward = balls
    count, step = given
    kept = 0
    for at in range(count):
        pair = pairs.left[at]
        start, target = pairs.start[pair], pairs.target[pair]
        before = max(least_at(backward, start), least_between(shape.marks, start, step[0]))
        behind = max(least_at(forward, target), least_between(shape.marks, step[1], target))
        if may_help(words, pairs, pair, before + step[2] + behind, shape.slack):
            pairs.left[kept] = pair
            kept += 1
    return kept


@inner_kernel
def may_help(words: Int64, pairs: Pairs, pair: int, least: float, slack: float) -> bool:
    """Whether a walk that costs so much at least may be better than what a pair has."""
    more = 1.0 + rounding(slack, least)
    bound = searches_of(words).bound[pairs.search[pair]]
    return bool(least < pairs.limit[pair] * more and least <= bound * more)


@inner_kernel
def grow_both(words: Int64, forward: Ball, backward: Ball, search: int, quota: int) -> None:
    """Grow two balls, which do not meet, until they have looked at so many edges more, or all."""
    most = forward.sizes[LOOKED] + backward.sizes[LOOKED] + quota
    while forward.sizes[LOOKED] + backward.sizes[LOOKED] < most:
        left = not is_complete(forward)
        if left and (is_complete(backward) or forward.sizes[LOOKED] <= backward.sizes[LOOKED]):
            widen(words, forward, forward, search, False, False)
        elif not is_complete(backward):
            widen(words, backward, backward, search, True, False)
        else:
            return
