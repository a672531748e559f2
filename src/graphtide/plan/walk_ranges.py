"""Which conditions of a walk bound a property of one of its edges, so that a step needs a range.

    first.time < second.time                second is behind first
    last.time <= first.time + self.within   first is not too long before last

A condition bounds a property where that stands on one side of a comparison, and only sums and
differences lead to it: such a side rises or falls with the property, for floats that round too. The
edges that miss the condition then stand at one end of a row that is in order. Whoever looks for
that end asks whether an entry *misses* a condition, so that a NaN on the way leaves it in.

Conditions imply others: where `first` is before `second`, `last` is no more than `within` behind
`second` either, and a search that begins at `last` need not look at older edges. `implied` finds
what follows so. Ints wrap around, and then nothing follows: `Bound.terms` are what is added up, and
whoever searches takes a bound only where all of them together cannot leave the ints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

from graphtide.plan import expressions as x
from graphtide.plan.programs import subexpressions
from graphtide.plan.walk_forms import reads_index

Operator = Literal["<", "<=", ">", ">=", "==", "!="]
_TURNED: dict[Operator, Operator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_MISSED: dict[Operator, Operator] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MOST = 200
"""Conditions that are looked at for what they imply; a ring of ten has some hundred."""


@dataclass(frozen=True)
class Bound:
    """A condition on the property of one edge, as what holds of those that miss it.

    `lower` says whether these have a property that is too small.
    """

    misses: x.Compare
    lower: bool
    terms: tuple[x.Expression, ...]
    """What is added up; nothing where it cannot wrap around."""


@dataclass(frozen=True)
class Range:
    """The bounds of one property of an edge, with its name."""

    property: str
    bounds: tuple[Bound, ...]

    def side(self, *, lower: bool) -> tuple[Bound, ...]:
        """Those that say what is too small, or too large."""
        return tuple(bound for bound in self.bounds if bound.lower == lower)


@dataclass(frozen=True)
class Implied:
    """A comparison that all walks satisfy. `through` are edges that it follows from: where one of
    them is known, what is known of it says more.

    What is found out about it is kept: every loop of every term asks.
    """

    condition: x.Compare
    through: frozenset[str] = frozenset()

    @cached_property
    def edges(self) -> set[str]:
        """The edges whose properties it reads."""
        return _edges_in(self.condition)

    @cached_property
    def positions(self) -> set[str]:
        """The positions that it reads something of."""
        return _positions_in(self.condition)

    @cached_property
    def bounds(self) -> dict[str, tuple[str, Bound]]:
        """What it says of a property of each edge that it bounds, whose name comes first."""
        found = {edge: _bound(self.condition, edge) for edge in self.edges}
        return {edge: bound for edge, bound in found.items() if bound is not None}


@lru_cache(maxsize=256)
def implied(conditions: tuple[x.Expression, ...]) -> tuple[Implied, ...]:
    """The comparisons among conditions, and those that follow from them."""
    found = {item: Implied(item) for one in conditions for item in _comparisons(one)}
    before = _before(found)
    waiting = list(found.values())
    while waiting and len(found) < _MOST:
        known = waiting.pop(0)
        for edge, other in _exchanges(known, before):
            further = _put(known.condition, edge, other)
            through = known.through | {edge}
            if further not in found:
                found[further] = Implied(further, through)
                waiting.append(found[further])
    return tuple(found.values())


def range_of(
    conditions: tuple[Implied, ...], edge: str, edges: set[str], positions: set[str]
) -> Range | None:
    """The range in which an edge is looked for where others, and positions, are known.

    None where all that bounds it is the same for all walks: such a range is not worth a row.
    """
    found: dict[str, list[Bound]] = {}
    varying: set[str] = set()
    for item in conditions:
        if edge not in item.bounds or not _is_known(item, edge, edges, positions):
            continue
        name, bound = item.bounds[edge]
        found.setdefault(name, []).append(bound)
        if item.edges - {edge} or item.positions:
            varying.add(name)
    if not varying:
        return None

    def worth(name: str) -> tuple[int, int]:
        return len({bound.lower for bound in found[name]}), len(found[name])

    best = max(sorted(varying), key=worth)
    return Range(best, tuple(found[best]))


def _is_known(item: Implied, edge: str, edges: set[str], positions: set[str]) -> bool:
    known = item.edges <= edges | {edge} and item.positions <= positions
    return known and not item.through & edges


def _comparisons(condition: x.Expression) -> Iterator[x.Compare]:
    """What a condition compares, without `==`; a NaN satisfies what is not, so that is for ints."""
    match condition:
        case x.Unary("not", x.Compare(operator, left, right)) if (
            operator in _MISSED and left.type is x.INT
        ):
            condition = x.Compare(_MISSED[operator], left, right)
    if not isinstance(condition, x.Compare) or _asks_elsewhere(condition):
        return
    if condition.operator == "==" and condition.left.type.is_number:
        yield replace(condition, operator="<=")
        yield replace(condition, operator=">=")
    elif condition.operator in _MISSED:
        yield condition


def _asks_elsewhere(condition: x.Compare) -> bool:
    """True for what must not be looked at before its turn, or asks for pairs."""
    asks = any(isinstance(item, x.Joined) for item in subexpressions(condition))
    return asks or reads_index(condition)


def _bound(condition: x.Compare, edge: str) -> tuple[str, Bound] | None:
    """What a comparison says of the property of an edge, whose name comes first."""
    one, other = _rise(condition.left, edge), _rise(condition.right, edge)
    if one is None or other is None or (one == 0) == (other == 0):
        return None
    operator = condition.operator if one else _TURNED[condition.operator]
    rises = (one or other) > 0
    misses = replace(condition, operator=_MISSED[condition.operator])
    lower = (operator in (">", ">=")) == rises
    name = next(item.name for item in _reads(condition) if item.edge == edge)
    return name, Bound(misses, lower, _terms(condition))


def _rise(expression: x.Expression, edge: str) -> int | None:
    """1 where it rises with the one property of an edge that it reads, -1 where it falls.

    0 where it reads none, None where nobody can say.
    """
    match expression:
        case x.EdgeProperty(_, type_, named) if named == edge:
            return 1 if type_.is_number else None
        case x.Unary("-", operand):
            found = _rise(operand, edge)
            return None if found is None else -found
        case x.Call("float", (operand,)) if operand.type.is_number:
            return _rise(operand, edge)
        case x.Binary("+" | "-" as operator, left, right):
            one, other = _rise(left, edge), _rise(right, edge)
            if one is None or other is None or (one and other):
                return None
            return one or (other if operator == "+" else -other)
        case _:
            return None if any(item.edge == edge for item in _reads(expression)) else 0


def _terms(condition: x.Compare) -> tuple[x.Expression, ...]:
    """All that is added up in ints, on either side."""
    sides = condition.left, condition.right
    parts = [item for side in sides for item in _inner(side) if item.type is x.INT]
    terms = tuple(item for item in parts if not _is_sum(item))
    return terms if len(terms) < len(parts) else ()


def _is_sum(expression: x.Expression) -> bool:
    return isinstance(expression, x.Binary | x.Unary) and expression.operator in ("+", "-")


def _inner(expression: x.Expression) -> Iterator[x.Expression]:
    """The sums and differences that an expression begins with, and what they are made of."""
    yield expression
    match expression:
        case x.Binary("+" | "-", left, right):
            yield from _inner(left)
            yield from _inner(right)
        case x.Unary("-", operand) | x.Call("float", (operand,)):
            yield from _inner(operand)


def _before(conditions: dict[x.Compare, Implied]) -> set[tuple[str, str, str]]:
    """Property, edge and edge: the first is never behind the second."""
    found: set[tuple[str, str, str]] = set()
    for item in conditions:
        match item:
            case x.Compare(
                operator, x.EdgeProperty(name, _, one), x.EdgeProperty(same, _, other)
            ) if name == same and one != other:
                found.add((name, one, other) if operator in ("<", "<=") else (name, other, one))
    while True:
        further = {
            (name, one, last)
            for name, one, middle in found
            for same, first, last in found
            if name == same and middle == first and one != last
        }
        if further <= found:
            return found
        found |= further


def _exchanges(known: Implied, before: set[tuple[str, str, str]]) -> Iterator[tuple[str, str]]:
    """An edge of a comparison, and another for which the same must hold."""
    if len({item.name for item in _reads(known.condition)}) != 1:
        return
    for edge in sorted(known.bounds):
        name, bound = known.bounds[edge]
        for same, early, late in sorted(before):
            nearer, other = (early, late) if bound.lower else (late, early)
            if same == name and nearer == edge and other not in known.edges:
                yield edge, other


def _put(condition: x.Compare, edge: str, other: str) -> x.Compare:
    """A comparison with one edge in the place of another."""
    return replace(
        condition,
        left=_exchanged(condition.left, edge, other),
        right=_exchanged(condition.right, edge, other),
    )


def _exchanged(expression: x.Expression, edge: str, other: str) -> x.Expression:
    """The same of what only sums and differences lead to: nothing else has an edge to exchange."""
    match expression:
        case x.EdgeProperty(_, _, named) if named == edge:
            return replace(expression, edge=other)
        case x.Unary("-", operand):
            return replace(expression, operand=_exchanged(operand, edge, other))
        case x.Call("float", (operand,)):
            return replace(expression, arguments=(_exchanged(operand, edge, other),))
        case x.Binary("+" | "-", left, right):
            sides = _exchanged(left, edge, other), _exchanged(right, edge, other)
            return replace(expression, left=sides[0], right=sides[1])
        case _:
            return expression


def _reads(expression: x.Expression) -> list[x.EdgeProperty]:
    return [item for item in subexpressions(expression) if isinstance(item, x.EdgeProperty)]


def _edges_in(expression: x.Expression) -> set[str]:
    return {item.edge for item in _reads(expression)}


def _positions_in(expression: x.Expression) -> set[str]:
    names = (getattr(item, "vertex", None) for item in subexpressions(expression))
    return {name for name in names if isinstance(name, str)}
