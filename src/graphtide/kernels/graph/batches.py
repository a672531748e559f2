"""A batch of rows brought into a graph in one call: found, matched, appended and flipped.

    1  the ids of both ends are looked up
    2  rows are matched with edges that are known, each with one of its own (`matching`)
    3  inserted rows that found none become new edges
    4  all of them are flipped

A batch that cannot be brought in as a whole changes nothing, and the delta tells which rows have no
vertex or no edge. Properties are handed over as words of 64 bits, whatever their type, so that one
kernel serves graphs of every shape.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import array_at
from graphtide.kernels.graph.adjacency import Adjacency, Slabs
from graphtide.kernels.graph.appending import (
    DIRECTED,
    INTO,
    OUT,
    append_entry,
    append_into,
    has_room,
)
from graphtide.kernels.graph.flips import Delta, flip_delta
from graphtide.kernels.graph.id_tables import find_ids
from graphtide.kernels.graph.matching import (
    DST,
    FIRST_WORD,
    NO_EDGE,
    SRC,
    Batch,
    ask_for_borders,
    give_back,
    match_rows,
)
from graphtide.kernels.graph.pair_tables import enter_pair, pair_hash
from graphtide.kernels.graph.records import COLUMNS, TRUTH, KnownGraph, known_at
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.prefetch import FAR, NEAR, prefetch

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

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
    taken, alive, missing = known_at(words, 0).taken, progress[ROW] < 0, 0
    # `alive` is True, but no constant: for each of those, all would be compiled anew.
    if batch.gone.shape[1] > 0:
        missing = match_rows(words, batch, delta, progress, alive)
    if missing == 0 and batch.come.shape[1] > 0:
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
    """Give an edge a property."""
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
    """Whether another live edge leads from one vertex to another."""
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
