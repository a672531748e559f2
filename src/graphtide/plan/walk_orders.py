"""In which order the loops of a walk run once some of its positions are known.

Next is always the position with the most links to those that are known. A link is a hop over
distinct neighbours, or the demand that two positions are joined. The loop runs over the
smallest of the neighbourhoods that its links name, and asks an index of pairs for the others. A hop
over edges must be gone along itself. Conditions are tested as soon as all that they read is known,
those that look at numbers before those that look at pairs, and those with an index at the end, in
the order in which the program has them: an index that only an earlier condition keeps inside of
its array must not be looked at before.

Where conditions bound a property of the edge that a hop goes along (`walk_ranges`), its loop runs
over a range of a row in the order of that property. A term first looks whether such ranges are
empty that it knows from the beginning: where times rise, what comes last has nothing behind it.
Where such a range is that of a closing step, whoever binds the step's other end asks whether that
is among the far ends of the range, before it goes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from graphtide.plan.expressions import EdgeProperty, Expression, Joined
from graphtide.plan.programs import Direction, subexpressions
from graphtide.plan.walk_forms import Hop, Walk, literal_of, reads_index
from graphtide.plan.walk_ranges import Range, implied, range_of
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


@dataclass(frozen=True)
class Link:
    """A factor that leads from a known position to the one that is looked for."""

    factor: HopFactor | JoinFactor
    near: str


@dataclass(frozen=True)
class Probe:
    """A hop that a later loop goes along, and its range as far as that is known by then.

    `near` is an end of it that is known, if there is one.
    """

    hop: Hop
    near: str | None
    range: Range


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
    range: Range | None = None
    """In which range of an ordered row the edges of the hop are."""
    known: tuple[Probe, ...] = ()
    """All hops whose ranges are known: a version whose highest edge is too small for one of them
    has no walk."""
    probes: tuple[Probe, ...] = ()
    """Those of them whose range must not be empty, or the loops inside find nothing: it is in a row
    of a position that is known, and no loop begins with it."""
    awaited: tuple[Probe, ...] = ()
    """Those that a later loop goes along between two known positions, of which this is the second:
    only who is at the far end of an edge in the range is worth going on from."""


@dataclass(frozen=True)
class Order:
    """The loops of a walk from the outermost on."""

    walk: Walk
    levels: tuple[Level, ...]


@lru_cache(maxsize=256)
def order_of_root(walk: Walk, position: str) -> Order:
    """All walks that have a known vertex at a position."""
    return _Ordering(walk, [position], None).order()


@lru_cache(maxsize=256)
def order_of_term(walk: Walk, factor: Factor) -> Order:
    """All walks in which a factor is what has changed."""
    return _changed(walk, factor).order()


def _changed(walk: Walk, factor: Factor) -> _Ordering:
    match factor:
        case HopFactor(hop):
            return _Ordering(walk, [hop.origin, hop.vertex], factor)
        case JoinFactor(atom):
            return _Ordering(walk, [atom.source, atom.target], factor)
        case DegreeFactor(position) | StateFactor(position) | RootFactor(position):
            return _Ordering(walk, [position], None)


@lru_cache(maxsize=256)
def ordered_properties(walk: Walk) -> frozenset[str]:
    """The edge properties by whose order any loop goes: of a run, a term or a gathering."""
    sent_to = {send.vertex for send in walk.sends if isinstance(send, SendAt)}
    orderings = [_changed(walk, term.factor) for term in terms_of(walk)]
    orderings += [_Ordering(walk, [position], None) for position in {walk.root, *sent_to}]
    levels = [level for ordering in orderings for level in ordering.levels()]
    return frozenset(level.range.property for level in levels if level.range is not None)


class _Ordering:
    def __init__(self, walk: Walk, bound: list[str], begun: Factor | None) -> None:
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

    def order(self) -> Order:
        """The same with what is known of later loops from the beginning."""
        known = self._known()
        levels = self.levels()
        first = levels[1].hop if len(levels) > 1 else None
        rest = tuple(item for item in known if _is_probed(item) and item.hop != first)
        closing = [level.hop for level in levels if level.position is None]
        awaited = [item for item in rest if item.hop in closing]
        inner = (replace(level, awaited=_leading_to(level.position, awaited)) for level in levels)
        return Order(self.walk, (replace(next(inner), known=known, probes=rest), *inner))

    def _known(self) -> tuple[Probe, ...]:
        """Ranges that are known from the beginning: a walk in time often ends at the last edge.

        Only those of a property that has rows, which is one that some loop goes by.
        """
        found: list[Probe] = []
        ordered = ordered_properties(self.walk)
        for item in self.waiting:
            if not isinstance(item, HopFactor) or item.hop.edge is None:
                continue
            near = next((end for end in _ends(item) if end in self.bound), None)
            wanted = range_of(self.implied, item.hop.edge, self.edges, set(self.bound))
            if wanted is not None and wanted.property in ordered:
                found.append(Probe(item.hop, near, wanted))
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


def _is_probed(item: Probe) -> bool:
    return item.near is not None and item.hop.way is not Direction.BOTH


def _leading_to(position: str | None, probes: list[Probe]) -> tuple[Probe, ...]:
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
