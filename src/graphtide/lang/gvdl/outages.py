"""Removals of single edges, vertices and values, and of pairs: N-1 and N-2 contingencies.

A view removes an edge by its number, and a vertex by its number on either end. So every view is the
whole graph but one or two cut points, whatever ids and properties look like. A view that removes a
value leaves out all edges that have it: an airline with all its flights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from graphtide.lang.diagnostics import language_error
from graphtide.lang.gvdl import tree
from graphtide.lang.gvdl.facts import EdgeFact, GraphFacts, VertexFact
from graphtide.lang.gvdl.resolve import resolve
from graphtide.lang.gvdl.scope import Scope, find_property, write_value
from graphtide.model.schema import PropertyType
from graphtide.plan import predicates as plan
from graphtide.plan.predicates import Constant, Operator, Owner, PropertyRef


class Removal(NamedTuple):
    """Something to take away: what it is called, and which edges stay without it.

    `vertex` is its number, if it is a vertex.
    """

    name: str
    stays: plan.Predicate
    vertex: int | None = None


def list_removals(
    node: tree.Outages, scope: Scope, facts: GraphFacts, base: plan.Predicate, limit: int
) -> list[Removal]:
    """The single edges or vertices that a generator removes, by number, or the values, ascending.

    Edges are those of the base that satisfy the condition, values are those that these edges have;
    vertices are all of the graph's.
    """
    if node.what == "value":
        removals = _values(node, scope, facts, base, limit)
    elif node.what == "edge":
        wanted = resolve(node.where, scope) if node.where is not None else plan.EVERYTHING
        removals = _edges(facts.edges(plan.conjunction(base, wanted), limit))
    else:
        inner = replace(scope, vertex_only=True)
        wanted = resolve(node.where, inner) if node.where is not None else plan.EVERYTHING
        removals = _vertices(facts.vertices(wanted, limit))
    needed = 2 if node.pairs else 1
    if len(removals) < needed:
        plural = {"edge": "edges", "vertex": "vertices", "value": "values"}[node.what]
        few = f"{len(removals) or 'no'} {node.what if len(removals) == 1 else plural} to remove"
        hint = f"a condition that holds for {needed} or more {plural}"
        verb = "is" if len(removals) == 1 else "are"
        raise language_error(f"there {verb} {few}", node.span, hint)
    return removals


def _edges(facts: Sequence[EdgeFact]) -> list[Removal]:
    names = _apart([(f"{fact.src}-{fact.dst}", fact.edge) for fact in facts])
    stays = (_is_not("edge", "_edge", fact.edge) for fact in facts)
    return list(map(Removal, names, stays))


def _vertices(facts: Sequence[VertexFact]) -> list[Removal]:
    names = _apart([(fact.id, fact.vertex) for fact in facts])
    stays = (
        plan.And((_is_not("src", "_vertex", fact.vertex), _is_not("dst", "_vertex", fact.vertex)))
        for fact in facts
    )
    return list(map(Removal, names, stays, (fact.vertex for fact in facts)))


def _values(
    node: tree.Outages, scope: Scope, facts: GraphFacts, base: plan.Predicate, limit: int
) -> list[Removal]:
    """An edge whose value is missing stays in all views: it has none that is removed."""
    assert node.property is not None
    ref = find_property(node.property, scope)
    wanted = resolve(node.where, scope) if node.where is not None else plan.EVERYTHING
    return [
        Removal(
            write_value(value, scope.zone),
            plan.Not(plan.IsTrue(plan.Comparison(Operator.EQ, ref, Constant(value, ref.type)))),
        )
        for value in facts.values(ref, plan.conjunction(base, wanted), limit)
    ]


def _apart(named: Sequence[tuple[str, int]]) -> list[str]:
    """The names, with the number behind those that several share."""
    shared = Counter(name for name, _ in named)
    return [f"{name}#{number}" if shared[name] > 1 else name for name, number in named]


def _is_not(owner: Owner, name: str, number: int) -> plan.Comparison:
    ref = PropertyRef(owner, name, PropertyType.INT)
    return plan.Comparison(Operator.NE, ref, Constant(number, PropertyType.INT))
