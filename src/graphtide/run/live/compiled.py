"""A vertex program as runs and graphs take it: bound, its mode chosen, ready for any graph.

The stages, from what a user writes to what follows a graph:

    lang.python    class --read--> plan
    plan           plan --bind--> values for its parameters; proofs, with their conditions
    run.live.modes proofs and values --choose--> a mode, with the reason
    here           all of it together: what edges must satisfy, a maintainer, a plain run, `explain`
    engine.code    plan --write, generate--> a module of machine code for each role

A dataflow goes the same way as a `CompiledDataflow`, a walk program as a `CompiledWalk`; what all
of them have is in `computation`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from graphtide.engine.changes import Values
from graphtide.engine.code import ProgramCode, program_code
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.pairs import PairsMaintainer
from graphtide.engine.plain_run import plain_values
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.residual.maintainer import ResidualMaintainer
from graphtide.engine.synchronous.maintainer import SynchronousMaintainer
from graphtide.model.errors import InputError
from graphtide.plan.expressions import Binary, Call
from graphtide.plan.program_values import BoundProgram
from graphtide.plan.programs import expressions_of
from graphtide.plan.settling_sums import explain_settling
from graphtide.plan.tolerance_bound import tolerance_bound
from graphtide.plan.vertex_results import VertexResults, vertex_results
from graphtide.run.live.computation import Computation
from graphtide.run.live.conditions import conditions
from graphtide.run.live.modes import Knobs, Mode, choose_mode, make_maintainer
from graphtide.run.live.on_pairs import run_a_source, source_count, state_a_source

HISTORY_ITERATIONS = 32
"""Iterations that are reckoned with where a program does not say how many it has."""

ROUNDING = 1e-9
"""The share by which floats may differ that were rounded in another order."""

CLOSER, CLOSEST = 1e-4, 1e-14
"""What settles is compared with a run by its definition to so much of its tolerance, and no less
than this. Such a run ends where values move by less, and may be a few times that off itself."""


class CompiledProgram(Computation[BoundProgram]):
    """A vertex program: its code, and the maintainer of its mode."""

    @cached_property
    def code(self) -> ProgramCode:
        """What was proved of it, and its machine code."""
        return program_code(self.bound.program)

    @property
    def labels(self) -> str | None:
        """The result that tells which component a vertex is in; None where there is none."""
        return self.fields[0] if self.code.labels_components else None

    @cached_property
    def _vertex_results(self) -> VertexResults:
        return vertex_results(self.bound.program, self.bound.iterations)

    @property
    def naming(self) -> tuple[str, ...]:
        """The results that name a vertex by its number."""
        return self._vertex_results.results

    @property
    def identity(self) -> str:
        """The program, its parameters, and all that it does, as text."""
        return f"BoundProgram(program={self.bound.program!r}, values={self.bound.values!r})"

    @property
    def sources(self) -> int:
        """How many states the pairs of a program need; none where it has no pairs."""
        return source_count(self.bound)

    @property
    def history_bytes(self) -> int:
        """About what the histories of a vertex take; 0 where the mode keeps none."""
        if self.choice.mode == "fixpoint":
            return 0
        row = 4 + 8 * sum(self.bound.size(item) or 1 for item in self.bound.program.sized)
        return (self.bound.iterations or HISTORY_ITERATIONS) * row * 3 // 2

    def maintainer(
        self, graph: ResidentGraph, parameters: tuple[Any, ...], knobs: Knobs
    ) -> Maintainer:
        """What keeps it current on a graph, not started; one a source where it is on pairs."""

        def make(given: tuple[Any, ...]) -> Maintainer:
            return make_maintainer(graph, self.bound, given, self.choice, knobs)

        return state_a_source(self.bound, make, parameters)

    def plainly(
        self, graph: ResidentGraph, parameters: tuple[Any, ...], maintainer: Maintainer
    ) -> Values:
        """Results to verify others by: the definition, every edge in every iteration, no kernels.

        Of a settling sum, to a small share of its tolerance.
        """
        program = self.bound.program
        if isinstance(maintainer, ResidualMaintainer):
            program = replace(program, tolerance=max(CLOSEST, CLOSER * maintainer.spare))
        return run_a_source(
            self.bound, lambda given: plain_values(graph, program, given), parameters
        )

    def allowed_share(self, maintainer: Maintainer) -> float:
        """By which share of itself a float may be off the definition: rounding, and tolerance."""
        one = maintainer.parts[0] if isinstance(maintainer, PairsMaintainer) else maintainer
        if isinstance(one, SynchronousMaintainer):
            return ROUNDING + one.share
        if isinstance(one, ResidualMaintainer):
            return ROUNDING + one.tolerance * (1 + 10 * CLOSER)
        return ROUNDING if self._rounds_otherwise else 0.0

    def check_bounded(self, maintainer: Maintainer) -> None:
        """Refuse to hold results to the bound of a tolerance that nobody knows."""
        if not isinstance(maintainer, SynchronousMaintainer) or not maintainer.tolerance:
            return
        bound = tolerance_bound(self.bound)
        if bound.reason is not None:
            raise InputError(
                f"{self.bound.program.name} with a tolerance cannot be verified: {bound}",
                hint="maintain it without one beside it, and compare the two",
            )

    def explain(self, maintainer: Any) -> list[str]:
        """The plan, what was proved of it, and how far results may be off for a tolerance."""
        lines = self.code.explain()
        lines += [f"    {line}" for line in explain_settling(self.bound)]
        lines += [f"    {line}" for line in self._vertex_results.explain()]
        lines += [f"    {line}" for line in self.bound.told_columns]
        if isinstance(maintainer, SynchronousMaintainer):
            lines.append(f"    tolerance: {tolerance_bound(self.bound)}")
        return lines

    @property
    def _rounds_otherwise(self) -> bool:
        """True where NumPy and compiled code may differ in the last digit of a float."""
        program = self.bound.program
        bodies = program.initialize, program.traverse, program.update
        return any(_is_inexact(item) for body in bodies for item in expressions_of(body))


def compiled_vertex_program(bound: BoundProgram, mode: Mode) -> CompiledProgram:
    """Choose the mode of a program; InputError if that cannot be."""
    choice = choose_mode(bound, mode)
    return CompiledProgram(bound, choice, conditions(bound, choice.obligations))


def _is_inexact(expression: object) -> bool:
    match expression:
        case Call("exp" | "log") | Binary("**"):
            return True
        case _:
            return False
