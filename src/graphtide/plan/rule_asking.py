"""What one atom asks of the rules of its relation: by which arguments, and who knows their values.

These are the parts that `rule_demand` puts together; none of them changes a plan.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphtide.plan import rules as r
from graphtide.plan.dataflow_expressions import Column, ColumnType, Constant, Expression, Operation

Places = tuple[int, ...]
"""Which arguments of a relation are bound."""


def stable_places(relation: str, rules: Sequence[r.Rule]) -> Places:
    """The arguments that all rules of a relation hand on as they are, where they read it."""
    own = [rule for rule in rules if rule.head == relation]
    width = len(own[0].values) if own else 0
    places = []
    for place in range(width):
        pairs = [
            (rule.values[place], item.arguments[place])
            for rule in own
            for item in rule.body
            if isinstance(item, r.Match) and item.relation == relation
        ]
        if all(isinstance(value, Column) and value == argument for value, argument in pairs):
            places.append(place)
    return tuple(places)


def copied_name(relation: r.Relation, places: Places) -> str:
    """`tc^bf`: a letter a column, b where it is bound."""
    letters = "".join("b" if at in places else "f" for at in range(len(relation.columns)))
    return f"{relation.name}^{letters}"


def demand_of(
    relation: r.Relation, places: Places, values: Sequence[Expression], types: dict[str, ColumnType]
) -> list[r.Literal]:
    """The atom that asks for a head; what is computed in the head is compared with it."""
    arguments: list[r.Argument] = []
    tests: list[r.Literal] = []
    for place in places:
        value = values[place]
        if isinstance(value, Operation):
            variable = Column(f"?{place}")
            types[variable.name] = relation.columns[place][1]
            tests.append(r.Test(Operation("==", (variable, value))))
            value = variable
        arguments.append(value)
    return [r.Match(f"{copied_name(relation, places)}?", tuple(arguments)), *tests]


def bound_by(literals: Sequence[r.Literal]) -> set[str]:
    """The variables that literals bind, each with what it needs."""
    bound: set[str] = set()
    waiting = list(literals)
    while ready := [item for item in waiting if r.needs(item) <= bound]:
        for item in ready:
            bound |= r.gives(item)
        waiting = [item for item in waiting if item not in ready]
    return bound


def connected(literals: Sequence[r.Literal], wanted: set[str]) -> list[r.Literal]:
    """The literals that have to do with some variables: what shares none of them only multiplies.

    None where no variable is wanted: the demand is a fact.
    """
    known = set(wanted)
    reached: list[r.Literal] = []
    growing = True
    while growing:
        growing = False
        for item in literals:
            names = r.gives(item) | r.needs(item)
            if isinstance(item, r.Match) and item not in reached and names & known:
                reached.append(item)
                known |= names
                growing = True
            if isinstance(item, r.Assign) and item.variable in known and not names <= known:
                known |= names
                growing = True
    bound = bound_by(reached)
    rest = [item for item in literals if not isinstance(item, r.Match)]
    while ready := [item for item in rest if r.needs(item) <= bound and r.needs(item)]:
        reached += ready
        for item in ready:
            bound |= r.gives(item)
        rest = [item for item in rest if item not in ready]
    return [item for item in literals if item in reached]


def value_of(argument: r.Argument) -> Column | Constant:
    """An argument that is bound."""
    assert argument is not None
    return argument


def reached_relations(plan: r.RulePlan) -> dict[str, set[str]]:
    """The relations that each one reads, at any distance."""
    below: dict[str, set[str]] = {item.name: set() for item in plan.relations}
    for rule in plan.rules:
        below[rule.head] |= {name for name, _, _ in r.reads(rule.body)}
    changed = True
    while changed:
        changed = False
        for relations in below.values():
            more = {other for name in relations for other in below[name]}
            if not more <= relations:
                relations |= more
                changed = True
    return below
