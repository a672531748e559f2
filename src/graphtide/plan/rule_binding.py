"""What binds the variables of a body: equalities become assignments, tests, or go.

Two variables that are equal become one, and a variable that is equal to a value becomes the value:
atoms then meet by it. An equality whose one side is a variable that nothing else binds becomes an
assignment; all others are tests. `keep` are variables of what is around an aggregate, which its
body may use and must not rename.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    """Let equal variables be one, and those with a value that value."""
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
    """A variable that an equality replaces, and by what; none that a function gives."""
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
