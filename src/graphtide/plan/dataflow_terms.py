"""Expressions as users write them: `col.dst + 1`, `where(col.x < col.y, col.x, col.y)`."""

from __future__ import annotations

from typing import Any

from graphtide.model.errors import InputError
from graphtide.plan.dataflow_expressions import Column, Expression, Operation, Value, constant


class Term:
    """An expression over columns. Arithmetic, comparisons, `&`, `|` and `~` make new ones."""

    __slots__ = ("node",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, node: Expression) -> None:
        self.node = node

    def __repr__(self) -> str:
        return str(self.node)

    def __bool__(self) -> bool:
        raise InputError(
            f"`{self.node}` has no truth of its own: it is true or false for each record",
            hint="write `&`, `|` and `~` instead of `and`, `or` and `not`, "
            "and comparisons one by one",
        )

    def __add__(self, other: TermLike) -> Term:
        return operation("+", self, other)

    def __radd__(self, other: TermLike) -> Term:
        return operation("+", other, self)

    def __sub__(self, other: TermLike) -> Term:
        return operation("-", self, other)

    def __rsub__(self, other: TermLike) -> Term:
        return operation("-", other, self)

    def __mul__(self, other: TermLike) -> Term:
        return operation("*", self, other)

    def __rmul__(self, other: TermLike) -> Term:
        return operation("*", other, self)

    def __truediv__(self, other: TermLike) -> Term:
        return operation("/", self, other)

    def __rtruediv__(self, other: TermLike) -> Term:
        return operation("/", other, self)

    def __floordiv__(self, other: TermLike) -> Term:
        return operation("//", self, other)

    def __rfloordiv__(self, other: TermLike) -> Term:
        return operation("//", other, self)

    def __mod__(self, other: TermLike) -> Term:
        return operation("%", self, other)

    def __rmod__(self, other: TermLike) -> Term:
        return operation("%", other, self)

    def __neg__(self) -> Term:
        return operation("neg", self)

    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        return operation("==", self, other)

    def __ne__(self, other: object) -> Term:  # type: ignore[override]
        return operation("!=", self, other)

    def __lt__(self, other: TermLike) -> Term:
        return operation("<", self, other)

    def __le__(self, other: TermLike) -> Term:
        return operation("<=", self, other)

    def __gt__(self, other: TermLike) -> Term:
        return operation("<", other, self)

    def __ge__(self, other: TermLike) -> Term:
        return operation("<=", other, self)

    def __and__(self, other: TermLike) -> Term:
        return operation("and", self, other)

    def __or__(self, other: TermLike) -> Term:
        return operation("or", self, other)

    def __invert__(self) -> Term:
        return operation("not", self)

    def as_int(self) -> Term:
        """The number without its fraction, 0 for NaN and beyond 64 bits; truth as 0 and 1."""
        return operation("int", self)

    def as_float(self) -> Term:
        """The number as a float."""
        return operation("float", self)

    def as_date(self) -> Term:
        """The day of a timestamp."""
        return operation("date", self)

    def year(self) -> Term:
        """The year of a day."""
        return operation("year", self)

    def month(self) -> Term:
        """The month of a day, from 1 to 12."""
        return operation("month", self)

    def day(self) -> Term:
        """The day of its month, from 1."""
        return operation("day", self)

    def is_null(self) -> Term:
        """True where there is no value."""
        return operation("is null", self)

    def or_else(self, other: TermLike) -> Term:
        """The value, or another where there is none."""
        return operation("coalesce", self, other)

    def among(self, *values: TermLike) -> Term:
        """True where the value is one of these; of no values, nowhere."""
        if not values:
            return Term(constant(False))
        equal = operation("==", self, values[0])
        for value in values[1:]:
            equal = equal | (self == value)
        return equal

    def between(self, least: TermLike, most: TermLike) -> Term:
        """True where the value is neither below the one nor above the other."""
        return (self >= least) & (self <= most)

    def like(self, pattern: str) -> Term:
        """True where a text is like a pattern: % stands for any text, _ for any character."""
        return operation("like", self, pattern)

    def contains(self, part: TermLike) -> Term:
        """True where a text holds another."""
        return operation("contains", self, part)

    def starts_with(self, part: TermLike) -> Term:
        """True where a text begins with another."""
        return operation("starts with", self, part)

    def ends_with(self, part: TermLike) -> Term:
        """True where a text ends with another."""
        return operation("ends with", self, part)

    def matches(self, pattern: str) -> Term:
        """True where a whole text matches a regular expression of Python."""
        return operation("matches", self, pattern)

    def substr(self, first: TermLike, length: TermLike) -> Term:
        """So many characters of a text from one on; the first character is number 0."""
        return operation("substr", self, first, length)

    def cat(self, other: TermLike) -> Term:
        """A text with another behind it."""
        return operation("cat", self, other)

    def length(self) -> Term:
        """How many characters a text has."""
        return operation("length", self)

    def upper(self) -> Term:
        """A text in capitals."""
        return operation("upper", self)

    def lower(self) -> Term:
        """A text without capitals."""
        return operation("lower", self)


TermLike = Term | Value


def operation(name: str, *operands: Any) -> Term:
    """An operation on terms and plain values."""
    return Term(Operation(name, tuple(expression_of(operand) for operand in operands)))


def expression_of(item: Any) -> Expression:
    """The expression of a term or of a plain value."""
    return item.node if isinstance(item, Term) else constant(item)


def where(condition: Term, then: TermLike, otherwise: TermLike) -> Term:
    """One value for the records for which a condition is true, another for the rest."""
    return operation("where", condition, then, otherwise)


def least(one: TermLike, other: TermLike) -> Term:
    """The smaller of two values."""
    return operation("min", one, other)


def most(one: TermLike, other: TermLike) -> Term:
    """The larger of two values."""
    return operation("max", one, other)


def bits(number: TermLike) -> Term:
    """How many bits a number takes: 0 for 0 and below, then 1, 2, 2, 3, 3, 3, 3, 4, ..."""
    return operation("bits", number)


class _Columns:
    """`col.name` and `col["any name"]` are the value of a column."""

    def __getattr__(self, name: str) -> Term:
        if name.startswith("__"):
            raise AttributeError(name)
        return Term(Column(name))

    def __getitem__(self, name: str) -> Term:
        return Term(Column(name))


col = _Columns()
