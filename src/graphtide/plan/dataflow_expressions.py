"""Expressions over the columns of a record, with their types, for maps, filters and weights.

| type | values | word |
|---|---|---|
| int | whole numbers of 64 bits | the number |
| float | numbers of 64 bits, infinities, one NaN | bits that order the way the numbers do |
| bool | true and false | 1 and 0 |
| str | text | its code in the dictionary of the machine |
| date | days of the calendar | days since 1970 |
| timestamp | moments without a time zone | microseconds since 1970 |
| decimal(s) | numbers with s digits behind the point | the number times 10^s |

A column may hold nulls where its type says so: `int | None`. A null is the least word, which sorts
before all others; a column that may be null does not hold the least int.

Numbers are ints, decimals and floats; where two kinds meet, the result is of the later one.
Decimals are exact: a sum has the digits of the finer one, a product those of both. A day plus an
int is a day, a timestamp plus an int so many microseconds later, and their differences are ints.
An operation on a null is null, except for the truths (a false `and` is false whatever the other
side is), for `where`, which takes an unknown condition for false, and for what asks about nulls.

Trees name columns; `expression_type` checks them against the columns of a collection and gives the
type of the result.
"""

from __future__ import annotations

import datetime
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar

from graphtide.model.errors import InputError
from graphtide.model.limits import Nested

KINDS = ("int", "float", "bool", "str", "date", "timestamp", "decimal", "null")
MOST_DIGITS = 18
NULL_WORD = -(1 << 63)
"""The word of a null, of any type."""


@dataclass(frozen=True, eq=False)
class ColumnType:
    """A type of columns; `scale` is how many digits a decimal has behind the point.

    A type equals its name.
    """

    kind: str
    scale: int = 0
    nullable: bool = False

    INT: ClassVar[ColumnType]
    FLOAT: ClassVar[ColumnType]
    BOOL: ClassVar[ColumnType]
    TEXT: ClassVar[ColumnType]

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is not a type of columns")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnType | str) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def value(self) -> str:
        return self.kind

    @property
    def plain(self) -> ColumnType:
        return replace(self, nullable=False) if self.nullable else self

    def or_null(self, nullable: bool = True) -> ColumnType:
        return replace(self, nullable=True) if nullable and not self.nullable else self

    def __or__(self, other: None) -> ColumnType:
        """`decimal(2) | None`: the same with nulls."""
        if other is not None:
            raise InputError(f"A column is not {self} or {other!r}", hint="write `| None`")
        return self.or_null()

    def __str__(self) -> str:
        name = f"decimal({self.scale})" if self.kind == "decimal" else self.kind
        return f"{name} | None" if self.nullable and self.kind != "null" else name

    __repr__ = __str__


INT, FLOAT, BOOL, TEXT = (ColumnType(kind) for kind in ("int", "float", "bool", "str"))
ColumnType.INT, ColumnType.FLOAT, ColumnType.BOOL, ColumnType.TEXT = INT, FLOAT, BOOL, TEXT
DATE, TIMESTAMP = ColumnType("date"), ColumnType("timestamp")
NULL = ColumnType("null", nullable=True)
"""The type of None before it meets another."""
_PYTHON: dict[Any, ColumnType] = {
    int: INT,
    float: FLOAT,
    bool: BOOL,
    str: TEXT,
    datetime.date: DATE,
    datetime.datetime: TIMESTAMP,
}


def decimal(scale: int) -> ColumnType:
    """The type of decimals with so many digits behind the point, for `input(price=decimal(2))`."""
    if not 0 <= scale <= MOST_DIGITS:
        raise InputError(
            f"A decimal cannot have {scale} digits behind the point",
            hint=f"give 0 to {MOST_DIGITS}: all its digits have to fit into 64 bits",
        )
    return ColumnType("decimal", scale)


def column_type(name: str, given: Any) -> ColumnType:
    """The type of a column as users say it: `int`, `datetime.date`, `decimal(2)`, `str | None`."""
    if isinstance(given, ColumnType):
        return given
    if typing.get_origin(given) in (types.UnionType, typing.Union):
        parts = [part for part in typing.get_args(given) if part is not type(None)]
        if len(parts) == 1 and len(parts) < len(typing.get_args(given)):
            return column_type(name, parts[0]).or_null()
    if isinstance(given, type) and given in _PYTHON:
        return _PYTHON[given]
    raise InputError(
        f"Column {name!r} cannot be of type {given!r}",
        hint="columns are int, float, bool, str, datetime.date, datetime.datetime or "
        "gt.dataflow.decimal(2), and `int | None` where values may be missing",
    )


def common(one: ColumnType, other: ColumnType) -> ColumnType | None:
    """The type that holds the values of both; None where there is none."""
    nullable = one.nullable or other.nullable
    if one.kind == "null" or other.kind == "null":
        return (other if one.kind == "null" else one).or_null()
    if one.plain == other.plain:
        return one.or_null(nullable)
    kinds = {one.kind, other.kind}
    if not kinds <= {"int", "float", "decimal"}:
        return None
    if "float" in kinds:
        return FLOAT.or_null(nullable)
    return ColumnType("decimal", max(one.scale, other.scale), nullable)


ARITHMETIC = ("+", "-", "*", "//", "%", "min", "max")
COMPARISONS = ("==", "!=", "<", "<=")
TRUTHS = ("and", "or")
INFIX = {*ARITHMETIC, *COMPARISONS, *TRUTHS, "/"} - {"min", "max"}
TEXT_FUNCTIONS: dict[str, tuple[tuple[ColumnType, ...], ColumnType]] = {
    "like": ((TEXT, TEXT), BOOL),
    "contains": ((TEXT, TEXT), BOOL),
    "starts with": ((TEXT, TEXT), BOOL),
    "ends with": ((TEXT, TEXT), BOOL),
    "matches": ((TEXT, TEXT), BOOL),
    "cat": ((TEXT, TEXT), TEXT),
    "substr": ((TEXT, INT, INT), TEXT),
    "length": ((TEXT,), INT),
    "upper": ((TEXT,), TEXT),
    "lower": ((TEXT,), TEXT),
    "prefix": ((TEXT,), INT),
    "text less": ((TEXT, TEXT), BOOL),
    "text less equal": ((TEXT, TEXT), BOOL),
}
"""Functions that Python computes, once for all records with the same arguments."""


def operation_type(name: str, given: Sequence[ColumnType], shown: object) -> ColumnType:
    """The type of an operation on operands of these types; an error, which shows it, for none."""
    types = [item.plain for item in given]
    nullable = any(item.nullable for item in given)
    result = _null_type(name, given) or _strict_type(name, types)
    if result is None:
        raise InputError(
            f"`{shown}` has no meaning for {' and '.join(map(str, given))}",
            hint=_instead(name, {item.kind for item in types}),
        )
    if result.scale > MOST_DIGITS:
        raise InputError(
            f"`{shown}` would have {result.scale} digits behind the point",
            hint=f"a decimal has at most {MOST_DIGITS}: use as_float()",
        )
    strict = name not in ("is null", "coalesce", "where", "or null", "there")
    return result.or_null(nullable and strict)


def _instead(name: str, kinds: set[str]) -> str:
    """What to write for an operation on values of these kinds that has no meaning."""
    if kinds == {"str"} and name in ("+", "min", "max"):
        return "texts are joined with a.cat(b), and chosen with where(a < b, a, b)"
    if "str" in kinds and kinds & {"date", "timestamp"}:
        return "give a datetime.date or a datetime.datetime, not a text"
    if "timestamp" in kinds and (name in ("year", "month", "day") or "date" in kinds):
        return "take the day of a timestamp first: as_date()"
    if name in ("and", "or", "not"):
        return "&, | and ~ are for conditions: put each comparison in parentheses"
    return (
        "// and % are for ints; truth has no arithmetic; convert with as_int(), "
        "as_float() or as_date() what is to meet another type"
    )


def _null_type(name: str, given: Sequence[ColumnType]) -> ColumnType | None:
    """The type of an operation that asks about nulls, or chooses."""
    match name:
        case "is null":
            return BOOL
        case "coalesce":
            shared = common(given[0], given[1])
            missing = all(item.nullable for item in given)
            return shared if shared is None or missing else shared.plain
        case "where" if given[0].kind in ("bool", "null"):
            return common(given[1], given[2])
        case "or null":
            return given[0].or_null()
        case "there":
            return given[0].plain
    return None


def _strict_type(name: str, types: Sequence[ColumnType]) -> ColumnType | None:
    kinds = {item.kind for item in types}
    numbers = kinds <= {"int", "float", "decimal", "null"}
    if name in TEXT_FUNCTIONS:
        wanted, made = TEXT_FUNCTIONS[name]
        return made if len(wanted) == len(types) and _fit(types, wanted) else None
    match name:
        case "/" | "float" if numbers:
            return FLOAT
        case "int" if numbers or kinds == {"bool"}:
            return INT
        case "neg" if numbers:
            return types[0]
        case "bits" if kinds == {"int"}:
            return INT
        case "//" | "%" if kinds <= {"int", "null"}:
            return INT
        case "+" | "-" if "date" in kinds or "timestamp" in kinds:
            return _shifted(name, types)
        case "+" | "-" | "min" | "max" if numbers:
            return common(types[0], types[1])
        case "min" | "max" if len(kinds) == 1 and kinds <= {"date", "timestamp"}:
            return types[0]
        case "*" if numbers:
            return _product(types)
        case "==" | "!=" | "<" | "<=" if common(types[0], types[1]) is not None:
            return BOOL
        case "and" | "or" | "not" if kinds <= {"bool", "null"}:
            return BOOL
        case "year" | "month" | "day" if types[0] == DATE:
            return INT
        case "date" if types[0] in (DATE, TIMESTAMP):
            return DATE
        case "word" | "limb" | "part 0" | "part 1" | "part 2":
            return INT
    return None


def _fit(types: Sequence[ColumnType], wanted: Sequence[ColumnType]) -> bool:
    return all(a.kind in (b.kind, "null") for a, b in zip(types, wanted, strict=True))


def _shifted(name: str, types: Sequence[ColumnType]) -> ColumnType | None:
    """A moment and an int, or the distance of two moments."""
    one, other = types
    if one.kind in ("date", "timestamp") and other.kind in ("int", "null"):
        return one
    if name == "+" and other.kind in ("date", "timestamp") and one.kind in ("int", "null"):
        return other
    return INT if name == "-" and one == other else None


def _product(types: Sequence[ColumnType]) -> ColumnType | None:
    shared = common(types[0], types[1])
    if shared is None or shared.kind != "decimal":
        return shared
    return ColumnType("decimal", types[0].scale + types[1].scale)


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
