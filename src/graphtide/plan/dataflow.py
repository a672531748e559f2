"""The plan of a dataflow: nodes in the order in which they were made, loops as scopes.

A node names its sources by number, always earlier ones; the way back round a loop is not a source
but the *definition* of a variable, noted beside the nodes. So numbers are a topological order of
what happens within one round. Functions of Python are numbers into a table that the plan does not
hold: a plan prints, compares and hashes.

Every node has the columns of its records. An arrangement also has a key, the first columns.

`narrowed` removes columns that nothing reads. Users join whole tables and name what they want at
the end; narrowed, indexes hold keys and what is read. That is right because removing columns
commutes with all that multiplicities pass through linearly: maps, filters, joins, sums of weights.
Reductions, functions of Python and outputs read whole records; an arrangement that users hold may
be looked up or imported, so it keeps all columns too. What no user holds and no other node looks
up needs no index. What hands records on unchanged has the columns of its source; an arrangement
may have fewer, and then a map is put before it. Nodes keep their numbers; those maps stand behind
them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from graphtide.plan.dataflow_expressions import Column, ColumnType, Expression, Operation

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


def describe(plan: DataflowPlan, number: int) -> str:
    """What a node does, in a line: for explanations, pictures and errors."""
    node = plan.nodes[number]
    match node:
        case Input(name) | Output(name=name):
            detail = repr(name)
        case Map():
            detail = ", ".join(f"{new} = {how}" for new, how in node.columns)
        case Filter():
            detail = str(node.predicate)
        case Arrange() | Import():
            detail = f"by {_key(plan, number)}"
        case Join():
            detail = f"on {_key(plan, node.left)}"
        case Reduce():
            detail = f"{node.reducer} by {_key(plan, number)}"
        case Foreign():
            detail = node.kind
        case _:
            detail = ""
    return f"{type(node).__name__.lower()} {detail}".strip()


def _key(plan: DataflowPlan, number: int) -> str:
    names = [name for name, _ in plan.schemas[number][: plan.key_of(number)]]
    return ", ".join(names) or "nothing"


def narrowed(plan: DataflowPlan, kept: Collection[int]) -> DataflowPlan:
    """The same plan with fewer columns; `kept` are the nodes that keep all of theirs."""
    needs = _Needs(plan, kept).found
    made = replace(
        plan,
        nodes=list(plan.nodes),
        scope_of=list(plan.scope_of),
        schemas=[_chosen(schema, needs[n]) for n, schema in enumerate(plan.schemas)],
    )
    for number, node in enumerate(plan.nodes):
        if isinstance(node, Map):
            columns = tuple(item for item in node.columns if item[0] in needs[number])
            made.nodes[number] = replace(node, columns=columns)
        elif isinstance(node, Arrange) and needs[node.source] != needs[number]:
            columns = tuple((name, Column(name)) for name, _ in made.schemas[number])
            scope, schema = plan.scope_of[node.source], made.schemas[number]
            made.nodes[number] = replace(
                node, source=made.add(Map(node.source, columns), scope, schema)
            )
    looked_up = {*kept, *_looked_up(plan)}
    for number, node in enumerate(plan.nodes):
        if isinstance(node, Reduce):
            made.nodes[number] = replace(node, indexed=number in looked_up)
    return made


def _looked_up(plan: DataflowPlan) -> Iterator[int]:
    """The nodes whose records others look up by key."""
    for node in plan.nodes:
        if isinstance(node, Join | Reduce):
            yield from sources_of(node)


class _Needs:
    """The columns that each node needs, found by asking backwards until no answer grows."""

    def __init__(self, plan: DataflowPlan, kept: Collection[int]) -> None:
        self.plan = plan
        self.found: list[set[str]] = [set() for _ in plan.nodes]
        self._grew = True
        for number in kept:
            self._all(number)
        while self._grew:
            self._grew = False
            for number in reversed(range(len(plan.nodes))):
                self._ask(number, plan.nodes[number])

    def _ask(self, number: int, node: Node) -> None:
        """Add what a node needs to its sources' columns, and to its own what these have anyway."""
        needs = self.found
        match node:
            case Map():
                wanted = (how for name, how in node.columns if name in needs[number])
                self._more(node.source, _columns(*wanted))
            case Filter():
                self._more(node.source, _columns(node.predicate))
                self._same(number, node.source)
            case Enter():
                self._more(node.source, _columns(*(() if node.delay is None else (node.delay,))))
                self._same(number, node.source)
            case Negate() | Leave() | Consolidate() | Concat():
                self._same(number, *sources_of(node))
            case Variable():
                self._same(number, *sources_of(node), self.plan.definitions[number])
            case Weigh():
                self._more(node.source, needs[number] | {node.column})
                self._more(number, needs[node.source] - {node.column})
            case Arrange():
                self._more(number, {name for name, _ in self.plan.schemas[number][: node.key]})
                self._more(node.source, needs[number])
            case Join():
                self._join(number, node)
            case Compute():
                made = {name for name, _ in node.columns}
                self._more(node.source, needs[number] - made)
                self._more(node.source, _columns(*(how for _, how in node.columns)))
                self._more(number, needs[node.source] | made)
            case Reduce() | Foreign() | Output():
                self._all(number)
                self._all(node.source)
            case Import():
                self._all(number)
            case Input() if not needs[number]:  # a record has one column at least
                self._more(number, {name for name, _ in self.plan.schemas[number][:1]})

    def _join(self, number: int, node: Join) -> None:
        """A joined record is the left one and, behind it, the right one without its key."""
        plan = self.plan
        left = [name for name, _ in plan.schemas[node.left]]
        right = [name for name, _ in plan.schemas[node.right][plan.key_of(node.right) :]]
        names = [name for name, _ in plan.schemas[number]]
        for source, theirs, ours in (
            (node.left, left, names[: len(left)]),
            (node.right, right, names[len(left) :]),
        ):
            pairs = list(zip(theirs, ours, strict=True))
            self._more(source, {one for one, other in pairs if other in self.found[number]})
            self._more(number, {other for one, other in pairs if one in self.found[source]})

    def _same(self, *numbers: int) -> None:
        """Let nodes that hand records on as they are have the same columns."""
        wanted = set().union(*(self.found[number] for number in numbers))
        for number in numbers:
            self._more(number, wanted)

    def _all(self, number: int) -> None:
        self._more(number, {name for name, _ in self.plan.schemas[number]})

    def _more(self, number: int, names: set[str]) -> None:
        if not names <= self.found[number]:
            self.found[number] |= names
            self._grew = True


def _chosen(schema: Schema, names: set[str]) -> Schema:
    return tuple(item for item in schema if item[0] in names)


def _columns(*expressions: Expression) -> set[str]:
    return {name for item in expressions for name in _read(item)}


def _read(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Column):
        yield expression.name
    elif isinstance(expression, Operation):
        for operand in expression.operands:
            yield from _read(operand)
