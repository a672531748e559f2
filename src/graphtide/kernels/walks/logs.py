"""What an advance changed, as one array: all that it takes to undo it, and to tell of it.

    HEAD        how many of each there are, and how many edges were beside others before
    pairs       a word as in the table of pairs, with the bits that it had
    marks       an edge and the mark that it had, in the order in which they changed
    touched     a vertex, its row of accumulators and its row of state, as they were
    moved       a vertex whose state differs, its old row of state and its new one

One array is made, handed over and given up in a tenth of the time of the nine that it holds; that
is half of an advance by one edge.
"""

from __future__ import annotations

import numpy as np

from graphtide.kernels.jit import bare_kernel, joined_kernel
from graphtide.kernels.walks.pairs import FREE, put_word, word_of
from graphtide.kernels.walks.records import (
    EXTRA_DIRECT,
    EXTRA_EITHER,
    MARKED,
    MOVED,
    OLD_DIRECT,
    OLD_EITHER,
    PAIRS,
    PARALLEL,
    STATE_WIDTH,
    SUMS_WIDTH,
    TOUCHED,
    USED,
    Int64,
    Walking,
    walking_at,
)

LOGGED_PAIRS, LOGGED_MARKS, LOGGED_TOUCHED, LOGGED_MOVED, LOGGED_DIRECT, LOGGED_EITHER = range(6)
HEAD = 6
_BYTE = 8


@bare_kernel
def write_log(words: Int64, log: Int64) -> int:
    """Write down what changed, if there is room; how many words it takes."""
    walking = walking_at(words, 0)
    counts = walking.counts
    sums, states = counts[SUMS_WIDTH], counts[STATE_WIDTH]
    size = HEAD + counts[PAIRS] + counts[MARKED] + counts[TOUCHED] * (1 + sums + states)
    size += counts[MOVED] * (1 + 2 * states)
    if size > len(log):
        return int(size)
    log[LOGGED_PAIRS], log[LOGGED_MARKS] = counts[PAIRS], counts[MARKED]
    log[LOGGED_TOUCHED], log[LOGGED_MOVED] = counts[TOUCHED], counts[MOVED]
    log[LOGGED_DIRECT], log[LOGGED_EITHER] = counts[OLD_DIRECT], counts[OLD_EITHER]
    at = write_index(walking, log, HEAD)
    at = write_touched(walking, log, at)
    write_moved(walking, log, at)
    return int(size)


@joined_kernel
def write_index(walking: Walking, log: Int64, at: int) -> int:
    """Pairs and marks as they were; returns where the next comes."""
    changed, counts = walking.changed, walking.counts
    for rank in range(counts[PAIRS]):
        log[at + rank] = word_of(changed.low[rank], changed.high[rank]) | changed.old[rank]
    at += counts[PAIRS]
    for mark in range(counts[MARKED]):
        edge = np.int64(changed.marked[mark])
        log[at + mark] = (edge << _BYTE) | changed.before[mark]
    return int(at + counts[MARKED])


@joined_kernel
def write_touched(walking: Walking, log: Int64, at: int) -> int:
    """Vertices with the rows that they had."""
    touched, counts = walking.touched, walking.counts
    sums, states = counts[SUMS_WIDTH], counts[STATE_WIDTH]
    for entry in range(counts[TOUCHED]):
        log[at] = touched.vertex[entry]
        at += 1
        for word in range(sums):
            log[at + word] = touched.sums[entry * sums + word]
        at += sums
        for word in range(states):
            log[at + word] = touched.states[entry * states + word]
        at += states
    return int(at)


@joined_kernel
def write_moved(walking: Walking, log: Int64, at: int) -> None:
    """Vertices whose state differs, with both rows."""
    touched, states = walking.touched, walking.counts[STATE_WIDTH]
    for moved in range(walking.counts[MOVED]):
        entry = touched.moved[moved]
        vertex = touched.vertex[entry]
        log[at] = vertex
        for word in range(states):
            log[at + 1 + word] = touched.states[entry * states + word]
            log[at + 1 + states + word] = walking.states.whole[vertex * states + word]
        at += 1 + 2 * states


@bare_kernel
def undo_log(words: Int64, log: Int64) -> None:
    """Give the index and all vertices what they had; the graph may be at any version by now."""
    walking = walking_at(words, 0)
    counts, index = walking.counts, walking.pairs
    sums, states = counts[SUMS_WIDTH], counts[STATE_WIDTH]
    at = HEAD
    for rank in range(log[LOGGED_PAIRS]):
        word = put_word(index.table, log[at + rank], 0)
        counts[USED] += 1 if word == FREE else 0
    at += log[LOGGED_PAIRS]
    for mark in range(log[LOGGED_MARKS] - 1, -1, -1):
        index.marks[log[at + mark] >> _BYTE] = log[at + mark] & 255
    at += log[LOGGED_MARKS]
    for _ in range(log[LOGGED_TOUCHED]):
        vertex = log[at]
        at += 1
        for word in range(sums):
            walking.sums.whole[vertex * sums + word] = log[at + word]
        at += sums
        for word in range(states):
            walking.states.whole[vertex * states + word] = log[at + word]
        at += states
    counts[EXTRA_DIRECT], counts[EXTRA_EITHER] = log[LOGGED_DIRECT], log[LOGGED_EITHER]
    counts[PARALLEL] = counts[EXTRA_DIRECT] + counts[EXTRA_EITHER]
