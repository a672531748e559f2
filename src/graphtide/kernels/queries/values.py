"""Which searches a batch concerns, of those that keep the cost of each entry and nothing else.

An inserted edge concerns a search if it offers an entry less than it costs. A deleted edge may
concern it if the edge was tight: if the cost of one end and of the edge is that of the other. Then
the entry at the other end is asked for another support, which must cost strictly less: as long as
every such entry has one, all costs stand. (Of the entries that would not, take the cheapest, and of
these one with the shortest best walk: the last edge of the walk was deleted, or an entry before it
would not stand either; so it was asked, and rests on one that costs less, which stands.)

What inserted edges alone make better is found from there on (`improve`), without a new search.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphtide.kernels.blocks import adjacency_at, array_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel, kernel
from graphtide.kernels.queries.records import (
    AGAINST,
    ALONG,
    STATES,
    Int8,
    Int32,
    Int64,
    searches_of,
)
from graphtide.kernels.queries.starting import LOOKED, REACHED, Dense
from graphtide.kernels.queries.stepping import class_of, cost_of, fact, step_of, ways_of

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
    """The value of an item; infinity where there is none."""
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
def width_for(dense: Dense, count: int) -> int:
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
def write_costs(dense: Dense, count: int, costs: Any, listed: bool) -> None:
    """Write what a search has reached, in order, to a list of costs, or each to its place."""
    for at in range(count):
        item = dense.reached[at]
        costs[at if listed else item] = dense.value[item]


@kernel
def list_changes(values: Values, at: int, dense: Dense, count: int, into: tuple[Int32, Any]) -> int:
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
    """The first place from one on that has a cost; as many as there are without one."""
    last = places_of(values, at)
    while place < last and cost_at(values, at, place) == np.inf:
        place += 1
    return place


@inner_kernel
def item_at(values: Values, at: int, place: int) -> int:
    """The item at a place; no item behind the last one."""
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
    dense: Dense,
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
def offer_on(words: Int64, values: Values, at: int, dense: Dense, item: int) -> bool:
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
    dense: Dense,
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
