"""`explain`: strata, the rules of each, in which order their atoms are joined, and how many rows.

The rows of a step are those that its join has sent so far, or, of a negation, those that it has
taken away; a rule without a join is a map of its relation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphtide.model.wording import counted
from graphtide.plan.dataflow_expressions import Column, Constant
from graphtide.plan.rules import Absent, Aggregate, Literal, Match, gives
from graphtide.run.dataflow.counters import operator_counters
from graphtide.run.dataflow.growing import GrowingFlow
from graphtide.run.rules.build import BuiltRule, BuiltRules


def explain_rules(flow: GrowingFlow, built: BuiltRules, told: Callable[[str], str | None]) -> str:
    """One block a stratum; `told` says what is known of a relation besides its rules."""
    lines = [f"rules {flow.name}"]
    for number, stratum in enumerate(built.strata, start=1):
        names = ", ".join(stratum.relations)
        kind = "a loop" if stratum.recursive else "derived"
        own = [item for item in built.rules if item.rule.head in stratum.relations]
        known = "; ".join(filter(None, map(told, stratum.relations)))
        what = known or ("empty" if not own else kind)
        lines.append(f"stratum {number}: {names}, {what if not own else kind}")
        if own and known:
            lines[-1] += f", {known}"
        for item in own:
            line = f"line {item.rule.line}: " if item.rule.line else ""
            lines.append(f"  {line}{item.rule.text}")
            lines.append(f"    {_order(flow, built, item)}")
    return "\n".join(lines)


def _order(flow: GrowingFlow, built: BuiltRules, item: BuiltRule) -> str:
    bound: set[str] = set()
    steps: list[str] = []
    for literal, joins in zip(item.order, item.joins, strict=True):
        step = _step(built, literal, bound, first=not steps)
        if step:
            steps.append(step + _rows(flow, literal, joins))
        bound |= gives(literal)
    return "joins " + ", then ".join(steps) if steps else "one fact"


def _step(built: BuiltRules, literal: Literal, bound: set[str], *, first: bool) -> str:
    match literal:
        case Match() | Absent():
            names = built.relations.names(literal.relation)
            keys = [
                name
                for name, one in zip(names, literal.arguments, strict=True)
                if isinstance(one, Constant)
                or (isinstance(one, Column) and (one.name in bound or isinstance(literal, Absent)))
            ]
            sign = "!" if isinstance(literal, Absent) else ""
            way = f" by {', '.join(keys)}" if keys else "" if first else " by nothing"
            return f"{sign}{literal.relation}{way}"
        case Aggregate():
            return f"{literal.operation} by {', '.join(literal.groups) or 'nothing'}"
    return ""


def _rows(flow: GrowingFlow, literal: Literal, joins: Sequence[int]) -> str:
    if not joins:
        return ""
    # The last join of these finds the groups that have a match, and do not count 0.
    zero = isinstance(literal, Aggregate) and literal.operation in ("count", "sum")
    done = operator_counters(flow, joins[-2] if zero else joins[-1])
    away = " taken away" if isinstance(literal, Absent) else ""
    return f" [{counted(done['out'], 'row')}{away}]" if done else ""
