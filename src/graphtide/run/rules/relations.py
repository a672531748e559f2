"""The relations of a program as collections of one dataflow, with what rules share of them.

A relation is a set: every record is there once. A relation without attributes has a column that no
rule sees, since a record has one at least; joins of nothing in common meet in such a column too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from graphtide.plan.dataflow_terms import col
from graphtide.plan.rules import Relation
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.growing import GrowingFlow
from graphtide.run.dataflow.stages import Stage, mapped, selected

UNIT = " unit"
Keyed = Callable[[str, Sequence[str]], Stage | None]
"""A relation that is indexed by some columns already; None where it is not."""


def flow_columns(relation: Relation) -> dict[str, Any]:
    """The columns of a relation's collection, by their Python types."""
    kinds = {"int": int, "float": float, "str": str}
    return {name: kinds[kind.value] for name, kind in relation.columns} or {UNIT: int}


class Relations:
    """The collections of relations, and projections of them that several rules need."""

    def __init__(
        self,
        flow: GrowingFlow,
        relations: Iterable[Relation],
        unit: Collection,
        keyed: Keyed | None = None,
    ) -> None:
        self._keyed = keyed
        self.flow = flow
        self._declared = {item.name: item for item in relations}
        self._stages: dict[str, Stage] = {}
        self._unit = unit
        self._made: dict[tuple[int, tuple[str, ...]], Stage] = {}

    def put(self, name: str, stage: Stage) -> None:
        """Say what a relation is from now on: within a loop it is the loop's variable."""
        self._stages[name] = stage

    def has(self, name: str) -> bool:
        """Whether a relation has a collection here."""
        return name in self._stages

    def relation(self, name: str) -> Relation:
        """What was declared."""
        return self._declared[name]

    def names(self, name: str) -> tuple[str, ...]:
        """The columns that rules see."""
        return self._declared[name].names

    def stage(self, name: str) -> Stage:
        """The collection of a relation."""
        return self._stages[name]

    def keyed(self, name: str, keys: Sequence[str]) -> Stage:
        """A relation to be looked up by some columns."""
        known = self._keyed(name, keys) if self._keyed is not None else None
        return self.stage(name) if known is None else known

    def is_indexed(self, name: str) -> bool:
        """Whether a relation is there by whatever columns it is asked for."""
        return self._keyed is not None and self._keyed(name, ()) is not None

    def unit(self) -> Stage:
        """A collection of one record."""
        return self._unit

    def with_unit(self, name: str) -> Stage:
        """A relation with a column that is 0, to meet everything by."""
        stage = self.stage(name)
        key = (stage.number, (UNIT,))
        if key not in self._made:
            chosen: dict[str, Any] = {UNIT: 0} | {own: col[own] for own in self.names(name)}
            self._made[key] = mapped(stage, chosen)
        return self._made[key]

    def projected(self, name: str, columns: Sequence[str]) -> Stage:
        """Some columns of a relation, each record once; the relation itself where it is all."""
        stage = self.stage(name)
        if list(columns) == list(self.names(name)) or not self.names(name):
            return self.keyed(name, columns) if columns else stage
        key = (stage.number, ("distinct", *columns))
        if key not in self._made:
            if columns:
                chosen = selected(stage, {own: own for own in columns})
            else:
                chosen = mapped(stage, {UNIT: 0})
            self._made[key] = Collection(chosen.flow, chosen.number).distinct()
        return self._made[key]
