"""In which order the loops of a walk run once some of its positions are known.

Next is always the position with the most links to those that are known. A link is a hop over
distinct neighbours, or the demand that two positions are joined. The loop runs over the
smallest of the neighbourhoods that its links name, and asks an index of pairs for the others. A hop
over edges must be followed along itself. Conditions are tested as soon as all that they read is
known, those that look at numbers before those that look at pairs, and those with an index at the
end, in the order of the program: an index that only an earlier condition keeps inside of its array
must not be looked at before.

Some conditions bound a property of the edge that a hop follows:

    first.time < second.time                second is behind first
    last.time <= first.time + self.within   first is not too long before last

The loop of such a hop runs over a *range* of a row in the order of that property. Only sums and
differences may lead to the property: such a side rises or falls with it, for floats that round
too, and the edges that miss the condition stand at one end of the row. Whoever looks for that end
asks whether an entry *misses* a condition, so that a NaN on the way leaves it in. Conditions imply
others: where `first` is before `second`, `last` is no more than `within` behind `second` either,
and a search that begins at `last` need not look at older edges (`implied`). Ints wrap around, and
then nothing follows: `Bound.terms` are what is added up, and whoever searches uses a bound only
where all of them together cannot leave the ints.

A term first looks whether ranges that it knows from the beginning are empty: where times rise,
the last edge has nothing behind it. Where such a range is that of a closing step, whoever binds
the step's other end asks whether that is among the far ends of the range, before it goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

from graphtide.plan import expressions as x
from graphtide.plan.expressions import EdgeProperty, Expression, Joined
from graphtide.plan.programs import Direction, subexpressions
from graphtide.plan.walk_forms import Hop, NormalWalk, literal_of, reads_index
from graphtide.plan.walk_terms import (
    DegreeFactor,
    Factor,
    HopFactor,
    JoinFactor,
    RootFactor,
    StateFactor,
    factors_of,
    positions_in,
    terms_of,
)
from graphtide.plan.walks import SendAt

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
    """The addends; none where they cannot wrap around."""


@dataclass(frozen=True)
class PropertyRange:
    """The bounds of one property of an edge, with its name."""

    property: str
    bounds: tuple[Bound, ...]

    def side(self, *, lower: bool) -> tuple[Bound, ...]:
        """Those that say what is too small, or too large."""
        return tuple(bound for bound in self.bounds if bound.lower == lower)


@dataclass(frozen=True)
class ImpliedCondition:
    """A comparison that all walks satisfy. `through` are edges that it follows from: where one of
    them is known, what is known of it says more.

    What is found out about it is kept: every loop of every term asks.
    """

    condition: x.Compare
    through: frozenset[str] = frozenset()

    @cached_property
    def edges(self) -> set[str]:
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
def implied(conditions: tuple[x.Expression, ...]) -> tuple[ImpliedCondition, ...]:
    """The comparisons among conditions, and those that follow from them."""
    found = {item: ImpliedCondition(item) for one in conditions for item in _comparisons(one)}
    before = _before(found)
    waiting = list(found.values())
    while waiting and len(found) < _MOST:
        known = waiting.pop(0)
        for edge, other in _exchanges(known, before):
            further = _put(known.condition, edge, other)
            through = known.through | {edge}
            if further not in found:
                found[further] = ImpliedCondition(further, through)
                waiting.append(found[further])
    return tuple(found.values())


def range_of(
    conditions: tuple[ImpliedCondition, ...], edge: str, edges: set[str], positions: set[str]
) -> PropertyRange | None:
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
    return PropertyRange(best, tuple(found[best]))


def _is_known(item: ImpliedCondition, edge: str, edges: set[str], positions: set[str]) -> bool:
    known = item.edges <= edges | {edge} and item.positions <= positions
    return known and not item.through & edges


def _comparisons(condition: x.Expression) -> Iterator[x.Compare]:
    """The inequalities that a condition implies; `not` of one is inverted for ints alone."""
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
    """True for conditions that read an index or ask for pairs: they are tested later."""
    asks = any(isinstance(item, x.Joined) for item in subexpressions(condition))
    return asks or reads_index(condition)


def _bound(condition: x.Compare, edge: str) -> tuple[str, Bound] | None:
    """The name of the bounded property of an edge, and the bound that a comparison sets."""
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


def _before(conditions: dict[x.Compare, ImpliedCondition]) -> set[tuple[str, str, str]]:
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


def _exchanges(
    known: ImpliedCondition, before: set[tuple[str, str, str]]
) -> Iterator[tuple[str, str]]:
    """Pairs of an edge of a comparison and another edge for which it must hold too."""
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


@dataclass(frozen=True)
class Link:
    """A factor that leads from a known position to the one that is looked for."""

    factor: HopFactor | JoinFactor
    near: str


@dataclass(frozen=True)
class RangeProbe:
    """A hop that a later loop goes along, and its range as far as that is known by then.

    `near` is an end of it that is known, if there is one.
    """

    hop: Hop
    near: str | None
    range: PropertyRange


@dataclass(frozen=True)
class Level:
    """One loop, or at first what is known from the beginning.

    It finds `position` by the smallest of its `links`, or along `hop`, whose other end may be
    known: then only edges between the two count. Then it tests: the `checks` are factors.
    """

    position: str | None
    links: tuple[Link, ...]
    hop: Hop | None
    conditions: tuple[Expression, ...]
    checks: tuple[HopFactor | JoinFactor, ...]
    late: tuple[Expression, ...]
    """Conditions that look at pairs, and those with an index."""
    range: PropertyRange | None = None
    """In which range of an ordered row the edges of the hop are."""
    known: tuple[RangeProbe, ...] = ()
    """All hops whose ranges are known: a version whose highest edge is too small for one of them
    has no walk."""
    probes: tuple[RangeProbe, ...] = ()
    """Those of them whose range must not be empty, or the loops inside find nothing: it is in a row
    of a position that is known, and no loop begins with it."""
    awaited: tuple[RangeProbe, ...] = ()
    """Those that a later loop goes along between two known positions, of which this is the second:
    only who is at the far end of an edge in the range is worth going on from."""


@dataclass(frozen=True)
class LoopOrder:
    """The loops of a walk from the outermost on."""

    walk: NormalWalk
    levels: tuple[Level, ...]


@lru_cache(maxsize=256)
def order_of_root(walk: NormalWalk, position: str) -> LoopOrder:
    """All walks that have a known vertex at a position."""
    return _Ordering(walk, [position], None).order()


@lru_cache(maxsize=256)
def order_of_term(walk: NormalWalk, factor: Factor) -> LoopOrder:
    return _changed(walk, factor).order()


def _changed(walk: NormalWalk, factor: Factor) -> _Ordering:
    match factor:
        case HopFactor(hop):
            return _Ordering(walk, [hop.origin, hop.vertex], factor)
        case JoinFactor(atom):
            return _Ordering(walk, [atom.source, atom.target], factor)
        case DegreeFactor(position) | StateFactor(position) | RootFactor(position):
            return _Ordering(walk, [position], None)


@lru_cache(maxsize=256)
def ordered_properties(walk: NormalWalk) -> frozenset[str]:
    """The edge properties by whose order any loop goes: of a run, a term or a gathering."""
    sent_to = {send.vertex for send in walk.sends if isinstance(send, SendAt)}
    orderings = [_changed(walk, term.factor) for term in terms_of(walk)]
    orderings += [_Ordering(walk, [position], None) for position in {walk.root, *sent_to}]
    levels = [level for ordering in orderings for level in ordering.levels()]
    return frozenset(level.range.property for level in levels if level.range is not None)


class _Ordering:
    def __init__(self, walk: NormalWalk, bound: list[str], begun: Factor | None) -> None:
        self.walk, self.bound = walk, list(dict.fromkeys(bound))
        self.edges: set[str] = set()
        if isinstance(begun, HopFactor) and begun.hop.edge is not None:
            self.edges.add(begun.hop.edge)
        self.implied = implied(walk.conditions)
        links = [item for item in factors_of(walk) if isinstance(item, HopFactor | JoinFactor)]
        self.waiting = [item for item in links if item != begun and _demanded(item)]
        literals = [item for item in walk.conditions if (found := literal_of(item)) and found[1]]
        self.conditions = [item for item in walk.conditions if item not in literals]
        if isinstance(begun, JoinFactor) and begun.wanted is False:
            self.conditions = [
                item for item in self.conditions if literal_of(item) != (begun.atom, False)
            ]

    def levels(self) -> list[Level]:
        """The loops, where nobody looks ahead of them."""
        levels = [self._level(None, (), None)]
        while (found := self._next()) is not None:
            levels.append(found)
        return levels

    def order(self) -> LoopOrder:
        """The same with what is known of later loops from the beginning."""
        known = self._known()
        levels = self.levels()
        first = levels[1].hop if len(levels) > 1 else None
        rest = tuple(item for item in known if _is_probed(item) and item.hop != first)
        closing = [level.hop for level in levels if level.position is None]
        awaited = [item for item in rest if item.hop in closing]
        inner = (replace(level, awaited=_leading_to(level.position, awaited)) for level in levels)
        return LoopOrder(self.walk, (replace(next(inner), known=known, probes=rest), *inner))

    def _known(self) -> tuple[RangeProbe, ...]:
        """Ranges that are known from the beginning: a walk in time often ends at the last edge.

        Only those of a property that has rows, which is one that some loop goes by.
        """
        found: list[RangeProbe] = []
        ordered = ordered_properties(self.walk)
        for item in self.waiting:
            if not isinstance(item, HopFactor) or item.hop.edge is None:
                continue
            near = next((end for end in _ends(item) if end in self.bound), None)
            wanted = range_of(self.implied, item.hop.edge, self.edges, set(self.bound))
            if wanted is not None and wanted.property in ordered:
                found.append(RangeProbe(item.hop, near, wanted))
        return tuple(found)

    def _next(self) -> Level | None:
        closing = [item for item in self.waiting if self._far(item) is None]
        for item in closing:  # Edges between two known positions: distinct hops became checks.
            assert isinstance(item, HopFactor)
            self.waiting.remove(item)
            return self._along(None, item.hop)
        position = self._best()
        if position is None:
            assert not self.waiting
            return None
        reaching = [item for item in self.waiting if self._far(item) == position]
        for item in reaching:
            if isinstance(item, HopFactor) and item.hop.edge is not None:
                self.waiting.remove(item)
                return self._along(position, item.hop)
        links = tuple(Link(item, self._near(item)) for item in reaching)
        self.waiting = [item for item in self.waiting if item not in reaching]
        self.bound.append(position)
        return self._level(position, links, None)

    def _along(self, position: str | None, hop: Hop) -> Level:
        assert hop.edge is not None
        found = range_of(self.implied, hop.edge, self.edges, set(self.bound))
        self.edges.add(hop.edge)
        if position is not None:
            self.bound.append(position)
        return replace(self._level(position, (), hop), range=found)

    def _best(self) -> str | None:
        """The position with the most links; among equals, the one that most conditions wait for."""
        candidates = [found for item in self.waiting if (found := self._far(item))]
        if not candidates:
            return None

        def worth(position: str) -> tuple[int, int]:
            known = {*self.bound, position}
            ready = sum(_positions(item) <= known for item in self.conditions)
            return candidates.count(position), ready

        return max(dict.fromkeys(candidates), key=worth)

    def _level(self, position: str | None, links: tuple[Link, ...], hop: Hop | None) -> Level:
        checks = tuple(
            item
            for item in self.waiting
            if self._far(item) is None and not (isinstance(item, HopFactor) and item.hop.edge)
        )
        self.waiting = [item for item in self.waiting if item not in checks]
        ready = [item for item in self.conditions if self._is_ready(item)]
        last = not self.waiting
        plain = tuple(item for item in ready if not _asks_pairs(item) and not reads_index(item))
        late = [item for item in ready if _asks_pairs(item) and not reads_index(item)]
        if last:
            late += [item for item in ready if reads_index(item)]
        done = (*plain, *late)
        self.conditions = [item for item in self.conditions if item not in done]
        return Level(position, links, hop, plain, checks, tuple(late))

    def _is_ready(self, condition: Expression) -> bool:
        edges = {e.edge for e in subexpressions(condition) if isinstance(e, EdgeProperty)}
        return _positions(condition) <= set(self.bound) and edges <= self.edges

    def _far(self, item: HopFactor | JoinFactor) -> str | None:
        """The one end that is not known, where the other is; None if both are; "" if neither."""
        far = [end for end in _ends(item) if end not in self.bound]
        if not far:
            return None
        return far[0] if len(set(far)) < len(set(_ends(item))) else ""

    def _near(self, item: HopFactor | JoinFactor) -> str:
        return next(end for end in _ends(item) if end in self.bound)


def _is_probed(item: RangeProbe) -> bool:
    return item.near is not None and item.hop.way is not Direction.BOTH


def _leading_to(position: str | None, probes: list[RangeProbe]) -> tuple[RangeProbe, ...]:
    """The probes whose far end a position is."""
    return tuple(item for item in probes if position in _ends(HopFactor(item.hop)) and position)


def _demanded(item: HopFactor | JoinFactor) -> bool:
    return isinstance(item, HopFactor) or item.wanted is True


def _ends(item: HopFactor | JoinFactor) -> tuple[str, str]:
    if isinstance(item, HopFactor):
        return item.hop.origin, item.hop.vertex
    return item.atom.source, item.atom.target


def _positions(expression: Expression) -> set[str]:
    parts: Iterable[set[str]] = map(positions_in, subexpressions(expression))
    return set().union(*parts)


def _asks_pairs(expression: Expression) -> bool:
    return any(isinstance(item, Joined) for item in subexpressions(expression))
