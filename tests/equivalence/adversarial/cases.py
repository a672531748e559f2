"""The collection of adversarial programs as texts, with parameters and journeys for each."""

from __future__ import annotations

import ast
import random
from pathlib import Path
from typing import Any

from tests.equivalence.random_programs.cases import Case, Step
from tests.equivalence.random_programs.journeys import Journey
from tests.oracle.class_texts import load_class

STYLES = ("positive", "zero", "mixed", "wild")
NUMBERS: dict[str, tuple[Any, ...]] = {
    "step": (-1, 2, 0),
    "rounds": (3, 5),
    "labels": (2, 3),
    "flag": (True, False),
}


def program_texts() -> dict[str, str]:
    """Every class of the collection by its name, as it stands in its file."""
    found = {}
    for module in ("selecting", "rounds", "numbers"):
        text = Path(__file__).with_name(f"{module}.py").read_text()
        lines = text.splitlines()
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                found[node.name] = "\n".join(lines[node.lineno - 2 : node.end_lineno]) + "\n"
    return found


def single_edges(name: str, text: str) -> Case:
    """From no edge to a few, one at a time, and back: most mistakes show in three vertices."""
    rows = [(0, 1), (1, 2), (0, 2), (2, 2), (3, 0), (2, 1)]
    first, second, third, loop, new, back = (
        (one, other, (2.0, -4.0, 1.0)[one % 3], other - 1, True) for one, other in rows
    )
    steps = [Step("advance", (row,)) for row in (first, second, third)]
    steps += [Step("advance", (back,), (first,)), Step("advance", (new,)), Step("rollback")]
    steps += [Step("advance", (loop,), (second, third)), Step("rollback"), Step("rollback")]
    steps += [Step("advance", (), (first, second, third))]
    pick = random.Random(name)
    kinds = load_class(text).parameters
    given = {item: _given(pick, item, kind, (0, 1, 2)) for item, kind in kinds.items()}
    return Case(text, given, (0, 1, 2), (), tuple(steps), {}, name, seed=name)


def make_case(name: str, text: str, style: str, seed: int) -> Case:
    """A journey for a program of the collection; hasty ones run anew at every other advance."""
    pick = random.Random(f"{name} {style} {seed}")
    journey = Journey(pick, style, texts=pick.random() < 0.2)
    kinds, rows = load_class(text).parameters, tuple(journey.rows)
    given = {item: _given(pick, item, kind, journey.vertices) for item, kind in kinds.items()}
    hasty = pick.random() < 0.3
    return Case(
        text,
        given,
        journey.vertices,
        rows,
        journey.steps(7),
        {},
        name,
        hasty,
        f"{name} {style} {seed}",
    )


def _given(pick: random.Random, name: str, kind: Any, vertices: tuple[Any, ...]) -> Any:
    if kind == "vertex":
        return pick.choice(vertices)
    if kind == "vertices":
        return [pick.choice(vertices) for _ in range(2)]
    if kind == "pairs":
        return list({(pick.choice(vertices), pick.choice(vertices)): None for _ in range(3)})
    return pick.choice(NUMBERS[name])
