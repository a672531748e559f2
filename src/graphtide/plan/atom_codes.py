"""Atoms as ranges of codes: what a signature's code for one feature says about an atom.

The codes of a bucketing are ordered as its values are, so a comparison is true of a range of codes
and false of others; the missing value, code 0, is in neither. A flag says unknown, false, true with
0, 1, 2. A range is written as its bounds, as runs are: (1, 5) stands for the codes from 1 to 4.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.plan.cuts import Cut, OrderingKey, Reach, cut_above, cut_at, ordering_key
from graphtide.plan.predicates import (
    Atom,
    Comparison,
    Constant,
    InSet,
    IsNull,
    Operator,
    PropertyRef,
)
from graphtide.plan.short_runs import Bounds, covered, opposite
from graphtide.plan.signatures import Bucketing, SignatureLayout, is_cut

_OPPOSITE = {Operator.LT: Operator.GE, Operator.LE: Operator.GT, Operator.NE: Operator.EQ}


@dataclass(frozen=True)
class AtomCodes:
    """The feature that decides an atom, and the codes that make it true and false."""

    feature: int
    true: Bounds
    false: Bounds


class CodeBook:
    """The codes of all atoms of a layout, whose features are numbered in their order."""

    def __init__(self, layout: SignatureLayout) -> None:
        self._size: list[int] = []
        self._bucketing: dict[PropertyRef, tuple[int, dict[OrderingKey, int]]] = {}
        self._flag: dict[Atom, int] = {}
        for number, feature in enumerate(layout.features):
            self._size.append(feature.size)
            if isinstance(feature, Bucketing):
                ranks = {ordering_key(cut): rank for rank, cut in enumerate(feature.cuts)}
                self._bucketing[feature.item] = number, ranks
            else:
                self._flag[feature.atom] = number

    def codes(self, atom: Atom) -> AtomCodes:
        """The codes of one atom."""
        if not is_cut(atom):
            return AtomCodes(self._flag[atom], (2, 3), (1, 2))
        match atom:
            case Comparison(operator, left, Constant() as right):
                return self._compared(operator, left, right)
            case InSet(item, constants):
                equal = [self._equal(item, constant) for constant in constants]
                return self._present(item, covered(equal, 1))
            case IsNull(item):
                number, _ = self._bucketing[item]
                return AtomCodes(number, (0, 1), (1, self._size[number]))
        raise AssertionError(atom)

    def _compared(self, operator: Operator, item: PropertyRef, constant: Constant) -> AtomCodes:
        if operator in _OPPOSITE:
            opposite = self._compared(_OPPOSITE[operator], item, constant)
            return AtomCodes(opposite.feature, opposite.false, opposite.true)
        if operator == Operator.EQ:
            return self._present(item, self._equal(item, constant))
        cut = cut_at if operator == Operator.GE else cut_above
        size = self._size[self._bucketing[item][0]]
        return self._present(item, _range(self._first(item, cut(item.type, constant)), size))

    def _equal(self, item: PropertyRef, constant: Constant) -> Bounds:
        above = self._first(item, cut_above(item.type, constant))
        return _range(self._first(item, cut_at(item.type, constant)), above)

    def _present(self, item: PropertyRef, true: Bounds) -> AtomCodes:
        """True of these codes, and false of all others where the property is there."""
        number, _ = self._bucketing[item]
        size = self._size[number]
        return AtomCodes(number, true, opposite(covered([(0, 1), true], 1), size))

    def _first(self, item: PropertyRef, cut: Cut) -> int:
        """The first code that reaches a cut."""
        number, ranks = self._bucketing[item]
        if isinstance(cut, Reach):
            return 1 if cut is Reach.ALWAYS else self._size[number]
        return ranks[ordering_key(cut)] + 2


def _range(first: int, last: int) -> Bounds:
    return (first, last) if first < last else ()
