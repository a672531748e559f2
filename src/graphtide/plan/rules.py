"""The plan of a Datalog program: relations of flat columns, and rules between them.

A rule derives its head from a body of literals that must hold together. Variables are `Column`s of
the expressions that dataflows have; records have been taken apart, and alternatives are rules of
their own. `Call` is a function of Python on texts; no expression holds one. A relation that keeps
the `best` of a key holds, of the facts that are equal but for the last column, the one whose last
column is least or greatest.

`strata` puts relations in an order in which each comes behind what it reads. Relations that read
each other are one stratum, a loop. A relation must not be in one stratum with another that it
reads under a negation or an aggregate: such a program has no least meaning.

Plans hold no functions and no places in a text: they print, compare and hash.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf

from graphtide.plan.dataflow_expressions import Column, ColumnType, Constant, Expression, Operation

Best = OneOf["min", "max"]
AggregateName = OneOf["count", "sum", "min", "max"]
Argument = Column | Constant | None
"""A variable, a value, or None: any value."""


@dataclass(frozen=True)
class Relation:
    """Facts of typed columns; `vertices` are the columns that hold vertices of a graph."""

    name: str
    columns: tuple[tuple[str, ColumnType], ...]
    best: Best | None = None
    vertices: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)


@dataclass(frozen=True)
class Match:
    """`edge(x, y)`: binds what is not bound yet."""

    relation: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Absent:
    """`!edge(x, _)`: no fact of these arguments, all of which are bound."""

    relation: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Assign:
    """`x = y + 1`, where the right side is bound."""

    variable: str
    value: Expression


@dataclass(frozen=True)
class Test:
    """`x < y`, where all is bound."""

    __test__ = False

    condition: Expression


@dataclass(frozen=True)
class Call:
    """`x = cat(y, "z")`: a function of texts, which Python computes."""

    variable: str
    function: str
    arguments: tuple[Column | Constant, ...]


@dataclass(frozen=True)
class Aggregate:
    """`n = count : { body }`: one value for each of `groups`, variables that are bound around.

    Where the body has no match, count and sum are 0; min and max have no value.
    """

    variable: str
    operation: AggregateName
    target: Expression | None
    body: tuple[Literal, ...]
    groups: tuple[str, ...]


Literal = Match | Absent | Assign | Test | Call | Aggregate
Types = tuple[tuple[str, ColumnType], ...]


@dataclass(frozen=True)
class Rule:
    """A head and a body; `order` is that of the matches, where the text says one."""

    head: str
    values: tuple[Expression, ...]
    body: tuple[Literal, ...]
    types: Types
    order: tuple[int, ...] | None = None
    text: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class FileOf:
    """Where a relation is read from or written to."""

    relation: str
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Goal:
    """An atom to be answered: the facts of a relation with some values given.

    `names` are those of the columns of the answer, by the places of the atom that they show.
    """

    relation: str
    arguments: tuple[Argument, ...]
    text: str = field(default="", compare=False)


Fact = tuple[object, ...]


@dataclass(frozen=True)
class RulePlan:
    """A whole program: what there is, what is derived how, what is read and what is asked for."""

    relations: tuple[Relation, ...]
    rules: tuple[Rule, ...]
    facts: tuple[tuple[str, tuple[Fact, ...]], ...] = ()
    inputs: tuple[FileOf, ...] = ()
    outputs: tuple[FileOf, ...] = ()
    sizes: tuple[str, ...] = ()
    goals: tuple[Goal, ...] = ()

    def relation(self, name: str) -> Relation:
        return next(item for item in self.relations if item.name == name)

    @property
    def derived(self) -> tuple[str, ...]:
        """The relations that rules have for a head, in the order of their declaration."""
        heads = {rule.head for rule in self.rules}
        return tuple(item.name for item in self.relations if item.name in heads)

    @property
    def wanted(self) -> tuple[str, ...]:
        """The relations that are put out or counted."""
        return tuple(dict.fromkeys([*(item.relation for item in self.outputs), *self.sizes]))


def variables_of(expression: Expression) -> Iterator[str]:
    match expression:
        case Column():
            yield expression.name
        case Operation():
            for operand in expression.operands:
                yield from variables_of(operand)


def needs(literal: Literal) -> set[str]:
    """The variables that must be bound before a literal can be evaluated; none for a match."""
    match literal:
        case Match():
            return set()
        case Absent():
            return arguments_of(literal)
        case Assign():
            return set(variables_of(literal.value))
        case Test():
            return set(variables_of(literal.condition))
        case Call():
            return {item.name for item in literal.arguments if isinstance(item, Column)}
        case Aggregate():
            return set(literal.groups)


def gives(literal: Literal) -> set[str]:
    match literal:
        case Match():
            return arguments_of(literal)
        case Assign() | Call() | Aggregate():
            return {literal.variable}
        case _:
            return set()


def arguments_of(atom: Match | Absent | Goal) -> set[str]:
    return {item.name for item in atom.arguments if isinstance(item, Column)}


def reads(literals: tuple[Literal, ...]) -> Iterator[tuple[str, bool, Literal]]:
    """The relations that a body reads, whether monotonously, and the literal that does."""
    for item in literals:
        match item:
            case Match():
                yield item.relation, True, item
            case Absent():
                yield item.relation, False, item
            case Aggregate():
                for name, _, _ in reads(item.body):
                    yield name, False, item


def substituted(expression: Expression, by: Mapping[str, Expression]) -> Expression:
    """The expression with some variables replaced; the others stay."""
    match expression:
        case Column():
            return by.get(expression.name, expression)
        case Operation():
            operands = tuple(substituted(operand, by) for operand in expression.operands)
            return Operation(expression.name, operands)
        case Constant():
            return expression


@dataclass(frozen=True)
class Stratum:
    """Relations that are derived together; `recursive` where one of them reads itself, or another
    that reads it."""

    relations: tuple[str, ...]
    recursive: bool


def strata(relations: Sequence[str], rules: Iterable[Rule]) -> list[Stratum]:
    """All relations, those first that others read; by Tarjan's algorithm, without recursion."""
    below: dict[str, list[str]] = {name: [] for name in relations}
    for rule in rules:
        for name, _, _ in reads(rule.body):
            if name not in below[rule.head]:
                below[rule.head].append(name)
    return [
        Stratum(tuple(group), len(group) > 1 or group[0] in below[group[0]])
        for group in components(below)
    ]


def components(below: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Strongly connected components, each behind those that it reaches."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    held: set[str] = set()
    components_in_order: list[list[str]] = []
    for root in below:
        work = [] if root in number else [(root, iter(below[root]))]
        while work:
            name, rest = work[-1]
            if name not in number:
                number[name] = low[name] = len(number)
                stack.append(name)
                held.add(name)
            for other in rest:
                if other not in number:
                    work.append((other, iter(below[other])))
                    break
                if other in held:
                    low[name] = min(low[name], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    group = stack[stack.index(name) :]
                    del stack[-len(group) :]
                    held.difference_update(group)
                    components_in_order.append([item for item in below if item in group])
    return components_in_order


def unstratified(
    relations: Sequence[str], rules: Sequence[Rule]
) -> tuple[int, str, list[str]] | None:
    """A rule that reads what depends on it other than monotonously; None where there is none.

    Its number, the relation that it reads so, and the way from there back to the head.
    """
    group_of = {
        name: place
        for place, stratum in enumerate(strata(relations, rules))
        for name in stratum.relations
    }
    for place, rule in enumerate(rules):
        for name, monotone, _ in reads(rule.body):
            if not monotone and group_of[name] == group_of[rule.head]:
                return place, name, _way(name, rule.head, rules)
    return None


def _way(start: str, end: str, rules: Sequence[Rule]) -> list[str]:
    """The shortest chain of relations, each of which reads the next one."""
    before: dict[str, str] = {}
    ring = [start]
    seen = {start}
    while end not in seen:
        following = []
        for name in ring:
            for rule in rules:
                for other, _, _ in reads(rule.body) if rule.head == name else ():
                    if other not in seen:
                        seen.add(other)
                        before[other] = name
                        following.append(other)
        ring = following
    way = [end]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]
