"""Programs that are told the facts of vertices, in place of looking at the graph for them.

Whoever holds a part of a graph has other numbers for its vertices, and not all of their edges. So
numbers and degrees of vertices become vertex properties, which somebody who knows them gives.
Everything else of a program stays as it is, and so does what it computes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from graphtide.plan.expressions import (
    INT,
    AccumulatorRef,
    Expression,
    Fact,
    StateRef,
    VertexFact,
    VertexProperty,
)
from graphtide.plan.program_symbols import rewrite
from graphtide.plan.programs import (
    AssignLocal,
    AssignState,
    Body,
    ForRange,
    If,
    Send,
    Statement,
    VertexProgram,
)

FACTS: dict[str, Fact] = {f"({name})": name for name in ("id", "out_degree", "in_degree", "degree")}
"""What the facts are called as properties: no property of a user's can have such a name."""


@cache
def with_given_facts(program: VertexProgram) -> VertexProgram:
    """The program with vertex properties in place of facts."""
    bodies = (_body(body) for body in (program.initialize, program.traverse, program.update))
    initialize, traverse, update = bodies
    return replace(program, initialize=initialize, traverse=traverse, update=update)


def _body(body: Iterable[Statement]) -> Body:
    return tuple(map(_statement, body))


def _statement(statement: Statement) -> Statement:
    match statement:
        case AssignState(_, value, index) | Send(_, value, index):
            index = None if index is None else given_expression(index)
            return replace(statement, value=given_expression(value), index=index)
        case AssignLocal(_, value):
            return replace(statement, value=given_expression(value))
        case If(condition, then, otherwise):
            return If(given_expression(condition), _body(then), _body(otherwise))
        case ForRange(_, start, stop, body):
            return replace(
                statement,
                start=given_expression(start),
                stop=given_expression(stop),
                body=_body(body),
            )


def given_expression(expression: Expression) -> Expression:
    """An expression with vertex properties in place of facts."""
    return rewrite(expression, _leaf)


def _leaf(leaf: Expression) -> Expression:
    match leaf:
        case VertexFact(vertex, fact):
            return VertexProperty(vertex, f"({fact})", INT)
        case StateRef(index=index) | AccumulatorRef(index=index) if index is not None:
            return replace(leaf, index=given_expression(index))
        case _:
            return leaf
