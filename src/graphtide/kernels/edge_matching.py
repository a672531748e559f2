"""Rows matched with edges, each with one of its own: by their ends, and by properties if given.

A row costs a look through the live (or the other) entries of one of the two slabs that could hold
it, the shorter one. Properties are compared by address, column by column, so that one kernel
serves graphs of every shape.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.adjacency import Slabs
from graphtide.kernels.blocks import array_at
from graphtide.kernels.graph_records import COLUMNS, known_at
from graphtide.kernels.jit import inner_kernel, joined_kernel, kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

NO_EDGE = -1
WHOLE, REAL, TRUTH = 0, 1, 2
"""The types that a property can have: int64, float64, bool."""


class Given(NamedTuple):
    """Rows to be matched: `columns` is a block of their properties, `of` says which column of the
    graph each is, and `types` the type that both have.
    """

    src: Int32
    dst: Int32
    columns: Int64
    of: Int64
    types: Int64


@kernel
def match_rows(words: Int64, given: Given, alive: bool, found: Int32) -> int:
    """For each row a live edge (or one that is known and not live), NO_EDGE where there is none.

    `words` is the block of a `KnownGraph` and its columns. Equal rows get different edges. Returns
    how many rows have none.
    """
    taken = known_at(words, 0).taken
    missing = 0
    for row in range(len(given.src)):
        edge = matching_edge(words, given, row, alive)
        found[row] = edge
        if edge == NO_EDGE:
            missing += 1
        else:
            taken[edge >> 3] |= np.uint8(1 << (edge & 7))
    for row in range(len(found)):
        if found[row] != NO_EDGE:
            taken[found[row] >> 3] = 0
    return missing


@inner_kernel
def matching_edge(words: Int64, given: Given, row: int, alive: bool) -> int:
    """The first edge that matches a row and no row before it has taken."""
    graph = known_at(words, 0).graph
    source, target = given.src[row], given.dst[row]
    if max(source, target) >= len(graph.out.live):
        return NO_EDGE
    if length(graph.out, source, alive) <= length(graph.into, target, alive):
        return search(words, graph.out, (source, target), (given, row), alive)
    return search(words, graph.into, (target, source), (given, row), alive)


@joined_kernel
def length(slabs: Slabs, end: int, alive: bool) -> int:
    """How many entries of a slab could match."""
    return int(slabs.live[end] if alive else slabs.used[end] - slabs.live[end])


@inner_kernel
def search(
    words: Int64, slabs: Slabs, ends: tuple[int, int], wanted: tuple[Given, int], alive: bool
) -> int:
    """The first entry of a slab that matches."""
    end, other = ends
    given, row = wanted
    taken = known_at(words, 0).taken
    first = slabs.start[end] + (0 if alive else slabs.live[end])
    for place in range(first, first + length(slabs, end, alive)):
        if slabs.neighbour[place] == other:
            edge = slabs.edge[place]
            free = (taken[edge >> 3] >> np.uint8(edge & 7)) & 1 == 0
            if free and same_properties(words, edge, given, row):
                return int(edge)
    return NO_EDGE


@inner_kernel
def same_properties(words: Int64, edge: int, given: Given, row: int) -> bool:
    """Whether an edge has what a row gives; a missing number is the same as a missing number."""
    for column in range(len(given.of)):
        place = COLUMNS + given.of[column]
        if given.types[column] == WHOLE:
            same = (
                array_at(words, place, np.int64)[edge]
                == (array_at(given.columns, column, np.int64)[row])
            )
        elif given.types[column] == TRUTH:
            same = (
                array_at(words, place, np.bool_)[edge]
                == (array_at(given.columns, column, np.bool_)[row])
            )
        else:
            known = array_at(words, place, np.float64)[edge]
            asked = array_at(given.columns, column, np.float64)[row]
            same = known == asked or (known != known and asked != asked)
        if not same:
            return False
    return True
