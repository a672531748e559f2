"""Walks with other names for their positions and edges, and other values for their local names.

Whoever copies statements (one body for each number of a range, one step for each edge of a path)
or takes a walk for a vertex program says what every name becomes, and gets new statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from graphtide.plan.expressions import (
    AccumulatorRef,
    Distinct,
    EdgeProperty,
    Expression,
    Joined,
    Local,
    Member,
    OverPath,
    PathItems,
    StateRef,
    VertexFact,
    VertexProperty,
)
from graphtide.plan.program_symbols import rewrite
from graphtide.plan.programs import subexpressions
from graphtide.plan.walks import (
    Along,
    ForEach,
    Paths,
    Report,
    SendAt,
    SendGlobal,
    Step,
    WalkStatement,
    When,
)

Names = Mapping[str, str]
Change = Callable[[Expression], Expression]
Indexed = TypeVar("Indexed", StateRef, AccumulatorRef)


def renamed(expression: Expression, names: Names) -> Expression:
    """The expression with positions and edges called what `names` says; others stay."""

    def called(name: str) -> str:
        return _called(name, names)

    def leaf(item: Expression) -> Expression:
        match item:
            case StateRef(vertex=vertex):
                return replace(within_index(item, again), vertex=called(vertex))
            case AccumulatorRef():
                return within_index(item, again)
            case VertexFact(vertex=vertex) | VertexProperty(vertex=vertex) | Member(vertex=vertex):
                return replace(item, vertex=called(vertex))
            case Joined(source, target, way):
                return Joined(called(source), called(target), way)
            case EdgeProperty(edge=edge):
                return replace(item, edge=called(edge))
            case Distinct(vertices):
                return Distinct(tuple(_of_items(one, called) for one in vertices))
            case OverPath(items=items, value=value):
                named = replace(items, path=called(items.path))
                return replace(item, items=named, value=again(value))
            case _:
                return item

    def again(inner: Expression) -> Expression:
        return rewrite(inner, leaf)

    return again(expression)


def with_locals(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """The expression with local names replaced by values."""

    def leaf(item: Expression) -> Expression:
        match item:
            case Local(name) if name in values:
                return values[name]
            case StateRef():
                return within_index(item, again)
            case OverPath(value=value):
                return replace(item, value=again(value))
            case _:
                return item

    def again(inner: Expression) -> Expression:
        return rewrite(inner, leaf)

    return again(expression)


def changed(body: tuple[WalkStatement, ...], change: Change) -> tuple[WalkStatement, ...]:
    """The statements with every expression that stands in one changed; names they bind stay."""
    return tuple(_changed(statement, change) for statement in body)


def renamed_walk(body: tuple[WalkStatement, ...], names: Names) -> tuple[WalkStatement, ...]:
    """The statements with positions and edges called what `names` says, where bound and read."""

    def again(inner: tuple[WalkStatement, ...]) -> tuple[WalkStatement, ...]:
        return tuple(map(one, inner))

    def called(name: str) -> str:
        return _called(name, names)

    def one(statement: WalkStatement) -> WalkStatement:
        match statement:
            case Step(origin, _, vertex, edge, body=inner):
                edge = None if edge is None else called(edge)
                return replace(
                    statement,
                    origin=called(origin),
                    vertex=called(vertex),
                    edge=edge,
                    body=again(inner),
                )
            case Paths(origin, _, vertex, path, body=inner):
                return replace(
                    statement,
                    origin=called(origin),
                    vertex=called(vertex),
                    path=called(path),
                    body=again(inner),
                )
            case SendAt(vertex=vertex):
                return replace(statement, vertex=called(vertex))
            case When(condition, then, otherwise):
                return When(condition, again(then), again(otherwise))
            case ForEach(body=inner):
                return replace(statement, body=again(inner))
            case Along(own, items, inner):
                named = replace(items, path=called(items.path))
                return replace(
                    statement, names=tuple(map(called, own)), items=named, body=again(inner)
                )
            case _:
                return statement

    return again(changed(body, lambda item: renamed(item, names)))


def names_in(expression: Expression) -> Iterator[str]:
    """The positions and edges that an expression reads, as it calls them."""
    for item in subexpressions(expression):
        match item:
            case StateRef(vertex=name) | VertexFact(vertex=name) | Member(vertex=name):
                yield name
            case VertexProperty(vertex=name):
                yield name
            case EdgeProperty(edge=name):
                yield name
            case Joined(source, target):
                yield from (source, target)
            case Distinct(vertices):
                yield from (name for name in vertices if isinstance(name, str))
            case _:
                pass


def within_index(item: Indexed, change: Change) -> Indexed:
    """A reference with its index changed, if it has one."""
    return item if item.index is None else replace(item, index=change(item.index))


def _called(name: str, names: Names) -> str:
    """`path.vertices[2]` is called after its path, unless it has a name of its own."""
    path, dot, item = name.partition(".")
    return names.get(name) or names.get(path, path) + dot + item


def _of_items(one: str | PathItems, called: Callable[[str], str]) -> str | PathItems:
    return replace(one, path=called(one.path)) if isinstance(one, PathItems) else called(one)


def _changed(statement: WalkStatement, change: Change) -> WalkStatement:
    match statement:
        case SendAt(value=value, index=index) | SendGlobal(value=value, index=index):
            index = None if index is None else change(index)
            return replace(statement, value=change(value), index=index)
        case Report(matches, values):
            return Report(matches, tuple(map(change, values)))
        case When(condition, then, otherwise):
            return When(change(condition), changed(then, change), changed(otherwise, change))
        case _:
            return replace(statement, body=changed(statement.body, change))
