"""Multiplicities that grow large: counts and sums are exact or an error, whatever multiplies them.

The oracle adds up and multiplies ints of Python's, which have no end. A dataflow may refuse what is
2^61 or more somewhere on the way, and must refuse what it cannot hold; what it answers is right.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import pytest

from graphtide.dataflow import col, count, total
from graphtide.model.errors import LimitError
from tests.dataflow.checked import Dataflow
from tests.dataflow.crews import carried_out

MEMORY = 1 << 26
MOST = (1 << 31) - 1
"""The most by which users change a multiplicity at once."""
TOO_OFTEN = "too often"
EACH = 3000 if "GRAPHTIDE_CAMPAIGN" in os.environ else 30
VALUES = [0, 1, -5, 1 << 20, 1 << 31, -(1 << 50)]
ENOUGH = 1 << 61
"""Nothing below this is refused."""


def multiplied(times: int, **options: Any) -> tuple[Dataflow, Any, Any]:
    """Records (key, value), joined with their own keys so many times."""
    flow = Dataflow(memory=MEMORY, **options)
    given = flow.input("given", k=int, v=int)
    made: Any = given
    for _ in range(times):
        made = made.join(given.select("k"), on="k")
    return flow, given, made


@pytest.mark.parametrize("workers", [1, 2])
def test_a_join_that_multiplies_beyond_a_word_is_an_error(workers: int) -> None:
    """2^30 times 2^30 times 2^30 is 0 in 64 bits: the record would be gone."""
    flow, given, made = multiplied(2, workers=workers)
    made.output()
    given.update([(1, 5)], [1 << 30])
    with carried_out("turns"), pytest.raises(LimitError, match=TOO_OFTEN) as told:
        flow.advance()
    assert "join on k, of dataflow dataflow" in str(told.value)
    assert flow.advance() == 1


def test_the_largest_products_that_can_be_held_are_right() -> None:
    flow, given, made = multiplied(1)
    output, counted = made.output(), made.count(by="v").output()
    given.update([(1, 5), (2, 6), (3, 7)], [MOST, -MOST, 2])
    flow.advance()
    assert output.records() == {(1, 5): MOST**2, (2, 6): MOST**2, (3, 7): 4}
    assert counted.records() == {(5, MOST**2): 1, (6, MOST**2): 1, (7, 4): 1}


def test_a_count_of_too_many_is_an_error_and_what_was_read_before_stays() -> None:
    flow, given, made = multiplied(1)
    counted, listed = made.count(by=()).output(), made.output()
    given.update([(1, 5)], [3])
    flow.advance()
    given.update([(1, 5)], [MOST - 3])
    given.update([(2, 6)], [MOST])
    given.update([(3, 7)], [MOST])
    with pytest.raises(LimitError, match=TOO_OFTEN) as told:
        flow.advance()
    assert "join on k, of" in str(told.value)
    assert counted.records() == {(9,): 1}
    assert [(record, n) for record, _, n in counted.changes()] == [((9,), 1)]
    assert listed.records() == {(1, 5): 9}


@pytest.mark.parametrize("narrow", [True, False])
@pytest.mark.parametrize("once", [True, False])
def test_sums_of_what_joins_multiply(narrow: bool, once: bool) -> None:
    """A sum passes 2^32 records of 2^31 and more, which its halves could not hold."""
    for times, value in [
        (1 << 20, 1 << 22),
        (1 << 20, (1 << 31) + 5),
        (1 << 16, -(1 << 30) + 1),
        (1 << 17, (1 << 40) + 3),
        (1 << 15, 1 << 33),
    ]:
        flow, given, made = multiplied(1, once=once, debug=not narrow)
        output = made.aggregate((), n=count(), s=total("v"), t=total(col.v + 1)).output()
        given.update([(1, value)], [times])
        wanted = (times**2, times**2 * value, times**2 * (value + 1))
        try:
            flow.advance()
        except LimitError:
            assert max(map(abs, wanted)) >= ENOUGH
        else:
            assert output.records() == {wanted: 1}
            assert max(map(abs, wanted)) < 1 << 63


@pytest.mark.parametrize("value", [1.1, 1.5, -0.75])
def test_floats_of_very_many_records_are_right_or_an_error(value: float) -> None:
    """The limbs of a float times 2^34 and the like are 0 in 64 bits, or anything else."""
    refused = 0
    for power in range(13, 31):
        flow = Dataflow(memory=MEMORY)
        given = flow.input("given", k=int, v=float)
        output = given.join(given.select("k"), on="k").sum("v", by=()).output()
        given.update([(1, value)], [1 << power])
        try:
            flow.advance()
        except LimitError:
            refused += 1
            assert power >= 15
        else:
            assert output.records() == {(value * (1 << 2 * power),): 1}
    assert refused > 0


def test_a_total_that_only_its_reader_adds_up_is_an_error_for_the_reader() -> None:
    """The changes fit, each of its version; what they come to does not."""
    flow = Dataflow(memory=MEMORY)
    one, other = flow.input("one", k=int), flow.input("other", k=int)
    output = one.join(other, on="k").output()
    other.update([(1,)], [1 << 30])
    for _ in range(5):
        one.update([(1,)], [MOST])
        flow.advance()
    for _ in range(2):
        with pytest.raises(LimitError, match=TOO_OFTEN):
            output.records()
    assert [n for _, _, n in output.changes()] == [MOST << 30] * 5
    one.update([(1,)], [-MOST])
    flow.advance()
    assert output.records() == {(1,): 4 * (MOST << 30)}


@pytest.mark.parametrize("effort", [0, 4])
def test_an_index_that_cannot_add_up_what_it_holds_shows_what_it_held(effort: int) -> None:
    flow = Dataflow(memory=MEMORY, effort=effort)
    one, other = flow.input("one", k=int), flow.input("other", k=int)
    joined = one.join(other, on="k").arrange("k")
    other.update([(1,)], [1 << 30])
    told, refused = {}, False
    for turn in range(8):
        one.update([(1,), (turn,)], [MOST, 1])
        try:
            flow.advance()
        except LimitError:
            refused = True
            break
        told = joined.read()
        assert told == {(1,): (MOST * (turn + 1) + min(turn, 1)) << 30}
    assert refused
    assert joined.read() == told


class Trial:
    """A random chain of joins, aggregates and the like over one input, beside its oracle."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        workers = self.chance.choice([1, 1, 2])
        self.flow = Dataflow(
            memory=MEMORY, workers=workers, fuel=self.chance.choice([1, 8, 1 << 20])
        )
        self.given = self.flow.input("given", k=int, v=int)
        self.other = self.flow.input("other", k=int)
        self.joins = self.chance.choice([1, 1, 2])
        self.sign = self.chance.choice([1, -1])
        made: Any = self.given
        for _ in range(self.joins):
            made = made.join(self.other, on="k")
        made = made.negate() if self.sign < 0 else made
        self.outputs = [
            made.output(),
            made.aggregate("k", n=count(), s=total("v")).output(),
            made.select("k").threshold(1).output(),
            made.min(by="k").output(),
        ]
        self.reach = self.chance.randrange(2, 7)
        self.records: Counter[Any] = Counter()
        self.keys: Counter[int] = Counter()
        self.fed = [0, 0]
        """All that multiplicities of both inputs have ever changed by."""

    def feed(self) -> None:
        sizes = [1, 3, 1 << 10, 1 << 20, 1 << 29, MOST][: self.reach]
        for _ in range(self.chance.randrange(1, 4)):
            record = (self.chance.randrange(2), self.chance.choice(VALUES[: self.reach]))
            diff = self.chance.choice(sizes) * self.chance.choice([1, 1, -1])
            if self.chance.random() < 0.3 and 0 < abs(self.records[record]) <= MOST:
                diff = -self.records[record]
            self.given.update([record], [diff])
            self.records[record] += diff
            self.fed[0] += abs(diff)
            diff = self.chance.choice(sizes[:5]) * self.chance.choice([1, 1, -1])
            self.other.update([(record[0],)], [diff])
            self.keys[record[0]] += diff
            self.fed[1] += abs(diff)

    def wanted(self) -> list[dict[Any, int]]:
        """What outputs should be."""
        made = {
            record: self.sign * n * self.keys[record[0]] ** self.joins
            for record, n in self.records.items()
        }
        made = {record: n for record, n in made.items() if n}
        groups: dict[int, list[tuple[int, int]]] = {}
        for (key, value), n in made.items():
            groups.setdefault(key, []).append((value, n))
        counts = {key: sum(n for _, n in rows) for key, rows in groups.items()}
        sums = {(k, n, sum(v * m for v, m in groups[k])): 1 for k, n in counts.items() if n}
        least = {
            (key, min(value for value, n in rows if n > 0)): 1
            for key, rows in groups.items()
            if any(n > 0 for _, n in rows)
        }
        return [made, sums, {(k,): 1 for k, n in counts.items() if n >= 1}, least]

    def play(self) -> bool:
        """Some advances; False where one was refused."""
        for _ in range(4):
            before = [output.records() for output in self.outputs]
            self.feed()
            try:
                self.flow.advance()
            except LimitError:
                assert self.fed[0] * self.fed[1] ** self.joins << 50 >= ENOUGH, "for nothing"
                assert [output.records() for output in self.outputs] == before
                return False
            assert [output.records() for output in self.outputs] == self.wanted()
        return True


@pytest.mark.interpreted
def test_random_multiplicities_are_right_or_refused() -> None:
    outcomes: Counter[bool] = Counter()
    for seed in range(EACH):
        trial = Trial(seed)
        try:
            with carried_out("turns"):
                outcomes[trial.play()] += 1
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        finally:
            trial.flow.host.end()
    assert min(outcomes[True], outcomes[False]) > EACH // 10
