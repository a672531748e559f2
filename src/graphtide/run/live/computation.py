"""What all computations are to runs and graphs: bound, their mode chosen, ready for any graph.

`CompiledProgram` (vertex programs), `CompiledWalk`, `CompiledDataflow` and `CompiledRules` say what
differs. Where one says nothing, it has results of vertices alone, keeps no histories, and gives
exactly what its definition gives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from graphtide.engine.changes import Values
from graphtide.engine.maintainer import Maintainer
from graphtide.engine.resident import ResidentGraph
from graphtide.lang.datalog.graph_program import BoundRules
from graphtide.lang.python import BoundDataflow
from graphtide.plan.program_values import BoundProgram, BoundWalk
from graphtide.plan.walks import Matches
from graphtide.run.live.conditions import Conditions
from graphtide.run.live.modes import Choice, Knobs

Program = TypeVar("Program", BoundProgram, BoundWalk, BoundDataflow, BoundRules)


@dataclass(frozen=True)
class Computation(ABC, Generic[Program]):
    """A program with its parameters, its mode, and what edges and vertices must have for it."""

    bound: Program
    choice: Choice
    needed: Conditions

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the results of vertices, or of pairs."""
        return self.bound.fields

    @property
    def globals(self) -> tuple[str, ...]:
        """The names of the results of the whole graph."""
        return ()

    @property
    def match_plans(self) -> tuple[Matches, ...]:
        """The tables of rows that it reports, with their columns and limits as numbers."""
        return ()

    @property
    def matches(self) -> tuple[str, ...]:
        """The names of these tables."""
        return tuple(item.name for item in self.match_plans)

    @property
    def arrays(self) -> tuple[str, ...]:
        """All that a run keeps as an array: results of vertices, then those of the whole graph."""
        return (*self.fields, *self.globals)

    @property
    def results(self) -> tuple[str, ...]:
        """All that a run keeps: arrays, then rows."""
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
        """Whether its author gave a search that is far cheaper than a state."""
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
        self, graph: ResidentGraph, parameters: tuple[Any, ...], knobs: Knobs
    ) -> Maintainer:
        """What keeps it current on a graph, not started; one a source where it is on pairs."""

    @abstractmethod
    def plainly(self, graph: ResidentGraph, parameters: tuple[Any, ...], maintainer: Any) -> Values:
        """Results to verify others by: from the definition, without kernels, proofs or shortcuts.

        They are of the version that the graph is at, in the order of a maintainer's rows.
        """

    def allowed_share(self, maintainer: Maintainer) -> float:
        """By which share of itself a float may be off the definition: rounding, and tolerance."""
        return 0.0

    def check_bounded(self, maintainer: Maintainer) -> None:
        """Refuse to hold results to the bound of a tolerance that nobody knows."""

    @abstractmethod
    def explain(self, maintainer: Any) -> list[str]:
        """What it is, what was proved of it, and how it is kept current, in lines of text."""
