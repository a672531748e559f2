"""What all queries on a graph keep, as one block: entries by vertex, searches, and room to work in.

A search is one start of a query with its automaton. It has an entry at (vertex, state) if a walk
from its start leads there within its bound: the least cost of such a walk, and a sign of the edge
by which the best one came. A key is a state of one search; the keys of a search lie side by side,
from its `BASE` on. So the row of a vertex has the entries of all searches that reach it, by key:
whoever looks at a changed edge finds all that it concerns in the rows of its two ends.

To a search, an edge is a letter, a cost, and the state behind it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import ADJACENCY, array_at, placed_reader, places
from graphtide.kernels.jit import inner_kernel, joined_kernel

Int8 = NDArray[np.int8]
Int16 = NDArray[np.int16]
UInt16 = NDArray[np.uint16]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


class EntryRows(NamedTuple):
    """The row of a vertex: `length` entries of the pool from `start` on, in a chunk of a `kind`.

    `sizes`, `free` and `top` are those of `kernels.chunks`. A vertex without entries has no chunk:
    kind 0, which holds none. Costs are `small` as long as all of them are small whole numbers, and
    `wide` from then on: the other one is empty. `sign` is that of the edge by which the best walk
    came, `NO_SIGN` at the start: few edges have the same one, and none of another sign is that
    edge. So who looks for those that came by an edge finds all of them and hardly any other.
    """

    start: Int32
    length: Int32
    kind: Int8
    key: Int32
    small: UInt16
    wide: Float64
    sign: UInt16
    free: Int64
    sizes: Int64
    top: Int64


class Searches(NamedTuple):
    """`owner` is the search of each key, -1 where there is none any more; `facts` has the `FACTS`
    numbers of each search one after the other. `steps` are the tables of all automata, a row a
    state and behind its letters the ways that it goes; `codes` are the labels that they name.
    `plain` says of each key which ways it goes or `ANY_STEP`, 0 where it has no owner; `goes` how
    many searches go along edges, and how many against them. `looked` counts the edges that each
    search has looked at to follow batches.
    """

    owner: Int32
    plain: Int8
    goes: Int64
    facts: Int32
    bound: Float64
    entries: Int64
    looked: Int64
    steps: Int16
    codes: Int32


BASE, STATES, TABLE, WIDTH, NAMES, NAMED, LABEL, WEIGHT, PLAIN, WAYS = range(10)
FACTS = 10
"""The first key, how many there are; where the table is and how wide; where the codes of its labels
are and how many; the columns of labels and weights among those behind the block, or -1; what
`plain` says of its keys; and the ways that any of its states goes."""

ALONG, AGAINST = 1, 2
"""Ways that a state goes: bits of the last number of its row."""

ANY_STEP = 4
"""Of a key: what an edge leads to has to be looked up. Otherwise every edge costs 1 and leads to
the same state, on the ways that the key says."""

NO_SIGN, SIGNS = 0, 0x7FFF
"""What stands for no edge, and the bits of an edge's number that make its sign."""

MOST_SMALL, NO_COST = 0xFFFE, 0xFFFF
"""The greatest cost that is small, and what stands for infinity there."""


class QueryWork(NamedTuple):
    """Room of a batch: a heap of entries by value, those that have fallen, and what was before.

    Entries are told as one number, `packed`. `counts` says how much of each is in use.
    """

    item: Int64
    rank: Float64
    fallen: Int64
    log_item: Int64
    log_value: Float64
    log_sign: UInt16
    counts: Int64


PHASE, AT, HEAP, FALLEN, LOG, TOUCHED, MOST, LOGS = range(8)
COUNTS = 8
"""Which phase a batch is in and how far; the sizes of heap, list and log; edges looked at, and how
many it may look at; and whether there is a log at all."""

DONE, LACKS_POOL, LACKS_HEAP, LACKS_FALLEN, LACKS_LOG, LACKS_WIDTH, TAKES_LONG = range(7)
"""How a call ended: done, to be called again once there is more room, or to be put back."""

ROWS = ADJACENCY
SEARCHES = ROWS + places(EntryRows)
WORK = SEARCHES + places(Searches)
COLUMNS = WORK + places(QueryWork)
"""Where the parts of the block begin, behind the graph; last come columns of labels and weights."""

rows_of = placed_reader(EntryRows, ROWS)
searches_of = placed_reader(Searches, SEARCHES)
work_of = placed_reader(QueryWork, WORK)


NO_LABEL = 0
"""The code of a label that is missing."""


@joined_kernel
def fact(words: Int64, search: int, which: int) -> int:
    return int(searches_of(words).facts[search * FACTS + which])


@inner_kernel
def class_of(words: Int64, search: int, edge: int) -> int:
    """The class of an edge's label in the alphabet of a search; 0 where that has no labels."""
    named = fact(words, search, NAMED)
    if named == 0:
        return 0
    code = array_at(words, COLUMNS + fact(words, search, LABEL), np.int32)[edge]
    if code == NO_LABEL:
        return named + 1
    codes, first = searches_of(words).codes, fact(words, search, NAMES)
    for at in range(named):
        if codes[first + at] == code:
            return at + 1
    return 0


@joined_kernel
def step_of(words: Int64, search: int, state: int, letter: int) -> int:
    """The state behind a letter; -1 where there is none."""
    place = fact(words, search, TABLE) + state * fact(words, search, WIDTH) + letter
    return int(searches_of(words).steps[place])


@joined_kernel
def ways_of(words: Int64, search: int, state: int) -> int:
    """Whether a state goes along edges, against them, or both."""
    return step_of(words, search, state, fact(words, search, WIDTH) - 1)


@joined_kernel
def cost_of(words: Int64, search: int, edge: int) -> float:
    """What an edge adds to the cost of a walk."""
    weight = fact(words, search, WEIGHT)
    if weight < 0:
        return 1.0
    return float(array_at(words, COLUMNS + weight, np.float64)[edge])
