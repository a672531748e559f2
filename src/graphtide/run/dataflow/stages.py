"""Stages: nodes of a dataflow's plan with columns, and the steps that operators are made of.

A stage names a node of a growing plan. Mapping, selecting, arranging, and bringing stages into one
loop are functions from stages to stages; `collection.Collection` puts methods in front of them.

The machine computes with words, so functions of texts are computed by Python: each such function in
an expression becomes a column that a `Compute` node puts behind the record, innermost functions
first, and the expression names that column instead. Comparisons of texts by order are such
functions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from graphtide.model.errors import InputError
from graphtide.plan.dataflow import (
    Arrange,
    Compute,
    Enter,
    Import,
    Map,
    Node,
    Reduce,
    RowOrder,
    Schema,
)
from graphtide.plan.dataflow_expressions import (
    TEXT_FUNCTIONS,
    Column,
    ColumnType,
    Constant,
    Expression,
    Operation,
    expression_type,
)
from graphtide.plan.dataflow_terms import Term, expression_of
from graphtide.run.dataflow.flow_builder import FlowBuilder


class Stage:
    """One node of a flow's plan: records of typed columns at every version, in every round."""

    def __init__(self, flow: FlowBuilder, number: int) -> None:
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


_ORDERED = {"<": "text less", "<=": "text less equal"}


def computed(
    source: Stage, expressions: Mapping[str, Expression]
) -> tuple[Stage, dict[str, Expression]]:
    """The stage with columns for all functions of texts, and the expressions without them."""
    known = dict(source.schema)
    plain = {name: _ordered(item, known) for name, item in expressions.items()}
    while True:
        innermost: dict[Operation, str] = {}
        for item in plain.values():
            for function in _innermost(item):
                innermost.setdefault(function, f" text {len(source.schema) + len(innermost)}")
        if not innermost:
            return source, plain
        source = _with_columns(source, innermost)
        plain = {name: _replaced(item, innermost) for name, item in plain.items()}


def _ordered(expression: Expression, columns: Mapping[str, ColumnType]) -> Expression:
    """The expression with comparisons of texts as functions of texts."""
    if not isinstance(expression, Operation):
        return expression
    operands = tuple(_ordered(operand, columns) for operand in expression.operands)
    name = expression.name
    if name in _ORDERED:
        kinds = {expression_type(operand, columns).kind for operand in operands}
        name = _ORDERED[name] if "str" in kinds and kinds <= {"str", "null"} else name
    return Operation(name, operands)


def _innermost(expression: Expression) -> Iterator[Operation]:
    """Functions of texts with no such function in their operands."""
    if not isinstance(expression, Operation):
        return
    inner = [item for operand in expression.operands for item in _innermost(operand)]
    yield from inner
    if not inner and expression.name in TEXT_FUNCTIONS:
        yield expression


def _with_columns(source: Stage, functions: Mapping[Operation, str]) -> Stage:
    """A stage with a column for each function, whose operands become columns first."""
    plain: dict[Expression, Expression] = {}
    for function in functions:
        for operand in function.operands:
            if isinstance(operand, Operation):
                place = len(source.schema) + len(functions) + len(plain)
                plain.setdefault(operand, Column(f" operand {place}"))
    given = dict(source.schema)
    if plain:
        columns: dict[str, Expression] = {name: Column(name) for name in source.names}
        columns |= {str(column): operand for operand, column in plain.items()}
        source = mapped_plainly(source, columns)
        given = dict(source.schema)
    made = tuple(
        (
            name,
            Operation(item.name, tuple(plain.get(operand, operand) for operand in item.operands)),
        )
        for item, name in functions.items()
    )
    more = tuple((name, expression_type(item, given)) for name, item in made)
    return added(source, Compute(source.number, made), (*source.schema, *more))


def _replaced(expression: Expression, by: Mapping[Operation, str]) -> Expression:
    """The expression with some operations replaced by columns."""
    match expression:
        case Column() | Constant():
            return expression
        case Operation() if expression in by:
            return Column(by[expression])
    operands = tuple(_replaced(operand, by) for operand in expression.operands)
    return Operation(expression.name, operands)


Names = str | Sequence[str]


One = TypeVar("One", bound=Stage)
Indexed = TypeVar("Indexed", bound=Stage)


class OperatorMixin(Stage, Generic[One, Indexed]):
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


def check_flow(source: Stage, flow: FlowBuilder) -> None:
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
