"""The bodies of rules: what binds their variables, and in which order literals are evaluated.

Binding: two variables that are equal become one, and a variable that is equal to a value becomes
the value, so that atoms meet by it. An equality whose one side is a variable that nothing else
binds becomes an assignment; all others are tests. `keep` are variables of what is around an
aggregate, which its body may use and must not rename.

Order: atoms are joined one behind the other. Where the text gives no order, an atom with a value
among its arguments comes first, or else one of the loop that the rule is in, since its changes
drive the rule, or else the smallest. Behind it comes always the atom that shares most with what is
bound, and the smaller one of two that share as much. All other literals stand as early as what
they need is bound. A test `x = y + 1` binds `x` where `y` is bound first: atoms are then joined by
it, where a test behind them would go through all pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from graphtide.plan import rules as r
from graphtide.plan.dataflow_expressions import Column, Constant, Expression, Operation


@dataclass(frozen=True)
class Equality:
    """`x = y + 1`, before anybody knows what binds what."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class PendingAggregate:
    """An aggregate whose groups are not known yet."""

    variable: str
    operation: r.AggregateName
    target: Expression | None
    body: tuple[Pending, ...]


Pending = r.Literal | Equality | PendingAggregate
Renamed = dict[str, Expression]


def bound_body(
    given: Sequence[Pending], values: Sequence[Expression] = (), keep: frozenset[str] = frozenset()
) -> tuple[tuple[r.Literal, ...], Renamed]:
    """The literals of a body, and what became of variables that went; `values` are the head's."""
    pending, renamed = _united(list(given), keep)
    values = [r.substituted(item, renamed) for item in values]
    around = {name for item in values for name in r.variables_of(item)} | keep
    grouped = [
        _grouped(item, around | _names(pending[:at] + pending[at + 1 :]))
        if isinstance(item, PendingAggregate)
        else item
        for at, item in enumerate(pending)
    ]
    return _assigned(grouped, keep), renamed


def unbound(
    body: Sequence[r.Literal], wanted: Iterable[str], bound: Iterable[str] = ()
) -> Iterator[str]:
    """The variables that are needed and that nothing binds."""
    available = set(bound)
    waiting = list(body)
    while True:
        bound_now = [r.needs(item) <= available for item in waiting]
        ready = list(compress(waiting, bound_now))
        if not ready:
            break
        waiting = [item for item, now in zip(waiting, bound_now, strict=True) if not now]
        for item in ready:
            available |= r.gives(item)
            if isinstance(item, r.Aggregate):
                inner = () if item.target is None else r.variables_of(item.target)
                yield from unbound(item.body, inner, item.groups)
    for item in waiting:
        yield from sorted(r.needs(item) - available)
    yield from sorted(set(wanted) - available)


def _united(pending: list[Pending], keep: frozenset[str]) -> tuple[list[Pending], Renamed]:
    """Unify equal variables, and replace variables by the values that they equal."""
    renamed: Renamed = {}
    made = {one.variable for one in pending if isinstance(one, r.Call | PendingAggregate)}
    at = 0
    while at < len(pending):
        item = pending[at]
        goes = _goes(item, keep, made) if isinstance(item, Equality) else None
        if goes is None:
            at += 1
            continue
        by = {goes[0]: goes[1]}
        renamed = {name: r.substituted(value, by) for name, value in renamed.items()} | by
        rest = pending[:at] + pending[at + 1 :]
        pending = [_renamed(other, by) for other in rest]
        at = 0
    return pending, renamed


def _goes(item: Equality, keep: frozenset[str], made: set[str]) -> tuple[str, Expression] | None:
    """The variable that an equality replaces, and its replacement; no function's result."""
    for one, other in ((item.right, item.left), (item.left, item.right)):
        if not isinstance(one, Column) or not isinstance(other, Column | Constant) or one == other:
            continue
        given = one.name in made or (isinstance(other, Column) and other.name in made)
        if one.name not in keep and not given:
            return one.name, other
    return None


def _renamed(item: Pending, by: Renamed) -> Pending:
    match item:
        case r.Match() | r.Absent():
            return type(item)(item.relation, tuple(_argument(one, by) for one in item.arguments))
        case Equality():
            return Equality(r.substituted(item.left, by), r.substituted(item.right, by))
        case r.Test():
            return r.Test(r.substituted(item.condition, by))
        case r.Call() if item.variable not in by:
            given = tuple(_argument(one, by) or one for one in item.arguments)
            return r.Call(item.variable, item.function, given)
        case PendingAggregate() if item.variable not in by:
            target = None if item.target is None else r.substituted(item.target, by)
            body = tuple(_renamed(inner, by) for inner in item.body)
            return PendingAggregate(item.variable, item.operation, target, body)
    raise AssertionError(f"{item} gives a value of its own, which is not replaced")


def _argument(item: r.Argument, by: Renamed) -> r.Argument:
    if not isinstance(item, Column):
        return item
    argument = by.get(item.name, item)
    assert isinstance(argument, Column | Constant)
    return argument


def _grouped(item: PendingAggregate, around: set[str]) -> r.Aggregate:
    inner = _names(item.body) | set(() if item.target is None else r.variables_of(item.target))
    groups = tuple(sorted(inner & around))
    target = () if item.target is None else (item.target,)
    body, renamed = bound_body(item.body, target, frozenset(groups))
    value = None if item.target is None else r.substituted(item.target, renamed)
    return r.Aggregate(item.variable, item.operation, value, body, groups)


def _assigned(
    pending: Sequence[r.Literal | Equality], keep: frozenset[str]
) -> tuple[r.Literal, ...]:
    available = set(keep)
    for item in pending:
        if isinstance(item, r.Match):
            available |= r.gives(item)
    assigned: dict[int, r.Literal] = {}
    progress = True
    while progress:
        progress = False
        for at, item in enumerate(pending):
            if at in assigned:
                continue
            literal = _as_assign(item, available) if isinstance(item, Equality) else item
            if literal is not None and r.needs(literal) <= available:
                assigned[at] = literal
                available |= r.gives(literal)
                progress = True
    return tuple(
        assigned.get(at, _as_test(item) if isinstance(item, Equality) else item)
        for at, item in enumerate(pending)
    )


def _as_assign(item: Equality, available: set[str]) -> r.Literal | None:
    if {*r.variables_of(item.left), *r.variables_of(item.right)} <= available:
        return _as_test(item)
    for one, other in ((item.left, item.right), (item.right, item.left)):
        known = set(r.variables_of(other)) <= available
        if known and isinstance(one, Column) and one.name not in available:
            return r.Assign(one.name, other)
    return None


def _as_test(item: Equality) -> r.Test:
    return r.Test(Operation("==", (item.left, item.right)))


def _names(pending: Sequence[Pending]) -> set[str]:
    """All variables of literals, those within aggregates included."""
    names: set[str] = set()
    for item in pending:
        match item:
            case Equality():
                names |= {*r.variables_of(item.left), *r.variables_of(item.right)}
            case PendingAggregate():
                target = () if item.target is None else r.variables_of(item.target)
                names |= {item.variable, *target} | _names(item.body)
            case r.Aggregate():
                names |= {item.variable, *item.groups}
            case _:
                names |= r.needs(item) | r.gives(item)
    return names


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
