"""Functions of texts in expressions: computed as columns of their own, before what uses them.

The machine computes with words; what a text is like, Python has to say. So each such function in an
expression becomes a column that a `Compute` node puts behind the record, innermost functions first,
and the expression names that column instead. Comparisons of texts by order are such functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graphtide.plan.dataflow import Compute
from graphtide.plan.dataflow_expressions import (
    Column,
    Constant,
    Expression,
    Operation,
    expression_type,
)
from graphtide.plan.dataflow_types import ColumnType
from graphtide.plan.dataflow_typing import TEXT_FUNCTIONS
from graphtide.run.dataflow.nodes import Stage, added, mapped_plainly

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
