"""What a run in rounds is given and works with, and who takes part in a round.

A round is gather, update, pass on: over all vertices that a worker owns, or over those that a
change reaches. One thread that has the whole graph runs it as one range; several threads have a
range each; a superstep is a range over a task's own vertices, with mirrors of others behind them.
The loops are `engine/templates/phases.py`, the same for one version and for several in lanes.

Records are here and not in the generated modules so that all programs share them: a call with
records of another class of the same shape takes Numba's slow way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Partition, Rows
from graphtide.kernels.jit import bare_kernel, inner_kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

ITERATION, GOING, CHANGED, MOVES, PENDING, GATHERED = range(6)
WANTED_ROWS, WANTED_PLACES, HEARING, RESTLESS, PROGRESS = range(6, 11)
"""Places in `Course.progress`: the last iteration that was run; the set of lanes that go on; how
many vertices changed in that iteration (or EVERYBODY), and how many moved; who took part in one
that is still to be recorded; how many edges were looked at; what room recording lacks; how many
vertices hear anything, -1 before they are listed, and how many of the others changed when they
last took part; and how many places there are."""

NOBODY, EVERYBODY = -2, -1
"""Instead of the number of vertices on a list."""


class Words(NamedTuple):
    """Rows of eight-byte words; both arrays are the same memory."""

    real: Float64
    whole: Int64


class RoundWork(NamedTuple):
    """What a run works with: rows of states, sums and parcels, and lists of vertices.

    `mark` is the last iteration in which a vertex was listed. `hearing` are those that an edge
    leads to; it has room for one more than there are. `partition` leads to those who are told.
    """

    states: Words
    sums: Words
    parcels: Words
    listed: Int32
    changed: Int32
    mark: Int32
    hearing: Int32
    partition: Partition


class Course(NamedTuple):
    """Up to which iteration to run, when to stop, and what to record.

    A patient run does not stop where nothing moves. A list of those who take part is given up
    after looking at `most` edges. `room` is a place in rows that belongs to no vertex. `counts`
    gets how many vertices moved in each iteration.
    """

    last: int
    tolerance: float
    patient: bool
    most: int
    room: int
    record: int
    counts: Int64
    progress: Int64


class VertexRange(NamedTuple):
    """A part of all vertices, or of a list of them: numbers `first` to `stop` - 1.

    `place` is where this part, and no other, has room of its own.
    """

    first: int
    stop: int
    everybody: bool
    place: int


class Round(NamedTuple):
    """The iteration that is run, the lanes that go on, and the share of itself that is no move."""

    iteration: int
    going: int
    tolerance: float


@inner_kernel
def list_along(rows: Rows, work: RoundWork, vertex: int, size: int, iteration: int) -> int:
    """List those that an edge from a vertex leads to and that are not listed yet."""
    for position in range(np.uint64(rows.start[vertex]), np.uint64(rows.stop[vertex])):
        target = rows.neighbour[position]
        if work.mark[target] != iteration:
            work.mark[target] = iteration
            work.listed[size] = target
            size += 1
    return size


@bare_kernel
def list_targets(
    work: RoundWork, changed: int, iteration: int, ways: tuple[bool, bool], most: int
) -> int:
    """List the own vertices that changed and those that the changed tell; returns how many.

    EVERYBODY beyond a quarter of the own vertices, or once `most` edges were looked at: all may as
    well gather then. `ways` are whether messages go along edges, and against them.
    """
    own, size, looked = work.partition.own, 0, np.int64(0)
    out, into = work.partition.out, work.partition.into
    for number in range(changed):
        vertex = work.changed[number]
        if vertex < own and work.mark[vertex] != iteration:
            work.mark[vertex] = iteration
            work.listed[size] = vertex
            size += 1
        if ways[0]:
            size = list_along(out, work, vertex, size, iteration)
            looked += np.int64(out.stop[vertex]) - np.int64(out.start[vertex])
        if ways[1]:
            size = list_along(into, work, vertex, size, iteration)
            looked += np.int64(into.stop[vertex]) - np.int64(into.start[vertex])
        if 4 * size > own or looked > most:
            return EVERYBODY
    return size


def empty_words(count: int) -> Words:
    """So many words, all 0."""
    real = np.zeros(count, np.float64)
    return Words(real, real.view(np.int64))
