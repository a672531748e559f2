"""The set of joined pairs: found whatever is in the way, in the order that questions rely on."""

from __future__ import annotations

import random

import numpy as np
import pytest

from graphtide.kernels.walks import pairs
from graphtide.kernels.walks.pairs import FREE, pairs_within, places_for

# Kernels that are joined to others: plain Python, whose numbers wrap around where kernels do.
pytestmark = pytest.mark.interpreted

MANY = 150


def filled(draw: random.Random, places: int) -> tuple[np.ndarray, dict[tuple[int, int], int]]:
    """A table that is as full as it may be, and what is in it; some pairs are joined no more.

    Who sets a pair anew says where it stood, which others may have moved it away from.
    """
    table, known = np.full(places, FREE, np.int64), dict[tuple[int, int], int]()
    stood = dict[tuple[int, int], int]()
    while len(known) < pairs_within(places):
        one, other = sorted((draw.randrange(MANY), draw.randrange(MANY)))
        flags, place = draw.randrange(4), stood.get((one, other), int(pairs.NOWHERE))
        taken = pairs.set_flags(table, (other, one), flags, place)
        assert taken == ((one, other) not in known)
        known[one, other] = flags
        stood[one, other] = int(pairs.place_of(table, pairs.word_of(one, other)))
    return table, known


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that only kernels call have no way in from Python unless they are interpreted."""
    for name in ("word_of", "first_place", "distance", "found_word", "put_word"):
        kernel = getattr(pairs, name)
        monkeypatch.setattr(pairs, name, getattr(kernel, "py_func", kernel))
    for name in ("set_flags", "place_of", "move_up", "copy_pairs"):
        kernel = getattr(pairs, name)
        monkeypatch.setattr(pairs, name, getattr(kernel, "py_func", kernel))


def check(table: np.ndarray, known: dict[tuple[int, int], int]) -> None:
    for one in range(MANY):
        for other in range(one, MANY):
            word = int(pairs.found_word(table, pairs.word_of(other, one)))
            assert (word == FREE) == ((one, other) not in known)
            assert word == FREE or word & 3 == known[one, other]


@pytest.mark.parametrize("seed", range(3))
def test_all_pairs_are_found_and_no_others(seed: int) -> None:
    table, known = filled(random.Random(seed), places_for(400))
    check(table, known)


def test_a_larger_table_leaves_out_who_is_joined_no_more() -> None:
    table, known = filled(random.Random(9), places_for(300))
    larger = np.full(places_for(600), FREE, np.int64)
    joined = {pair: flags for pair, flags in known.items() if flags}
    assert pairs.copy_pairs(table, larger) == len(joined)
    check(larger, joined)


def test_a_question_about_strangers_ends_soon() -> None:
    """Two to three words, where without the order it would be a dozen."""
    table, known = filled(random.Random(4), places_for(4000))
    steps = 0
    looked = [
        (one, other)
        for one in range(0, MANY, 3)
        for other in range(one, MANY, 3)
        if (one, other) not in known
    ]
    for one, other in looked:
        word = pairs.word_of(one, other)
        place = first = int(pairs.first_place(table, word))
        while table[place] != FREE and int(pairs.distance(table, place, table[place])) >= (
            place - first
        ) % len(table):
            place, steps = (place + 1) % len(table), steps + 1
    assert steps / len(looked) < 4
