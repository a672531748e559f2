"""What queries kept by histories have in memory, as kernels see it.

A search runs by iterations: the cost of an entry (vertex, state) at iteration i is the least of a
walk of at most i edges. Where an iteration lowers it, the history of the entry has a difference:
the iteration and the new cost. Keys are those of `kernels.queries`: a state of one search. Kernels
take two blocks: `words`, which begins like that of `kernels.queries`, so that what an edge means to
a search is asked there, and `state`, whose records are these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.blocks import placed_reader, places

UInt8 = NDArray[np.uint8]
UInt16 = NDArray[np.uint16]
UInt64 = NDArray[np.uint64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


class Pool(NamedTuple):
    """Rows of (key, iteration, cost, copies) by vertex, sorted, each in a chunk of a `kind`.

    `key` has the key and, as its last eight bits, the iteration; once there was one of more bits,
    `late` has those. Costs are `small` while each of them is a small whole number, and `wide` once
    one was not. What a pool does not have is empty. `free`, `sizes` and `top` are those of
    `kernels.chunks`.
    """

    start: Int32
    length: Int32
    kind: UInt8
    key: Int32
    late: UInt8
    small: UInt16
    wide: Float64
    copies: Int32
    free: Int64
    sizes: Int64
    top: Int64


class Filters(NamedTuple):
    """Bloom filters of dropped differences: `facts` has `FILTER_FACTS` numbers for each search."""

    bits: UInt64
    facts: Int64


FIRST, SIZE, USED, LAST, RECOMPUTED, KEPT_COUNT, DROPPED_COUNT, JOINED_COUNT = range(8)
FILTER_FACTS = 8
"""Of a search: the first word of its filter and how many bits it has, how many differences went in;
the last iteration that ever had one; how many were recomputed; how many are kept, how many have a
record, and how many messages there are."""


class Work(NamedTuple):
    """Room of a batch. Items are `packed` of `kernels.queries`: a vertex and a key.

    The heap has items to evaluate by iteration. Every item that is evaluated is first noted: where
    it stands in `noted_item` is found by `table`, and its history as it was is in the log, from
    `noted_first` on, with a cost that is no number where it was dropped. `memo` has costs that were
    recomputed, `stack` those that wait for others. `edges` and their ends are the batch: the
    inserted, then the deleted; `inserted` is sorted, `by_source` and `by_target` order the deleted.
    """

    heap_item: Int64
    heap_rank: Float64
    table: Int64
    noted_item: Int64
    noted_first: Int64
    noted_done: Int32
    noted_old: Float64
    noted_new: Float64
    log_iteration: Int32
    log_value: Float64
    message_item: Int64
    message_iteration: Int32
    message_value: Float64
    message_change: Int32
    memo_item: Int64
    memo_tag: Int64
    memo_value: Float64
    stack_item: Int64
    stack_iteration: Int32
    edges: Int32
    sources: Int32
    targets: Int32
    inserted: Int32
    by_source: Int32
    by_target: Int32
    counts: Int64
    settings: Int64


HEAP, NOTED, LOG, MESSAGES, MEMO, STACK, INSERTED, DELETED = range(8)
STAMP, LACKING, AT, TOUCHED, EVALUATED, TOLD = range(8, 14)
COUNTS = 14
"""How much of each is in use; which call this is, what it lacks, how far it got; edges looked at
and entries evaluated; and whether all of the batch has been told, and entries are evaluated."""

ON_DEMAND, HOW, POLICY, SHARE, LEAST, MOST, SEED = range(7)
SETTINGS = 7
KEEP, DETERMINISTIC, PROBABILISTIC = range(3)
RANDOM, DEGREE = range(2)

DONE, LACKS_KEPT, LACKS_DROPPED, LACKS_JOINED, LACKS_WIDTH, ENDLESS = range(6)
LACKS_HEAP, LACKS_NOTED, LACKS_LOG, LACKS_MESSAGES, LACKS_MEMO, LACKS_STACK = range(6, 12)
LACKS_LATE = 12
"""How a call ended: done, or to be called again once there is more room, or never."""

MOST_ITERATIONS = (1 << 15) - 2
MOST_KEYS = 1 << 23
"""With this many keys, eight bits of 31 are left to iterations."""

OLD, NEW = 0, 1
"""As of the graph before the batch, and after it."""

KEPT = 0
DROPPED = KEPT + places(Pool)
JOINED = DROPPED + places(Pool)
FILTERS = JOINED + places(Pool)
WORK = FILTERS + places(Filters)
"""Where the records of `state` begin."""

kept_of = placed_reader(Pool, KEPT)
dropped_of = placed_reader(Pool, DROPPED)
joined_of = placed_reader(Pool, JOINED)
filters_of = placed_reader(Filters, FILTERS)
work_of = placed_reader(Work, WORK)
