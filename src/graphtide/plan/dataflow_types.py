"""The types of columns: what values a column of a dataflow holds, and how they stand in a word.

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
"""

from __future__ import annotations

import datetime
import types
import typing
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from graphtide.model.errors import InputError

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
        """The name of the kind."""
        return self.kind

    @property
    def plain(self) -> ColumnType:
        """The same without nulls."""
        return replace(self, nullable=False) if self.nullable else self

    def or_null(self, nullable: bool = True) -> ColumnType:
        """The same with nulls, if so."""
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
