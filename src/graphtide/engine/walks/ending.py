"""When runs of a walk program end, and whether a vertex ends alone.

As those of vertex programs: after a number of iterations, or in the first in which nothing moves.
Where walks read no state, a vertex that stands still stands still for good, whatever others do, and
runs to its end alone. It does not where a tolerance lets the run end while things move, or where a
run without a number of iterations looks at the iteration. Such runs say nothing of what rounds
behind their end would be; all others do, so that those whose walks read state are followed round
by round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphtide.engine.synchronous.ending import MOST_ITERATIONS
from graphtide.model.errors import InputError
from graphtide.plan.walk_facts import WalkFacts
from graphtide.plan.walks import WalkProgram


@dataclass(frozen=True)
class WalkEnding:
    """`last` is the last iteration that may run; a patient run goes on where nothing moves."""

    last: int
    tolerance: float
    bounded: bool
    patient: bool
    alone: bool
    """Whether each vertex ends alone."""
    by_rounds: bool
    """Whether walks read state, and are followed round by round."""


def walk_ending(program: WalkProgram, facts: WalkFacts, settings: Mapping[str, Any]) -> WalkEnding:
    """How runs of a program end, with these parameters."""
    bound = _setting(program.iterations, settings)
    tolerance = float(_setting(program.tolerance, settings))
    if bound is not None and bound < 0:
        raise InputError(
            f"{program.name}: the number of iterations cannot be {bound}", hint="give 0 or more"
        )
    loose = tolerance > 0 or (bound is None and facts.reads_iteration)
    return WalkEnding(
        last=MOST_ITERATIONS if bound is None else int(bound),
        tolerance=tolerance,
        bounded=bound is not None,
        patient=bound is not None and facts.reads_iteration,
        alone=not loose and not facts.stateful and bound != 0,
        by_rounds=not loose and facts.stateful,
    )


def _setting(given: Any, settings: Mapping[str, Any]) -> Any:
    return settings[given] if isinstance(given, str) else given
