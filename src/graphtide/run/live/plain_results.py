"""Results to verify others by: a program run by its definition, without what is being checked.

A vertex program is read from its plan with NumPy, every edge in every iteration. A dataflow is run
by the search that its author gave it, or from scratch with every operator checked in plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Values
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.pairs import PairsMaintainer
from graphtide.engine.plain_run import plain_values
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.residual.maintainer import ResidualMaintainer
from graphtide.engine.synchronous.maintainer import SynchronousMaintainer
from graphtide.lang.python import BoundDataflow
from graphtide.plan.expressions import Binary, Call
from graphtide.plan.program_values import BoundProgram
from graphtide.plan.programs import VertexProgram, expressions_of

ROUNDING = 1e-9
"""The share by which floats may differ that were rounded in another order."""

CLOSER, CLOSEST = 1e-4, 1e-14
"""What settles is compared with a run by its definition to so much of its tolerance, and no less
than this. Such a run ends where values move by less, and may be a few times that off itself."""


def plain_results(
    graph: ResidentGraph,
    bound: BoundProgram | BoundDataflow,
    parameters: tuple[Any, ...],
    maintainer: Maintainer,
) -> Values:
    """The results of the version that a graph is at, in the order of the maintainer's rows."""
    if isinstance(bound, BoundDataflow):
        from graphtide.run.dataflow.maintainer import DataflowMaintainer

        assert isinstance(maintainer, DataflowMaintainer)
        return maintainer.plainly()
    program = bound.program
    if isinstance(maintainer, ResidualMaintainer):
        program = replace(program, tolerance=max(CLOSEST, CLOSER * maintainer.spare))
    if program.pairs is None:
        return plain_values(graph, program, parameters)
    place = program.parameters.index(program.pairs)
    return _pair_results(graph, program, parameters, place)


def allowed_share(maintainer: Maintainer, bound: BoundProgram | BoundDataflow) -> float:
    """By which share of itself a float may differ from the true one: rounding, and tolerance."""
    one = maintainer.parts[0] if isinstance(maintainer, PairsMaintainer) else maintainer
    if isinstance(one, SynchronousMaintainer):
        return ROUNDING + one.share
    if isinstance(one, ResidualMaintainer):
        return ROUNDING + one.tolerance * (1 + 10 * CLOSER)
    return ROUNDING if rounds_otherwise(bound) else 0.0


def share_between(maintainer: Maintainer, bound: BoundProgram | BoundDataflow) -> float:
    """The same for two results that are both kept current or run by kernels."""
    if isinstance(maintainer, ResidualMaintainer):
        return ROUNDING + maintainer.between
    return allowed_share(maintainer, bound)


def rounds_otherwise(bound: BoundProgram | BoundDataflow) -> bool:
    """True where NumPy and compiled code may differ in the last digit of a float."""
    if isinstance(bound, BoundDataflow):
        return False
    program = bound.program
    bodies = program.initialize, program.traverse, program.update
    return any(_is_inexact(item) for body in bodies for item in expressions_of(body))


def _is_inexact(expression: object) -> bool:
    match expression:
        case Call("exp" | "log") | Binary("**"):
            return True
        case _:
            return False


def _pair_results(
    graph: ResidentGraph, program: VertexProgram, parameters: tuple[Any, ...], place: int
) -> Values:
    """One run from each source, of which the targets are taken."""
    pairs: Sequence[tuple[int, int]] = parameters[place]
    found: dict[str, NDArray[Any]] = {}
    for source in dict.fromkeys(source for source, _ in pairs):
        given = (*parameters[:place], source, *parameters[place + 1 :])
        rows = np.array([at for at, pair in enumerate(pairs) if pair[0] == source])
        targets = np.array([pairs[at][1] for at in rows])
        for name, column in plain_values(graph, program, given).items():
            if name not in found:
                found[name] = np.empty((len(pairs), *column.shape[1:]), column.dtype)
            found[name][rows] = column[targets]
    return found
