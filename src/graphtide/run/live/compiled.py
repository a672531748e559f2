"""A vertex program as runs and graphs take it: bound, its mode chosen, ready for any graph.

The stages, from what a user writes to what follows a graph:

    lang.python    class --read--> plan
    plan           plan --bind--> values for its parameters; proofs, with their conditions
    run.live.modes proofs and values --choose--> a mode, with the reason
    here           all of it together: what edges must satisfy, a maintainer, a plain run, `explain`
    engine.code    plan --write, generate--> a module of machine code for each role

A dataflow goes the same way as a `CompiledDataflow`, a walk program as a `CompiledWalk`, which have
the same methods.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

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
from graphtide.plan.walks import Matches
from graphtide.run.live.conditions import Conditions, conditions
from graphtide.run.live.modes import Choice, Knobs, Mode, choose_mode, make_maintainer
from graphtide.run.live.on_pairs import place_of_pairs, plain_on_pairs, source_count, state_a_source

HISTORY_ITERATIONS = 32
"""Iterations that are reckoned with where a program does not say how many it has."""

ROUNDING = 1e-9
"""The share by which floats may differ that were rounded in another order."""

CLOSER, CLOSEST = 1e-4, 1e-14
"""What settles is compared with a run by its definition to so much of its tolerance, and no less
than this. Such a run ends where values move by less, and may be a few times that off itself."""


@dataclass(frozen=True)
class CompiledProgram:
    """A vertex program with its parameters, the mode it is kept current in, and what that needs."""

    bound: BoundProgram
    choice: Choice
    needed: Conditions

    searched = False
    """Whether the author of a program gave a search that is far cheaper than a state."""

    globals: ClassVar[tuple[str, ...]] = ()
    matches: ClassVar[tuple[str, ...]] = ()
    match_plans: ClassVar[tuple[Matches, ...]] = ()
    """Results of the whole graph, and rows: walk programs have those."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its results."""
        return self.bound.fields

    @property
    def arrays(self) -> tuple[str, ...]:
        """All that is kept as an array."""
        return self.fields

    @property
    def results(self) -> tuple[str, ...]:
        """All that is kept."""
        return self.fields

    @cached_property
    def code(self) -> ProgramCode:
        """What was proved of it, and its machine code."""
        return program_code(self.bound.program)

    @property
    def labels(self) -> str | None:
        """The result that tells which component a vertex is in; None where there is none."""
        return self.fields[0] if self.code.labels_components else None

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

        place = place_of_pairs(self.bound)
        if place is None:
            return make(parameters)
        return state_a_source(make, parameters, place, self.fields)

    def plainly(
        self, graph: ResidentGraph, parameters: tuple[Any, ...], maintainer: Maintainer
    ) -> Values:
        """Results to verify others by: the definition, every edge in every iteration, no kernels.

        They are of the version that the graph is at, in the order of a maintainer's rows.
        """
        program = self.bound.program
        place = place_of_pairs(self.bound)
        if place is not None:
            return plain_on_pairs(
                lambda given: plain_values(graph, program, given), parameters, place
            )
        if isinstance(maintainer, ResidualMaintainer):
            program = replace(program, tolerance=max(CLOSEST, CLOSER * maintainer.spare))
        return plain_values(graph, program, parameters)

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
