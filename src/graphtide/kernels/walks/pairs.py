"""The set of joined pairs: a table of hashes with the pairs themselves as words.

A word is the lower vertex, the higher one, and two bits that say how they are joined. A pair that
is joined no more keeps its place with both bits 0: it may come back, and nothing is ever moved. Who
makes a table anew leaves such pairs out.

Places are found by multiplying and not by masking, so that a table has as many as it needs: with
two of three taken at most, 13 bytes a pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.walks.records import BACKWARD, FORWARD, Int64

FREE = np.int64(-1)
_MIX = np.int64(-7046029254386353131)  # 2^64 over the golden ratio
_LOW32 = np.int64(0xFFFFFFFF)
_PAIR = np.int64(-4)


def places_for(pairs: int) -> int:
    """How many places a table for so many pairs has."""
    return 3 * pairs // 2 + 64


def pairs_within(places: int) -> int:
    """How many pairs a table of so many places takes."""
    return 2 * (places - 64) // 3


@joined_kernel
def word_of(one: int, other: int) -> Any:
    """The pair as a word, joined in no way."""
    low, high = np.int64(min(one, other)), np.int64(max(one, other))
    return (low << np.int64(33)) | (high << np.int64(2))


@joined_kernel
def first_place(table: Int64, word: Any) -> Any:
    """Where a pair is looked for first."""
    hashed = ((word >> np.int64(2)) * _MIX >> np.int64(32)) & _LOW32
    return (hashed * np.int64(len(table))) >> np.int64(32)


@joined_kernel
def place_of(table: Int64, word: Any) -> Any:
    """Where a pair stands, or would stand."""
    place = first_place(table, word)
    while table[place] != FREE and (table[place] & _PAIR) != word:
        place += 1
        if place == len(table):
            place = np.int64(0)
    return place


@joined_kernel
def flags_of(table: Int64, one: int, other: int) -> Any:
    """How two vertices are joined, seen from the lower one."""
    found = table[place_of(table, word_of(one, other))]
    return np.int64(0) if found == FREE else found & np.int64(3)


@inner_kernel
def set_flags(table: Int64, one: int, other: int, flags: int) -> int:
    """Say how two vertices are joined; 1 if the pair took a place of its own."""
    word = word_of(one, other)
    place = place_of(table, word)
    taken = 1 if table[place] == FREE else 0
    table[place] = word | flags
    return taken


@bare_kernel
def copy_pairs(table: Int64, larger: Int64) -> int:
    """Take over all pairs that are joined; how many these are."""
    count = 0
    for at in range(len(table)):
        word = table[at]
        if word != FREE and word & 3 != 0:
            larger[place_of(larger, word & _PAIR)] = word
            count += 1
    return count


@joined_kernel
def direction_of(source: int, target: int) -> int:
    """The bits of a pair that an edge from one vertex to another sets."""
    if source == target:
        return FORWARD | BACKWARD
    return FORWARD if source < target else BACKWARD
