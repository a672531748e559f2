"""Graphsurge's edge operand: `e = (6, 7)`, an edge compared by the ids of its ends.

Pairs compare as Graphsurge's do, by the first id and then by the second. The parser writes the
predicate out at once in terms of `src.id` and `dst.id`, so that nothing behind it knows of pairs.
"""

from __future__ import annotations

from graphtide.lang.diagnostics import Span
from graphtide.lang.gvdl import tree
from graphtide.plan.predicates import Operator

EDGE = "e"
_STRICT = {Operator.LE: Operator.LT, Operator.GE: Operator.GT}


def compare_pairs(
    operator: Operator, ids: tuple[tree.Operand, tree.Operand], span: Span | None
) -> tree.Predicate:
    """`(src.id, dst.id) operator ids`."""
    src, dst = (tree.PropertyName("id", side, span=span) for side in ("src", "dst"))

    def test(sign: Operator, end: tree.PropertyName, value: tree.Operand) -> tree.Predicate:
        return tree.Compare(sign, end, value, span=span)

    if operator is Operator.NE:
        return tree.Or((test(operator, src, ids[0]), test(operator, dst, ids[1])), span=span)
    same = tree.And((test(Operator.EQ, src, ids[0]), test(operator, dst, ids[1])), span=span)
    if operator is Operator.EQ:
        return same
    return tree.Or((test(_STRICT.get(operator, operator), src, ids[0]), same), span=span)
