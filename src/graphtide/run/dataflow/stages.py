"""Stages: the nodes of a dataflow's plan that hold records, and what operators do with them.

An operator is a plain function from stages to a stage: it adds nodes to the plan of the flow, and
nothing runs yet. What users hold, `Collection`, is a stage with these functions as methods.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Arrange, Enter, Import, Map, Node, Reduce, RowOrder, Schema
from graphtide.plan.dataflow_expressions import Column, expression_type
from graphtide.plan.dataflow_terms import Term, expression_of
from graphtide.run.dataflow.growing import GrowingFlow

Names = str | Sequence[str]


class Stage:
    """One node of a flow's plan: records of typed columns at every version, in every round."""

    def __init__(self, flow: GrowingFlow, number: int) -> None:
        self.flow = flow
        self.number = number

    def __repr__(self) -> str:
        called = "Collection" if type(self) is Stage else type(self).__name__
        listed = ", ".join(f"{name}: {item}" for name, item in self.schema)
        return f"<{called} {self.number} of {self.flow.name} ({listed})>"

    @property
    def schema(self) -> Schema:
        """Names and types of the columns."""
        return self.flow.plan.schemas[self.number]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self.schema)

    @property
    def scope(self) -> int:
        """The number of the loop that the collection belongs to, 0 for none."""
        return self.flow.plan.scope_of[self.number]


One = TypeVar("One", bound=Stage)
Indexed = TypeVar("Indexed", bound=Stage)


class Operating(Stage, Generic[One, Indexed]):
    """A stage with operators as methods, which say what they make by these two."""

    @abstractmethod
    def _collection(self, made: Stage) -> One:
        """What an operator made, as users hold it."""

    @abstractmethod
    def _arrangement(self, made: Stage) -> Indexed:
        """The same of what is indexed."""


def added(
    source: Stage, node: Node, schema: Schema | None = None, scope: int | None = None
) -> Stage:
    """A node behind a stage: with its columns and in its loop, unless told otherwise."""
    here = source.scope if scope is None else scope
    columns = source.schema if schema is None else schema
    return Stage(source.flow, source.flow.add(node, here, columns))


def mapped(source: Stage, columns: Mapping[str, Any]) -> Stage:
    """One new record for each, with these columns."""
    given = dict(source.schema)
    expressions = tuple((name, expression_of(item)) for name, item in columns.items())
    schema = tuple((name, expression_type(item, given)) for name, item in expressions)
    return added(source, Map(source.number, expressions), schema)


def selected(source: Stage, columns: dict[str, str]) -> Stage:
    """Some columns under new names, in the order given."""
    return mapped(source, {name: Term(Column(of)) for name, of in columns.items()})


def arranged(source: Stage, by: Names, order: RowOrder = "value") -> Stage:
    """A stage indexed by some columns: itself where it is, or else once for all who need it."""
    keys = checked_names(source, by)
    if _is_arranged(source, keys, order):
        return source
    known, place = source.flow.arranged, (source.number, tuple(keys), order)
    if place not in known:
        wanted = [*keys, *(name for name in source.names if name not in keys)]
        same = list(source.names) == wanted
        ordered = source if same else selected(source, dict(zip(wanted, wanted, strict=True)))
        known[place] = added(ordered, Arrange(ordered.number, len(keys), order)).number
    return Stage(source.flow, known[place])


def _is_arranged(source: Stage, keys: list[str], order: RowOrder) -> bool:
    plan = source.flow.plan
    node = plan.nodes[source.number]
    if not isinstance(node, Arrange | Import | Reduce):
        return False
    found = node.order if isinstance(node, Arrange) else "value"
    return found == order and list(source.names[: plan.key_of(source.number)]) == keys


def checked_names(source: Stage, names: Names) -> list[str]:
    """Column names as a list, each one of this stage and named once."""
    listed = [names] if isinstance(names, str) else list(names)
    for name in listed:
        if name not in source.names or listed.count(name) > 1:
            raise InputError(
                f"{name!r} is not a column of {source!r}, or is named twice",
                hint=f"the columns are {', '.join(source.names)}",
            )
    return listed


def like(source: Stage, other: Stage) -> Stage:
    """A stage with its columns in the order of another that has the same ones."""
    if dict(source.schema) != dict(other.schema):
        raise InputError(
            f"{source!r} and {other!r} have different columns",
            hint="map one to the columns of the other",
        )
    if source.schema == other.schema:
        return source
    return selected(source, {name: name for name in other.names})


def check_flow(source: Stage, flow: GrowingFlow) -> None:
    """Refuse a stage of another dataflow."""
    if source.flow is not flow:
        raise InputError(
            "Collections of different dataflows cannot be used together",
            where=f"{source!r}, used in {flow.name}",
            hint="arrange in one and import_arrangement in the other",
        )


def together(*stages: Stage) -> tuple[int, list[Stage]]:
    """Stages in the innermost of their loops, and which that is."""
    flow = stages[0].flow
    for item in stages:
        check_flow(item, flow)
    scope = max((item.scope for item in stages), key=lambda at: flow.plan.scopes[at].depth)
    return scope, [in_scope(item, scope) for item in stages]


def in_scope(source: Stage, scope: int) -> Stage:
    """A stage entered into a loop around whose rounds it does not change."""
    plan = source.flow.plan
    if source.scope == scope:
        return source
    if not plan.encloses(source.scope, scope):
        raise InputError(
            f"{source!r} has the times of another loop",
            where=f"loop {plan.scopes[source.scope].name!r}, "
            f"used in {plan.scopes[scope].name or 'the outside'!r}",
            hint="leave() its loop first",
        )
    return added(source, Enter(source.number), scope=scope)


def check_outside(source: Stage, what: str) -> None:
    """Refuse a stage in a loop, of which there are many in every version."""
    if source.scope != 0:
        raise InputError(f"{source!r} is in a loop", hint=f"{what} what leaves it: leave()")
