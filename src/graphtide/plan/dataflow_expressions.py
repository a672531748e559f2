"""Expressions over the columns of a record, as maps, filters and weights of a dataflow use them.

Trees name columns; `expression_type` checks them against the columns of a collection and says
what type comes out. What operations there are for which types is in `dataflow_typing`.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from graphtide.model.errors import InputError
from graphtide.model.limits import Nested
from graphtide.plan.dataflow_types import (
    BOOL,
    DATE,
    FLOAT,
    INT,
    MOST_DIGITS,
    NULL,
    TEXT,
    TIMESTAMP,
    ColumnType,
    decimal,
)
from graphtide.plan.dataflow_typing import INFIX, operation_type

__all__ = [
    "BOOL",
    "DATE",
    "FLOAT",
    "INT",
    "TEXT",
    "TIMESTAMP",
    "Column",
    "ColumnType",
    "Columns",
    "Constant",
    "Expression",
    "Operation",
    "Value",
    "constant",
    "expression_type",
    "substitute",
]

Value = int | float | bool | str | Decimal | datetime.date | None


@dataclass(frozen=True)
class Column:
    """The value of a column."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Constant:
    """A value, with its type, so that 1, 1.0 and True stay apart."""

    value: Value
    type: ColumnType

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Operation(Nested):
    """An operation on expressions: see `dataflow_typing`."""

    name: str
    operands: tuple[Expression, ...]

    def __str__(self) -> str:
        words = [str(operand) for operand in self.operands]
        if self.name in INFIX and len(words) == 2:
            return f"({words[0]} {self.name} {words[1]})"
        return f"{self.name}({', '.join(words)})"


Expression = Column | Constant | Operation
Columns = Mapping[str, ColumnType]


def constant(value: Value) -> Constant:
    """A constant of the type that the value has."""
    if value is None:
        return Constant(None, NULL)
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        raise InputError(f"{value} has a time zone", hint="give a moment without one")
    for kind, column_type in _TYPES:
        if isinstance(value, kind):
            if column_type is INT and not -(1 << 63) <= int(value) < 1 << 63:  # type: ignore[arg-type]
                raise InputError(
                    f"{value} is beyond int64", hint="give a number of 64 bits, or a float"
                )
            return Constant(value, column_type)
    raise InputError(
        f"A dataflow cannot hold {value!r}, a {type(value).__name__}",
        hint="columns are int, float, bool, str, date, datetime or decimal",
    )


_TYPES: tuple[tuple[type, ColumnType], ...] = (
    (bool, BOOL),
    (int, INT),
    (float, FLOAT),
    (str, TEXT),
    (datetime.datetime, TIMESTAMP),
    (datetime.date, DATE),
)


def _decimal(value: Decimal) -> Constant:
    """A decimal with as many digits behind the point as it is written with."""
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or -exponent > MOST_DIGITS or abs(value) >= 10**MOST_DIGITS:
        raise InputError(
            f"{value} is no decimal of {MOST_DIGITS} digits", hint="round it, or give a float"
        )
    return Constant(value, decimal(max(-exponent, 0)))


def expression_type(expression: Expression, columns: Columns) -> ColumnType:
    """The type of an expression over these columns; an error where it has none."""
    match expression:
        case Constant():
            return expression.type
        case Column():
            if expression.name not in columns:
                raise InputError(
                    f"There is no column {expression.name!r}",
                    hint=f"the columns are {', '.join(columns) or 'none'}",
                )
            return columns[expression.name]
        case Operation():
            types = [expression_type(operand, columns) for operand in expression.operands]
            return operation_type(expression.name, types, expression)


def substitute(expression: Expression, by: Mapping[str, Expression]) -> Expression:
    """The expression with columns replaced by expressions over other columns."""
    match expression:
        case Column():
            return by[expression.name]
        case Operation():
            operands = tuple(substitute(operand, by) for operand in expression.operands)
            return Operation(expression.name, operands)
        case Constant():
            return expression
