"""The typed expressions of vertex programs and walk programs.

A tree is already checked: every name is known, and the operands of an operation have one type.
Where Python would mix int and float, the tree says `float(...)` explicitly, so that no evaluator
has to choose. `u` is the vertex that an edge is traversed from and `v` the vertex it is traversed
to; in `initialize` and `update` there is `v` alone. The positions of a walk have their own names.

Texts and moments (dates, timestamps) come from properties and parameters only: texts can be
compared with `==` and `!=`, moments are ordered, and `int(...)` makes a number of a moment.

Arithmetic is that of int64 and float64: ints wrap around, a float divided by zero is an infinity
or NaN, an int divided by zero (`//`, `%`) is 0, and `min(a, b)` is a unless b < a. An index
outside of its array is an error that the evaluator must refuse.

Nodes that hold a number compare by type and bits, because compiled code is cached by its plan:
Python finds 1, 1.0 and True equal, and 0.0 and -0.0, but a program divides by them with other
results.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal

from graphtide.model.limits import Nested


class ByBits:
    """The base of a frozen dataclass, declared with `eq=False`, that compares its numbers so."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _identity(self) == _identity(other)

    def __hash__(self) -> int:
        return hash(_identity(self))


def _identity(item: object) -> tuple[object, ...]:
    return tuple(map(_bits, vars(item).values()))


def _bits(value: object) -> object:
    if isinstance(value, float):
        return float, value.hex()
    return (bool, value) if isinstance(value, bool) else value


Number = int | float | bool
Constant = int | float | bool | str
Vertex = str
"""`u` or `v`, or the name of a position of a walk."""
Fact = Literal["id", "out_degree", "in_degree", "degree"]
Function = Literal[
    "min",
    "max",
    "abs",
    "sqrt",
    "exp",
    "log",
    "floor",
    "ceil",
    "int",
    "float",
    "bool",
    "least",
    "greatest",
]


class ValueType(StrEnum):
    """The types of values in a program: int64, float64 and truth; texts, and two kinds of moments.

    As a number, a date is its days since 1970-01-01, and a timestamp its microseconds since
    1970-01-01 00:00 UTC. A text may be missing, and then it equals no text, not even another that
    is missing.
    """

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    TEXT = "str"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def is_number(self) -> bool:
        """True for the two types that have arithmetic."""
        return self in (ValueType.INT, ValueType.FLOAT)

    @property
    def is_moment(self) -> bool:
        """True for dates and timestamps."""
        return self in (ValueType.DATE, ValueType.TIMESTAMP)


INT, FLOAT, BOOL = ValueType.INT, ValueType.FLOAT, ValueType.BOOL
TEXT, DATE, TIMESTAMP = ValueType.TEXT, ValueType.DATE, ValueType.TIMESTAMP


@dataclass(frozen=True, eq=False)
class Const(ByBits):
    """A number or truth value."""

    value: Number
    type: ValueType


@dataclass(frozen=True)
class Text:
    """A text that the program names, to compare others with."""

    value: str
    type: ClassVar[ValueType] = TEXT


@dataclass(frozen=True)
class ParameterRef:
    """The value of a parameter: a number, a text, a moment, or the number of a vertex."""

    name: str
    type: ValueType


@dataclass(frozen=True)
class StateRef:
    """A state field of u or v; with an index where the field is an array."""

    vertex: Vertex
    name: str
    type: ValueType
    index: Expression | None = None


@dataclass(frozen=True)
class AccumulatorRef:
    """What v's accumulator holds after all edges were traversed; only in `update`."""

    name: str
    type: ValueType
    index: Expression | None = None


@dataclass(frozen=True)
class EdgeProperty:
    """A property of the edge, or of an edge of a walk by its name; only in `traverse`."""

    name: str
    type: ValueType
    edge: str = "e"


@dataclass(frozen=True)
class VertexFact:
    """What the graph itself says of u or v: its number, or how many live edges it has.

    `degree` is `out_degree + in_degree`: a self-loop counts twice.
    """

    vertex: Vertex
    fact: Fact
    type: ClassVar[ValueType] = INT


@dataclass(frozen=True, eq=False)
class VertexProperty(ByBits):
    """What the data say of u or v; it never changes while the vertex is there.

    `missing` stands in for a value that is not there. None: such vertices are refused, except for
    texts, which may be missing.
    """

    vertex: Vertex
    name: str
    type: ValueType
    missing: Constant | None = None


@dataclass(frozen=True)
class Member:
    """True where u or v is one of the vertices that a parameter lists."""

    vertex: Vertex
    parameter: str
    type: ClassVar[ValueType] = BOOL


@dataclass(frozen=True)
class PairSource:
    """The source of the pairs that a parameter lists, of those whose turn it is."""

    parameter: str
    type: ClassVar[ValueType] = INT


@dataclass(frozen=True)
class PathItems:
    """Vertices or edges of a path, `start` and `stop` being those of a slice in Python."""

    path: str
    kind: Literal["vertices", "edges"]
    start: int | None = None
    stop: int | None = None


@dataclass(frozen=True)
class Distinct:
    """True where all these vertices are different; only in walks that are not unrolled."""

    vertices: tuple[Vertex | PathItems, ...]
    type: ClassVar[ValueType] = BOOL


@dataclass(frozen=True)
class OverPath:
    """One value made of many along a path; only in walks that are not unrolled.

    `value` speaks of the item at hand by the one of `names`, or, where there are two, of each two
    that follow each other: `all(a.time < b.time for a, b in pairwise(path.edges))`. With `every` it
    speaks of any two, the earlier first: `for a, b in combinations(path.vertices, 2)`. `each` is a
    list of all of them, which only a row of matches takes.
    """

    function: Literal["all", "any", "sum", "min", "max", "each"]
    names: tuple[str, ...]
    items: PathItems
    value: Expression
    every: bool = False

    @property
    def type(self) -> ValueType:
        """The type of the value: `all` and `any` are of truth values."""
        return self.value.type


@dataclass(frozen=True)
class Joined:
    """True where a live edge leads from one position of a walk to another; only in walks.

    Forward, backward or either way: `out`, `in`, `both`, seen from `source`.
    """

    source: Vertex
    target: Vertex
    way: Literal["out", "in", "both"]
    type: ClassVar[ValueType] = BOOL


@dataclass(frozen=True)
class GlobalRef:
    """What an accumulator of the whole graph holds after all walks; only in `update`."""

    name: str
    type: ValueType
    index: Expression | None = None


@dataclass(frozen=True)
class Local:
    """A name of the function's own: assigned before, or the variable of an enclosing loop."""

    name: str
    type: ValueType


@dataclass(frozen=True)
class Iteration:
    """The number of the iteration, 1 in the first; only in `update`."""

    type: ClassVar[ValueType] = INT


@dataclass(frozen=True)
class Unary(Nested):
    """`-` of a number or `not` of a truth value, of the operand's own type."""

    operator: Literal["-", "not"]
    operand: Expression

    @property
    def type(self) -> ValueType:
        """The type of the operand."""
        return self.operand.type


@dataclass(frozen=True)
class Binary(Nested):
    """Arithmetic on two operands of one type.

    `/` takes and gives floats. `**` of ints has a constant exponent that is not negative.
    """

    operator: Literal["+", "-", "*", "/", "//", "%", "**"]
    left: Expression
    right: Expression

    @property
    def type(self) -> ValueType:
        """The type that both operands have."""
        return self.left.type


@dataclass(frozen=True)
class Compare(Nested):
    """A comparison of two operands of one type; truth values and texts know `==` and `!=` only."""

    operator: Literal["<", "<=", ">", ">=", "==", "!="]
    left: Expression
    right: Expression
    type: ClassVar[ValueType] = BOOL


@dataclass(frozen=True)
class Boolean(Nested):
    """`and` or `or` of two or more truth values; stops at the first that decides."""

    operator: Literal["and", "or"]
    terms: tuple[Expression, ...]
    type: ClassVar[ValueType] = BOOL


@dataclass(frozen=True)
class Choice(Nested):
    """`yes if condition else no`, both of one type; only the chosen one is evaluated."""

    condition: Expression
    yes: Expression
    no: Expression

    @property
    def type(self) -> ValueType:
        """The type that both answers have."""
        return self.yes.type


@dataclass(frozen=True)
class Call(Nested):
    """A built-in function.

    `min` and `max` take two or more arguments of one type, all others one: `sqrt`, `exp` and
    `log` a float, `floor` and `ceil` a float to give an int, `int`, `float` and `bool` any number
    or truth value, and `int` a moment. `least` and `greatest` of two floats are what an accumulator
    makes of them, for which a NaN was never sent; only analysis writes them.
    """

    function: Function
    arguments: tuple[Expression, ...]
    type: ValueType


Expression = (
    Const
    | Text
    | ParameterRef
    | StateRef
    | AccumulatorRef
    | EdgeProperty
    | VertexFact
    | VertexProperty
    | Member
    | PairSource
    | Joined
    | GlobalRef
    | Distinct
    | OverPath
    | Local
    | Iteration
    | Unary
    | Binary
    | Compare
    | Boolean
    | Choice
    | Call
)


def children(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside of one, from left to right; an index is one of them."""
    match expression:
        case Unary(_, operand):
            return (operand,)
        case Binary(_, left, right) | Compare(_, left, right):
            return (left, right)
        case Boolean(_, terms):
            return terms
        case OverPath(value=value):
            return (value,)
        case Choice(condition, yes, no):
            return (condition, yes, no)
        case Call(_, arguments, _):
            return arguments
        case StateRef(index=index) | AccumulatorRef(index=index) | GlobalRef(index=index) if (
            index is not None
        ):
            return (index,)
        case _:
            return ()
