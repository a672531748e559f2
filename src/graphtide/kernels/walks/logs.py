"""What an advance changed, as one array: all that it takes to undo it, and to tell of it.

    HEAD        how many of each there are, and how many edges were beside others before
    pairs       a word as in the table of pairs, with the bits that it had
    marks       an edge and the mark that it had, in the order in which they changed
    touched     a vertex, its row of accumulators as it was, its row of state as it was and as it is

One array is made, handed over and given up in a tenth of the time of the eight that it holds; that
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
    OLD_DIRECT,
    OLD_EITHER,
    PAIRS,
    PARALLEL,
    STATE_WIDTH,
    SUMS_WIDTH,
    TOUCHED,
    USED,
    Float64,
    Int32,
    Int64,
    Walking,
    walking_at,
)

LOGGED_PAIRS, LOGGED_MARKS, LOGGED_TOUCHED, LOGGED_DIRECT, LOGGED_EITHER = range(5)
HEAD = 5
_BYTE = 8


@bare_kernel
def write_log(words: Int64, log: Int64) -> int:
    """Write down what changed of the index, if there is room; how many words it takes.

    For runs that keep rows of vertices elsewhere.
    """
    walking = walking_at(words, 0)
    size = log_size(walking)
    if size <= len(log):
        write_index(walking, log)
    return size


@joined_kernel
def log_size(walking: Walking) -> int:
    """How many words the log of an advance takes."""
    counts = walking.counts
    row = 1 + counts[SUMS_WIDTH] + 2 * counts[STATE_WIDTH]
    return int(HEAD + counts[PAIRS] + counts[MARKED] + counts[TOUCHED] * row)


@joined_kernel
def write_index(walking: Walking, log: Int64) -> int:
    """The head, and pairs and marks as they were; returns where the first vertex comes."""
    changed, counts = walking.changed, walking.counts
    log[LOGGED_PAIRS], log[LOGGED_MARKS] = counts[PAIRS], counts[MARKED]
    log[LOGGED_TOUCHED] = counts[TOUCHED]
    log[LOGGED_DIRECT], log[LOGGED_EITHER] = counts[OLD_DIRECT], counts[OLD_EITHER]
    at = HEAD
    for rank in range(counts[PAIRS]):
        log[at + rank] = word_of(changed.low[rank], changed.high[rank]) | changed.old[rank]
    at += counts[PAIRS]
    for mark in range(counts[MARKED]):
        edge = np.int64(changed.marked[mark])
        log[at + mark] = (edge << _BYTE) | changed.before[mark]
    return int(at + counts[MARKED])


@joined_kernel
def write_before(walking: Walking, log: Int64, at: int, entry: int) -> int:
    """A touched vertex with the rows that it had; returns where its new state comes.

    Its accumulators have changed already, its state has not.
    """
    touched, counts = walking.touched, walking.counts
    sums = counts[SUMS_WIDTH]
    log[at] = touched.vertex[entry]
    at += 1
    for word in range(sums):
        log[at + word] = touched.sums[entry * sums + word]
    return write_state(walking, log, int(at + sums), touched.vertex[entry])


@joined_kernel
def write_state(walking: Walking, log: Int64, at: int, vertex: int) -> int:
    """The row of state of a vertex as it is; returns where the next comes."""
    states = walking.counts[STATE_WIDTH]
    for word in range(states):
        log[at + word] = walking.states.whole[vertex * states + word]
    return int(at + states)


@bare_kernel
def tell_field(log: Int64, reals: Float64, shape: Int64, vertices: Int32, words: Int64) -> int:
    """Write down the vertices at which a field differs, and its old and new words; how many.

    `shape` is where the old field stands behind its vertex, how far behind it the new one is, how
    far the next vertex, and 1 for a float: NaN is the same as NaN.
    """
    place, width, row, real = shape[0], shape[1], shape[2], shape[3] == 1
    count, touched = 0, len(vertices)
    first = len(log) - touched * row
    length = len(words) // (2 * touched)
    for entry in range(touched):
        at, differs = first + entry * row + place, False
        for word in range(at, at + length):
            if real:
                one, other = reals[word], reals[word + width]
                differs |= one != other and (one == one or other == other)
            else:
                differs |= log[word] != log[word + width]
        if differs:
            vertices[count] = log[first + entry * row]
            for word in range(length):
                words[count * length + word] = log[at + word]
                words[(touched + count) * length + word] = log[at + width + word]
            count += 1
    return count


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
        at += 2 * states
    counts[EXTRA_DIRECT], counts[EXTRA_EITHER] = log[LOGGED_DIRECT], log[LOGGED_EITHER]
    counts[PARALLEL] = counts[EXTRA_DIRECT] + counts[EXTRA_EITHER]
