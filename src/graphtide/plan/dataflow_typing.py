"""What operations there are for which types, and what type comes out.

Numbers are ints, decimals and floats; where two kinds meet, the result is of the later one.
Decimals are exact: a sum has the digits of the finer one, a product those of both. A day plus an
int is a day, a timestamp plus an int so many microseconds later, and their differences are ints.
An operation on a null is null, except for the truths (a false `and` is false whatever the other
side is), for `where`, which takes an unknown condition for false, and for what asks about nulls.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphtide.model.errors import InputError
from graphtide.plan.dataflow_types import (
    BOOL,
    DATE,
    FLOAT,
    INT,
    MOST_DIGITS,
    TEXT,
    TIMESTAMP,
    ColumnType,
    common,
)

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
    """The type of an operation on values that are there."""
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
