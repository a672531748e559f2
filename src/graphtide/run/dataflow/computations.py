"""Dataflows and rules as runs and graphs take them: what `CompiledProgram` is for vertex programs.

The results of a dataflow are vertex values, those of rules are rows. The dataflow machine is
imported when one of them is first kept current: it takes a second that vertex programs do not need.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from graphtide.engine.changes import Values
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.lang.datalog.program import BoundRules, vertex_wanted
from graphtide.lang.python.dataflow_program import BoundDataflow
from graphtide.model.errors import InputError
from graphtide.plan.expressions import ValueType
from graphtide.plan.walks import Matches
from graphtide.run.live.computation import (
    Computation,
    Mode,
    ModeChoice,
    Program,
    SumSettings,
    refuse_knobs,
)
from graphtide.run.live.conditions import Conditions


class DataflowComputation(Computation[Program]):
    """What is the same for all that runs on the dataflow machine."""

    def plainly(
        self, _graph: ResidentGraph, _parameters: tuple[Any, ...], maintainer: Any
    ) -> Values:
        """Results to verify others by: its author's search, or every operator in plain Python."""
        results: Values = maintainer.plainly()
        return results

    def explain(self, maintainer: Any) -> list[str]:
        """The dataflow as text, with what its operators have done."""
        return [maintainer.explain()]


class CompiledDataflow(DataflowComputation[BoundDataflow]):
    """A dataflow program."""

    @property
    def labels(self) -> str | None:
        """The result that tells which component a vertex is in; None where there is none."""
        return self.fields[0] if self.bound.program.result.labels else None

    @property
    def naming(self) -> tuple[str, ...]:
        """The results that name a vertex by its number."""
        return self.fields if self.bound.program.result.names_vertices else ()

    @property
    def identity(self) -> str:
        """The program, its parameters, and all that it does, as text."""
        from graphtide.run.dataflow.maintainer import dataflow_identity

        return dataflow_identity(self.bound)

    @property
    def searched(self) -> bool:
        """True if the program's author gave a search that costs far less than keeping a state."""
        return self.bound.program.scratch is not None

    def maintainer(
        self, graph: ResidentGraph, parameters: tuple[Any, ...], knobs: SumSettings
    ) -> Maintainer:
        """What keeps it current on a graph, not started."""
        from graphtide.run.dataflow.maintainer import DataflowMaintainer

        refuse_knobs(self.bound.program.name, knobs)
        return DataflowMaintainer(graph, self.bound, parameters)


def compiled_dataflow(bound: BoundDataflow, mode: Mode) -> CompiledDataflow:
    """The mode of a dataflow is the only one that it has; InputError where another is asked for."""
    program = bound.program
    if mode != "auto":
        raise InputError(
            f"{program.name} is a dataflow, and has no mode {mode!r}", hint="leave the mode out"
        )
    choice = ModeChoice("dataflow", "its operators follow differences")
    needed = Conditions(
        program.name,
        {column: kind for _, column, kind in bound.read},
        (),
        given_by={column: name for name, column, _ in bound.read if name in program.columns},
    )
    return CompiledDataflow(bound, choice, needed)


_KINDS = {"int": ValueType.INT, "float": ValueType.FLOAT, "str": ValueType.TEXT}


class CompiledRules(DataflowComputation[BoundRules]):
    """Rules; the relations that they put out are rows."""

    @cached_property
    def match_plans(self) -> tuple[Matches, ...]:
        """The relations that are put out, with their columns."""
        plan = self.bound.program.plan
        tables = []
        for name in plan.wanted:
            relation = plan.relation(name)
            columns = tuple(
                (own, "vertex" if own in relation.vertices else _KINDS[kind.value])
                for own, kind in relation.columns
            )
            tables.append(Matches(name, columns))
        return tuple(tables)

    @property
    def identity(self) -> str:
        """The program, its parameters, and all that it does, as text."""
        return f"BoundRules({self.bound.program.plan!r}, {self.bound.values!r})"

    def maintainer(
        self, graph: ResidentGraph, parameters: tuple[Any, ...], knobs: SumSettings
    ) -> Maintainer:
        """What keeps them current on a graph, not started."""
        from graphtide.run.rules.maintainer import RuleMaintainer

        refuse_knobs(self.bound.program.name, knobs)
        return RuleMaintainer(graph, self.bound, parameters, self.match_plans)


def compiled_rules(bound: BoundRules, mode: Mode) -> CompiledRules:
    """The mode of rules is the only one that they have; InputError where another is asked for."""
    program = bound.program
    if mode != "auto":
        raise InputError(
            f"{program.name} is made of rules, and has no mode {mode!r}", hint="leave the mode out"
        )
    choice = ModeChoice("dataflow", "its rules follow differences")
    vertices = {item.name: item for item in vertex_wanted(program.vertex_properties)}
    needed = Conditions(program.name, dict(program.edge_properties), (), vertices)
    return CompiledRules(bound, choice, needed)
