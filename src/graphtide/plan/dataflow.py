"""The plan of a dataflow: nodes in the order in which they were made, loops as scopes.

A node names its sources by number, always earlier ones; the way back round a loop is not a source
but the *definition* of a variable, noted beside the nodes. So numbers are a topological order of
what happens within one round. Functions of Python are numbers into a table that the plan does not
hold: a plan prints, compares and hashes.

Every node has the columns of its records. An arrangement also has a key, the first columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from graphtide.plan.dataflow_expressions import Expression, Operation
from graphtide.plan.dataflow_types import ColumnType

Schema = tuple[tuple[str, ColumnType], ...]
RowOrder = Literal["value", "time"]
ReducerName = Literal["min", "max", "first", "last", "sums", "threshold", "function"]
SumKind = Literal["plain", "whole", "float"]


@dataclass(frozen=True)
class Input:
    """What users insert and remove."""

    name: str


@dataclass(frozen=True)
class Map:
    """One new record for each, column by column."""

    source: int
    columns: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Filter:
    """The records for which an expression is true."""

    source: int
    predicate: Expression


@dataclass(frozen=True)
class Negate:
    """The same records with opposite multiplicities."""

    source: int


@dataclass(frozen=True)
class Weigh:
    """The same records, their multiplicities times a column of ints, which is dropped."""

    source: int
    column: str


@dataclass(frozen=True)
class Concat:
    """The records of all sources."""

    sources: tuple[int, ...]


@dataclass(frozen=True)
class Enter:
    """A collection from around a loop: from round 0 on, or each record from a round of its own."""

    source: int
    delay: Expression | None = None


@dataclass(frozen=True)
class Leave:
    """What a collection in a loop comes to after the last round, outside of the loop."""

    source: int


@dataclass(frozen=True)
class Variable:
    """A collection that is its initial value in round 0, and then its definition, a round later."""

    initial: int | None


@dataclass(frozen=True)
class Consolidate:
    """The same collection with equal records added up."""

    source: int


@dataclass(frozen=True)
class Arrange:
    """The collection indexed by its first `key` columns, with its history."""

    source: int
    key: int
    order: RowOrder


@dataclass(frozen=True)
class Import:
    """An arrangement of another dataflow, by its number in the table of shared arrangements."""

    arrangement: int
    key: int
    history: bool


@dataclass(frozen=True)
class Join:
    """Records of two arrangements with equal keys: key, values of the left, of the right."""

    left: int
    right: int


@dataclass(frozen=True)
class Reduce:
    """One result a key from an arrangement: the key, then what the reducer makes of its records.

    `argument` is how many records are wanted, the least multiplicity, the number of tags, or the
    number of a function. `outputs` are the sums to give: of the weights of one tag, of ints whose
    lower half has a tag and whose upper half has the next, or of floats whose limbs have tags from
    one on. `texts` are the values, by place, that are texts to be ordered by; each stands behind a
    word of its first bytes. One that is not `indexed` sends its results and keeps none: nobody
    looks them up.
    """

    source: int
    reducer: ReducerName
    argument: int = 1
    outputs: tuple[tuple[SumKind, int], ...] = ()
    texts: tuple[int, ...] = ()
    indexed: bool = True


@dataclass(frozen=True)
class Foreign:
    """A function of Python, by number, called with rows or with whole columns."""

    source: int
    function: int
    kind: Literal["map", "filter", "flat_map", "inspect", "columns"]


@dataclass(frozen=True)
class Compute:
    """The records with more columns: functions of texts, once for all that are alike.

    The operands of each operation are columns or constants.
    """

    source: int
    columns: tuple[tuple[str, Operation], ...]


@dataclass(frozen=True)
class Output:
    """What users read."""

    source: int
    name: str


Linear = Map | Filter | Negate | Weigh | Concat | Enter | Leave | Variable
Node = Linear | Input | Consolidate | Arrange | Import | Join | Reduce | Foreign | Compute | Output


@dataclass(frozen=True)
class Scope:
    """A loop, or the outside of all (number 0, its own parent)."""

    name: str
    parent: int
    depth: int


@dataclass
class DataflowPlan:
    """Nodes with their scopes and columns, the scopes, and what variables are defined as.

    `rounds` are the variables that change in so many rounds only, and then stay as they are.
    """

    name: str
    nodes: list[Node] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=lambda: [Scope("", 0, 0)])
    scope_of: list[int] = field(default_factory=list)
    schemas: list[Schema] = field(default_factory=list)
    definitions: dict[int, int] = field(default_factory=dict)
    rounds: dict[int, int] = field(default_factory=dict)

    def add(self, node: Node, scope: int, schema: Schema) -> int:
        """Append a node; its number."""
        self.nodes.append(node)
        self.scope_of.append(scope)
        self.schemas.append(schema)
        return len(self.nodes) - 1

    def depth(self) -> int:
        """How many loops are nested at most."""
        return max(scope.depth for scope in self.scopes)

    def encloses(self, outer: int, inner: int) -> bool:
        """True where a scope is the other one or lies around it."""
        while inner != outer and inner != 0:
            inner = self.scopes[inner].parent
        return inner == outer

    def key_of(self, node: int) -> int:
        """How many columns the key of an arrangement has."""
        arrangement = self.nodes[node]
        match arrangement:
            case Arrange() | Import():
                return arrangement.key
            case Reduce():
                return self.key_of(arrangement.source)
        raise AssertionError(f"{arrangement} is not an arrangement")


def sources_of(node: Node) -> tuple[int, ...]:
    """The nodes that a node reads within one round."""
    match node:
        case Input() | Import():
            return ()
        case Variable():
            return () if node.initial is None else (node.initial,)
        case Concat():
            return node.sources
        case Join():
            return (node.left, node.right)
        case _:
            return (node.source,)
