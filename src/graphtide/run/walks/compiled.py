"""A walk program as runs and graphs take it: what `CompiledProgram` is for vertex programs.

Loops that are repeated as often as a parameter says are unrolled here, once values are known. The
engine of walks is imported when a program is first kept current.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from graphtide.engine.changes import Values
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.model.errors import InputError
from graphtide.plan.program_reads import default_starts, vertex_properties
from graphtide.plan.program_text import explain_walk, walk_properties
from graphtide.plan.program_values import BoundWalk
from graphtide.plan.vertex_results import VertexResults, vertex_results
from graphtide.plan.walk_explain import explain_walks, open_end, walk_facts
from graphtide.plan.walks import Matches, WalkProgram
from graphtide.run.live.computation import (
    Computation,
    Mode,
    ModeChoice,
    SumSettings,
    run_a_source,
    source_count,
    state_a_source,
)
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.results import VERTEX

ROUNDING = 1e-9
"""The share by which floats may differ that were added up in another order."""


class CompiledWalk(Computation[BoundWalk]):
    """A walk program: its plan, and the terms that follow batches."""

    @cached_property
    def plan(self) -> WalkProgram:
        """The program with its loops written out as often as its parameters say."""
        return self.bound.unrolled

    @property
    def globals(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.bound.program.globals)

    @cached_property
    def match_plans(self) -> tuple[Matches, ...]:
        """The rows that walks report, with their columns and limits as numbers."""
        return tuple(map(self._shown, self.plan.matches))

    def _shown(self, rows: Matches) -> Matches:
        """Matches with their limit as a number, and columns that name vertices as such."""
        named = self._vertex_results.columns
        columns = tuple(
            (name, VERTEX if (rows.name, name) in named else kind) for name, kind in rows.columns
        )
        limit = self.bound.whole(rows.limit) if isinstance(rows.limit, str) else rows.limit
        return replace(rows, limit=limit, columns=columns)

    @cached_property
    def _vertex_results(self) -> VertexResults:
        return vertex_results(self.plan, self.bound.iterations)

    @property
    def naming(self) -> tuple[str, ...]:
        return self._vertex_results.results

    @property
    def identity(self) -> str:
        """The program, its parameters, and all that it does, as text."""
        return f"BoundWalk(program={self.bound.program!r}, values={self.bound.values!r})"

    @property
    def sources(self) -> int:
        return source_count(self.bound)

    def maintainer(
        self, graph: ResidentGraph, parameters: tuple[Any, ...], knobs: SumSettings
    ) -> Maintainer:
        """What keeps it current on a graph, not started; one a source where it is on pairs."""
        from graphtide.engine.walks.maintainer import WalkMaintainer

        _refuse_knobs(self.bound.program.name, knobs)

        def make(given: tuple[Any, ...]) -> Maintainer:
            return WalkMaintainer(graph, self.plan, given)

        return state_a_source(self.bound, make, parameters)

    def plainly(
        self, graph: ResidentGraph, parameters: tuple[Any, ...], _maintainer: Maintainer
    ) -> Values:
        """Results to verify others by: every walk of the definition, without kernels or terms."""
        from graphtide.engine.walks.plain import plain_walks

        def run(given: tuple[Any, ...]) -> Values:
            results = plain_walks(graph, self.plan, given)
            return results.by_name({item.name: item.limit for item in self.match_plans})

        return run_a_source(self.bound, run, parameters)

    def allowed_share(self, _maintainer: Maintainer) -> float:
        """The share by which sums may round; runs with a tolerance always start anew."""
        return ROUNDING

    def explain(self, maintainer: Any) -> list[str]:
        """The program as it is with its parameters, its walks, and the terms of each; and where a
        limit keeps rows back.
        """
        rows = getattr(maintainer, "matches", {}).values()
        cut = [_cut_text(item) for item in rows if item.cut]
        named = [*self._vertex_results.explain(), *self.bound.told_columns]
        return [*explain_walk(self.plan).splitlines(), *explain_walks(self.plan), *named, *cut]


def compiled_walk(bound: BoundWalk, mode: Mode) -> CompiledWalk:
    """A walk program ready to run; InputError where another mode is asked for."""
    program = bound.program
    if mode != "auto":
        raise InputError(
            f"{program.name} is a walk program, and has no mode {mode!r}",
            hint="leave the mode out",
        )
    _check_pairs(program)
    plan = bound.unrolled
    reason = "walks through what changed are taken back and sent anew"
    facts = walk_facts(plan)
    if facts.stateful:
        reason = "its walks read state, so that every round is kept and gone through"
    without = open_end(plan, facts)
    if without is not None:
        reason = f"{without}, so that it starts anew with every advance"
    needed = Conditions(
        program.name,
        walk_properties(plan),
        (),
        vertex_properties(plan),
        bound.column_parameters,
        default_starts(program),
    )
    return CompiledWalk(bound, ModeChoice("walk", reason), needed)


def _cut_text(rows: Any) -> str:
    name, total, limit = rows.matches.name, rows.total, rows.limit
    return f"{name}: {total:,} rows, of which the limit lets {limit:,} through"


def _check_pairs(program: WalkProgram) -> None:
    """Refuse results of the whole graph in a program on pairs, which has one result per source."""
    others = [item.name for item in program.globals]
    others += [item.name for item in program.matches]
    if program.pairs is not None and others:
        raise InputError(
            f"{program.name} is on pairs, whose results are those of each source alone, and "
            f"'{others[0]}' is one of the whole graph",
            hint="leave out the pairs, or put the other into a program of its own",
        )


def _refuse_knobs(program: str, knobs: SumSettings) -> None:
    if knobs.turned:
        raise InputError(
            f"{program} is a walk program: its walks are followed exactly, "
            "with neither a tolerance nor a limit to what is kept",
            hint="leave out `tolerance` and `keep`",
        )
