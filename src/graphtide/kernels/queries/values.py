"""Which searches a batch concerns, of those that keep the cost of each entry and nothing else.

An inserted edge concerns a search if it offers an entry less than it costs. A deleted edge may
concern it if the edge was tight: if the cost of one end and of the edge is that of the other. Then
the entry at the other end is asked for another support, which must cost strictly less: as long as
every such entry has one, all costs stand. (Of the entries that would not, take the cheapest, and of
these one with the shortest best walk: the last edge of the walk was deleted, or an entry before it
would not stand either; so it was asked, and rests on one that costs less, which stands.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphtide.kernels.blocks import adjacency_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.jit import bare_kernel, inner_kernel
from graphtide.kernels.queries.records import STATES, Int32, Int64, searches_of
from graphtide.kernels.queries.stepping import class_of, cost_of, fact, step_of


class Values(NamedTuple):
    """By search that keeps values: its number, -1 where there is none; the entry of its start; and
    its entries, `length` items from `first` on, in order: vertex * states + state, and a value.
    `mark` says which a batch concerns.
    """

    search: Int32
    start: Int32
    first: Int64
    length: Int32
    mark: Any
    item: Int32
    value: Any


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


@inner_kernel
def place_from(values: Values, at: int, item: int) -> int:
    """The place of the first item of a search that is not below one."""
    low = values.first[at]
    high = low + values.length[at]
    while low < high:
        middle = (low + high) >> 1
        if values.item[middle] < item:
            low = middle + 1
        else:
            high = middle
    return int(low)


@inner_kernel
def value_of(values: Values, at: int, item: int) -> float:
    """The value of an item; infinity where there is none."""
    place = place_from(values, at, item)
    if place < values.first[at] + values.length[at] and values.item[place] == item:
        return float(values.value[place])
    return np.inf


@inner_kernel
def offers(words: Int64, values: Values, at: int, step: tuple[int, int, int, int]) -> bool:
    """Whether an edge (its number, from where, to where, the way) offers less than what is kept."""
    edge, here, there, back = step
    search = values.search[at]
    states, cost = fact(words, search, STATES), cost_of(words, search, edge)
    bound = searches_of(words).bound[search]
    letter = 2 * class_of(words, search, edge) + back
    place, last = place_from(values, at, here * states), values.first[at] + values.length[at]
    while place < last and values.item[place] < (here + 1) * states:
        reached = step_of(words, search, values.item[place] - here * states, letter)
        total = float(values.value[place]) + cost
        place += 1
        if reached < 0 or total > bound:
            continue
        if total < value_of(values, at, there * states + reached):
            return True
    return False


@inner_kernel
def loosens(words: Int64, values: Values, at: int, step: tuple[int, int, int, int]) -> int:
    """How many edges were looked at for other supports of what came by an edge that is gone; one
    more, and negative, where something has none."""
    edge, here, there, back = step
    search, looked = values.search[at], 0
    states, cost = fact(words, search, STATES), cost_of(words, search, edge)
    letter = 2 * class_of(words, search, edge) + back
    place, last = place_from(values, at, here * states), values.first[at] + values.length[at]
    while place < last and values.item[place] < (here + 1) * states:
        reached = step_of(words, search, values.item[place] - here * states, letter)
        total, item = float(values.value[place]) + cost, there * states + reached
        place += 1
        if reached < 0 or item == values.start[at] or total != value_of(values, at, item):
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
    last = values.first[at] + values.length[at]
    for slot in range(slabs.start[vertex], slabs.start[vertex] + slabs.live[vertex]):
        edge, there = slabs.edge[slot], slabs.neighbour[slot]
        letter = 2 * class_of(words, search, edge) + back
        cost = cost_of(words, search, edge)
        place = place_from(values, at, there * states)
        while place < last and values.item[place] < (there + 1) * states:
            standing = float(values.value[place])
            before = values.item[place] - there * states
            place += 1
            if standing >= value or standing + cost != value:
                continue
            if step_of(words, search, before, letter) == state:
                return True
    return False
