"""Expressions over the columns of a record, as maps, filters and weights of a dataflow use them.

Trees name columns; `expression_type` checks them against the columns of a collection and says
what type comes out. Values are int64, float64, truth and text; text can be compared for equality
only, since it is kept as dictionary codes. Where an int meets a float it becomes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from graphtide.model.errors import InputError

Value = int | float | bool | str


class ColumnType(StrEnum):
    """The types of columns."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    TEXT = "str"


INT, FLOAT, BOOL, TEXT = ColumnType.INT, ColumnType.FLOAT, ColumnType.BOOL, ColumnType.TEXT


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
class Operation:
    """An operation on expressions: see OPERATIONS."""

    name: str
    operands: tuple[Expression, ...]

    def __str__(self) -> str:
        words = [str(operand) for operand in self.operands]
        if self.name in _INFIX and len(words) == 2:
            return f"({words[0]} {self.name} {words[1]})"
        return f"{self.name}({', '.join(words)})"


Expression = Column | Constant | Operation

ARITHMETIC = ("+", "-", "*", "//", "%", "min", "max")
COMPARISONS = ("==", "!=", "<", "<=")
TRUTHS = ("and", "or")
_INFIX = {*ARITHMETIC, *COMPARISONS, *TRUTHS, "/"} - {"min", "max"}
OPERATIONS = (
    *ARITHMETIC,
    *COMPARISONS,
    *TRUTHS,
    "/",
    "not",
    "neg",
    "where",
    "int",
    "float",
    "bits",
)

Columns = Mapping[str, ColumnType]


def constant(value: Value) -> Constant:
    """A constant of the type that the value has."""
    for kind, column_type in ((bool, BOOL), (int, INT), (float, FLOAT), (str, TEXT)):
        if isinstance(value, kind):
            if column_type is INT and not -(1 << 63) <= int(value) < 1 << 63:
                raise InputError(
                    f"{value} is beyond int64", hint="give a number of 64 bits, or a float"
                )
            return Constant(value, column_type)
    raise InputError(
        f"A dataflow cannot hold {value!r}, a {type(value).__name__}",
        hint="columns are int, float, bool or str",
    )


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
            return _operation_type(expression, types)


def _operation_type(operation: Operation, types: list[ColumnType]) -> ColumnType:
    numbers = all(item in (INT, FLOAT) for item in types)
    same = len(set(types)) == 1
    match operation.name:
        case "/" | "float" if numbers:
            return FLOAT
        case "int" if numbers or types == [BOOL]:
            return INT
        case "neg" if numbers:
            return types[0]
        case "bits" if types == [INT]:
            return INT
        case "//" | "%" if types == [INT, INT]:
            return INT
        case "+" | "-" | "*" | "min" | "max" if numbers:
            return FLOAT if FLOAT in types else INT
        case "==" | "!=" if same or numbers:
            return BOOL
        case "<" | "<=" if numbers or types == [BOOL, BOOL]:
            return BOOL
        case "and" | "or" | "not" if set(types) == {BOOL}:
            return BOOL
        case "where" if types[0] is BOOL and types[1] == types[2]:
            return types[1]
    raise InputError(
        f"`{operation}` has no meaning for {' and '.join(types)}",
        hint="text is compared with == and != only; // and % are for ints; truth has no arithmetic",
    )


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
