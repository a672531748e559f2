"""Predicates evaluated on distinct signatures: as masks over them, or as runs of them.

Where the signatures are sorted, most predicates hold on a few runs of them, and the bounds of codes
give these runs without a look at every signature: a hundred thousand windows then cost some
seconds, not a minute. A predicate with more than `MANY` bounds is evaluated as a mask.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphtide.plan.atom_codes import CodeBook
from graphtide.plan.predicates import Always, And, Atom, IsTrue, Not, Or, Predicate
from graphtide.plan.short_runs import Bounds, covered, opposite, runs_of_rows
from graphtide.plan.signatures import SignatureLayout
from graphtide.plan.view_runs import Mask, bounds_of

Signatures = NDArray[np.int64]
Codes = NDArray[np.int32] | NDArray[np.int64]
Answer = TypeVar("Answer")

MANY = 64
"""Bounds of a set up to which plain Python beats a mask over some thousand signatures."""

_REMEMBERED_BYTES = 1 << 26


@dataclass(frozen=True)
class Truth:
    """Three-valued answers: true, false, and unknown where neither."""

    true: Mask
    false: Mask


class SignatureTable:
    """The codes of distinct signatures, one a row, and predicates as masks over them."""

    def __init__(self, layout: SignatureLayout, signatures: Signatures, book: CodeBook) -> None:
        self.rows = len(signatures)
        self.book = book
        self.codes: list[Codes] = []
        self._known: _Remembered[Truth] = _Remembered(_REMEMBERED_BYTES // (2 * self.rows + 1))
        for number, column in enumerate(layout.columns):
            rest = signatures[:, number]
            for feature in (feature for word in column for feature in word.features):
                rest, codes = np.divmod(rest, feature.size)
                self.codes.append(codes.astype(np.int32) if feature.size < 2**31 else codes)

    def evaluate(self, predicate: Predicate) -> Truth:
        """The answers of all rows."""
        match predicate:
            case Always(value):
                return Truth(np.full(self.rows, value), np.full(self.rows, not value))
            case Not(term):
                inner = self.evaluate(term)
                return Truth(inner.false, inner.true)
            case IsTrue(term):
                inner = self.evaluate(term)
                return Truth(inner.true, ~inner.true)
            case And(terms):
                parts = [self.evaluate(term) for term in terms]
                return Truth(
                    np.logical_and.reduce([part.true for part in parts]),
                    np.logical_or.reduce([part.false for part in parts]),
                )
            case Or(terms):
                parts = [self.evaluate(term) for term in terms]
                return Truth(
                    np.logical_or.reduce([part.true for part in parts]),
                    np.logical_and.reduce([part.false for part in parts]),
                )
            case atom:
                return self._known.get(atom, lambda: self._answers(atom))

    def mask(self, feature: int, codes: Bounds) -> Mask:
        """The rows whose code of a feature is among these."""
        own = self.codes[feature]
        held = np.zeros(self.rows, np.bool_)
        for first, last in zip(codes[0::2], codes[1::2], strict=True):
            held |= own == first if last == first + 1 else (own >= first) & (own < last)
        return held

    def _answers(self, atom: Atom) -> Truth:
        codes = self.book.codes(atom)
        return Truth(self.mask(codes.feature, codes.true), self.mask(codes.feature, codes.false))


class ManyRunsError(Exception):
    """A set has too many runs for plain Python."""


class RunTable:
    """Predicates as runs over the rows of a table, which stand in the order of their codes."""

    def __init__(self, table: SignatureTable) -> None:
        self._table = table
        self._places = [_places(codes) for codes in table.codes]
        self._known: _Remembered[Bounds | None] = _Remembered(1024)

    def bounds(self, predicate: Predicate) -> NDArray[np.int64]:
        """Where the rows begin and end of which a predicate is true."""
        try:
            return np.array(self._evaluate(predicate)[0], np.int64)
        except ManyRunsError:
            return bounds_of(self._table.evaluate(predicate).true)

    def _evaluate(self, predicate: Predicate) -> tuple[Bounds, Bounds]:
        """The runs where a predicate is true, and where it is false."""
        rows = self._table.rows
        match predicate:
            case Always(value):
                everything = (0, rows) if rows else ()
                return (everything, ()) if value else ((), everything)
            case Not(term):
                true, false = self._evaluate(term)
                return false, true
            case IsTrue(term):
                true, _ = self._evaluate(term)
                return true, opposite(true, rows)
            case And(terms):
                trues, falses = zip(*map(self._evaluate, terms), strict=True)
                return covered(trues, len(terms)), covered(falses, 1)
            case Or(terms):
                trues, falses = zip(*map(self._evaluate, terms), strict=True)
                return covered(trues, 1), covered(falses, len(terms))
            case atom:
                codes = self._table.book.codes(atom)
                return self._rows(codes.feature, codes.true), self._rows(codes.feature, codes.false)

    def _rows(self, feature: int, codes: Bounds) -> Bounds:
        """The runs of rows whose code is among these; ManyRunsError if there are many."""
        places = self._places[feature]
        rows: Bounds | None
        if places.in_order:
            rows = covered([_within(places, *pair) for pair in _pairs(codes)] or [()], 1)
        elif (few := self._few_rows(places, codes)) is not None:
            rows = few
        else:
            rows = self._known.get((feature, codes), lambda: self._masked(feature, codes))
        if rows is None or len(rows) > MANY:
            raise ManyRunsError
        return rows

    def _few_rows(self, places: _Places, codes: Bounds) -> Bounds | None:
        """The runs of a few rows, or of all but a few; None where there are more of both."""
        rows = self._table.rows
        inside = [_within(places, *pair) for pair in _pairs(codes)]
        count = sum(pair[1] - pair[0] for pair in inside if pair)
        if min(count, rows - count) > MANY // 2:
            return None
        if count > MANY // 2:
            others = _pairs(opposite(covered(inside or [()], 1), rows))
            return opposite(places.listed(others), rows)
        return places.listed(_pairs(covered(inside or [()], 1)))

    def _masked(self, feature: int, codes: Bounds) -> Bounds | None:
        bounds = bounds_of(self._table.mask(feature, codes))
        return tuple(bounds.tolist()) if len(bounds) <= MANY else None


@dataclass(frozen=True)
class _Places:
    """Rows by their code of one feature: `order` has them, and `codes` their codes, sorted."""

    order: NDArray[np.intp]
    codes: Codes
    in_order: bool

    def listed(self, ranges: list[tuple[int, int]]) -> Bounds:
        """The rows at some places of the order, as runs."""
        rows = [row for first, last in ranges for row in self.order[first:last].tolist()]
        return runs_of_rows(sorted(rows))


def _places(codes: Codes) -> _Places:
    if np.all(codes[1:] >= codes[:-1]):
        return _Places(np.empty(0, np.intp), codes, in_order=True)
    order = np.argsort(codes, kind="stable")
    return _Places(order, codes[order], in_order=False)


def _within(places: _Places, first: int, last: int) -> Bounds:
    """The places of the codes from `first` to before `last`."""
    # Of another type the two would make NumPy convert all codes first.
    wanted = np.array((first, last), places.codes.dtype)
    start, stop = places.codes.searchsorted(wanted).tolist()
    return (start, stop) if start < stop else ()


def _pairs(bounds: Bounds) -> list[tuple[int, int]]:
    return list(zip(bounds[0::2], bounds[1::2], strict=True))


class _Remembered(Generic[Answer]):
    """What was asked for last, up to a number of answers."""

    def __init__(self, most: int) -> None:
        self._most = max(16, most)
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Answer]) -> Answer:
        """What is remembered, or made now."""
        if key not in self._answers:
            self._answers[key] = make()
            if len(self._answers) > self._most:
                self._answers.popitem(last=False)
        self._answers.move_to_end(key)
        return self._answers[key]
