"""What an edge means to a search: its letter, its cost, and the state behind it."""

from __future__ import annotations

import numpy as np

from graphtide.kernels.blocks import array_at
from graphtide.kernels.jit import inner_kernel, joined_kernel
from graphtide.kernels.queries.records import (
    COLUMNS,
    FACTS,
    LABEL,
    NAMED,
    NAMES,
    TABLE,
    WEIGHT,
    WIDTH,
    Int64,
    searches_of,
)

NO_LABEL = 0
"""The code of a label that is missing."""


@joined_kernel
def fact(words: Int64, search: int, which: int) -> int:
    """One of the facts of a search."""
    return int(searches_of(words).facts[search * FACTS + which])


@inner_kernel
def class_of(words: Int64, search: int, edge: int) -> int:
    """The class of an edge's label for the automaton of a search; 0 where it names no labels."""
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
    """The state behind a letter, or -1."""
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
