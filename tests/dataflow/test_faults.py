"""Numbers that are too large for records that no version has: the advance succeeds, and is right.

Tables of few keys, whose numbers multiply to just within a word and just beyond, change by many
rows a batch. Plain Python evaluates each version from its tables alone, and says whether a number
of that version is too large: then, and only then, the advance must fail and change nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from random import Random
from typing import Any, NamedTuple

import pytest

from graphtide.dataflow import Collection, col, decimal, total
from graphtide.model.errors import LimitError
from tests.compiled import interpreted
from tests.dataflow.building import MEMORY
from tests.dataflow.checked import Dataflow
from tests.dataflow.crews import carried_out

Row = tuple[int, int]
Table = Counter[Row]
END = 1 << 63
KEYS = 3
SMALL, LARGE = 1, 3 * 10**7
"""The square of the large one, with two digits each, is just within a word."""
NUMBERS = (SMALL, SMALL, 7, LARGE, LARGE + 10**6, 10**12)
FACTORS = (1, 3, 1 << 22, (1 << 33) + 1)
STEEP = 1 << 34
SEEDS = range(6 if interpreted() else 60)


class TooLargeError(Exception):
    """A number of a version does not fit into a word."""


class Shape(NamedTuple):
    """A dataflow over two tables of key and number, and what it means in plain Python."""

    build: Callable[[Collection, Collection], Collection]
    meaning: Callable[[Table, Table], dict[Any, int]]
    kind: Any = decimal(2)
    numbers: tuple[int, ...] = NUMBERS


def word(number: int) -> int:
    if not -END < number < END:
        raise TooLargeError
    return number


def digits(value: int | Decimal) -> int:
    """All digits of a number, without its point."""
    return value if isinstance(value, int) else int(str(value).replace(".", ""))


def product(x: int, y: int) -> int:
    """The product of two decimals, in ten thousandths."""
    return word(x * y * 10_000)


def pairs(left: Table, right: Table) -> Counter[tuple[int, int, int]]:
    found = Counter[tuple[int, int, int]]()
    for (key, x), count in left.items():
        for (other, y), times in right.items():
            if key == other:
                found[key, x, y] += count * times
    return found


def products(left: Table, right: Table) -> dict[Any, int]:
    found = Counter[Any]()
    for (key, x, y), count in pairs(left, right).items():
        found[key, product(x, y)] += count
    return dict(found)


def large_products(left: Table, right: Table) -> dict[Any, int]:
    found = pairs(left, right).items()
    return {(k, x * 100, y * 100): n for (k, x, y), n in found if product(x, y) > 70_000}


def sums(left: Table, right: Table) -> dict[Any, int]:
    found = Counter[int]()
    for (key, p), count in products(left, right).items():
        found[key] += p * count
    return {(key, word(value)): 1 for key, value in found.items()}


def squares_of_others(left: Table, right: Table) -> dict[Any, int]:
    """Of the rows on the left whose key is not on the right."""
    keys = {key for key, _ in right}
    found = Counter[Any]()
    for (key, x), count in left.items():
        if key not in keys:
            found[key, product(x, x)] += count
    return dict(found)


def squares_of_least(left: Table, right: Table) -> dict[Any, int]:
    """Of the least number of each key and those below, on either side."""
    found = {}
    for key in range(KEYS):
        below = [x for other, x in [*left, *right] if other <= key]
        if below:
            found[key, product(min(below), min(below))] = 1
    return found


def powers(left: Table, right: Table) -> dict[Any, int]:
    """All that numbers on the left come to, times those on the right, until they are steep."""
    reached, waiting = set(left), list(left)
    while waiting:
        key, x = waiting.pop()
        for other, y in right:
            if key == other and x < STEEP:
                row = (key, word(x * y))
                if row not in reached:
                    reached.add(row)
                    waiting.append(row)
    return dict.fromkeys(reached, 1)


def joined(left: Collection, right: Collection) -> Collection:
    return left.join(right, on="k")


def least_of_a_loop(left: Collection, right: Collection, *, variable: bool) -> Collection:
    """Round by round the numbers become less; only those of the last round are multiplied."""
    with left.nested_loop() as loop:
        v = loop.variable(left)
        above = v.filter(col.k < KEYS - 1).map(k=col.k + 1, x=col.x)
        least = v.concat(above, right.map(k=col.k, x=col.y)).min(by="k", of="x")
        v.set(least)
        last = (v if variable else least).leave()
    return last.map(k=col.k, p=col.x * col.x)


def powers_in_a_loop(left: Collection, right: Collection) -> Collection:
    def step(v: Collection) -> Collection:
        flat = v.filter(col.x < STEEP)
        more = flat.join(right, on="k").map(k=col.k, x=col.x * col.y)
        return more.concat(left).distinct()

    return left.distinct().iterate(step)


NULLABLE = int | None
SHAPES = {
    "map": Shape(lambda a, b: joined(a, b).map(k=col.k, p=col.x * col.y), products),
    "filter": Shape(lambda a, b: joined(a, b).filter(col.x * col.y > 7), large_products),
    "sum": Shape(
        lambda a, b: joined(a, b).map(k=col.k, p=col.x * col.y).aggregate("k", p=total("p")), sums
    ),
    "antijoin": Shape(
        lambda a, b: a.antijoin(b, on="k").map(k=col.k, p=col.x * col.x), squares_of_others
    ),
    "minus": Shape(
        lambda a, b: a.minus(a.semijoin(b, on="k")).select("k", "x").map(k=col.k, p=col.x * col.x),
        squares_of_others,
    ),
    "behind a loop": Shape(partial(least_of_a_loop, variable=False), squares_of_least),
    "of a variable": Shape(partial(least_of_a_loop, variable=True), squares_of_least),
    "in a loop": Shape(powers_in_a_loop, powers, NULLABLE, FACTORS),
}


class Journey:
    """A dataflow of one shape, and tables that change; what the last version should be."""

    def __init__(self, name: str, seed: int, **settings: Any) -> None:
        self.shape, self.random = SHAPES[name], Random(seed)
        self.flow = Dataflow(memory=MEMORY, **settings)
        kind = self.shape.kind
        self.inputs = [self.flow.input("a", k=int, x=kind), self.flow.input("b", k=int, y=kind)]
        self.output = self.shape.build(*self.inputs).output()
        self.tables = [Table(), Table()]
        self.tally = Counter[str]()

    def advance(self) -> None:
        """Close one version or several, each with rows that come and go."""
        before = [table.copy() for table in self.tables]
        first, count = self._version(), self.random.choice((1, 1, 2, 3))
        right, fits = [], True
        for version in range(first, first + count):
            self._change(version)
            try:
                right.append(self.shape.meaning(*self.tables))
            except TooLargeError:
                fits = False
        if fits:
            self.flow.advance_to(first + count)
            assert self._told() == right[-1]
        else:
            with pytest.raises(LimitError, match="64 bits"):
                self.flow.advance_to(first + count)
            assert self._version() == first
            self.tables = before
        self.tally["fits" if fits else "refused"] += 1

    def _change(self, version: int) -> None:
        for table, rows in zip(self.tables, self.inputs, strict=True):
            listed = sorted(table.elements())
            gone = self.random.sample(listed, self.random.randint(0, len(listed)))
            come = [
                (self.random.randrange(KEYS), self.random.choice(self.shape.numbers))
                for _ in range(self.random.randint(0, 2))
            ]
            passing = [(self.random.randrange(KEYS), max(self.shape.numbers))]
            # What comes and goes in the same version was never there.
            rows.update([*come, *passing], [1] * len(come) + [1], at=version)
            rows.update([*passing, *gone], [-1] * (1 + len(gone)), at=version)
            table.update(come)
            table.subtract(gone)
            for row in [row for row, times in table.items() if times == 0]:
                del table[row]

    def _version(self) -> int:
        version = self.flow.version
        assert isinstance(version, int)
        return version

    def _told(self) -> dict[Any, int]:
        told = self.output.records().items()
        return {tuple(map(digits, record)): times for record, times in told}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", SHAPES)
def test_an_advance_fails_where_a_version_has_the_number(name: str, workers: int) -> None:
    tally = Counter[str]()
    with carried_out("turns"):
        for seed in SEEDS:
            journey = Journey(name, seed, workers=workers)
            for _ in range(8):
                journey.advance()
            tally += journey.tally
    assert min(tally["fits"], tally["refused"]) >= len(SEEDS), tally


@pytest.mark.parametrize("name", SHAPES)
def test_debug_mode_says_the_same(name: str) -> None:
    """Until the first failure, behind which such a dataflow cannot go on."""
    for seed in range(3):
        journey = Journey(name, seed, debug=True)
        while not journey.tally["refused"] and journey.tally["fits"] < 6:
            journey.advance()


@pytest.mark.parametrize("stays", [True, False])
def test_a_pair_of_a_version_that_is_still_open_may_be_taken_away(stays: bool) -> None:
    flow = Dataflow(memory=MEMORY, coordinates=2)
    left, right = flow.input("a", k=int, x=decimal(2)), flow.input("b", k=int, y=decimal(2))
    output = left.join(right, on="k").map(p=col.x * col.y).output()
    left.update([(1, 10**12)], [1], at=(1, 0))
    right.update([(1, 10**12)], [1], at=(0, 1))
    flow.advance_to((1, 1))
    left.update([(1, 10**12), (1, 5)], [0 if stays else -1, 1], at=(1, 1))
    if stays:
        with pytest.raises(LimitError, match=r"64 bits(.|\n)*join on k"):
            flow.advance_to((2, 2))
    else:
        flow.advance_to((2, 2))
        assert output.records() == {(Decimal("5000000000000.0000"),): 1}


def test_an_import_leaves_out_what_has_gone_from_a_trace_that_is_not_merged() -> None:
    flow = Dataflow(memory=MEMORY)
    rows = flow.input("rows", k=int, x=decimal(2))
    shared = rows.arrange("k")
    rows.insert([(1, 10**12), (2, 3)])
    flow.advance()
    rows.remove([(1, 10**12)])
    flow.advance()
    held = []
    for _ in range(3):
        late = Dataflow("late", beside=flow)
        output = late.import_arrangement(shared).map(p=col.x * col.x).output()
        flow.advance()
        assert output.records() == {(Decimal("9.0000"),): 1}
        late.close()
        held.append(flow.host.machine.held_bytes)
    assert held[1] == held[2]
