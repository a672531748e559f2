"""A vertex program as runs and graphs take it: bound, its mode chosen, ready for any graph.

The stages, from what a user writes to what follows a graph:

    lang.python    class --read--> plan
    plan           plan --bind--> values for its parameters; proofs, with their conditions
    here           proofs and values --choose--> a mode, with the reason; what edges must satisfy,
                   a maintainer, a plain run to verify by, `explain`
    engine.code    plan --write, generate--> a module of machine code for each role

Fixpoint mode is chosen where the plan proves it right: for a selecting program that runs until
nothing changes, or a sum that settles. Exact mode is for everything else, where every iteration
counts. A program on pairs has one state for each distinct source.

`Computation` is what all kinds have in common; dataflows, walk programs and rules have classes of
their own (`CompiledDataflow`, `CompiledWalk`, `CompiledRules`) beside their engines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.changes import Values
from graphtide.engine.code import ProgramCode, program_code
from graphtide.engine.exact.maintainer import ExactMaintainer
from graphtide.engine.fixpoint.maintainer import FixpointMaintainer
from graphtide.engine.maintainer import Maintainer, PairsMaintainer
from graphtide.engine.plain_run import plain_values
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.residual.maintainer import ResidualMaintainer
from graphtide.engine.synchronous.maintainer import SynchronousMaintainer
from graphtide.lang.datalog.program import BoundRules
from graphtide.lang.python import BoundDataflow
from graphtide.model.errors import InputError
from graphtide.plan.expressions import Binary, Call
from graphtide.plan.program_analysis import tolerance_bound
from graphtide.plan.program_proofs import Obligation
from graphtide.plan.program_values import BoundProgram, BoundWalk
from graphtide.plan.programs import expressions_of
from graphtide.plan.settling_sums import explain_settling, settling_sum, why_not_settling_sum
from graphtide.plan.vertex_results import VertexResults, vertex_results
from graphtide.plan.walks import Matches
from graphtide.run.live.conditions import Conditions, conditions, holds_for_parameter

Mode = Literal["auto", "fixpoint", "exact"]


@dataclass(frozen=True)
class ModeChoice:
    """A mode, the reason in words, and what the data must satisfy for it."""

    mode: Literal["fixpoint", "exact", "dataflow", "walk"]
    reason: str
    obligations: tuple[Obligation, ...] = ()

    def __str__(self) -> str:
        condition = " and ".join(map(str, self.obligations))
        return f"{self.mode} mode: {self.reason}" + (f", where {condition}" if condition else "")


@dataclass(frozen=True)
class SumSettings:
    """What trades exactness or time for work and memory, in programs that add up.

    `tolerance`: results that would move by no more than this share of themselves stay. `keep`:
    values are kept up to this iteration, and later ones computed anew in every advance.
    """

    tolerance: float = 0.0
    keep: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tolerance, int | float):
            raise InputError(f"the tolerance cannot be {self.tolerance!r}", hint="give a number")
        if self.keep is not None and not isinstance(self.keep, int):
            raise InputError(f"keep cannot be {self.keep!r}", hint="give a number of iterations")

    @property
    def turned(self) -> bool:
        return self.tolerance != 0.0 or self.keep is not None


def choose_mode(bound: BoundProgram, mode: Mode) -> ModeChoice:
    """The mode for a program; InputError where the one that was asked for cannot be."""
    if mode not in ("auto", "fixpoint", "exact"):
        raise InputError(f"mode cannot be {mode!r}", hint="use 'auto', 'fixpoint' or 'exact'")
    settling = settling_sum(bound)
    if settling is not None and mode != "exact":
        return ModeChoice("fixpoint", str(settling))
    reason = _why_not_fixpoint(bound)
    if reason is None:
        selection = program_code(bound.program).selection
        assert selection is not None
        if mode == "exact":
            return ModeChoice("exact", "asked for; it settles", selection.obligations)
        return ModeChoice(
            "fixpoint", "it selects, and no message overtakes its source", selection.obligations
        )
    if mode == "fixpoint":
        raise InputError(
            f"{bound.program.name} has no fixpoint mode: {reason}",
            hint='leave the mode out, or use mode="exact"',
        )
    return ModeChoice("exact", "asked for" if mode == "exact" else reason)


def _why_not_fixpoint(bound: BoundProgram) -> str | None:
    code = program_code(bound.program)
    selection = code.selection
    if selection is None:
        adds_up = any(not item.kind.selects for item in bound.program.accumulators)
        settles = why_not_settling_sum(bound) if adds_up else None
        return settles or code.why_not_selection
    if bound.iterations is not None:
        return f"it ends after {bound.iterations} iterations"
    if bound.tolerance > 0:
        return "it ends where changes are small"
    for claim in (selection.start, selection.monotone, selection.never_overtakes):
        if not claim.holds:
            return claim.reason
    return None


def make_maintainer(
    graph: ResidentGraph,
    bound: BoundProgram,
    parameters: tuple[Any, ...],
    choice: ModeChoice,
    knobs: SumSettings,
) -> Maintainer:
    """The maintainer of a mode, not started; a parameter of pairs stands for one source."""
    if choice.mode == "exact" and not _has_histories(bound, choice):
        return SynchronousMaintainer(
            graph, bound.program, parameters, tolerance=knobs.tolerance, keep=knobs.keep
        )
    if choice.mode == "fixpoint" and settling_sum(bound) is not None:
        refuse_knobs_of_sums(bound.program.name, knobs)
        return ResidualMaintainer(graph, bound, parameters)
    refuse_knobs(bound.program.name, knobs)
    if choice.mode == "fixpoint":
        return FixpointMaintainer(graph, bound.program, parameters)
    return ExactMaintainer(graph, bound.program, parameters, iterations=bound.iterations)


def refuse_knobs_of_sums(program: str, knobs: SumSettings) -> None:
    if knobs.turned:
        raise InputError(
            f"{program} settles within a tolerance of its own, and keeps no iterations",
            hint='give the program another tolerance, or use mode="exact"',
        )


def refuse_knobs(program: str, knobs: SumSettings) -> None:
    if knobs.turned:
        raise InputError(
            f"{program} is kept current without sums, "
            "so that it has neither a tolerance nor a limit to what it keeps",
            hint="leave out `tolerance` and `keep`",
        )


def _has_histories(bound: BoundProgram, choice: ModeChoice) -> bool:
    """True of selecting programs that start with a number and end: by a count, or by proof.

    What the start asks of vertex properties must be among what the data is checked for.
    """
    selection = program_code(bound.program).selection
    if selection is None or not selection.start.holds or bound.tolerance > 0:
        return False
    starts = all(
        item in choice.obligations or holds_for_parameter(bound, item)
        for item in selection.start.obligations
    )
    return starts and (bound.iterations is not None or selection.settles)


Program = TypeVar("Program", BoundProgram, BoundWalk, BoundDataflow, BoundRules)


@dataclass(frozen=True)
class Computation(ABC, Generic[Program]):
    """A program with its parameters, its mode, and what edges and vertices must have for it."""

    bound: Program
    choice: ModeChoice
    needed: Conditions

    @property
    def fields(self) -> tuple[str, ...]:
        return self.bound.fields

    @property
    def globals(self) -> tuple[str, ...]:
        return ()

    @property
    def match_plans(self) -> tuple[Matches, ...]:
        """The tables of rows that it reports, with their columns and limits as numbers."""
        return ()

    @property
    def matches(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.match_plans)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The results that a run keeps as arrays: first of vertices, then of the whole graph."""
        return (*self.fields, *self.globals)

    @property
    def results(self) -> tuple[str, ...]:
        """The names of all results that a run keeps: arrays, then tables of rows."""
        return (*self.arrays, *self.matches)

    @property
    def labels(self) -> str | None:
        """The result that tells which component a vertex is in; None where there is none."""
        return None

    @property
    def naming(self) -> tuple[str, ...]:
        """The results of vertices, and of the whole graph, that name a vertex by its number."""
        return ()

    @property
    def searched(self) -> bool:
        """True if the program's author gave a search that costs far less than keeping a state."""
        return False

    @property
    def sources(self) -> int:
        """How many states the pairs of a program need; none where it has no pairs."""
        return 0

    @property
    def history_bytes(self) -> int:
        """About what the histories of a vertex take; 0 where the mode keeps none."""
        return 0

    @property
    @abstractmethod
    def identity(self) -> str:
        """The program, its parameters, and all that it does, as text."""

    @abstractmethod
    def maintainer(
        self, graph: ResidentGraph, parameters: tuple[Any, ...], knobs: SumSettings
    ) -> Maintainer:
        """What keeps it current on a graph, not started; one a source where it is on pairs."""

    @abstractmethod
    def plainly(self, graph: ResidentGraph, parameters: tuple[Any, ...], maintainer: Any) -> Values:
        """Results to verify others by: from the definition, without kernels, proofs or shortcuts.

        They are of the version that the graph is at, in the order of a maintainer's rows.
        """

    def allowed_share(self, maintainer: Maintainer) -> float:
        """The relative error that a float may have by rounding and by the tolerance."""
        return 0.0

    def check_bounded(self, maintainer: Maintainer) -> None:
        """Refuse to verify results whose tolerance gives no bound on their error."""

    @abstractmethod
    def explain(self, maintainer: Any) -> list[str]:
        """What it is, what was proved of it, and how it is kept current, in lines of text."""


Parameters = tuple[Any, ...]


def source_count(bound: BoundProgram | BoundWalk) -> int:
    """How many distinct sources the pairs of a program have; none where it has no pairs."""
    if bound.program.pairs is None:
        return 0
    pairs: Any = bound.value(bound.program.pairs.name)
    return len({source for source, _ in pairs})


def state_a_source(
    bound: BoundProgram | BoundWalk,
    make: Callable[[Parameters], Maintainer],
    parameters: Parameters,
) -> Maintainer:
    """A maintainer of pairs out of one for each source, whose number stands for the pairs.

    Where a program has no pairs, just the one that is made of its parameters.
    """
    if bound.program.pairs is None:
        return make(parameters)
    place = bound.program.parameters.index(bound.program.pairs)

    def made(source: int) -> Maintainer:
        return make((*parameters[:place], source, *parameters[place + 1 :]))

    return PairsMaintainer(made, parameters[place], bound.fields)


def run_a_source(
    bound: BoundProgram | BoundWalk, run: Callable[[Parameters], Values], parameters: Parameters
) -> Values:
    """Run once from each source and take the values of its targets; once in all without pairs."""
    if bound.program.pairs is None:
        return run(parameters)
    place = bound.program.parameters.index(bound.program.pairs)
    pairs = parameters[place]
    results: dict[str, NDArray[Any]] = {}
    for source in dict.fromkeys(source for source, _ in pairs):
        rows = np.array([at for at, pair in enumerate(pairs) if pair[0] == source])
        targets = np.array([pairs[at][1] for at in rows])
        values = run((*parameters[:place], source, *parameters[place + 1 :]))
        for name, column in values.items():
            if name not in results:
                results[name] = np.empty((len(pairs), *column.shape[1:]), column.dtype)
            results[name][rows] = column[targets]
    return results


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
        self, graph: ResidentGraph, parameters: tuple[Any, ...], knobs: SumSettings
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
        """The relative error that a float may have by rounding and by the tolerance."""
        one = maintainer.parts[0] if isinstance(maintainer, PairsMaintainer) else maintainer
        if isinstance(one, SynchronousMaintainer):
            return ROUNDING + one.share
        if isinstance(one, ResidualMaintainer):
            return ROUNDING + one.tolerance * (1 + 10 * CLOSER)
        return ROUNDING if self._rounds_otherwise else 0.0

    def check_bounded(self, maintainer: Maintainer) -> None:
        """Refuse to verify results whose tolerance gives no bound on their error."""
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
    choice = choose_mode(bound, mode)
    return CompiledProgram(bound, choice, conditions(bound, choice.obligations))


def _is_inexact(expression: object) -> bool:
    match expression:
        case Call("exp" | "log") | Binary("**"):
            return True
        case _:
            return False
