"""What the synchronous kernels keep, work with and are given.

They are here and not in the generated modules so that all programs share them: a call with
records of another class of the same shape takes Numba's slow way.

The history of a vertex is a run of rows of words, one for each iteration in which they change: the
state after the iteration, then what was accumulated in it. Rows of all vertices lie in one pool.
What belongs to a vertex, or to a touched one, stands side by side in one line of an array, because
they are visited in no order and every array would be one more miss of the cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Adjacency

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

START, COUNT, CAPACITY, PLACE, LINE_WIDTH = 0, 1, 2, 3, 4
"""A line of `Histories.line`: first row, rows, rows there is room for, place among the touched
(or -1); and how long a line is."""

VERTEX, FLAGS, TICKET, OLD_START, OLD_COUNT, OLD_CAPACITY = 0, 1, 2, 3, 4, 5
OUT_DEGREE, IN_DEGREE, FRESH_OUT, FRESH_INTO, GONE_OUT, GONE_INTO, NOTE_WIDTH = (
    6, 7, 8, 9, 10, 11, 12,
)  # fmt: skip
"""A line of `Touched.note`: the vertex, flags, the last iteration it was put on the agenda for,
where its history lay, its degrees before the advance, how many of its live edges came with it,
where lists of those that left begin; and how long a line is."""

EVALUATE, SEND, WAITING, LOOKED, LONGEST, LAST = 0, 2, 4, 5, 6, 7
NOW, SENT, EVALUATED, MORE_ROWS, MORE_PLACES, BUDGET, SIZES = 8, 9, 10, 11, 12, 13, 14
"""Places in `Agenda.sizes`: two lists, two lists, the heap, edges looked at, the longest history
ever seen, the last iteration that counts. Then how far an advance is: the iteration, how many of
its lists are done, and what room it lacks. Then how many edges it may look at, and how many places
there are."""

DONE, LACKING, DEAR = 0, 1, 2
"""How a kernel left off: finished; it has to be called again with more room; too much work."""

ITERATION, ACTIVE, PENDING, GATHERED, WANTED_ROWS, WANTED_PLACES, PROGRESS = 0, 1, 2, 3, 4, 5, 6
"""Places in `Course.progress`: the last iteration that was run, how many vertices changed in it,
who was updated in one that is still to be recorded, how many edges were looked at, what room
recording lacks; and how many places there are."""
NOBODY, EVERYBODY = -2, -1
"""Instead of the number of vertices on a list."""


class Rows(NamedTuple):
    """Rows of eight-byte words; both arrays are the same memory."""

    real: Float64
    whole: Int64


class Context(NamedTuple):
    """What a program's functions read: the graph, a block of edge properties and parameters.

    `fault` says what went wrong, if anything did.
    """

    graph: Adjacency
    read: Int64
    fault: Int64


class Histories(NamedTuple):
    """`line` has a line a vertex; `used[0]` rows of the pool are taken.

    `slack` adds up the numbers that passed through a vertex's sums of floats: they bound the
    error of its corrections.
    """

    line: Int64
    slack: Float64
    iteration: Int32
    real: Float64
    whole: Int64
    used: Int64


class Touched(NamedTuple):
    """Vertices that an advance touched, a line of `note` each; `size[0]` of them.

    A vertex's row of `real` is what its accumulators differ by from before.
    """

    note: Int64
    real: Float64
    whole: Int64
    size: Int64


class Agenda(NamedTuple):
    """Lists by iteration; `deleted` are the edges that left, in lists by either end.

    `sums` has four rows of accumulators to work with.
    """

    evaluate: Int32
    send: Int32
    waiting: Int64
    sizes: Int64
    sums: Rows
    deleted: Int32
    next_out: Int32
    next_into: Int32


class Work(NamedTuple):
    """One row a vertex of states, sums and parcels; `states` has one more, to work with.

    `mark` is the last iteration in which a vertex was listed.
    """

    states: Rows
    sums: Rows
    parcels: Rows
    listed: Int32
    changed: Int32
    mark: Int32


class Course(NamedTuple):
    """Up to which iteration to run, when to stop, and what to record.

    A patient run does not stop where nothing moves. `counts` gets how many vertices moved in each
    iteration.
    """

    last: int
    tolerance: float
    patient: bool
    record: int
    counts: Int64
    progress: Int64


class Limits(NamedTuple):
    """How a maintained run ends and what it ignores.

    `counts` are the vertices that move by more than `settle` in each iteration. If `stopping`,
    the run ends in the first iteration where none does. `newcomer` is the first vertex that the
    version before did not have.
    """

    tolerance: float
    settle: float
    stopping: bool
    counts: Int64
    newcomer: int
