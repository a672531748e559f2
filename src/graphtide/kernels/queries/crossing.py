"""An inserted edge, offered to all searches: what the entries of one end lead to at the other.

Most entries are not concerned: the other end has what they could bring, or better. So these are
passed in loops that write nothing, and only the others are offered one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.queries.offering import offer
from graphtide.kernels.queries.records import (
    AGAINST,
    ALONG,
    ANY_STEP,
    BASE,
    DONE,
    LABEL,
    NAMES,
    NO_COST,
    TABLE,
    WIDTH,
    Int8,
    Int32,
    Int64,
    Rows,
    rows_of,
    searches_of,
)
from graphtide.kernels.queries.rows import value_at
from graphtide.kernels.queries.stepping import class_of, cost_of, fact, step_of, ways_of


@inner_kernel
def offer_across(words: Int64, edge: int, here: int, there: int, back: int) -> int:
    """Offer to one end of an edge what the entries of the other lead to. O(both rows).

    Both rows are in the order of their keys, and so are the searches in them: one look at each
    entry tells which searches the edge concerns.
    """
    rows, plain = rows_of(words), searches_of(words).plain
    at, passed, way = -1, 0, AGAINST if back else ALONG
    while at + 1 < rows.length[here]:
        alike = passed_alike(words, (here, at + 1), (there, passed), way)
        at, passed = at + 1 + alike, passed + alike
        if at == rows.length[here]:
            break
        if plain[rows.key[rows.start[here] + at]] & ANY_STEP:
            at, passed = pass_unconcerned(words, (here, at), (there, passed), edge, back)
            if at == rows.length[here]:
                break
        place = rows.start[here] + at
        key, value = rows.key[place], value_at(rows, place)
        reached, total = key, value + 1.0
        if plain[key] & ANY_STEP:
            reached, total = step_across(words, key, value, edge, back)
        elif not plain[key] & way:
            continue
        if value == np.inf or reached < 0:
            continue
        found = passed_below(rows, there, passed, reached)
        if not plain[key] & ANY_STEP:
            passed = found
        place = rows.start[there] + found
        known = found < rows.length[there] and rows.key[place] == reached
        if known and value_at(rows, place) <= total:
            continue
        if total > searches_of(words).bound[searches_of(words).owner[key]]:
            continue
        ended = offer(words, there, reached, total, edge)
        if ended != DONE:
            return ended
    return DONE


@inner_kernel
def passed_alike(
    words: Int64, from_here: tuple[int, int], from_there: tuple[int, int], way: int
) -> int:
    """How many entries, one after the other, have the same keys in two rows, of plain searches that
    the edge does not concern. Most are of that kind where all searches reach everything.

    Both rows are told as a vertex and how many of its entries are passed.
    """
    rows, plain = rows_of(words), searches_of(words).plain
    (here, at), (there, passed) = from_here, from_there
    count = min(rows.length[here] - at, rows.length[there] - passed)
    one, other = rows.start[here] + at, rows.start[there] + passed
    if len(rows.wide) > 0:
        return alike(rows.key, rows.wide, plain, (one, other, count), way)
    return alike(rows.key, rows.small, plain, (one, other, count), way)


@inner_kernel
def alike(keys: Int32, costs: Any, plain: Int8, places: tuple[int, int, int], way: int) -> int:
    """The same for rows from two places on, of so many entries; costs are small or wide.

    What may have fallen at the other end ends it: that takes any offer.
    """
    one, other, count = places
    for step in range(count):
        key, cost = keys[one + step], costs[other + step]
        same = key == keys[other + step] and plain[key] & way
        if not same or cost == NO_COST or cost > float(costs[one + step]) + 1.0:
            return step
    return count


@inner_kernel
def pass_unconcerned(
    words: Int64, from_here: tuple[int, int], from_there: tuple[int, int], edge: int, back: int
) -> tuple[int, int]:
    """How many entries are passed in two rows, up to one of a plain search or one that the edge
    leads from to something better. What the edge means is looked up once for each search, and its
    letter once for searches one after the other that have the same labels.
    """
    rows, searches = rows_of(words), searches_of(words)
    (here, at), (there, passed) = from_here, from_there
    search, base, table, width, letter, cost = -1, 0, 0, 0, 0, 0.0
    names, label = -1, -1
    while at < rows.length[here]:
        place = rows.start[here] + at
        key = rows.key[place]
        if not searches.plain[key] & ANY_STEP:
            break
        if searches.owner[key] != search:
            search = searches.owner[key]
            base, cost = fact(words, search, BASE), cost_of(words, search, edge)
            table, width = fact(words, search, TABLE), fact(words, search, WIDTH)
            if fact(words, search, NAMES) != names or fact(words, search, LABEL) != label:
                names, label = fact(words, search, NAMES), fact(words, search, LABEL)
                letter = 2 * class_of(words, search, edge) + back
        at += 1
        state = searches.steps[table + (key - base) * width + letter]
        if state < 0:
            continue
        total = value_at(rows, place) + cost
        if total == np.inf or total > searches.bound[search]:
            continue
        passed = passed_below(rows, there, passed, base)
        found = passed_below(rows, there, passed, base + state)
        place = rows.start[there] + found
        known = found < rows.length[there] and rows.key[place] == base + state
        if not known or value_at(rows, place) > total:
            at -= 1
            break
    return at, passed


@inner_kernel
def step_across(words: Int64, key: int, value: float, edge: int, back: int) -> tuple[int, float]:
    """The key behind an edge, -1 where it leads nowhere, and what a walk costs there."""
    search = searches_of(words).owner[key]
    base = fact(words, search, BASE)
    if not ways_of(words, search, key - base) & (AGAINST if back else ALONG):
        return -1, value
    reached = step_of(words, search, key - base, 2 * class_of(words, search, edge) + back)
    return base + reached if reached >= 0 else -1, value + cost_of(words, search, edge)


@joined_kernel
def passed_below(rows: Rows, vertex: int, passed: int, key: int) -> int:
    """How many entries of a row have lower keys, where it is known that `passed` have."""
    start, length = rows.start[vertex], rows.length[vertex]
    while passed < length and rows.key[start + passed] < key:
        passed += 1
    return passed
