"""Random scenarios: a dataflow, changes half of which undo earlier ones, and ends of batches."""

from __future__ import annotations

import datetime
from decimal import Decimal
from random import Random
from typing import Any

from tests.dataflow.generating import Generator
from tests.dataflow.scenarios import Change, Guest, Scenario
from tests.oracle.flows import Description

_VALUES: dict[str, tuple[Any, ...]] = {
    "int": (0, 1, 2, 3, 4, 5, 7, -2),
    "float": (0.0, 0.5, 1.0, 2.5, -1.0),
    "bool": (True, False),
    "str": ("x", "y", "z", "a long beginning, xa", "a long beginning, xb", "Xa%"),
    "datetime.date": (datetime.date(2020, 2, 29), datetime.date(2021, 12, 31)),
    "decimal(2)": (Decimal("0.25"), Decimal("-1.50"), Decimal("3.00")),
}
_STRANGE: dict[str, tuple[Any, ...]] = {
    "int": ((1 << 63) - 1, -(1 << 63), 1 << 40),
    "float": (float("inf"), float("-inf"), float("nan"), -0.0),
    "bool": (),
    "str": ("", "x", "\0", "\U0001f600"),
}


def scenario(seed: int) -> Scenario:
    """The scenario of a number."""
    random = Random(seed)
    generator = Generator(random)
    made = generator.generate(random.choice((5, 8, 12, 16, 22)))
    columns = random.choice((0, 0, 0, 0, 3))
    versions = 9 if columns else random.choice((2, 4, 6, 8))
    stops = _stops(random, versions)
    changes = _changes(random, made, range(versions), generator.strange)
    settings: dict[str, Any] = {}
    if columns:
        settings["coordinates"] = 2
    if random.random() < 0.3:
        settings["fuel"] = random.choice((1, 2, 8))
    if random.random() < 0.3:
        settings["effort"] = random.choice((-1, 0, 1, 16))
    if random.random() < 0.15:
        settings["debug"] = True
    guest = None
    if not columns and len(stops) > 1 and random.random() < 0.6:
        guest = _guest(random, made, stops, generator.strange)
    held = tuple(b for b in range(len(stops)) if random.random() < 0.2)
    return Scenario(made, changes, stops, tuple(settings.items()), guest, columns, held)


def _stops(random: Random, versions: int) -> tuple[int, ...]:
    part = random.choice((0.0, 0.4, 1.0))
    return (*(v for v in range(1, versions) if random.random() < part), versions)


def _changes(
    random: Random, made: Description, versions: range, strange: bool
) -> tuple[Change, ...]:
    inputs = [number for number, node in enumerate(made.nodes) if node.operator == "input"]
    found: list[Change] = []
    if not inputs:
        return ()
    negative = random.random() < 0.15
    undoing = random.choice((0.3, 0.5, 0.6))
    for _ in range(random.choice((6, 12, 20, 30))):
        at = random.choice(versions)
        if found and random.random() < undoing:
            number, before, record, diff = random.choice(found)
            found.append((number, max(at, before), record, -diff))
            continue
        number = random.choice(inputs)
        record = tuple(_value(random, kind, strange) for _, kind in made.nodes[number].schema)
        diffs = (1, 1, 2, -1) if negative else (1, 1, 1, 2)
        found.append((number, at, record, random.choice(diffs)))
    return tuple(found)


def _value(random: Random, kind: str, strange: bool) -> Any:
    if kind.endswith(" | None"):
        plain = kind.removesuffix(" | None")
        return None if random.random() < 0.35 else random.choice(_VALUES[plain])
    if strange and _STRANGE.get(kind) and random.random() < 0.2:
        return random.choice(_STRANGE[kind])
    return random.choice(_VALUES[kind])


def _guest(
    random: Random, made: Description, stops: tuple[int, ...], strange: bool
) -> Guest | None:
    kinds = ("arrange", "threshold", "ends", "reduce", "aggregate")
    shared = [n for n, node in enumerate(made.nodes) if node.scope == 0 and node.operator in kinds]
    if not shared:
        return None
    chosen = random.sample(shared, min(len(shared), 2))
    comes = random.randrange(len(stops))
    goes = random.randint(comes + 1, len(stops))
    description = Generator(random, {n: made.nodes[n] for n in chosen}).generate(
        random.choice((4, 8, 12))
    )
    first = stops[comes - 1] if comes else 0
    changes = _changes(random, description, range(first, stops[-1]), strange)
    return Guest(description, changes, comes, goes)
