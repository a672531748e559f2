"""Which searches a batch concerns, of those that keep their answer alone.

A pair keeps its cost and its path. A deleted edge concerns it if it is on the path. An inserted
edge from a to b concerns it if its cost is more than that of reaching a, the edge, and going on
from b. Nobody knows these costs, but a ball against walks from a bounds the first of them for every
start, and one along walks from b the last for every target: the balls are grown together for all
pairs, until no pair is left or asking those that are left takes no longer than the balls took.
Landmarks bound the same costs for one pair at a time, and are asked once when that is cheaper.

Any other search keeps the cost of each entry. An inserted edge concerns it if it offers an entry
less than it costs. A deleted edge may concern it if the edge was tight: if the cost of one end and
of the edge is that of the other. Then the entry at the other end is asked for another support,
which must cost strictly less: as long as every such entry has one, all costs stand. (Of the entries
that would not, take the cheapest, and of these one with the shortest best walk: the last edge of
the walk was deleted, or an entry before it would not stand either; so it was asked, and rests on
one that costs less, which stands.) What inserted edges alone make better is found from there on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphtide.kernels.blocks import adjacency_at, array_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel, kernel
from graphtide.kernels.queries.batch import LOOKED, REACHED, DenseSearch
from graphtide.kernels.queries.pairs import (
    BALL_LOOKED,
    Ball,
    Marks,
    begin_ball,
    is_complete,
    least_at,
    least_between,
    rounding,
    widen,
)
from graphtide.kernels.queries.records import (
    AGAINST,
    ALONG,
    STATES,
    WEIGHT,
    Float64,
    Int8,
    Int32,
    Int64,
    class_of,
    cost_of,
    fact,
    searches_of,
    step_of,
    ways_of,
)


class PairColumns(NamedTuple):
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


class WalkShape(NamedTuple):
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
def mark_broken(pairs: PairColumns, deleted: Int32) -> int:
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
    pairs: PairColumns,
    balls: tuple[Ball, Ball],
    shape: WalkShape,
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
    pairs: PairColumns,
    balls: tuple[Ball, Ball],
    shape: WalkShape,
    step: tuple[int, int, float],
) -> int:
    """Mark the pairs that one step may help: from where, to where, and its cost."""
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
        spent = forward.sizes[BALL_LOOKED] + backward.sizes[BALL_LOOKED]
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
def is_listed(pairs: PairColumns, pair: int, step: tuple[int, int, float]) -> bool:
    """Whether a pair without a path keeps a list that an edge leads into, or out of."""
    vertex = step[1] if pairs.keeps[pair] == WHO_REACHES else step[0]
    first, last = pairs.first[pair], pairs.first[pair] + pairs.length[pair]
    at = first + np.searchsorted(pairs.edge[first:last], vertex)
    return bool(at < last and pairs.edge[at] == vertex)


@inner_kernel
def sift(
    words: Int64,
    pairs: PairColumns,
    balls: tuple[Ball, Ball],
    shape: WalkShape,
    given: tuple[int, float],
) -> int:
    """Drop pairs from the list that the edge cannot help; `given` is how many there are, and its
    cost.
    """
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
    pairs: PairColumns,
    balls: tuple[Ball, Ball],
    shape: WalkShape,
    given: tuple[int, tuple[int, int, float]],
) -> int:
    """Drop pairs from the list that the edge cannot help by landmarks."""
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
def may_help(words: Int64, pairs: PairColumns, pair: int, least: float, slack: float) -> bool:
    """Whether a walk that costs so much at least may be better than what a pair has."""
    more = 1.0 + rounding(slack, least)
    bound = searches_of(words).bound[pairs.search[pair]]
    return bool(least < pairs.limit[pair] * more and least <= bound * more)


@inner_kernel
def grow_both(words: Int64, forward: Ball, backward: Ball, search: int, quota: int) -> None:
    """Grow two balls, which do not meet, until they have looked at so many edges more, or all."""
    most = forward.sizes[BALL_LOOKED] + backward.sizes[BALL_LOOKED] + quota
    while forward.sizes[BALL_LOOKED] + backward.sizes[BALL_LOOKED] < most:
        left = not is_complete(forward)
        if left and (
            is_complete(backward) or forward.sizes[BALL_LOOKED] <= backward.sizes[BALL_LOOKED]
        ):
            widen(words, forward, forward, search, False, False)
        elif not is_complete(backward):
            widen(words, backward, backward, search, True, False)
        else:
            return


NO_BYTE, NO_SMALL = 255, 65535
"""The costs of one and of two bytes that stand for none."""

_END = 1 << 62

Step = tuple[int, int, int, int]
Batch = tuple[Int32, Int32, Int32]


class Values(NamedTuple):
    """By search that keeps values: its number, -1 where there is none; the entry of its start;
    the bytes of one of its costs (1, 2 or 8), negative where items are listed; `mark` says whether
    a batch concerns it. `arrays` is a block of two arrays for each: its items and their costs.

    An item is vertex * states + state. Items are listed in order, each with its cost; or there are
    no items, and a cost for each of them, which may be none.
    """

    search: Int32
    start: Int32
    width: Int8
    mark: Int8
    arrays: Int64


@bare_kernel
def mark_values(
    words: Int64, values: Values, inserted: Int32, deleted: Int32, ends: tuple[Int32, Int32]
) -> int:
    """Mark the searches that a batch concerns; how many edges that looked at."""
    looked = 0
    for at in range(len(values.search)):
        values.mark[at] = 0
        if values.search[at] < 0:
            continue
        for number in range(len(inserted) + len(deleted)):
            if values.mark[at]:
                break
            source, target = ends[0][number], ends[1][number]
            if number < len(inserted):
                edge = inserted[number]
                found = offers(words, values, at, (edge, source, target, 0))
                found = found or offers(words, values, at, (edge, target, source, 1))
            else:
                edge = deleted[number - len(inserted)]
                one = loosens(words, values, at, (edge, source, target, 0))
                other = loosens(words, values, at, (edge, target, source, 1))
                found, looked = one < 0 or other < 0, looked + abs(one) + abs(other)
            values.mark[at] = found
    return looked


@joined_kernel
def listed_at(items: Int32, item: int) -> int:
    """The place of the first item of a list that is not below one."""
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) >> 1
        if items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low


@inner_kernel
def cost_at(values: Values, at: int, place: int) -> float:
    """The cost at a place of a search; infinity for none."""
    width = abs(values.width[at])
    if width == 1:
        small = array_at(values.arrays, 2 * at + 1, np.uint8)[place]
        return np.inf if small == NO_BYTE else float(small)
    if width == 2:
        middle = array_at(values.arrays, 2 * at + 1, np.uint16)[place]
        return np.inf if middle == NO_SMALL else float(middle)
    return float(array_at(values.arrays, 2 * at + 1, np.float64)[place])


@inner_kernel
def places_of(values: Values, at: int) -> int:
    """How many costs a search has, those that are none included."""
    return int(values.arrays[3 * (2 * at + 1) + 1])


@inner_kernel
def value_of(values: Values, at: int, item: int) -> float:
    place = item
    if values.width[at] < 0:
        items = array_at(values.arrays, 2 * at, np.int32)
        place = listed_at(items, item)
        if place == len(items) or items[place] != item:
            return np.inf
    elif place >= places_of(values, at):
        return np.inf  # Of a vertex that came later.
    return cost_at(values, at, place)


@inner_kernel
def offers(words: Int64, values: Values, at: int, step: Step) -> bool:
    """Whether an edge (its number, from where, to where, the way) offers less than what is kept."""
    edge, here, there, back = step
    search = values.search[at]
    states, cost = fact(words, search, STATES), cost_of(words, search, edge)
    bound = searches_of(words).bound[search]
    letter = 2 * class_of(words, search, edge) + back
    for state in range(states):
        reached = step_of(words, search, state, letter)
        if reached < 0:
            continue
        total = value_of(values, at, here * states + state) + cost
        if total <= bound and total < value_of(values, at, there * states + reached):
            return True
    return False


@inner_kernel
def loosens(words: Int64, values: Values, at: int, step: Step) -> int:
    """How many edges were looked at for other supports of what came by an edge that is gone; one
    more, and negative, where something has none."""
    edge, here, there, back = step
    search, looked = values.search[at], 0
    states, cost = fact(words, search, STATES), cost_of(words, search, edge)
    letter = 2 * class_of(words, search, edge) + back
    for state in range(states):
        reached = step_of(words, search, state, letter)
        if reached < 0:
            continue
        total, item = value_of(values, at, here * states + state) + cost, there * states + reached
        if total == np.inf or item == values.start[at] or total != value_of(values, at, item):
            continue
        graph = adjacency_at(words, 0)
        looked += graph.into.live[there] + graph.out.live[there]
        held = is_held(words, graph.into, values, at, (item, 0, total))
        if not held and not is_held(words, graph.out, values, at, (item, 1, total)):
            return int(-looked - 1)
    return int(looked)


@inner_kernel
def is_held(
    words: Int64, slabs: Slabs, values: Values, at: int, wanted: tuple[int, int, float]
) -> bool:
    """Whether an item (with the way of edges and its value) has a support that costs less."""
    item, back, value = wanted
    search = values.search[at]
    states = fact(words, search, STATES)
    vertex, state = item // states, item % states
    for slot in range(slabs.start[vertex], slabs.start[vertex] + slabs.live[vertex]):
        edge, there = slabs.edge[slot], slabs.neighbour[slot]
        letter = 2 * class_of(words, search, edge) + back
        cost = cost_of(words, search, edge)
        for before in range(states):
            if step_of(words, search, before, letter) != state:
                continue
            standing = value_of(values, at, there * states + before)
            if standing < value and standing + cost == value:
                return True
    return False


@bare_kernel
def width_for(dense: DenseSearch, count: int) -> int:
    """The fewest bytes that hold each cost of what a search has reached."""
    width = 1
    for at in range(count):
        cost = dense.value[dense.reached[at]]
        if cost >= NO_SMALL or cost != np.floor(cost):
            return 8
        if cost >= NO_BYTE:
            width = 2
    return width


@kernel
def write_costs(dense: DenseSearch, count: int, costs: Any, listed: bool) -> None:
    """Write what a search has reached, in order, to a list of costs, or each to its place."""
    for at in range(count):
        item = dense.reached[at]
        costs[at if listed else item] = dense.value[item]


@kernel
def list_changes(
    values: Values, at: int, dense: DenseSearch, count: int, into: tuple[Int32, Any]
) -> int:
    """List the items, in order, whose costs are others than those that a search has reached now, in
    order, with what they were; how many there are, of which as many are written as there is room.

    What had no cost is passed over in the list of costs, which says so already.
    """
    old, new, changed = next_place(values, at, 0), 0, 0
    before, after = item_at(values, at, old), dense.reached[0] if count else _END
    while before < _END or after < _END:
        item = min(before, after)
        cost = cost_at(values, at, old) if before == item else np.inf
        if cost != (dense.value[item] if after == item else np.inf):
            if changed < len(into[0]):
                into[0][changed] = item
                if cost < np.inf:
                    into[1][changed] = cost
            changed += 1
        if before == item:
            old = next_place(values, at, old + 1)
            before = item_at(values, at, old)
        if after == item:
            new += 1
            after = dense.reached[new] if new < count else _END
    return changed


@inner_kernel
def next_place(values: Values, at: int, place: int) -> int:
    """The next place that has a cost; the number of places where there is none."""
    last = places_of(values, at)
    while place < last and cost_at(values, at, place) == np.inf:
        place += 1
    return place


@inner_kernel
def item_at(values: Values, at: int, place: int) -> int:
    """The item at a place; `_END` behind the last one."""
    if place >= places_of(values, at):
        return _END
    if values.width[at] < 0:
        return int(array_at(values.arrays, 2 * at, np.int32)[place])
    return int(place)


@bare_kernel
def improve(
    words: Int64,
    values: Values,
    at: int,
    dense: DenseSearch,
    batch: Batch,
    most: int,
) -> int:
    """Find what inserted edges (their numbers and both ends) make cost less, and how much then.

    How many items that are; -1 where it looks at more edges than it may, or where a cost fits no
    place that there is. Items wait (`via`) to offer what they cost now, in the order in which they
    were met: with one edge that is by cost.
    """
    search = values.search[at]
    states = fact(words, search, STATES)
    fits = True
    for number in range(len(batch[0])):
        edge, one, other = batch[0][number], batch[1][number], batch[2][number]
        for state in range(states):
            for back in range(2):
                here, there = (other, one) if back else (one, other)
                cost = value_of(values, at, here * states + state)
                step = (edge, there, state, back)
                fits = fits and (cost == np.inf or offer_less(words, values, at, dense, step, cost))
    waiting = True
    while waiting and fits:
        waiting, place = False, 0
        while place < dense.sizes[REACHED] and fits and dense.sizes[LOOKED] <= most:
            item = dense.reached[place]
            if dense.via[item]:
                dense.via[item] = 0
                fits, waiting = offer_on(words, values, at, dense, item), True
            place += 1
        fits = fits and dense.sizes[LOOKED] <= most
    return int(dense.sizes[REACHED]) if fits else -1


@inner_kernel
def offer_on(words: Int64, values: Values, at: int, dense: DenseSearch, item: int) -> bool:
    """Offer what an item costs now to all that it leads to; whether each cost fits its place."""
    states, graph = fact(words, values.search[at], STATES), adjacency_at(words, 0)
    vertex, state = item // states, item % states
    ways = ways_of(words, values.search[at], state)
    for back in range(2):
        if not ways & (AGAINST if back else ALONG):
            continue
        slabs = graph.into if back else graph.out
        first, count = slabs.start[vertex], slabs.live[vertex]
        dense.sizes[LOOKED] += count
        for slot in range(first, first + count):
            step = (slabs.edge[slot], slabs.neighbour[slot], state, back)
            if not offer_less(words, values, at, dense, step, dense.value[item]):
                return False
    return True


@inner_kernel
def offer_less(
    words: Int64,
    values: Values,
    at: int,
    dense: DenseSearch,
    step: Step,
    cost: float,
) -> bool:
    """Offer what a step (edge, vertex that it leads to, state, way) adds up to; whether it fits."""
    edge, there, state, back = step
    search, width = values.search[at], values.width[at]
    reached = step_of(words, search, state, 2 * class_of(words, search, edge) + back)
    total = cost + cost_of(words, search, edge)
    if reached < 0 or total > searches_of(words).bound[search]:
        return True
    item = there * fact(words, search, STATES) + reached
    now = dense.value[item] if dense.came[item] else value_of(values, at, item)
    if total >= now:
        return True
    most = NO_BYTE if width == 1 else NO_SMALL
    if item >= places_of(values, at) or (width < 8 and (total >= most or total != np.floor(total))):
        return False
    if dense.came[item] == 0:
        dense.came[item] = 1
        dense.reached[dense.sizes[REACHED]] = item
        dense.sizes[REACHED] += 1
    dense.value[item], dense.via[item] = total, 1
    return True
