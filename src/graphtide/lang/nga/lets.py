"""`Let` in Initialize and Update: the name stands for its expression.

Wherever nothing that the expression reads is assigned behind it, that is the same as to compute it
once and keep it, and the plan does so. Otherwise the expression is put in place of the name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from graphtide.plan.expressions import Expression, StateRef
from graphtide.plan.programs import (
    AssignLocal,
    AssignState,
    Body,
    ForRange,
    If,
    Statement,
    statements_of,
    subexpressions,
)
from graphtide.plan.walk_names import with_locals


def settle_lets(body: Body, around: frozenset[str] = frozenset()) -> Body:
    """The body with names kept or replaced; `around` is what an enclosing loop assigns."""
    return tuple(_settled(list(body), around))


def _settled(body: list[Statement], around: frozenset[str]) -> Iterator[Statement]:
    for at, statement in enumerate(body):
        rest = tuple(body[at + 1 :])
        match statement:
            case AssignLocal(name, value):
                if not _reads(value) & (_assigned(rest) | around):
                    yield statement
                    continue
                replaced = _with_value(rest, name, value)
                yield from _settled(list(replaced), around)
                return
            case If(condition, then, otherwise):
                yield If(condition, settle_lets(then, around), settle_lets(otherwise, around))
            case ForRange(body=inner):
                yield replace(statement, body=settle_lets(inner, around | _assigned(inner)))
            case _:
                yield statement


def _reads(value: Expression) -> frozenset[str]:
    parts = subexpressions(value)
    return frozenset(item.name for item in parts if isinstance(item, StateRef))


def _assigned(body: Body) -> frozenset[str]:
    statements = statements_of(body)
    return frozenset(item.name for item in statements if isinstance(item, AssignState))


def _with_value(body: Body, name: str, value: Expression) -> Body:
    def put(expression: Expression) -> Expression:
        return with_locals(expression, {name: value})

    def one(statement: Statement) -> Statement:
        match statement:
            case AssignState(index=index):
                at = None if index is None else put(index)
                return replace(statement, value=put(statement.value), index=at)
            case AssignLocal():
                return replace(statement, value=put(statement.value))
            case If(condition, then, otherwise):
                return If(put(condition), tuple(map(one, then)), tuple(map(one, otherwise)))
            case ForRange(start=start, stop=stop, body=inner):
                return replace(
                    statement, start=put(start), stop=put(stop), body=tuple(map(one, inner))
                )
            case _:
                raise AssertionError(f"{statement} stands in traverse only")

    return tuple(map(one, body))
