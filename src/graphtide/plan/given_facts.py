"""Programs that are told the facts of vertices, in place of looking at the graph for them.

Whoever holds a part of a graph has other numbers for its vertices, and not all of their edges. So
numbers and degrees of vertices become vertex properties, which somebody who knows them gives.
Everything else of a program stays as it is, and so does what it computes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from graphtide.plan import expressions as x
from graphtide.plan import programs as p
from graphtide.plan.program_symbols import rewrite, with_expressions

FACTS: dict[str, x.Fact] = {
    f"({name})": name for name in ("id", "out_degree", "in_degree", "degree")
}
"""What the facts are called as properties: no property of a user's can have such a name."""


@cache
def with_given_facts(program: p.VertexProgram) -> p.VertexProgram:
    """The program with vertex properties in place of facts."""
    return with_expressions(program, given_expression)


def given_expression(expression: x.Expression) -> x.Expression:
    """An expression with vertex properties in place of facts."""
    return rewrite(expression, _leaf)


def _leaf(leaf: x.Expression) -> x.Expression:
    match leaf:
        case x.VertexFact(vertex, fact):
            return x.VertexProperty(vertex, f"({fact})", x.INT)
        case x.StateRef(index=index) | x.AccumulatorRef(index=index) if index is not None:
            return replace(leaf, index=given_expression(index))
        case _:
            return leaf
