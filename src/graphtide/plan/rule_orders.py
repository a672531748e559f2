"""In which order the literals of a body are evaluated.

Atoms are joined one behind the other. Where the text says no order, an atom with a value among its
arguments comes first, or else one of the loop that the rule is in, since its changes drive the
rule, or else the smallest; behind it, always the atom that shares most with what is bound, and the
smaller one of two that share as much. All other literals stand as early as what they need is bound.
A test `x = y + 1` binds `x` where `y` is bound first: atoms are then joined by it, where a test
behind them would go through all pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from graphtide.plan import rules as r
from graphtide.plan.dataflow_expressions import Column, Constant, Operation

Sizes = Mapping[str, int]
_UNKNOWN = 1 << 62


def ordered_rule(rule: r.Rule, sizes: Sizes, loop: Collection[str]) -> tuple[r.Literal, ...]:
    """The body of a rule in its order; `loop` are the relations of the loop that it is in."""
    return ordered_body(rule.body, sizes, loop, order=rule.order)


def ordered_body(
    body: Sequence[r.Literal],
    sizes: Sizes,
    loop: Collection[str] = (),
    bound: Collection[str] = (),
    order: Sequence[int] | None = None,
) -> tuple[r.Literal, ...]:
    """Literals in their order, where some variables are bound already."""
    matches = [item for item in body if isinstance(item, r.Match)]
    others: list[r.Literal] = [item for item in body if not isinstance(item, r.Match)]
    known = set(bound)
    ordered: list[r.Literal] = []
    chosen = None if order is None else [matches[place - 1] for place in order]
    while matches or others:
        _take_ready(others, known, ordered)
        if not matches:
            break
        best = chosen.pop(0) if chosen else _next(matches, known, sizes, loop, first=not known)
        matches.remove(best)
        ordered.append(best)
        known |= r.gives(best)
    return (*ordered, *others)


def _take_ready(others: list[r.Literal], known: set[str], found: list[r.Literal]) -> None:
    """Take what can be evaluated: tests, then what is absent, then aggregates, which cost most."""
    while True:
        others[:] = [_assigning(item, known) for item in others]
        ready = [item for item in others if r.needs(item) <= known]
        if not ready:
            return
        ready.sort(key=lambda item: (isinstance(item, r.Aggregate), isinstance(item, r.Absent)))
        others.remove(ready[0])
        found.append(ready[0])
        known |= r.gives(ready[0])


def _assigning(item: r.Literal, known: set[str]) -> r.Literal:
    """A test whether a variable that is not bound yet equals what is, as its assignment."""
    condition = item.condition if isinstance(item, r.Test) else None
    if not isinstance(condition, Operation) or condition.name != "==":
        return item
    one, other = condition.operands
    for side, value in ((one, other), (other, one)):
        bound = set(r.variables_of(value)) <= known
        if bound and isinstance(side, Column) and side.name not in known:
            return r.Assign(side.name, value)
    return item


def _next(
    matches: Sequence[r.Match], known: set[str], sizes: Sizes, loop: Collection[str], *, first: bool
) -> r.Match:
    def rank(item: r.Match) -> tuple[int, ...]:
        values = sum(isinstance(one, Constant) for one in item.arguments)
        shared = sum(isinstance(one, Column) and one.name in known for one in item.arguments)
        size = sizes.get(item.relation, _UNKNOWN)
        if first:
            return (-values, item.relation not in loop, size)
        whole = sum(one is not None for one in item.arguments) == values + shared
        return (shared == 0 and values == 0, not whole, -(values + shared), size)

    return min(matches, key=rank)
