"""A batch of rows brought into a graph in one call: found, matched, appended and flipped.

    1  the ids of both ends are looked up
    2  rows are matched with edges that are known, each with one of its own
    3  inserted rows that found none become new edges
    4  all of them are flipped

A deleted row takes a live edge between its ends, whichever of them it names first where the graph
is undirected; an inserted one an edge that is known and not live; properties must be the same where
they are given. Edges are found in the table of pairs, O(1) a row, where there is one; otherwise,
and where too many edges are parallel, by a look through the shorter of two slabs. On RMAT 18 a look
takes 670 nanoseconds a deleted row, through slabs of 231 entries on average, and the table 170.

A batch that cannot be brought in as a whole changes nothing, and the delta tells which rows have no
vertex or no edge. Properties are handed over as words of 64 bits, whatever their type, so that one
kernel serves graphs of every shape.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import array_at
from graphtide.kernels.graph.adjacency import Adjacency, Slabs
from graphtide.kernels.graph.flips import (
    ALWAYS_NEW,
    COLUMNS,
    DIRECTED,
    INTO,
    OUT,
    REAL,
    TRUTH,
    Delta,
    KnownGraph,
    append_entry,
    append_into,
    flip_delta,
    has_room,
    known_at,
)
from graphtide.kernels.graph.hash_tables import (
    MOST,
    NONE,
    edge_in,
    enter_pair,
    find_ids,
    mark_of,
    pair_hash,
)
from graphtide.kernels.intrinsics import FAR, MIDDLE, NEAR, prefetch
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

NO_EDGE = -1
CROWDED = -2
"""No edge yet, but there are more than the table of pairs names."""

LINE = 16
"""So many entries of four bytes make a line of memory."""

SRC, DST, FIRST_WORD = range(3)
"""The lines of rows: ids of both ends, then a word for each property."""


class Batch(NamedTuple):
    """Rows as they are given, a line a column: those that come, and those that go.

    The first two lines are the ids of both ends. Rows that come have a line for each property of
    the graph, rows that go for each that they give, which is the one that `of` says.
    """

    come: Int64
    gone: Int64
    of: Int64


@inner_kernel
def match_rows(words: Int64, batch: Batch, delta: Delta, looked: Int64, alive: bool) -> int:
    """An edge for each row, of those that go where `alive`; returns how many have none (NO_EDGE).

    Marks the edges in `taken`. Adds to `looked[0]` how many entries of slabs it looked at.
    """
    known, edges = known_at(words, 0), delta.deleted if alive else delta.inserted
    first, missing = batch.come.shape[1] if alive else 0, 0
    last = first + len(edges)
    sources, targets = delta.sources[first:last], delta.targets[first:last]
    by_pairs = len(known.pairs) > 0
    if by_pairs:
        find_candidates(known, edges, sources, targets)
        ask_for_first(known, edges)
    for row in range(len(edges)):
        ends, edge = (sources[row], targets[row]), CROWDED
        if by_pairs:
            ask_for_edges(known, edges, row)
            edge = edges[row]
            if edge != NO_EDGE:
                edge = edge_of_pair(words, batch, ends, (edge, row), alive)
        else:
            ask_for_slabs(known, sources, targets, row, alive)
            if is_nothing_there(known.graph, ends, alive):
                edge = NO_EDGE
        if edge == CROWDED:
            edge = edge_of_slabs(words, batch, ends, (row, looked), alive)
        if edge == NO_EDGE and alive and known.tops[DIRECTED] == 0:
            edge = edge_the_other_way(words, batch, (ends[1], ends[0]), (row, looked), alive)
        edges[row] = edge
        if edge == NO_EDGE:
            missing += 1
        else:
            known.taken[edge >> 3] |= np.uint8(1 << (edge & 7))
    return missing


@inner_kernel
def find_candidates(known: KnownGraph, edges: Int32, sources: Int32, targets: Int32) -> None:
    """The first edge that has the mark of each row's ends, NO_EDGE where there is none."""
    pairs, count = known.pairs, len(edges)
    for row in range(min(NEAR, count)):
        prefetch(pairs, pair_hash(sources[row], targets[row]) & (len(pairs) - 1))
    for row in range(count):
        if row + NEAR < count:
            ahead = pair_hash(sources[row + NEAR], targets[row + NEAR])
            prefetch(pairs, ahead & (len(pairs) - 1))
        hashed = pair_hash(sources[row], targets[row])
        place, mark = hashed & (len(pairs) - 1), mark_of(hashed)
        while pairs[place] != NONE and (pairs[place] >> 32) != mark:
            place = (place + 1) & (len(pairs) - 1)
        edges[row] = NO_EDGE if pairs[place] == NONE else edge_in(pairs[place])
        prefetch(known.graph.out.start, sources[row])
        prefetch(known.graph.out.live, sources[row])


@joined_kernel
def ask_for_first(known: KnownGraph, edges: Int32) -> None:
    """Ask for what the first candidates need: a small batch has no others."""
    for row in range(min(MIDDLE, len(edges))):
        if edges[row] != NO_EDGE:
            prefetch(known.graph.out.slot, edges[row])
    for row in range(min(NEAR, len(edges))):
        if edges[row] != NO_EDGE:
            prefetch(known.graph.out.neighbour, known.graph.out.slot[edges[row]])


@joined_kernel
def ask_for_edges(known: KnownGraph, edges: Int32, row: int) -> None:
    """Ask ahead for where the candidates of rows to come stand."""
    out, count = known.graph.out, len(edges)
    if row + MIDDLE < count and edges[row + MIDDLE] != NO_EDGE:
        prefetch(out.slot, edges[row + MIDDLE])
        prefetch(known.graph.into.slot, edges[row + MIDDLE])
    if row + NEAR < count and edges[row + NEAR] != NO_EDGE:
        prefetch(out.neighbour, out.slot[edges[row + NEAR]])


@inner_kernel
def edge_of_pair(
    words: Int64, batch: Batch, ends: tuple[int, int], wanted: tuple[int, int], alive: bool
) -> int:
    """The first edge in the table that matches a row and that no row before it has taken.

    `wanted` is the first edge of the row's mark, and the row. CROWDED where the table does not
    name all edges.
    """
    (source, target), (candidate, row) = ends, wanted
    if is_match(words, batch, ends, (candidate, row), alive):
        return candidate
    pairs, hashed, same = known_at(words, 0).pairs, pair_hash(source, target), 0
    place, mark = hashed & (len(pairs) - 1), mark_of(hashed)
    while pairs[place] != NONE:
        if (pairs[place] >> 32) == mark:
            edge = edge_in(pairs[place])
            if is_match(words, batch, ends, (edge, row), alive):
                return edge
            same += 1
            if same == MOST:
                return CROWDED
        place = (place + 1) & (len(pairs) - 1)
    return NO_EDGE


@inner_kernel
def edge_the_other_way(
    words: Int64, batch: Batch, ends: tuple[int, int], wanted: tuple[int, Int64], alive: bool
) -> int:
    """The edge that a row names from its other end, in an undirected graph."""
    known, row = known_at(words, 0), wanted[0]
    if len(known.pairs) > 0:
        hashed = pair_hash(ends[0], ends[1])
        place, mark = hashed & (len(known.pairs) - 1), mark_of(hashed)
        while known.pairs[place] != NONE and (known.pairs[place] >> 32) != mark:
            place = (place + 1) & (len(known.pairs) - 1)
        if known.pairs[place] == NONE:
            return NO_EDGE
        edge = edge_of_pair(words, batch, ends, (edge_in(known.pairs[place]), row), alive)
        if edge != CROWDED:
            return int(edge)
    return int(edge_of_slabs(words, batch, ends, wanted, alive))


@inner_kernel
def is_match(
    words: Int64, batch: Batch, ends: tuple[int, int], wanted: tuple[int, int], alive: bool
) -> bool:
    """Whether an edge is between two vertices, live or not, free, and has what a row gives."""
    known, (source, target), (edge, row) = known_at(words, 0), ends, wanted
    out = known.graph.out
    first = out.start[source]
    border, slot = first + out.live[source], out.slot[edge]
    inside = first <= slot < border if alive else border <= slot < first + out.used[source]
    return (
        inside
        and out.neighbour[slot] == target
        and (known.taken[edge >> 3] >> np.uint8(edge & 7)) & 1 == 0
        and same_properties(words, batch, edge, row, alive)
    )


@joined_kernel
def ask_for_slabs(known: KnownGraph, sources: Int32, targets: Int32, row: int, alive: bool) -> None:
    """Ask ahead for where the slabs of rows to come are, and for the first entries to look at."""
    graph, rows = known.graph, len(sources)
    if row + FAR < rows:
        ask_for_borders(graph.out, sources[row + FAR])
        ask_for_borders(graph.into, targets[row + FAR])
    if row + NEAR < rows:
        source, target = sources[row + NEAR], targets[row + NEAR]
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


@inner_kernel
def edge_of_slabs(
    words: Int64, batch: Batch, ends: tuple[int, int], wanted: tuple[int, Int64], alive: bool
) -> int:
    """The first edge that matches a row and that no row before it has taken: a look through the
    live (or the other) entries of the shorter of two slabs. `wanted` is the row, and `looked`.
    """
    graph, (source, target), (row, looked) = known_at(words, 0).graph, ends, wanted
    shorter = length(graph.out, source, alive) <= length(graph.into, target, alive)
    if shorter or source == target:
        return search(words, graph.out, (source, target), (batch, row, looked), alive)
    return search(words, graph.into, (target, source), (batch, row, looked), alive)


@joined_kernel
def is_nothing_there(graph: Adjacency, ends: tuple[int, int], alive: bool) -> bool:
    """Whether one of two slabs has no entry that could match, as in graphs that only grow.

    Edges of sx-mathoverflow, a day at a time, then need no call with all arrays.
    """
    nothing = length(graph.into, ends[1], alive) == 0 and ends[0] != ends[1]
    return bool(length(graph.out, ends[0], alive) == 0 or nothing)


@joined_kernel
def length(slabs: Slabs, end: int, alive: bool) -> int:
    """How many entries of a slab could match."""
    return int(slabs.live[end] if alive else slabs.used[end] - slabs.live[end])


@inner_kernel
def search(
    words: Int64, slabs: Slabs, ends: tuple[int, int], wanted: tuple[Batch, int, Int64], alive: bool
) -> int:
    """The first entry of a slab that matches."""
    (end, other), (batch, row, looked) = ends, wanted
    taken = known_at(words, 0).taken
    first = slabs.start[end] + (0 if alive else slabs.live[end])
    last = first + length(slabs, end, alive)
    for place in range(first, last):
        if slabs.neighbour[place] == other:
            edge = slabs.edge[place]
            free = (taken[edge >> 3] >> np.uint8(edge & 7)) & 1 == 0
            if free and same_properties(words, batch, edge, row, alive):
                looked[0] += place - first
                return int(edge)
    looked[0] += last - first
    return NO_EDGE


@joined_kernel
def give_back(taken: NDArray[np.uint8], edges: Int32) -> None:
    for row in range(len(edges)):
        if edges[row] != NO_EDGE:
            taken[edges[row] >> 3] = 0


@inner_kernel
def same_properties(words: Int64, batch: Batch, edge: int, row: int, gone: bool) -> bool:
    types = known_at(words, 0).types
    for at in range(len(batch.of) if gone else len(types)):
        column = batch.of[at] if gone else at
        word = batch.gone[FIRST_WORD + at, row] if gone else batch.come[FIRST_WORD + at, row]
        if not same_value(words, COLUMNS + column, types[column], (edge, word), gone):
            return False
    return True


@joined_kernel
def same_value(words: Int64, place: int, kind: int, pair: tuple[int, int], gone: bool) -> bool:
    """Whether the value of an edge is that of a row; a missing number is the same as another.

    A row that goes names 0.0 and -0.0 alike, as they are equal. One that comes means its own: the
    inverse of 0.0 is inf, that of -0.0 -inf.
    """
    edge, word = pair
    if kind == TRUTH:
        return bool(array_at(words, place, np.bool_)[edge] == (word != 0))
    known = array_at(words, place, np.int64)[edge]
    if known == word or kind != REAL:
        return bool(known == word)
    zeros = gone and (known | word) & LARGEST == 0
    return zeros or (is_missing(known) and is_missing(word))


LARGEST = np.int64(0x7FFFFFFFFFFFFFFF)
INFINITY = np.int64(0x7FF0000000000000)


@joined_kernel
def is_missing(word: int) -> bool:
    """Whether the bits of a float say that it is no number."""
    return bool(word & LARGEST > INFINITY)


DONE, LACKING, UNKNOWN, MISSING = range(4)
"""How a batch ends: brought in; not yet, because a pool is full; not at all, because a row names a
vertex that is not there, or a deleted row an edge that is not there."""

LOOKED, ROW, APPENDED, FIRST = range(4)
"""How far a batch is: how many entries of slabs were looked at to match rows; the first inserted
row that may have no edge yet, -1 before rows are matched; how many edges were appended; and the
number of the first, which the caller gives."""


@bare_kernel
def bring_in(
    words: Int64,
    table: Int64,
    come: Int64,
    gone: Int64,
    of: Int64,
    inserted: Int32,
    deleted: Int32,
    sources: Int32,
    targets: Int32,
    progress: Int64,
) -> int:
    """Bring a batch in, or say why not; to be called again with more room where it is lacking.

    `words` is the block of a `KnownGraph`; `come`, `gone` and `of` are a `Batch`, and the four
    behind them a `Delta`. Edges of the delta that no rows stand for were given by their numbers.
    Numba takes four microseconds to see what a named tuple holds, and a tenth for an array.
    """
    batch, delta = Batch(come, gone, of), Delta(inserted, deleted, sources, targets)
    if progress[ROW] < 0:
        if find_all_ends(words, table, batch, delta) > 0:
            return UNKNOWN
        if match_all(words, batch, delta, progress) > 0:
            return MISSING
        progress[ROW] = 0
    if not append_rows(words, batch, delta, progress):
        return LACKING
    flip_delta(words, delta)
    return DONE


@joined_kernel
def find_all_ends(words: Int64, table: Int64, batch: Batch, delta: Delta) -> int:
    """The numbers of all ends, FREE where there is none; returns how many these are."""
    count, rows = len(known_at(words, 0).graph.out.live), batch.come.shape[1]
    missing = find_ids(table, count, batch.come[SRC], delta.sources)
    missing += find_ids(table, count, batch.come[DST], delta.targets)
    missing += find_ids(table, count, batch.gone[SRC], delta.sources[rows:])
    return missing + find_ids(table, count, batch.gone[DST], delta.targets[rows:])


@joined_kernel
def match_all(words: Int64, batch: Batch, delta: Delta, progress: Int64) -> int:
    """Edges for the rows that go, then for those that come; how many of the former have none."""
    known, alive, missing = known_at(words, 0), progress[ROW] < 0, 0
    taken = known.taken
    # `alive` is True, but no constant: for each of those, all would be compiled anew.
    if batch.gone.shape[1] > 0:
        missing = match_rows(words, batch, delta, progress, alive)
    if known.tops[ALWAYS_NEW] == 1:
        for row in range(batch.come.shape[1]):
            delta.inserted[row] = NO_EDGE
    elif missing == 0 and batch.come.shape[1] > 0:
        match_rows(words, batch, delta, progress, not alive)
        give_back(taken, delta.inserted)
    if batch.gone.shape[1] > 0:
        give_back(taken, delta.deleted)
    return missing


@inner_kernel
def append_rows(words: Int64, batch: Batch, delta: Delta, progress: Int64) -> bool:
    """Make edges of the rows that have none yet; False where a pool is full."""
    known, rows = known_at(words, 0), batch.come.shape[1]
    for row in range(progress[ROW], rows):
        progress[ROW] = row
        ask_for_places(known, delta, row, rows)
        if delta.inserted[row] != NO_EDGE:
            continue
        source, target = delta.sources[row], delta.targets[row]
        if not has_room(known.graph.out, source, target, known.tops, OUT):
            return False
        if not has_room(known.graph.into, target, source, known.tops, INTO):
            return False
        edge = progress[FIRST] + progress[APPENDED]
        append_entry(known.graph.out, source, target, edge)
        append_into(known.graph.into, target, source, edge, known.tops)
        for column in range(len(known.types)):
            word = batch.come[FIRST_WORD + column, row]
            put_value(words, COLUMNS + column, known.types[column], edge, word)
        if len(known.pairs) > 0:
            enter_pair(known.pairs, pair_hash(source, target), edge)
        delta.inserted[row] = edge
        progress[APPENDED] += 1
    return True


@joined_kernel
def ask_for_places(known: KnownGraph, delta: Delta, row: int, rows: int) -> None:
    """Ask ahead for what says where slabs end, then for the places behind their last entries."""
    if row + FAR < rows:
        ask_for_borders(known.graph.out, delta.sources[row + FAR])
        ask_for_borders(known.graph.into, delta.targets[row + FAR])
    if row + NEAR < rows:
        source, target = delta.sources[row + NEAR], delta.targets[row + NEAR]
        ask_for_place(known.graph.out, source)
        ask_for_place(known.graph.into, target)
        if len(known.pairs) > 0:
            prefetch(known.pairs, pair_hash(source, target) & (len(known.pairs) - 1))


@joined_kernel
def ask_for_place(slabs: Slabs, end: int) -> None:
    """Ask for the place behind the last entry of a slab."""
    place = slabs.start[end] + slabs.used[end]
    prefetch(slabs.room, end)
    prefetch(slabs.neighbour, place)
    prefetch(slabs.edge, place)


@joined_kernel
def put_value(words: Int64, place: int, kind: int, edge: int, word: int) -> None:
    if kind == TRUTH:
        array_at(words, place, np.bool_)[edge] = word != 0
    else:
        array_at(words, place, np.int64)[edge] = word


@bare_kernel
def find_parallel(words: Int64, delta: Delta, parallel: NDArray[np.bool_]) -> None:
    """Which inserted edges have another live edge beside them, between the same ends: from the one
    to the other, and in an undirected graph whichever way.
    """
    known = known_at(words, 0)
    undirected = known.tops[DIRECTED] == 0
    for at in range(len(delta.inserted)):
        source, target, edge = delta.sources[at], delta.targets[at], delta.inserted[at]
        parallel[at] = has_parallel(known.graph, source, target, edge)
        if undirected and not parallel[at]:
            parallel[at] = has_parallel(known.graph, target, source, edge)


@joined_kernel
def has_parallel(graph: Adjacency, source: int, target: int, edge: int) -> bool:
    if source == target or graph.out.live[source] <= graph.into.live[target]:
        return bool(has_other(graph.out, source, target, edge))
    return bool(has_other(graph.into, target, source, edge))


@inner_kernel
def has_other(slabs: Slabs, end: int, other: int, edge: int) -> bool:
    """Whether a slab has a live entry for the same neighbour but another edge."""
    first = slabs.start[end]
    for place in range(first, first + slabs.live[end]):
        if slabs.neighbour[place] == other and slabs.edge[place] != edge:
            return True
    return False
