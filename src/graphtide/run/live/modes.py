"""Which maintainer keeps a program current, and why.

Fixpoint mode where the plan proves it right: a selecting program that runs until nothing changes,
or a sum that settles. Exact mode for everything else, where every iteration counts: with histories
for selecting programs, with accumulated values for the rest. Dataflows and walk
programs have maintainers of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from graphtide.engine.code import program_code
from graphtide.engine.exact.maintainer import ExactMaintainer
from graphtide.engine.fixpoint.maintainer import FixpointMaintainer
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.residual.maintainer import ResidualMaintainer
from graphtide.engine.synchronous.maintainer import SynchronousMaintainer
from graphtide.model.errors import InputError
from graphtide.plan.program_bounds import Obligation
from graphtide.plan.program_values import BoundProgram
from graphtide.plan.settling_sums import settling_sum, why_not_settling_sum
from graphtide.run.live.conditions import holds_for_parameter

Mode = Literal["auto", "fixpoint", "exact"]


@dataclass(frozen=True)
class Choice:
    """A mode, the reason in words, and what the data must satisfy for it."""

    mode: Literal["fixpoint", "exact", "dataflow", "walk"]
    reason: str
    obligations: tuple[Obligation, ...] = ()

    def __str__(self) -> str:
        condition = " and ".join(map(str, self.obligations))
        return f"{self.mode} mode: {self.reason}" + (f", where {condition}" if condition else "")


@dataclass(frozen=True)
class Knobs:
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
        """True where any of them is not as usual."""
        return self.tolerance != 0.0 or self.keep is not None


def choose_mode(bound: BoundProgram, mode: Mode) -> Choice:
    """The mode for a program; InputError where the one that was asked for cannot be."""
    if mode not in ("auto", "fixpoint", "exact"):
        raise InputError(f"mode cannot be {mode!r}", hint="use 'auto', 'fixpoint' or 'exact'")
    settling = settling_sum(bound)
    if settling is not None and mode != "exact":
        return Choice("fixpoint", str(settling))
    reason = _why_not_fixpoint(bound)
    if reason is None:
        selection = program_code(bound.program).selection
        assert selection is not None
        if mode == "exact":
            return Choice("exact", "asked for; it settles", selection.obligations)
        return Choice(
            "fixpoint", "it selects, and no message overtakes its source", selection.obligations
        )
    if mode == "fixpoint":
        raise InputError(
            f"{bound.program.name} has no fixpoint mode: {reason}",
            hint='leave the mode out, or use mode="exact"',
        )
    return Choice("exact", "asked for" if mode == "exact" else reason)


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
    choice: Choice,
    knobs: Knobs,
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


def refuse_knobs_of_sums(program: str, knobs: Knobs) -> None:
    """Refuse knobs for a program that settles by its own tolerance."""
    if knobs.turned:
        raise InputError(
            f"{program} settles within a tolerance of its own, and keeps no iterations",
            hint='give the program another tolerance, or use mode="exact"',
        )


def refuse_knobs(program: str, knobs: Knobs) -> None:
    """Refuse knobs for a program that is kept current without sums."""
    if knobs.turned:
        raise InputError(
            f"{program} is kept current without sums, "
            "so that it has neither a tolerance nor a limit to what it keeps",
            hint="leave out `tolerance` and `keep`",
        )


def _has_histories(bound: BoundProgram, choice: Choice) -> bool:
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
