"""Stages: the nodes of a dataflow's plan that hold records, and what operators do with them.

An operator is a plain function from stages to a stage: it adds nodes to the plan of the flow, and
nothing runs yet. What users hold, `Collection`, is a stage with these functions as methods.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Arrange, Enter, Import, Reduce, RowOrder, Schema
from graphtide.plan.dataflow_expressions import Column, Expression, Operation, expression_type
from graphtide.plan.dataflow_terms import Term, expression_of
from graphtide.plan.dataflow_types import ColumnType
from graphtide.run.dataflow.computed import computed
from graphtide.run.dataflow.growing import GrowingFlow
from graphtide.run.dataflow.nodes import Stage as Stage
from graphtide.run.dataflow.nodes import added as added
from graphtide.run.dataflow.nodes import mapped_plainly as mapped_plainly

Names = str | Sequence[str]


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


def mapped(source: Stage, columns: Mapping[str, Any]) -> Stage:
    """One new record for each, with these columns."""
    expressions = {name: expression_of(item) for name, item in columns.items()}
    for item in expressions.values():
        expression_type(item, dict(source.schema))
    return mapped_plainly(*computed(source, expressions))


def selected(source: Stage, columns: dict[str, str]) -> Stage:
    """Some columns under new names, in the order given."""
    return mapped_plainly(source, {name: Column(of) for name, of in columns.items()})


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
    own_order = node.order if isinstance(node, Arrange) else "value"
    return own_order == order and list(source.names[: plan.key_of(source.number)]) == keys


def checked_names(source: Stage, names: Names) -> list[str]:
    """Column names as a list, each one of this stage and named once."""
    listed = [names] if isinstance(names, str | Term) else list(names)
    for name in listed:
        check_name(source, name)
        if name not in source.names or listed.count(name) > 1:
            raise InputError(
                f"{name!r} is not a column of {source!r}, or is named twice",
                hint=f"the columns are {', '.join(source.names)}",
            )
    return listed


def check_name(source: Stage, name: object) -> None:
    """Refuse what is no name of a column, such as `col.src`."""
    if not isinstance(name, str):
        raise InputError(
            f"A {type(name).__name__} stands where a column is named: {name!r}",
            hint=f"name it as a text, such as '{next(iter(source.names), 'src')}'",
        )


def like(source: Stage, other: Stage) -> Stage:
    """A stage with its columns in the order of another that has the same ones.

    Those that may be null there may be null then, too.
    """
    wanted, given = dict(other.schema), dict(source.schema)
    fits = {name: _fits(kind, given.get(name)) for name, kind in wanted.items()}
    if wanted.keys() != given.keys() or not all(fits.values()):
        raise InputError(
            f"{source!r} and {other!r} have different columns",
            hint="map one to the columns of the other",
        )
    return _as(source, other.schema)


def with_nulls(source: Stage, others: Sequence[Stage]) -> Stage:
    """A stage whose columns may be null where those of the same name elsewhere may be."""
    nulls = {name for other in others for name, kind in other.schema if kind.nullable}
    schema = tuple((name, kind.or_null(name in nulls)) for name, kind in source.schema)
    return _as(source, schema)


def _fits(wanted: ColumnType, given: ColumnType | None) -> bool:
    return given is not None and given.or_null(wanted.nullable) == wanted


def _as(source: Stage, schema: Schema) -> Stage:
    """A stage with its columns in another order, and with nulls where there were none."""
    if source.schema == schema:
        return source
    given = dict(source.schema)
    columns: dict[str, Expression] = {}
    for name, kind in schema:
        same = given[name] == kind
        columns[name] = Column(name) if same else Operation("or null", (Column(name),))
    return mapped_plainly(source, columns)


def check_stage(source: object) -> None:
    """Refuse what is no collection."""
    if not isinstance(source, Stage):
        raise InputError(
            f"{source!r} is no collection of a dataflow",
            hint="a step of a loop returns one; inputs and operators of a dataflow give them",
        )


def check_flow(source: Stage, flow: GrowingFlow) -> None:
    """Refuse a stage of another dataflow, and what is none."""
    check_stage(source)
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
    check_stage(source)
    if source.scope != 0:
        raise InputError(f"{source!r} is in a loop", hint=f"{what} what leaves it: leave()")
