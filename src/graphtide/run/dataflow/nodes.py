"""Nodes of a dataflow's plan as operators hold them, and how one more is added."""

from __future__ import annotations

from collections.abc import Mapping

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import Map, Node, Schema
from graphtide.plan.dataflow_expressions import Expression, expression_type
from graphtide.run.dataflow.growing import GrowingFlow


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


def added(
    source: Stage, node: Node, schema: Schema | None = None, scope: int | None = None
) -> Stage:
    """A node behind a stage: with its columns and in its loop, unless told otherwise."""
    here = source.scope if scope is None else scope
    columns = source.schema if schema is None else schema
    return Stage(source.flow, source.flow.add(node, here, columns))


def mapped_plainly(source: Stage, columns: Mapping[str, Expression]) -> Stage:
    """One new record for each, with these columns, none of which is a function of texts."""
    given = dict(source.schema)
    expressions = tuple(columns.items())
    schema = tuple((name, expression_type(item, given)) for name, item in expressions)
    for name, kind in schema:
        if kind.kind == "null":
            raise InputError(
                f"Column {name!r} would be None for every record, of no type",
                hint="choose between None and a value: where(condition, value, None)",
            )
    return added(source, Map(source.number, expressions), schema)
