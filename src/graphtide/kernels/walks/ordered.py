"""Rows of edges in the order of a property, so that a walk visits a range of them.

For a property that walks bound, each vertex has two rows, of its out-edges and of its in-edges,
sorted by the property and then by number. An entry is one word, the edge above the neighbour. Rows
lie in a pool, each with some room behind it and a gap before it. A row that is full slides into its
gap, or moves to a larger room. An edge whose property is NaN satisfies no bound and is in no row.

While a batch is followed, rows hold what came and what left: marks of edges tell the two versions
apart (`records`).

Edges come and go in runs: what goes to one vertex and rises is merged in, or taken out, in one pass
over the entries behind the first. Whatever the order, rows are right; whoever gives edges by vertex
and property pays for each row once. The highest edge that ever was in a row is remembered, since a
version has nothing in a range that begins above it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.intrinsics import NEAR, prefetch
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.walks.records import Int32, Int64, Ordered, walking_at

SHIFT = np.int64(32)
NEIGHBOUR = np.int64(0xFFFFFFFF)
OUT_ROW, INTO_ROW = 0, 1
ROOM_BEGIN, BEGIN, END, ROOM_END = range(4)
BOUNDS = 4
"""What `Ordered.bounds` says of a row, and how many words that takes."""
TOP, MOVED, MOST, LACKING, FREE_ROOMS = range(5)
"""What `Ordered.pool` holds: words of the pool in use, words that the last call moved, and how many
it may move before it gives the rest of its edges back to be sorted; how many words it looked for in
vain, or 0; then, for each power of two, one more than where a free room of at least so many words
begins, or 0. A free room's first word leads to the next in the same way."""
POOL_WORDS = FREE_ROOMS + 40


@joined_kernel
def word_of(edge: int, neighbour: int) -> Any:
    return (np.int64(edge) << SHIFT) | np.int64(neighbour)


@joined_kernel
def row_bounds(ordered: Ordered, row: int) -> Any:
    return ordered.bounds[BOUNDS * row + BEGIN], ordered.bounds[BOUNDS * row + END]


def room_for(entries: int) -> int:
    """The room that a row of so many entries gets when it moves: a power of two."""
    room = 2
    while room * 7 < entries * 8:
        room *= 2
    return room


_room_for = joined_kernel(room_for)


@joined_kernel
def kind_of(room: int) -> int:
    """Which power of two words a room has at least."""
    kind = 0
    while 2 << kind <= room:
        kind += 1
    return kind


@joined_kernel
def take_room(ordered: Ordered, room: int) -> Any:
    """Where a room of a power of two words begins from now on; -1 where the pool has none."""
    pool, kind = ordered.pool, FREE_ROOMS + kind_of(room)
    if pool[kind] > 0:
        begin = pool[kind] - 1
        pool[kind] = ordered.entries[begin]
        return begin
    if pool[TOP] + room > len(ordered.entries):
        pool[LACKING] = room
        return np.int64(-1)
    pool[TOP] += room
    return pool[TOP] - room


@joined_kernel
def give_room(ordered: Ordered, begin: int, room: int) -> None:
    """Put a room on the list of free ones."""
    if room > 0:
        kind = FREE_ROOMS + kind_of(room)
        ordered.entries[begin] = ordered.pool[kind]
        ordered.pool[kind] = begin + 1


@joined_kernel
def find_place(ordered: Ordered, row: tuple[int, int], keys: Any, edge: int) -> Any:
    """Where an edge stands, or would stand, between two entries of a row.

    Looks from the end: what comes last is usually the latest.
    """
    begin, high = row
    low, step, key = begin, 1, keys[edge]
    while high - step >= begin:
        if is_before(ordered.entries[high - step] >> SHIFT, keys, key, edge):
            low = high - step + 1
            break
        high -= step
        step *= 2
    while low < high:
        middle = (low + high) >> 1
        if is_before(ordered.entries[middle] >> SHIFT, keys, key, edge):
            low = middle + 1
        else:
            high = middle
    return low


@joined_kernel
def is_before(one: int, keys: Any, key: Any, edge: int) -> bool:
    """True if an edge stands before another one, whose property is `key`."""
    return bool(keys[one] < key or (keys[one] == key and one < edge))


@joined_kernel
def run_end(keys: Any, edges: Int32, ends: Int32, first: int) -> int:
    """The end of the run that begins at a place: one vertex, and rising."""
    at = first + 1
    while at < len(edges) and ends[at] == ends[first]:
        if not is_before(edges[at - 1], keys, keys[edges[at]], edges[at]):
            break
        at += 1
    return at


@inner_kernel
def enter_edges(
    ordered: Ordered, keys: Any, edges: Int32, ends: tuple[Int32, Int32], which: tuple[int, int]
) -> int:
    """Take edges into the rows of their near ends; how many were taken.

    `ends` are near and far ends, `which` the number of a vertex's rows and that of the one meant.
    Fewer than all are taken where the pool has no room, or too much was moved.
    """
    near, far = ends
    at = 0
    while at < len(edges):
        if at + NEAR < len(edges):
            ask_for_row(ordered, near[at + NEAR] * which[0] + which[1])
        if keys[edges[at]] != keys[edges[at]]:
            at += 1
            continue
        end = run_end(keys, edges, near, at)
        row = near[at] * which[0] + which[1]
        single = end == at + 1 and not is_full(ordered, row)
        if single and belongs_last(ordered, row, keys, edges[at]):
            put_last(ordered, row, word_of(edges[at], far[at]))
            at = end
            continue
        if ordered.pool[MOVED] > ordered.pool[MOST] or not make_room(ordered, row, end - at):
            return at
        merge_run(ordered, row, keys, (edges[at:end], far[at:end]))
        at = end
    return at


@joined_kernel
def belongs_last(ordered: Ordered, row: int, keys: Any, edge: int) -> bool:
    """Whether an edge comes behind all entries of a row."""
    begin, end = row_bounds(ordered, row)
    if begin == end:
        return True
    return is_before(ordered.entries[end - 1] >> SHIFT, keys, keys[edge], edge)


@joined_kernel
def ask_for_row(ordered: Ordered, row: int) -> None:
    """Prefetch the bounds of a row."""
    prefetch(ordered.bounds, BOUNDS * row)


@joined_kernel
def is_full(ordered: Ordered, row: int) -> bool:
    at = BOUNDS * row
    return bool(ordered.bounds[at + END] == ordered.bounds[at + ROOM_END])


@joined_kernel
def put_last(ordered: Ordered, row: int, word: int) -> None:
    """Put an entry behind a row that is not full."""
    at = BOUNDS * row + END
    ordered.entries[ordered.bounds[at]] = word
    ordered.bounds[at] += 1


@inner_kernel
def make_room(ordered: Ordered, row: int, more: int) -> bool:
    """Have room behind a row for so many more entries; False where the pool has none."""
    bounds, at = ordered.bounds, BOUNDS * row
    before, begin, end = bounds[at + ROOM_BEGIN], bounds[at + BEGIN], bounds[at + END]
    room = bounds[at + ROOM_END] - before
    if end + more <= bounds[at + ROOM_END]:
        return True
    if (end - begin + more) * 8 <= room * 7:
        place = before
        shift_entries(ordered, begin, end, place - begin)
    else:
        wanted = _room_for(end - begin + more)
        place = take_room(ordered, wanted)
        if place < 0:
            return False
        bounds[at + ROOM_BEGIN], bounds[at + ROOM_END] = place, place + wanted
        shift_entries(ordered, begin, end, place - begin)
        give_room(ordered, before, room)
    bounds[at + BEGIN], bounds[at + END] = place, place + end - begin
    return True


@joined_kernel
def shift_entries(ordered: Ordered, begin: int, end: int, by: int) -> None:
    """Move entries to the left or to the right."""
    entries = ordered.entries
    ordered.pool[MOVED] += end - begin
    if by < 0:
        for place in range(begin, end):
            entries[place + by] = entries[place]
    elif by > 0:
        for place in range(end - 1, begin - 1, -1):
            entries[place + by] = entries[place]


@inner_kernel
def merge_run(ordered: Ordered, row: int, keys: Any, run: tuple[Int32, Int32]) -> None:
    """Merge edges that rise into a row that has room for them, the last one first."""
    edges, neighbours = run
    begin, end = row_bounds(ordered, row)
    ordered.bounds[BOUNDS * row + END] += len(edges)
    for at in range(len(edges) - 1, -1, -1):
        place = find_place(ordered, (begin, end), keys, edges[at])
        shift_entries(ordered, place, end, at + 1)
        ordered.entries[place + at] = word_of(edges[at], neighbours[at])
        end = place


@inner_kernel
def leave_edges(
    ordered: Ordered, keys: Any, edges: Int32, near: Int32, which: tuple[int, int]
) -> int:
    """Take edges out of the rows of their near ends; how many, unless too much was moved."""
    at = 0
    while at < len(edges):
        if keys[edges[at]] != keys[edges[at]]:
            at += 1
            continue
        if ordered.pool[MOVED] > ordered.pool[MOST]:
            return at
        end = run_end(keys, edges, near, at)
        take_out_run(ordered, near[at] * which[0] + which[1], keys, edges[at:end])
        at = end
    return at


@inner_kernel
def take_out_run(ordered: Ordered, row: int, keys: Any, edges: Int32) -> None:
    """Take edges that rise out of a row, closing up towards the end that is nearer."""
    begin, end = row_bounds(ordered, row)
    first = find_place(ordered, (begin, end), keys, edges[0])
    last = find_place(ordered, (begin, end), keys, edges[len(edges) - 1])
    if last - begin < end - first:
        top = end
        for at in range(len(edges) - 1, -1, -1):
            place = find_place(ordered, (begin, top), keys, edges[at])
            if at < len(edges) - 1:
                shift_entries(ordered, place + 1, top, len(edges) - 1 - at)
            top = place
        shift_entries(ordered, begin, top, len(edges))
        begin += len(edges)
    else:
        bottom = first
        for at in range(len(edges)):
            place = find_place(ordered, (bottom, end), keys, edges[at])
            shift_entries(ordered, bottom, place, -at)
            bottom = place + 1
        shift_entries(ordered, bottom, end, -len(edges))
        end -= len(edges)
    if begin == end:
        begin = end = ordered.bounds[BOUNDS * row + ROOM_BEGIN]
    ordered.bounds[BOUNDS * row + BEGIN], ordered.bounds[BOUNDS * row + END] = begin, end


@bare_kernel
def move_rows(words: Int64, entries: Int64, rows: int) -> None:
    """Take all rows over to another pool, one behind the other, without rooms that are free."""
    ordered, top = walking_at(words, 0).ordered, np.int64(0)
    ordered.pool[FREE_ROOMS:] = 0
    for row in range(rows):
        begin, end = row_bounds(ordered, row)
        size = end - begin
        for at in range(size):
            entries[top + at] = ordered.entries[begin + at]
        set_bounds(ordered, row, (top, top + size, top + size + size // 8))
        top += size + size // 8
    ordered.pool[TOP] = top


@joined_kernel
def set_bounds(ordered: Ordered, row: int, places: tuple[Any, Any, Any]) -> None:
    """Say where a row begins, without a gap, and where its entries and its room end."""
    begin, end, room_end = places
    at = BOUNDS * row
    ordered.bounds[at + ROOM_BEGIN], ordered.bounds[at + BEGIN] = begin, begin
    ordered.bounds[at + END], ordered.bounds[at + ROOM_END] = end, room_end


@bare_kernel
def lay_rows(words: Int64, row_count: int, number: int) -> None:
    """Give every vertex rows with room for its live edges and some more, behind those laid before.

    There must be room in the pool: `rows_take` words.
    """
    walking = walking_at(words, 0)
    ordered, graph = walking.ordered, walking.graph
    for vertex in range(len(graph.out.live)):
        for side in range(2):
            live = graph.out.live[vertex] if side == OUT_ROW else graph.into.live[vertex]
            row = vertex * row_count + 2 * number + side
            top = ordered.pool[TOP]
            set_bounds(ordered, row, (top, top, top + live + live // 8))
            ordered.pool[TOP] += live + live // 8


NOBODY = -1
"""The highest edge where none ever was in a row."""


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
