"""Edges that come in the order of their property, as times do: put behind both their rows.

Where times rise, an edge that comes has a higher property than any before it, at whatever vertex.
So the highest edge of all that ever were in a row is remembered, and one that is higher is put
behind its rows without a look at their entries. Terms of walks ask for the highest edge as well: a
version has nothing in a range that begins above it (`engine/walks/ranges`).

An edge that has left may stay the highest. What must hold is that no row has a higher one, and that
the number still is that edge's: whoever undoes a batch puts the one before it back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.prefetch import MIDDLE, NEAR, prefetch
from graphtide.kernels.walks.ordered import (
    BOUNDS,
    END,
    INTO_ROW,
    OUT_ROW,
    ask_for_row,
    belongs_last,
    is_before,
    is_full,
    make_room,
    put_last,
    word_of,
)
from graphtide.kernels.walks.records import Int32, Ordered

NOBODY = -1
"""The highest edge where none ever was in a row."""


@inner_kernel
def append_edges(
    ordered: Ordered, keys: Any, edges: Int32, ends: tuple[Int32, Int32], which: tuple[int, int]
) -> int:
    """Put edges behind both their rows, up to the first that belongs elsewhere; how many.

    `which` is the number of a vertex's rows and that of the property. Who is higher than the
    highest of all comes last in any row, and nobody looks at its entries. Fewer are taken also
    where the pool has no room.
    """
    (sources, targets), (rows, number) = ends, which
    out_row, into_row = 2 * number + OUT_ROW, 2 * number + INTO_ROW
    for at in range(len(edges)):
        if at + MIDDLE < len(edges):
            ask_for_row(ordered, sources[at + MIDDLE] * rows + out_row)
            ask_for_row(ordered, targets[at + MIDDLE] * rows + into_row)
        if at + NEAR < len(edges):
            ask_for_end(ordered, sources[at + NEAR] * rows + out_row)
            ask_for_end(ordered, targets[at + NEAR] * rows + into_row)
        edge, key = edges[at], keys[edges[at]]
        if key != key:
            continue
        out, into = sources[at] * rows + out_row, targets[at] * rows + into_row
        if not is_highest(ordered, number, keys, edge) and not (
            belongs_last(ordered, out, keys, edge) and belongs_last(ordered, into, keys, edge)
        ):
            return at
        if is_full(ordered, out) and not make_room(ordered, out, 1):
            return at
        if is_full(ordered, into) and not make_room(ordered, into, 1):
            return at
        put_last(ordered, out, word_of(edge, targets[at]))
        put_last(ordered, into, word_of(edge, sources[at]))
        note_extent(ordered, number, keys, edge)
    return len(edges)


@joined_kernel
def ask_for_end(ordered: Ordered, row: int) -> None:
    """Ask for the place behind the last entry of a row."""
    prefetch(ordered.entries, ordered.bounds[BOUNDS * row + END])


@joined_kernel
def is_highest(ordered: Ordered, number: int, keys: Any, edge: int) -> bool:
    """Whether an edge, whose property is no NaN, comes behind all that ever were in a row."""
    highest = ordered.highest[number]
    return bool(highest == NOBODY or is_before(highest, keys, keys[edge], edge))


@joined_kernel
def note_extent(ordered: Ordered, number: int, keys: Any, edge: int) -> None:
    """Remember how far from 0 the property of any edge was, and which has the last place of all."""
    size = abs(np.float64(keys[edge]))
    if size > ordered.widest[number]:
        ordered.widest[number] = size
    if size == size and is_highest(ordered, number, keys, edge):
        ordered.highest[number] = edge
