"""`Let` in Initialize and Update: the name stands for its expression.

Wherever nothing that the expression reads is assigned behind it, that is the same as to compute it
once and keep it, and the plan does so. Otherwise the expression is put in place of the name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from graphtide.plan import programs as p
from graphtide.plan.expressions import Expression, StateRef
from graphtide.plan.walk_names import with_locals


def settle_lets(body: p.Body, around: frozenset[str] = frozenset()) -> p.Body:
    """The body with names kept or replaced; `around` is what an enclosing loop assigns."""
    return tuple(_settled(list(body), around))


def _settled(body: list[p.Statement], around: frozenset[str]) -> Iterator[p.Statement]:
    for at, statement in enumerate(body):
        rest = tuple(body[at + 1 :])
        match statement:
            case p.AssignLocal(name, value):
                if not _reads(value) & (_assigned(rest) | around):
                    yield statement
                    continue
                replaced = _with_value(rest, name, value)
                yield from _settled(list(replaced), around)
                return
            case p.If(condition, then, otherwise):
                yield p.If(condition, settle_lets(then, around), settle_lets(otherwise, around))
            case p.ForRange(body=inner):
                yield replace(statement, body=settle_lets(inner, around | _assigned(inner)))
            case _:
                yield statement


def _reads(value: Expression) -> frozenset[str]:
    parts = p.subexpressions(value)
    return frozenset(item.name for item in parts if isinstance(item, StateRef))


def _assigned(body: p.Body) -> frozenset[str]:
    statements = p.statements_of(body)
    return frozenset(item.name for item in statements if isinstance(item, p.AssignState))


def _with_value(body: p.Body, name: str, value: Expression) -> p.Body:
    def put(expression: Expression) -> Expression:
        return with_locals(expression, {name: value})

    def one(statement: p.Statement) -> p.Statement:
        match statement:
            case p.AssignState(index=index):
                at = None if index is None else put(index)
                return replace(statement, value=put(statement.value), index=at)
            case p.AssignLocal():
                return replace(statement, value=put(statement.value))
            case p.If(condition, then, otherwise):
                return p.If(put(condition), tuple(map(one, then)), tuple(map(one, otherwise)))
            case p.ForRange(start=start, stop=stop, body=inner):
                return replace(
                    statement, start=put(start), stop=put(stop), body=tuple(map(one, inner))
                )
            case _:
                raise AssertionError(f"{statement} stands in traverse only")

    return tuple(map(one, body))
