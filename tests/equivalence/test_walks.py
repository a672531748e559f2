"""Walk programs along histories of multigraphs: followed, rolled back, and against the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphtide.engine.walks.matches import RowChange
from graphtide.plan import walks as w
from tests.equivalence.walk_cases import (
    History,
    closed_walks,
    every_kind,
    infinite_product,
    rings,
    triangles,
)
from tests.property.walk_plans import walk_programs

PROGRAMS = {
    "Triangles": triangles(),
    "Rings of 2": rings(2),
    "Rings of 3": rings(3),
    "Every kind": every_kind(),
    "Closed": closed_walks(),
    "Closed by an edge back": closed_walks("in"),
}
NAMES = [
    pytest.param(name, marks=() if name == "Triangles" else pytest.mark.interpreted)
    for name in PROGRAMS
]


def follow_history(program: w.WalkProgram, number: int, steps: int = 6) -> None:
    simple = number % 3 == 1  # Marks of edges are looked at less, and a hub is beside all.
    history = History(program, *((16, 40) if simple else (6, 26)), number, simple=simple)
    maintainer = history.maintainer
    if number % 4:
        maintainer.anew_share = 0  # Terms, however large the batch.
    maintainer.start()
    history.check()
    deltas = []
    for _ in range(steps):
        come, gone = history.batch()
        names = (*maintainer.fields, *maintainer.matches)
        before = {name: maintainer.values(name).copy() for name in names}
        changes: dict[str, Any] = maintainer.follow(history.flip(come, gone))
        deltas.append((come, gone))
        history.check()
        for name, change in changes.items():
            told = before[name]
            if isinstance(change, RowChange):
                told.update(change.appeared)
                told.subtract(change.disappeared)
                assert told == maintainer.values(name)
                continue
            told[change.vertices] = change.new
            assert np.array_equal(told, maintainer.values(name), equal_nan=told.dtype.kind == "f")
        if history.random.random() < 0.4:
            come, gone = deltas.pop()
            maintainer.undo()
            history.flip(gone, come)
            history.check()
    maintainer.verify()
    while deltas:
        come, gone = deltas.pop()
        maintainer.undo()
        history.flip(gone, come)
        history.check()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", range(6))
def test_programs_by_hand(name: str, number: int) -> None:
    follow_history(PROGRAMS[name], number, steps=12)


@pytest.mark.interpreted
@pytest.mark.parametrize("number", range(40))
def test_factors_leave_products_that_are_infinite(number: int) -> None:
    follow_history(infinite_product(), number, steps=12)


@pytest.mark.interpreted
@given(walk_programs(), st.integers(0, 10_000))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_programs(program: w.WalkProgram, number: int) -> None:
    follow_history(program, number)


@pytest.mark.interpreted
@given(walk_programs(stateful=True), st.integers(0, 10_000))
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_programs_that_read_state(program: w.WalkProgram, number: int) -> None:
    follow_history(program, number, steps=3)
