"""Rules as runs and graphs take them: what `CompiledProgram` is for vertex programs.

Their results are rows, as those of walks are. The dataflow machine is imported when rules are first
kept current.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from graphtide.engine.maintainer import Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.lang.datalog.graph_program import BoundRules, vertex_wanted
from graphtide.model.errors import InputError
from graphtide.plan.expressions import ValueType
from graphtide.plan.walks import Matches
from graphtide.run.dataflow.compiled import FollowsDifferences
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.modes import Choice, Knobs, Mode, refuse_knobs

_KINDS = {"int": ValueType.INT, "float": ValueType.FLOAT, "str": ValueType.TEXT}


class CompiledRules(FollowsDifferences[BoundRules]):
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
        self, graph: ResidentGraph, parameters: tuple[Any, ...], knobs: Knobs
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
    choice = Choice("dataflow", "its rules follow differences")
    vertices = {item.name: item for item in vertex_wanted(program.vertex_properties)}
    needed = Conditions(program.name, dict(program.edge_properties), (), vertices)
    return CompiledRules(bound, choice, needed)
