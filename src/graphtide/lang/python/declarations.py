"""What the body of a program class is written with: parameters, state and accumulators.

These objects only remember how they were made; `fields` checks them, because it knows the line
they stand on.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Final

from graphtide.model.errors import InputError
from graphtide.plan.programs import AccumulatorKind

__all__ = [
    "And",
    "Columns",
    "Count",
    "Date",
    "Declaration",
    "Global",
    "Matches",
    "Max",
    "Min",
    "Or",
    "Pairs",
    "Product",
    "Property",
    "State",
    "Sum",
    "Timestamp",
    "Vertex",
    "VertexProperty",
    "Vertices",
    "distinct",
    "inf",
]


if TYPE_CHECKING:  # A vertex is given by the user's own id, which may be of any type.
    Vertex = Any
    Vertices = Any
    Pairs = Any
    Date = Any
    Timestamp = Any
else:

    class Vertex:
        """The kind of a parameter that is one vertex: `source: gt.Vertex`."""

    class Vertices:
        """The kind of a parameter that is a set of vertices: `sources: gt.Vertices`."""

    class Pairs:
        """The kind of a parameter that lists pairs of vertices: `pairs: gt.Pairs`.

        A program is run from each distinct source, `self.pairs.source`; results are the targets'.
        """

    class Date:
        """The type of a date: `since: gt.Date`, `born = gt.VertexProperty(gt.Date)`.

        `int(...)` of a date is its days since 1970-01-01, and so is a difference of two in days.
        """

    class Timestamp:
        """The type of a timestamp: `until: gt.Timestamp`, `seen = gt.VertexProperty(gt.Timestamp)`.

        `int(...)` of one is its microseconds since 1970-01-01 00:00 UTC.
        """


class _Unset:
    def __repr__(self) -> str:
        return "nothing"


UNSET: Final = _Unset()


@dataclass(frozen=True)
class State:
    """A state field: `dist = gt.State(float, default=inf)`, or an array with `size=8`.

    A size is a number or the name of an int parameter. Without a default it is 0 or False.
    """

    type: object
    default: object = UNSET
    size: object = None


@dataclass(frozen=True)
class Property:
    """The type of an edge property that is not a float: `hops = gt.Property(int)`.

    It is int, float, bool, str, gt.Date or gt.Timestamp. A missing text equals no text; a program
    is refused where an edge lacks anything else that it reads.
    """

    type: object


@dataclass(frozen=True)
class VertexProperty:
    """A property that the data give vertices: `age = gt.VertexProperty(int)`, then `v.age`.

    The type is int, float, bool, str, gt.Date or gt.Timestamp. `missing` stands in for the value of
    vertices that have none; without it a program is refused where one lacks a number.
    """

    type: object
    missing: object = UNSET


@dataclass(frozen=True)
class AccumulatorDeclaration:
    """An accumulator: what it holds, and how many where it is an array."""

    type: object
    size: object = None
    kind: ClassVar[AccumulatorKind]


@dataclass(frozen=True)
class Min(AccumulatorDeclaration):
    """The least number sent: `best = gt.Min(float)`."""

    kind = AccumulatorKind.MIN


@dataclass(frozen=True)
class Max(AccumulatorDeclaration):
    """The greatest number sent."""

    kind = AccumulatorKind.MAX


@dataclass(frozen=True)
class Sum(AccumulatorDeclaration):
    """The sum of the numbers sent."""

    kind = AccumulatorKind.SUM


@dataclass(frozen=True)
class Product(AccumulatorDeclaration):
    """The product of the numbers sent."""

    kind = AccumulatorKind.PRODUCT


@dataclass(frozen=True)
class Count(AccumulatorDeclaration):
    """How often it was sent to: `votes = gt.Count()`, then `v.votes()`."""

    type: object = int
    kind = AccumulatorKind.COUNT


@dataclass(frozen=True)
class Or(AccumulatorDeclaration):
    """True where any truth value sent is."""

    type: object = bool
    kind = AccumulatorKind.OR


@dataclass(frozen=True)
class And(AccumulatorDeclaration):
    """True where all truth values sent are."""

    type: object = bool
    kind = AccumulatorKind.AND


@dataclass(frozen=True)
class Global:
    """An accumulator of the whole graph: `total = gt.Global(gt.Sum(int))`.

    A walk sends to it with `self.total(1)`; `update` reads it as `self.total`, and it is a result.
    """

    accumulator: AccumulatorDeclaration


@dataclass(frozen=True)
class Columns:
    """As many columns of one kind: `member=gt.Columns(gt.Vertex, size="length")`.

    A size is a number or the name of an int parameter; the columns are `member_1`, `member_2`, ...
    """

    type: object
    size: object


class Matches:
    """Rows that walks report: `rings = gt.Matches(first=gt.Vertex, amount=float, limit=1000)`.

    Each argument is a column and its kind: `gt.Vertex`, int, float, bool, or `gt.Columns`. No more
    than `limit` rows are kept: a number, the name of an int parameter, or None for all. A walk
    reports a row with `self.rings(u, e.amount)`.
    """

    def __init__(self, *, limit: object = None, **columns: object) -> None:
        self.limit = limit
        self.columns = columns


def distinct(*vertices: object) -> bool:
    """Whether all these vertices of a walk are different: `distinct(u, v, w)`.

    Vertices of a path may be among them: `distinct(path.vertices[1:])`. It has a meaning in the
    `traverse` of a walk program alone.
    """
    raise InputError(
        "distinct() is a part of walk programs, and cannot be called by itself",
        hint="use it in `traverse`, in a class that is decorated with @gt.program",
    )


Declaration = State | Property | VertexProperty | AccumulatorDeclaration | Global | Matches
