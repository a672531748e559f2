"""Two runs of a walk program side by side, round by round: of the version before, and of this one.

The history of a vertex has a row for each round in which its state or what it was sent differs from
the round before (`kernels/synchronous/row_histories`). A history that is about to change is set
apart, so that both runs can be read: the old one where it lay, the new one as far as the round at
hand. A run that stands still says the same in all rounds behind its end.

Invariant, before round r is sent: all histories are those of the new run up to round r - 1, and
`differing` lists the vertices whose state of round r - 1 is not the same in both runs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.synchronous.histories import (
    CAPACITY,
    COUNT,
    OLD_COUNT,
    OLD_START,
    PLACE,
    ROOM,
    START,
    VERTEX,
    Int32,
    Int64,
    RowHistories,
    lacks_rows,
    row_as_of,
)
from graphtide.kernels.synchronous.histories import Touched as SetApart
from graphtide.kernels.walks.records import (
    OLD,
    STATE_WIDTH,
    SUMS_WIDTH,
    TOUCHED,
    Walking,
    walking_at,
)

ROUND, DIFFERING, CARRIED, EVALUATED, MOVES, SHIFTS, WANTED, PROGRESS = 0, 1, 2, 3, 4, 5, 6, 7
"""Places in `Rounds.progress`: the round at hand, the lengths of two lists, how many vertices of it
are evaluated, by how many more vertices move in it, or have other words, than in the old run, how
many rows are lacking; and how many places there are."""


class WalkRounds(NamedTuple):
    """Histories, those that were set apart, and two lists of the round before: vertices whose state
    differs from the old run, and vertices whose row does.
    """

    histories: RowHistories
    apart: SetApart
    differing: Int32
    carried: Int32
    progress: Int64


@joined_kernel
def old_history(rounds: WalkRounds, vertex: int) -> tuple[int, int]:
    """The first row of a vertex in the run of the version before, and how many there are."""
    line = rounds.histories.line
    place = line[vertex, PLACE]
    if place >= 0:
        return rounds.apart.note[place, OLD_START], rounds.apart.note[place, OLD_COUNT]
    return line[vertex, START], line[vertex, COUNT]


@joined_kernel
def state_place(rounds: WalkRounds, vertex: int, upto: int, width: int) -> Any:
    """Where the state of a vertex stands that walks of the round at hand read, in either run."""
    line = rounds.histories.line
    start, count = line[vertex, START], line[vertex, COUNT]
    if upto == OLD:
        start, count = old_history(rounds, vertex)
    return row_as_of(rounds.histories, start, count, rounds.progress[ROUND] - 1) * width


@joined_kernel
def state_differs(rounds: WalkRounds, vertex: int, width: int, offset: int, length: int) -> bool:
    """True if a field, as the walks of this round read it, differs from the old run."""
    line, whole, iteration = (
        rounds.histories.line,
        rounds.histories.whole,
        rounds.progress[ROUND] - 1,
    )
    start, count = old_history(rounds, vertex)
    old = row_as_of(rounds.histories, start, count, iteration) * width + offset
    start, count = line[vertex, START], line[vertex, COUNT]
    new = row_as_of(rounds.histories, start, count, iteration) * width + offset
    differs = False
    for step in range(length):
        differs = differs or whole[old + step] != whole[new + step]
    return differs


@joined_kernel
def reach(walking: Walking, rounds: WalkRounds, vertex: int) -> int:
    """The entry of a vertex in the round at hand; first it is given what the old run sent it."""
    touched, counts, histories = walking.touched, walking.counts, rounds.histories
    count = counts[TOUCHED]
    entry = touched.entry[vertex]
    if entry < count and touched.vertex[entry] == vertex:
        return int(entry)
    touched.entry[vertex] = count
    touched.vertex[count] = vertex
    touched.doubt[count] = 0
    state_width, width = counts[STATE_WIDTH], counts[SUMS_WIDTH]
    first, rows = old_history(rounds, vertex)
    row = row_as_of(histories, first, rows, rounds.progress[ROUND])
    source = row * (state_width + width) + state_width
    for at in range(width):
        walking.sums.whole[vertex * width + at] = histories.whole[source + at]
    counts[TOUCHED] = count + 1
    return int(count)


@joined_kernel
def load_state(walking: Walking, histories: RowHistories, vertex: int, source: int) -> None:
    """Copy the state that begins at a place of the pool to a vertex."""
    width = walking.counts[STATE_WIDTH]
    for at in range(width):
        walking.states.whole[vertex * width + at] = histories.whole[source + at]


@joined_kernel
def make_row(walking: Walking, histories: RowHistories, vertex: int) -> None:
    """Let row 0 of the pool, which is nobody's, be the state and the accumulators of a vertex."""
    state_width, width = walking.counts[STATE_WIDTH], walking.counts[SUMS_WIDTH]
    for at in range(state_width):
        histories.whole[at] = walking.states.whole[vertex * state_width + at]
    for at in range(width):
        histories.whole[state_width + at] = walking.sums.whole[vertex * width + at]


@inner_kernel
def lacks_room(rounds: WalkRounds, vertex: int) -> bool:
    """True if the pool, or the list of what was set apart, may be too short for one more row."""
    histories, progress = rounds.histories, rounds.progress
    progress[WANTED] = 3 * histories.line[vertex, COUNT] + 2 * ROOM
    full = rounds.apart.size[0] == len(rounds.apart.note)
    return full or lacks_rows(histories, progress[WANTED])


@bare_kernel
def begin_newcomers(words: Int64, histories: RowHistories, first: int) -> None:
    """Row 0 of vertices that came, as they are; there must be room for them.

    What follows of it is found in the rounds, with the edges that came along.
    """
    walking = walking_at(words, 0)
    width = walking.counts[STATE_WIDTH] + walking.counts[SUMS_WIDTH]
    for vertex in range(first, len(histories.line)):
        row = histories.used[0]
        histories.used[0] += 1
        histories.line[vertex, START], histories.line[vertex, PLACE] = row, -1
        histories.line[vertex, COUNT], histories.line[vertex, CAPACITY] = 1, 1
        histories.iteration[row] = 0
        make_row(walking, histories, vertex)
        for at in range(width):
            histories.whole[row * width + at] = histories.whole[at]


@bare_kernel
def settle_rounds(words: Int64, histories: RowHistories, apart: SetApart, old: Int64) -> int:
    """Let vertices whose histories were set apart have the state of their last row.

    Returns how many have another than before; a line of `old` is such a vertex, and its old state.
    """
    walking = walking_at(words, 0)
    state_width = walking.counts[STATE_WIDTH]
    width, size = state_width + walking.counts[SUMS_WIDTH], 0
    for place in range(apart.size[0]):
        vertex = apart.note[place, VERTEX]
        histories.line[vertex, PLACE] = -1
        last = (apart.note[place, OLD_START] + apart.note[place, OLD_COUNT] - 1) * width
        now = (histories.line[vertex, START] + histories.line[vertex, COUNT] - 1) * width
        load_state(walking, histories, vertex, now)
        old[size, 0], changed = vertex, False
        for at in range(state_width):
            old[size, at + 1] = histories.whole[last + at]
            changed = changed or histories.whole[last + at] != histories.whole[now + at]
        if changed:
            size += 1
    return size


@bare_kernel
def load_last(words: Int64, histories: RowHistories, apart: SetApart) -> None:
    """Copy the last state of their histories to the vertices that were set apart."""
    walking = walking_at(words, 0)
    width = walking.counts[STATE_WIDTH] + walking.counts[SUMS_WIDTH]
    for place in range(apart.size[0]):
        vertex = apart.note[place, VERTEX]
        last = histories.line[vertex, START] + histories.line[vertex, COUNT] - 1
        load_state(walking, histories, vertex, last * width)
