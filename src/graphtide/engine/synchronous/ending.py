"""When a synchronous run ends, and how much of it is kept.

After a number of iterations, or in the first one in which nothing moves. Where nothing may move
by a tolerance, or where `update` looks at the iteration, a run that went on after its end would
not stand still, and the histories of a longer run say nothing about a shorter one: such a run is
*stopping*, and its end is found by counting who moves in each iteration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphtide.engine.synchronous.facts import synchronous_facts
from graphtide.model.errors import InputError
from graphtide.plan.programs import VertexProgram

MOST_ITERATIONS = 100_000
"""A run until nothing changes that goes on for longer is taken for one that never ends."""


@dataclass(frozen=True)
class Ending:
    """`last` is the last iteration that may be run, `kept` the last whose rows are kept.

    `settle` is the share of itself that a float may move by and still count as unmoved. A patient
    run goes on where nothing moves.
    """

    last: int
    kept: int
    settle: float
    bounded: bool
    patient: bool
    stopping: bool


def run_ending(
    program: VertexProgram, parameters: Mapping[str, Any], iterations: int | None, keep: int | None
) -> Ending:
    """How runs of a program end; `iterations` overrules the program."""
    wanted = program.iterations if iterations is None else iterations
    bound = parameters[wanted] if isinstance(wanted, str) else wanted
    settle = program.tolerance
    settle = float(parameters[settle] if isinstance(settle, str) else settle)
    for value, name in ((bound, "the number of iterations"), (keep, "keep")):
        if value is not None and value < 0:
            raise InputError(f"{program.name}: {name} cannot be {value}", hint="give 0 or more")
    reads_iteration = synchronous_facts(program).reads_iteration
    patient = bound is not None and reads_iteration
    last = MOST_ITERATIONS if bound is None else int(bound)
    return Ending(
        last=last,
        kept=last if keep is None else min(keep, last),
        settle=settle,
        bounded=bound is not None,
        patient=patient,
        stopping=not patient and (settle > 0 or (bound is None and reads_iteration)),
    )
