"""A dataflow as runs and graphs take it: what `CompiledProgram` is for vertex programs.

The dataflow machine is imported when a dataflow is first kept current: it takes a second that
vertex programs do not need.
"""

from __future__ import annotations

from typing import Any

from graphtide.engine.changes import Values
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.lang.python.dataflow_program import BoundDataflow
from graphtide.model.errors import InputError
from graphtide.run.live.computation import Computation, Program
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.modes import Choice, Knobs, Mode, refuse_knobs


class FollowsDifferences(Computation[Program]):
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


class CompiledDataflow(FollowsDifferences[BoundDataflow]):
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
        from graphtide.run.dataflow.identity import dataflow_identity

        return dataflow_identity(self.bound)

    @property
    def searched(self) -> bool:
        """Whether its author gave a search that is far cheaper than a state."""
        return self.bound.program.scratch is not None

    def maintainer(
        self, graph: ResidentGraph, parameters: tuple[Any, ...], knobs: Knobs
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
    choice = Choice("dataflow", "its operators follow differences")
    needed = Conditions(
        program.name,
        {column: kind for _, column, kind in bound.read},
        (),
        given_by={column: name for name, column, _ in bound.read if name in program.columns},
    )
    return CompiledDataflow(bound, choice, needed)
