"""`d(x, a) <= d(x, b) :- b <= a.`: which of the facts of a key stays.

Of all that Soufflé lets such a rule say, the least and the greatest last attribute are taken: what
stays then does not depend on the order in which facts are derived.
"""

from __future__ import annotations

from graphtide.lang.datalog.mistakes import refuse
from graphtide.lang.datalog.tree import Comparison, Subsumption, Variable
from graphtide.plan.dataflow_expressions import TEXT
from graphtide.plan.rules import Best, Relation

_HINT = "write `d(x, a) <= d(x, b) :- b <= a.` for the least last attribute, `a <= b` for the most"


def best_of(rule: Subsumption, relation: Relation) -> Best:
    """Whether the least or the greatest value of the last column stays."""
    less, more = rule.dominated, rule.dominating
    names = [
        [item.name for item in atom.arguments if isinstance(item, Variable)]
        for atom in (less, more)
    ]
    one, other = names
    whole = len(less.arguments) == len(one) == len(other) == len(relation.columns)
    if less.relation != more.relation or not whole or not one or one[:-1] != other[:-1]:
        raise refuse("two facts of one relation, equal but for the last attribute", rule, _HINT)
    if len(set(one)) < len(one) or one[-1] == other[-1]:
        raise refuse("a name stands here twice", rule, _HINT)
    if relation.columns[-1][1] is TEXT:
        raise refuse("the last attribute is a symbol", rule, "keep the least of a number or float")
    return _direction(rule, one[-1], other[-1])


def _direction(rule: Subsumption, dominated: str, dominating: str) -> Best:
    if len(rule.body) == 1 and len(rule.body[0]) == 1:
        condition = rule.body[0][0]
        if isinstance(condition, Comparison) and isinstance(condition.left, Variable):
            right = condition.right.name if isinstance(condition.right, Variable) else ""
            sides = (condition.left.name, right)
            if condition.operator in ("<=", "<", ">=", ">"):
                ascending = condition.operator in ("<=", "<")
                if sides == (dominating, dominated):
                    return "min" if ascending else "max"
                if sides == (dominated, dominating):
                    return "max" if ascending else "min"
    raise refuse("this compares something else than the last attributes", rule, _HINT)
