"""A batch of rows brought into a graph in one call: found, matched, appended and flipped.

    1  the ids of both ends are looked up
    2  a deleted row takes a live edge between its ends, an inserted one an edge that is known and
       not live, each one of its own; properties must be the same where they are given
    3  rows that found none become new edges
    4  all of them are flipped

A batch that cannot be brought in as a whole changes nothing, and the delta tells which rows have no
vertex or no edge. Properties are handed over as words of 64 bits, whatever their type, so that one
kernel serves graphs of every shape.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import array_at
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.graph.appending import INTO, OUT, append_entry, make_room
from graphtide.kernels.graph.flips import Delta, flip_delta
from graphtide.kernels.graph.id_tables import find_ids
from graphtide.kernels.graph.records import COLUMNS, known_at
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.prefetch import FAR, NEAR, prefetch

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

NO_EDGE = -1
LINE = 16
"""So many entries of four bytes make a line of memory."""

WHOLE, REAL, TRUTH = 0, 1, 2
"""The types that a property can have: int64, float64, bool."""

DONE, LACKING, UNKNOWN, MISSING = range(4)
"""How a batch ends: brought in; not yet, because a pool is full; not at all, because a row names a
vertex that is not there, or a deleted row an edge that is not there."""

ROW, APPENDED, FIRST = range(3)
"""How far a batch is: the first inserted row that may have no edge yet, -1 before rows are matched;
how many edges were appended; and the number of the first, which the caller gives."""


class Batch(NamedTuple):
    """Rows as they are given: ends by their ids, of the inserted and of the deleted.

    `values` has a line for each property of the graph, `gone` for each that deleted rows give,
    which is the one that `of` says; `types` are those of the graph's properties.
    """

    src: Int64
    dst: Int64
    gone_src: Int64
    gone_dst: Int64
    values: Int64
    gone: Int64
    of: Int64
    types: Int64


@bare_kernel
def bring_in(words: Int64, table: Int64, batch: Batch, delta: Delta, progress: Int64) -> int:
    """Bring a batch in, or say why not; to be called again with more room where it is lacking.

    `words` is the block of a `KnownGraph`. Edges of the delta that no rows stand for were given by
    their numbers.
    """
    inserted, deleted = len(batch.src), len(batch.gone_src)
    if progress[ROW] < 0:
        if find_all_ends(words, table, batch, delta) > 0:
            return UNKNOWN
        missing = match_deleted(words, batch, delta)
        if missing == 0:
            match_inserted(words, batch, delta)
        give_back(words, delta, inserted if missing == 0 else 0, deleted)
        if missing > 0:
            return MISSING
        progress[ROW] = 0
    if not append_rows(words, batch, delta, progress):
        return LACKING
    flip_delta(words, delta)
    return DONE


@joined_kernel
def find_all_ends(words: Int64, table: Int64, batch: Batch, delta: Delta) -> int:
    """The numbers of all ends, FREE where there is none; returns how many these are."""
    count, rows = len(known_at(words, 0).graph.out.live), len(batch.src)
    missing = find_ids(table, count, batch.src, delta.sources)
    missing += find_ids(table, count, batch.dst, delta.targets)
    missing += find_ids(table, count, batch.gone_src, delta.sources[rows:])
    return missing + find_ids(table, count, batch.gone_dst, delta.targets[rows:])


@inner_kernel
def match_deleted(words: Int64, batch: Batch, delta: Delta) -> int:
    """An edge for each deleted row, NO_EDGE where there is none; returns how many these are."""
    taken, first, missing = known_at(words, 0).taken, len(batch.src), 0
    for row in range(len(batch.gone_src)):
        ask_for_slabs(words, delta, first + row, row >= 0)
        ends = delta.sources[first + row], delta.targets[first + row]
        edge = matching_edge(words, batch, ends, row, row >= 0)
        delta.deleted[row] = edge
        if edge == NO_EDGE:
            missing += 1
        else:
            taken[edge >> 3] |= np.uint8(1 << (edge & 7))
    return missing


@inner_kernel
def match_inserted(words: Int64, batch: Batch, delta: Delta) -> None:
    """An edge that is known for each inserted row, NO_EDGE where there is none."""
    taken = known_at(words, 0).taken
    for row in range(len(batch.src)):
        ask_for_slabs(words, delta, row, row < 0)
        ends = delta.sources[row], delta.targets[row]
        edge = matching_edge(words, batch, ends, row, row < 0)
        delta.inserted[row] = edge
        if edge != NO_EDGE:
            taken[edge >> 3] |= np.uint8(1 << (edge & 7))


@joined_kernel
def ask_for_slabs(words: Int64, delta: Delta, row: int, alive: bool) -> None:
    """Ask ahead for where the slabs of rows to come are, and for the first entries to look at."""
    graph, rows = known_at(words, 0).graph, len(delta.sources)
    if row + FAR < rows:
        ask_for_borders(graph.out, delta.sources[row + FAR])
        ask_for_borders(graph.into, delta.targets[row + FAR])
    if row + NEAR < rows:
        source, target = delta.sources[row + NEAR], delta.targets[row + NEAR]
        if length(graph.out, source, alive) <= length(graph.into, target, alive):
            ask_for_entries(graph.out, source, alive)
        else:
            ask_for_entries(graph.into, target, alive)


@joined_kernel
def ask_for_borders(slabs: Slabs, end: int) -> None:
    """Ask for what says where a slab begins and ends."""
    prefetch(slabs.start, end)
    prefetch(slabs.live, end)
    prefetch(slabs.used, end)


@joined_kernel
def ask_for_entries(slabs: Slabs, end: int, alive: bool) -> None:
    """Ask for the first entries of a slab that could match, two lines of memory."""
    first = slabs.start[end] + (0 if alive else slabs.live[end])
    prefetch(slabs.neighbour, first)
    prefetch(slabs.neighbour, first + LINE)


@joined_kernel
def give_back(words: Int64, delta: Delta, inserted: int, deleted: int) -> None:
    """Unmark the edges that rows have taken."""
    taken = known_at(words, 0).taken
    for row in range(inserted):
        if delta.inserted[row] != NO_EDGE:
            taken[delta.inserted[row] >> 3] = 0
    for row in range(deleted):
        if delta.deleted[row] != NO_EDGE:
            taken[delta.deleted[row] >> 3] = 0


@inner_kernel
def matching_edge(words: Int64, batch: Batch, ends: tuple[int, int], row: int, alive: bool) -> int:
    """The first edge that matches a row and that no row before it has taken: a look through the
    live (or the other) entries of the shorter of two slabs.
    """
    graph, (source, target) = known_at(words, 0).graph, ends
    if length(graph.out, source, alive) <= length(graph.into, target, alive):
        return search(words, graph.out, (source, target), (batch, row), alive)
    return search(words, graph.into, (target, source), (batch, row), alive)


@joined_kernel
def length(slabs: Slabs, end: int, alive: bool) -> int:
    """How many entries of a slab could match."""
    return int(slabs.live[end] if alive else slabs.used[end] - slabs.live[end])


@inner_kernel
def search(
    words: Int64, slabs: Slabs, ends: tuple[int, int], wanted: tuple[Batch, int], alive: bool
) -> int:
    """The first entry of a slab that matches."""
    (end, other), (batch, row) = ends, wanted
    taken = known_at(words, 0).taken
    first = slabs.start[end] + (0 if alive else slabs.live[end])
    for place in range(first, first + length(slabs, end, alive)):
        if slabs.neighbour[place] == other:
            edge = slabs.edge[place]
            free = (taken[edge >> 3] >> np.uint8(edge & 7)) & 1 == 0
            if free and same_properties(words, batch, edge, row, alive):
                return int(edge)
    return NO_EDGE


@inner_kernel
def same_properties(words: Int64, batch: Batch, edge: int, row: int, gone: bool) -> bool:
    """Whether an edge has what a row gives."""
    for at in range(len(batch.of) if gone else len(batch.types)):
        column = batch.of[at] if gone else at
        word = batch.gone[at, row] if gone else batch.values[at, row]
        if not same_value(words, COLUMNS + column, batch.types[column], edge, word):
            return False
    return True


@joined_kernel
def same_value(words: Int64, place: int, kind: int, edge: int, word: int) -> bool:
    """A missing number is the same as a missing number, and 0.0 the same as -0.0."""
    if kind == TRUTH:
        return bool(array_at(words, place, np.bool_)[edge] == (word != 0))
    known = array_at(words, place, np.int64)[edge]
    if known == word or kind == WHOLE:
        return bool(known == word)
    zeros = (known | word) & LARGEST == 0
    return zeros or (is_missing(known) and is_missing(word))


LARGEST = np.int64(0x7FFFFFFFFFFFFFFF)
INFINITY = np.int64(0x7FF0000000000000)


@joined_kernel
def is_missing(word: int) -> bool:
    """Whether the bits of a float say that it is no number."""
    return bool(word & LARGEST > INFINITY)


@inner_kernel
def append_rows(words: Int64, batch: Batch, delta: Delta, progress: Int64) -> bool:
    """Make edges of the rows that have none yet; False where a pool is full."""
    known = known_at(words, 0)
    for row in range(progress[ROW], len(batch.src)):
        progress[ROW] = row
        if row + NEAR < len(batch.src):
            ask_for_place(known.graph.out, delta.sources[row + NEAR])
            ask_for_place(known.graph.into, delta.targets[row + NEAR])
        if delta.inserted[row] != NO_EDGE:
            continue
        source, target = delta.sources[row], delta.targets[row]
        if not make_room(known.graph.out, source, known.tops, OUT):
            return False
        if not make_room(known.graph.into, target, known.tops, INTO):
            return False
        edge = progress[FIRST] + progress[APPENDED]
        append_entry(known.graph.out, source, target, edge)
        append_entry(known.graph.into, target, source, edge)
        for column in range(len(batch.types)):
            put_value(words, COLUMNS + column, batch.types[column], edge, batch.values[column, row])
        delta.inserted[row] = edge
        progress[APPENDED] += 1
    return True


@joined_kernel
def ask_for_place(slabs: Slabs, end: int) -> None:
    """Ask for the place behind the last entry of a slab, whose borders have been looked at."""
    place = slabs.start[end] + slabs.used[end]
    prefetch(slabs.room, end)
    prefetch(slabs.neighbour, place)
    prefetch(slabs.edge, place)


@joined_kernel
def put_value(words: Int64, place: int, kind: int, edge: int, word: int) -> None:
    """Give an edge a property."""
    if kind == TRUTH:
        array_at(words, place, np.bool_)[edge] = word != 0
    else:
        array_at(words, place, np.int64)[edge] = word


@bare_kernel
def find_parallel(words: Int64, delta: Delta, parallel: NDArray[np.bool_]) -> None:
    """Which inserted edges have another live edge beside them, between the same ends."""
    graph = known_at(words, 0).graph
    for at in range(len(delta.inserted)):
        source, target = delta.sources[at], delta.targets[at]
        if graph.out.live[source] <= graph.into.live[target]:
            parallel[at] = has_other(graph.out, source, target, delta.inserted[at])
        else:
            parallel[at] = has_other(graph.into, target, source, delta.inserted[at])


@inner_kernel
def has_other(slabs: Slabs, end: int, other: int, edge: int) -> bool:
    """Whether a slab has a live entry for the same neighbour but another edge."""
    first = slabs.start[end]
    for place in range(first, first + slabs.live[end]):
        if slabs.neighbour[place] == other and slabs.edge[place] != edge:
            return True
    return False
