"""Walks with other names for their positions and edges, and other values for their local names.

Whoever copies statements (one body for each number of a range, one step for each edge of a path)
or takes a walk for a vertex program says what every name becomes, and gets new statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from graphtide.plan import expressions as x
from graphtide.plan import walks as w
from graphtide.plan.program_symbols import rewrite
from graphtide.plan.programs import subexpressions

Names = Mapping[str, str]
Change = Callable[[x.Expression], x.Expression]
Indexed = TypeVar("Indexed", x.StateRef, x.AccumulatorRef)


def renamed(expression: x.Expression, names: Names) -> x.Expression:
    """The expression with positions and edges called what `names` says; others stay."""

    def called(name: str) -> str:
        return _called(name, names)

    def leaf(item: x.Expression) -> x.Expression:
        match item:
            case x.StateRef(vertex=vertex):
                return replace(within_index(item, again), vertex=called(vertex))
            case x.AccumulatorRef():
                return within_index(item, again)
            case (
                x.VertexFact(vertex=vertex)
                | x.VertexProperty(vertex=vertex)
                | x.Member(vertex=vertex)
            ):
                return replace(item, vertex=called(vertex))
            case x.Joined(source, target, way):
                return x.Joined(called(source), called(target), way)
            case x.EdgeProperty(edge=edge):
                return replace(item, edge=called(edge))
            case x.Distinct(vertices):
                return x.Distinct(tuple(_of_items(one, called) for one in vertices))
            case x.OverPath(items=items, value=value):
                named = replace(items, path=called(items.path))
                return replace(item, items=named, value=again(value))
            case _:
                return item

    def again(inner: x.Expression) -> x.Expression:
        return rewrite(inner, leaf)

    return again(expression)


def with_locals(expression: x.Expression, values: Mapping[str, x.Expression]) -> x.Expression:
    """The expression with local names replaced by values."""

    def leaf(item: x.Expression) -> x.Expression:
        match item:
            case x.Local(name) if name in values:
                return values[name]
            case x.StateRef():
                return within_index(item, again)
            case x.OverPath(value=value):
                return replace(item, value=again(value))
            case _:
                return item

    def again(inner: x.Expression) -> x.Expression:
        return rewrite(inner, leaf)

    return again(expression)


def changed(body: tuple[w.WalkStatement, ...], change: Change) -> tuple[w.WalkStatement, ...]:
    """The statements with every expression that stands in one changed; names they bind stay."""
    return tuple(_changed(statement, change) for statement in body)


def renamed_walk(body: tuple[w.WalkStatement, ...], names: Names) -> tuple[w.WalkStatement, ...]:
    """The statements with positions and edges called what `names` says, where bound and read."""

    def again(inner: tuple[w.WalkStatement, ...]) -> tuple[w.WalkStatement, ...]:
        return tuple(map(one, inner))

    def called(name: str) -> str:
        return _called(name, names)

    def one(statement: w.WalkStatement) -> w.WalkStatement:
        match statement:
            case w.Step(origin, _, vertex, edge, body=inner):
                edge = None if edge is None else called(edge)
                return replace(
                    statement,
                    origin=called(origin),
                    vertex=called(vertex),
                    edge=edge,
                    body=again(inner),
                )
            case w.Paths(origin, _, vertex, path, body=inner):
                return replace(
                    statement,
                    origin=called(origin),
                    vertex=called(vertex),
                    path=called(path),
                    body=again(inner),
                )
            case w.SendAt(vertex=vertex):
                return replace(statement, vertex=called(vertex))
            case w.When(condition, then, otherwise):
                return w.When(condition, again(then), again(otherwise))
            case w.ForEach(body=inner):
                return replace(statement, body=again(inner))
            case w.Along(own, items, inner):
                named = replace(items, path=called(items.path))
                return replace(
                    statement, names=tuple(map(called, own)), items=named, body=again(inner)
                )
            case _:
                return statement

    return again(changed(body, lambda item: renamed(item, names)))


def names_in(expression: x.Expression) -> Iterator[str]:
    """The positions and edges that an expression reads, as it calls them."""
    for item in subexpressions(expression):
        match item:
            case x.StateRef(vertex=name) | x.VertexFact(vertex=name) | x.Member(vertex=name):
                yield name
            case x.VertexProperty(vertex=name):
                yield name
            case x.EdgeProperty(edge=name):
                yield name
            case x.Joined(source, target):
                yield from (source, target)
            case x.Distinct(vertices):
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


def _of_items(one: str | x.PathItems, called: Callable[[str], str]) -> str | x.PathItems:
    return replace(one, path=called(one.path)) if isinstance(one, x.PathItems) else called(one)


def _changed(statement: w.WalkStatement, change: Change) -> w.WalkStatement:
    match statement:
        case w.SendAt(value=value, index=index) | w.SendGlobal(value=value, index=index):
            index = None if index is None else change(index)
            return replace(statement, value=change(value), index=index)
        case w.Report(matches, values):
            return w.Report(matches, tuple(map(change, values)))
        case w.When(condition, then, otherwise):
            return w.When(change(condition), changed(then, change), changed(otherwise, change))
        case _:
            return replace(statement, body=changed(statement.body, change))
