"""Whether relations that keep the least or greatest value may define themselves as they do.

A rule of a loop that reads the best value of a key must not lose anything when that value gets
better: then the loop has one answer, whatever was derived on the way. So the value may flow into
the value of a head of the same kind by what grows with it, may be held below a limit (for a least
value) or above one, and is used for nothing else there.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphtide.lang.datalog.mistakes import refuse
from graphtide.lang.datalog.tree import Rule as RuleText
from graphtide.plan import rules as plan
from graphtide.plan.dataflow_expressions import Column, Constant, Expression, Operation
from graphtide.plan.rule_strata import strata

_HINT = (
    "in a loop, a least value may be added to, and be held below a limit (`d + w < 10`); "
    "read it for anything else in a relation that the loop does not read"
)


def check_monotone(
    relations: Sequence[plan.Relation], rules: Sequence[plan.Rule], places: Sequence[RuleText]
) -> None:
    """LanguageError at the first rule of a loop that could lose by a better value."""
    best = {item.name: item.best for item in relations if item.best is not None}
    if not best:
        return
    names = [item.name for item in relations]
    for stratum in strata(names, rules):
        within = set(stratum.relations)
        if not stratum.recursive:
            continue
        for rule, place in zip(rules, places, strict=True):
            if rule.head in within and not _is_monotone(rule, best, within):
                raise refuse(
                    f"{rule.head} could lose by a better value of what it reads", place, _HINT
                )


def _is_monotone(rule: plan.Rule, best: dict[str, plan.Best], within: set[str]) -> bool:
    grows: dict[str, plan.Best] = {}
    for item in rule.body:
        kind = best.get(item.relation) if isinstance(item, plan.Match) else None
        if isinstance(item, plan.Match) and kind is not None and item.relation in within:
            last = item.arguments[-1]
            if isinstance(last, Constant) or (isinstance(last, Column) and last.name in grows):
                return False
            if isinstance(last, Column):
                grows[last.name] = kind
    if not _assigned(rule.body, grows) or not all(_keeps(item, grows) for item in rule.body):
        return False
    *keys, value = rule.values if rule.values else (None,)
    if any(name in grows for item in keys if item is not None for name in plan.variables_of(item)):
        return False
    if value is None or not _uses(value, grows):
        return True
    return _follows(value, grows) == best.get(rule.head) is not None


def _assigned(body: Sequence[plan.Literal], grows: dict[str, plan.Best]) -> bool:
    """Note what gets better with what; False where an assignment may get worse by it."""
    waiting = [item for item in body if isinstance(item, plan.Assign)]
    while True:
        ready = [item for item in waiting if _uses(item.value, grows)]
        if not ready:
            return True
        for item in ready:
            kind = _follows(item.value, grows)
            if kind is None:
                return False
            grows[item.variable] = kind
        waiting = [item for item in waiting if item not in ready]


def _keeps(item: plan.Literal, grows: dict[str, plan.Best]) -> bool:
    """Whether a literal still holds when values get better."""
    match item:
        case plan.Match():
            # A value that stands in two atoms, or in a key, is compared for equality.
            used = [one.name for one in item.arguments if isinstance(one, Column)]
            return sum(name in grows for name in used) <= 1 and not any(
                name in grows for name in used[:-1]
            )
        case plan.Test() if _uses(item.condition, grows):
            return _bounded(item.condition, grows)
        case plan.Absent() | plan.Call() | plan.Aggregate():
            return not plan.needs(item) & set(grows)
    return True


def _bounded(condition: Expression, grows: dict[str, plan.Best]) -> bool:
    if not isinstance(condition, Operation) or condition.name not in ("<", "<="):
        return False
    left, right = condition.operands
    if _uses(left, grows) and _uses(right, grows):
        return False
    if _uses(left, grows):
        return _follows(left, grows) == "min"
    return _follows(right, grows) == "max"


def _follows(value: Expression, grows: dict[str, plan.Best]) -> plan.Best | None:
    """The kind of a value that gets better when those in it do; None where that is not sure."""
    match value:
        case Column():
            return grows.get(value.name)
        case Operation("+" | "min" | "max", operands):
            kinds = {_follows(item, grows) for item in operands if _uses(item, grows)}
            return kinds.pop() if len(kinds) == 1 else None
        case Operation("-", (left, right)) if not _uses(right, grows):
            return _follows(left, grows)
        case Operation("*", (left, right)):
            for one, other in ((left, right), (right, left)):
                match other:
                    case Constant(int() | float() as factor) if factor >= 0:
                        return _follows(one, grows)
    return None


def _uses(value: Expression, grows: dict[str, plan.Best]) -> bool:
    return any(name in grows for name in plan.variables_of(value))
