"""Sums outside of loops, held or not, in one version or many, are what the records add up to."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from graphtide.dataflow import Arrangement, Collection, Dataflow, col, count, total
from graphtide.kernels.dataflow import layout
from graphtide.model.errors import InputError
from tests.dataflow.building import MEMORY

Row = tuple[int, int, float]
Batch = list[tuple[Row, int, int]]
"""Rows with the version and the diff of each."""
FLOATS = (0.5, -0.25, 1e300, -1e300, 3.0, 0.0)


def summed(rows: Collection) -> Arrangement:
    return rows.aggregate("key", n=count(), all=total("whole"), real=total("real"))


def expected(multiplicities: Counter[Row]) -> dict[tuple[Any, ...], int]:
    """What the records come to, in fractions."""
    groups: dict[int, list[Any]] = defaultdict(lambda: [0, 0, Fraction(0)])
    for (key, whole, real), times in multiplicities.items():
        group = groups[key]
        group[0] += times
        group[1] += times * whole
        group[2] += times * Fraction(real)
    return {(key, n, whole, float(real)): 1 for key, (n, whole, real) in groups.items() if n}


def batches(chance: Random, version: int = 0) -> list[tuple[int, Batch]]:
    """Batches of one to four versions, of rows that come, go, and are there less than no times."""
    found = []
    for _ in range(6):
        versions = chance.choice((1, 1, 4))
        rows: Batch = [
            (
                (chance.randrange(4), chance.randrange(-2, 3) << 40, chance.choice(FLOATS)),
                version + chance.randrange(versions),
                chance.choice((1, 1, -1, 2)),
            )
            for _ in range(chance.randrange(12))
        ]
        version += versions
        found.append((version, rows))
    return found


def put(rows: Any, batch: Batch) -> None:
    for row, version, diff in batch:
        rows.update([row], diff, at=version)


def added(multiplicities: Counter[Row], batch: Batch) -> None:
    for row, _, diff in batch:
        multiplicities[row] += diff


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_sums_are_what_the_records_add_up_to(seed: int, held: bool, workers: int) -> None:
    flow = Dataflow(memory=MEMORY, workers=workers)
    rows = flow.input("rows", key=int, whole=int, real=float)
    sums = summed(rows)
    output = sums.filter(col.key >= 0).output()
    kept = sums if held else None
    del sums
    there: Counter[Row] = Counter()
    at_versions: dict[int, Counter[Row]] = {}
    changes: list[Any] = []
    for version, batch in batches(Random(seed)):
        put(rows, batch)
        flow.advance_to(version)
        changes += output.changes()
        for number in sorted({at for _, at, _ in batch}):
            added(there, [item for item in batch if item[1] == number])
            at_versions[number] = Counter(there)
        assert output.records() == expected(there)
        assert kept is None or kept.read() == expected(there)
    for version, wanted in at_versions.items():
        found: Counter[Any] = Counter()
        for record, at, diff in changes:
            found[record] += diff if at <= version else 0
        assert {record: times for record, times in found.items() if times} == expected(wanted)


@pytest.mark.parametrize("history", [True, False])
def test_sums_of_what_is_imported_begin_with_all_of_it(history: bool) -> None:
    flow = Dataflow(memory=MEMORY)
    rows = flow.input("rows", key=int, whole=int, real=float)
    arranged = rows.arrange("key")
    first, *later = batches(Random(7))
    there: Counter[Row] = Counter()
    put(rows, first[1])
    added(there, first[1])
    flow.advance_to(first[0])
    beside = Dataflow("beside", beside=flow)
    output = summed(beside.import_arrangement(arranged, history=history)).output()
    for version, batch in later:
        put(rows, batch)
        added(there, batch)
        flow.advance_to(version)
        assert output.records() == expected(there)


def test_results_that_nobody_holds_are_not_kept() -> None:
    found = {}
    for held in (True, False):
        flow = Dataflow(memory=MEMORY)
        rows = flow.input("rows", key=int, whole=int, real=float)
        sums = summed(rows)
        output = sums.output()
        kept = sums if held else None
        del sums
        rows.insert([(1, 2, 0.5), (1, 3, 0.5)])
        flow.advance()
        assert output.records() == {(1, 2, 5, 1.0): 1}
        found[held] = [flow.host.machine.field(op, layout.OP_OUTPUT) != 0 for op in _sums(flow)]
        del kept
    assert found == {True: [True], False: [False]}


def _sums(flow: Dataflow) -> list[int]:
    operators = flow.install().addresses.operators.values()
    machine = flow.host.machine
    return [op for op in operators if machine.field(op, layout.OP_KIND) == layout.SUM]


def test_a_batch_that_fails_leaves_the_sums_as_they_were() -> None:
    flow = Dataflow(memory=MEMORY)
    rows = flow.input("rows", key=int, whole=int, real=float)
    output = summed(rows).output()
    rows.insert([(1, 1 << 62, 0.5)])
    flow.advance()
    rows.insert([(1, 1 << 62, 0.5), (2, 1, 0.5)])
    with pytest.raises(Exception, match="beyond"):
        flow.advance()
    rows.insert([(1, -1, 0.25)])
    flow.advance()
    assert output.records() == {(1, 2, (1 << 62) - 1, 0.75): 1}


def test_an_index_that_was_narrowed_cannot_be_asked_for_later() -> None:
    """What a join made for itself lacks columns: read as all of them, it gave others' values."""
    flow = Dataflow(memory=MEMORY)
    one = flow.input("one", k=int, x=int, y=int)
    other = flow.input("other", k=int, z=int)
    output = one.join(other, on="k").select("k", "z").output()
    one.insert([(1, 2, 3)])
    other.insert([(1, 5)])
    flow.advance()
    assert output.records() == {(1, 5): 1}
    with pytest.raises(InputError, match="nobody held it when dataflow began to run"):
        one.arrange("k").read()
