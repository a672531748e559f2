"""The oracle that runs the class itself: its numbers against NumPy's, its runs against the plan's.

Random programs put both oracles beside each other by the thousand (`tests.equivalence`); here they
meet over programs that people wrote, and over what the reference says in so many words.
"""

from __future__ import annotations

import ast
import itertools
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphtide.plan.program_reads import edge_properties
from tests.equivalence import programs, summing_programs
from tests.oracle import machine_numbers as machine
from tests.oracle import programs as plan_oracle
from tests.oracle.class_runs import NeverSettlesError, run_class
from tests.oracle.class_texts import load_class
from tests.unit.programs import library

INTS = (0, 1, -1, 2, 7, -7, 2**31, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1)
FLOATS = (0.0, -0.0, 1.0, -2.5, 0.1, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan)
ORDERS = ("lt", "le", "gt", "ge", "eq", "ne")
CLASSES = {
    f"{module.__name__}.{node.name}": (text, node, getattr(module, node.name))
    for module in (library, programs, summing_programs)
    for text in [Path(str(module.__file__)).read_text()]
    for node in ast.parse(text).body
    if isinstance(node, ast.ClassDef)
}


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(float(one) == float(other)) or (math.isnan(one) and math.isnan(other))


@pytest.mark.parametrize("name", ["add", "sub", "mul", *ORDERS])
@pytest.mark.parametrize(
    ("values", "made", "kind"),
    [(INTS, machine.Int, np.int64), (FLOATS, machine.Float, np.float64)],
    ids=["int", "float"],
)
def test_numbers_are_those_of_a_machine(name: str, values: Any, made: Any, kind: Any) -> None:
    for one, other in itertools.product(values, values):
        found = getattr(made(one), f"__{name}__")(made(other))
        with np.errstate(all="ignore"):
            expected = getattr(kind(one), f"__{name}__")(kind(other))
        assert same(found, expected), (one, other)
        assert isinstance(found, bool if name in ORDERS else made)


def test_whole_division_by_zero_is_zero_and_the_least_int_wraps() -> None:
    least, zero = machine.Int(-(2**63)), machine.Int(0)
    assert (machine.Int(5) // zero, machine.Int(5) % zero) == (zero, zero)
    assert least // machine.Int(-1) == least == -least == abs(least)
    assert machine.Int(-7) // machine.Int(2) == machine.Int(-4)
    assert machine.Int(-7) % machine.Int(2) == machine.Int(1)


def test_an_int_beside_a_float_becomes_one() -> None:
    beyond = machine.Int(2**53 + 1)
    assert beyond == machine.Float(2.0**53)
    assert isinstance(machine.Int(1) + machine.Float(0.5), machine.Float)
    assert isinstance(machine.least(machine.Int(1), machine.Float(2.0)), machine.Float)
    assert machine.least(machine.Float(math.nan), machine.Float(1.0)) != machine.Float(1.0)
    with pytest.raises(machine.UndefinedError):
        machine.int_of(machine.Float(math.inf))


@pytest.mark.parametrize("name", CLASSES)
def test_both_oracles_agree_on_programs_that_people_wrote(name: str) -> None:
    text, node, program = CLASSES[name]
    lines = text.splitlines()[node.lineno - 2 : node.end_lineno]
    loaded = load_class("\n".join(["from math import inf, sqrt", "SHARE = 0.85", *lines]))
    for seed in range(5):
        pick = random.Random(f"{name} {seed}")
        n = pick.randrange(1, 8)
        properties = edge_properties(program.plan)
        edges = [
            (
                pick.randrange(n),
                pick.randrange(n),
                {key: pick.choice((0.0, 0.5, 2.0)) for key in properties},
            )
            for _ in range(pick.randrange(12))
        ]
        given = {item.name: value_of(item.kind, pick, n) for item in program.plan.parameters}
        try:
            expected = plan_oracle.run(program.plan, given, n, edges, limit=100)[0]
        except (AssertionError, IndexError):
            with pytest.raises((NeverSettlesError, IndexError)):
                run_class(loaded, given, n, edges)
            continue
        found = run_class(loaded, given, n, edges).state
        assert all(same(found[field], column) for field, column in expected.items())


def value_of(kind: str, pick: random.Random, n: int) -> Any:
    match kind:
        case "vertex":
            return pick.randrange(n)
        case "vertices":
            return (pick.randrange(n), pick.randrange(n))
        case "int":
            return pick.randrange(1, 5)
        case _:
            return pick.choice((0.25, 0.5)) if kind == "float" else True


LOOPS = """
@gt.program
class Loops:
    n: int
    x: float
    got = gt.Count()
    best = gt.Max(float)
    iterations = 1
    direction = "both"

    def traverse(self, u, e, v):
        v.got()
        v.best(inf - inf)

    def update(self, v):
        v.n = v.got * 10 + v.degree
        v.x = v.best
"""


def test_a_loop_counts_twice_and_a_nan_as_nothing_sent() -> None:
    found = run_class(load_class(LOOPS), {}, 2, [(0, 0, {})]).state
    assert found["n"] == [machine.Int(22), machine.Int(0)]
    assert found["x"] == [machine.Float(-math.inf)] * 2


def test_a_run_without_an_end_is_told() -> None:
    text = LOOPS.replace("iterations = 1", "").replace("v.got * 10 + v.degree", "1 - v.n")
    with pytest.raises(NeverSettlesError) as caught:
        run_class(load_class(text), {}, 1, [])
    assert caught.value.sure
