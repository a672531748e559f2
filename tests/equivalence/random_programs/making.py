"""One case from one seed: a program of some family, a graph, and a journey."""

from __future__ import annotations

import random
from typing import Any

from tests.equivalence.random_programs.cases import Case
from tests.equivalence.random_programs.families import FAMILIES
from tests.equivalence.random_programs.free import free_program
from tests.equivalence.random_programs.journeys import Journey

SHARES = {
    "free": 4,
    "selecting": 5,
    "settling": 4,
    "labels": 2,
    "reaching": 1.5,
    "summing": 3,
    "saturating": 2,
    "own state": 2.5,
    "pairs": 0.7,
}


def make_case(seed: object, *, steps: int = 9, wild: bool = True) -> Case:
    """The case of a seed; the same seed always makes the same one."""
    pick = random.Random(f"program {seed}")
    family = pick.choices(tuple(SHARES), tuple(SHARES.values()))[0]
    wildness = pick.choice((0.0, 0.0, 0.3, 0.6)) if wild else 0.0
    styles = ("positive", "positive", "zero", "mixed", "mixed", "wild" if wildness else "zero")
    style = pick.choice(("positive", "zero")) if family == "settling" else pick.choice(styles)
    journey = Journey(pick, style, texts=pick.random() < 0.2, large=pick.random() < 0.04)
    vertices, rows = journey.vertices, tuple(journey.rows)
    make = free_program if family == "free" else FAMILIES[family]
    text, given = make(pick, vertices, wildness)
    knobs: dict[str, Any] = {"keep": pick.choice((0, 1, 2))} if pick.random() < 0.1 else {}
    hasty = pick.random() < 0.25
    directed = random.Random(f"directed {seed}").random() < 0.7
    steps = journey.steps(steps)
    return Case(text, given, vertices, rows, steps, knobs, family, hasty, str(seed), directed)
