"""Programs that get each of the engine's ways, by the name of their family."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.equivalence.random_programs.selecting_families import (
    labels,
    pairs,
    reaching,
    selecting,
    settling,
)
from tests.equivalence.random_programs.summing_families import own_state, saturating, summing
from tests.equivalence.random_programs.templates import Made

FAMILIES: dict[str, Callable[[random.Random, tuple[Any, ...], float], Made]] = {
    "selecting": selecting,
    "settling": settling,
    "labels": labels,
    "reaching": reaching,
    "summing": summing,
    "saturating": saturating,
    "own state": own_state,
    "pairs": pairs,
}
