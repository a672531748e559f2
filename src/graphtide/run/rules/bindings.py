"""Bindings: a collection of which some columns are variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphtide.plan.dataflow_expressions import Column, Expression
from graphtide.plan.dataflow_terms import Term, col
from graphtide.plan.rules import substituted
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.stages import Stage, mapped
from graphtide.run.rules.relations import UNIT


@dataclass(frozen=True)
class Bindings:
    """A collection, and which of its columns each variable is."""

    stage: Stage
    columns: dict[str, str]

    def expression(self, value: Expression) -> Term:
        """An expression over variables as one over columns."""
        by: dict[str, Expression] = {name: Column(of) for name, of in self.columns.items()}
        return Term(substituted(value, by))


def collection_of(stage: Stage) -> Collection:
    """A stage with the operators that users have."""
    return stage if isinstance(stage, Collection) else Collection(stage.flow, stage.number)


def extended(given: Bindings, name: str, value: Any) -> Bindings:
    """One column more."""
    chosen: dict[str, Any] = {own: col[own] for own in given.stage.names}
    stage = mapped(given.stage, chosen | {name: value})
    return Bindings(stage, {**given.columns, name: name})


def named(given: Bindings) -> Bindings:
    """The columns of variables alone, called as they are; itself where that is so."""
    if list(given.columns) == list(given.stage.names) == list(given.columns.values()):
        return given
    chosen: dict[str, Any] = {name: col[of] for name, of in given.columns.items()}
    if not chosen:
        chosen = {UNIT: 0}
    stage = mapped(given.stage, chosen)
    return Bindings(stage, {name: name for name in given.columns})
