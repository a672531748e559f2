"""The run that `verify` compares with, against the naive interpreter, on random programs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from graphtide.engine.plain_run import plain_values
from graphtide.engine.resident import ResidentGraph
from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from tests.examples import examples
from tests.oracle.programs import run
from tests.property.program_plans import programs

FLOATS = st.sampled_from([-math.inf, -1.5, 0.0, 0.5, 2.0, 7.25, math.inf])
VERTICES = 4


@st.composite
def edges(draw: Any) -> list[tuple[int, int, dict[str, Any]]]:
    ends = st.integers(0, VERTICES - 1)
    row = st.tuples(ends, ends, FLOATS, st.integers(-3, 3), st.booleans())
    return [
        (src, dst, {"weight": weight, "kind": kind, "open": is_open})
        for src, dst, weight, kind, is_open in draw(st.lists(row, max_size=8))
    ]


def resident(rows: list[tuple[int, int, dict[str, Any]]]) -> ResidentGraph:
    src = np.array([row[0] for row in rows], np.int32)
    dst = np.array([row[1] for row in rows], np.int32)
    columns = {
        name: np.array([row[2][name] for row in rows], dtype)
        for name, dtype in (("weight", np.float64), ("kind", np.int64), ("open", np.bool_))
    }
    return ResidentGraph(VERTICES, src, dst, columns)


def is_defined(program: p.VertexProgram) -> bool:
    """False where an infinity may become an int, which has no meaning."""
    bodies = program.initialize, program.traverse, program.update
    return not any(
        isinstance(item, x.Call) and item.function in ("int", "floor", "ceil")
        for body in bodies
        for item in p.expressions_of(body)
    )


def agree(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return all(agree(*pair) for pair in zip(one, other, strict=True))
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return one == other or math.isclose(one, other, rel_tol=1e-9)


@given(programs(), edges(), st.integers(0, 3), st.booleans())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_a_plain_run_is_by_the_book(
    program: p.VertexProgram, rows: list[tuple[int, int, dict[str, Any]]], size: int, flag: bool
) -> None:
    assume(is_defined(program))
    given_values = {"here": 1, "among": (0, 2), "ways": 3, "pi": size % 3, "pf": 0.5, "pb": flag}
    expected, _ = run(program, given_values, VERTICES, rows)
    values = tuple(given_values[item.name] for item in program.parameters)
    found = plain_values(resident(rows), program, values)
    for name, column in expected.items():
        assert agree(column, found[name].tolist()), (name, column, found[name].tolist())
