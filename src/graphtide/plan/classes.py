"""Classes: which edges are in which views, found from the distinct signatures alone.

Evaluating every view on every distinct signature gives the edge-boolean matrix, compressed.
Signatures with the same row are one class. A class whose row is all zero is in no view and
gets the number -1. The work is distinct signatures x views, in NumPy, and never touches edges.

An atom is a range of codes of one feature: the codes of a bucketing are ordered as its values are,
so a comparison is true of a range of codes and false of others; the missing value, code 0, is in
neither. A set of codes or rows is written as its bounds: (1, 5) stands for 1 to 4.

Where the matrix is small, this module makes it, packs it and compares its rows (`SignatureTable`).
Where it is large, it evaluates one view after the other over the sorted signatures, and turns each
into its runs at once (`RunTable`): most predicates hold on a few runs, and the bounds of codes give
these without a look at every signature, so that a hundred thousand windows cost some seconds, not a
minute. A predicate with more than `MANY` bounds is evaluated as a mask. A sample of the views says
beforehand how much memory that takes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import LimitError
from graphtide.plan.collection import ROWS_TIMES_VIEWS, ViewMatrix
from graphtide.plan.predicates import (
    OTHERWISE,
    Always,
    And,
    Atom,
    Comparison,
    Constant,
    InSet,
    IsNull,
    IsTrue,
    Not,
    Operator,
    Or,
    Predicate,
    PropertyRef,
    Unviewed,
)
from graphtide.plan.signatures import (
    Bucketing,
    Cut,
    CutReach,
    OrderingKey,
    SignatureLayout,
    cut_above,
    cut_at,
    is_cut,
    ordering_key,
)
from graphtide.plan.view_runs import (
    Mask,
    ViewRuns,
    bounds_of,
    collect_runs,
    merge_packed_rows,
    merge_rows,
    packs,
)

Bounds = tuple[int, ...]


def covered(parts: Sequence[Bounds], least: int) -> Bounds:
    """What at least so many of the parts hold: 1 is their union, all of them the intersection."""
    if len(parts) == 1:
        return parts[0]
    changes: dict[int, int] = {}
    for part in parts:
        for place, bound in enumerate(part):
            changes[bound] = changes.get(bound, 0) + (-1 if place & 1 else 1)
    bounds: list[int] = []
    count = 0
    for bound in sorted(changes):
        before, count = count, count + changes[bound]
        if (before >= least) != (count >= least):
            bounds.append(bound)
    return tuple(bounds)


def opposite(part: Bounds, limit: int) -> Bounds:
    """The numbers from 0 to limit that are not in the part."""
    bounds = part[1:] if part and part[0] == 0 else (0, *part)
    return bounds[:-1] if bounds and bounds[-1] == limit else (*bounds, limit)


def runs_of_rows(rows: Sequence[int]) -> Bounds:
    """The bounds of a few rows, given in order."""
    bounds: list[int] = []
    for row in rows:
        if bounds and bounds[-1] == row:
            bounds[-1] = row + 1
        else:
            bounds += (row, row + 1)
    return tuple(bounds)


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
        """Codes that make an atom true; all others but 0, the missing value, make it false."""
        number, _ = self._bucketing[item]
        size = self._size[number]
        return AtomCodes(number, true, opposite(covered([(0, 1), true], 1), size))

    def _first(self, item: PropertyRef, cut: Cut) -> int:
        number, ranks = self._bucketing[item]
        if isinstance(cut, CutReach):
            return 1 if cut is CutReach.ALWAYS else self._size[number]
        return ranks[ordering_key(cut)] + 2


def _range(first: int, last: int) -> Bounds:
    return (first, last) if first < last else ()


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
        """The runs of the rows, if they or the other rows are few; None where both are many."""
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
    """Rows sorted by their code of one feature: `order` are the rows, `codes` their codes."""

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
    """A cache of the answers that were used last."""

    def __init__(self, most: int) -> None:
        self._most = max(16, most)
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Answer]) -> Answer:
        """The cached answer, computed now if it is not there."""
        if key not in self._answers:
            self._answers[key] = make()
            if len(self._answers) > self._most:
                self._answers.popitem(last=False)
        self._answers.move_to_end(key)
        return self._answers[key]


_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class EdgeClasses:
    """The rows of the edge-boolean matrix.

    `of_signature[i]` is the class of the i-th distinct signature, or -1; `views` says which
    classes each view holds, and how many edges each class has.
    """

    of_signature: NDArray[np.int32]
    views: ViewMatrix | ViewRuns


def classify_signatures(
    layout: SignatureLayout,
    signatures: Signatures,
    counts: NDArray[np.int64],
    predicates: Sequence[Predicate],
) -> EdgeClasses:
    """Evaluate the views on distinct signatures (one a row, with their edge counts)."""
    rows, views = len(counts), len(predicates)
    _check_work(rows, views)
    if packs(views, rows):
        rows_of_views = _packed_rows(layout, signatures, predicates)
        return EdgeClasses(*merge_packed_rows(rows_of_views, counts, views))
    return _classes_of_runs(layout, signatures, counts, predicates)


def count_unviewed(
    layout: SignatureLayout,
    signatures: Signatures,
    counts: NDArray[np.int64],
    of_signature: NDArray[np.int32],
    why: Unviewed,
) -> dict[str, int]:
    """How many edges of the base are in no view, by reason; reasons that no edge has are left out.

    The layout must know the predicates of `why`. Looks at signatures that are in no view alone.
    """
    found = dict.fromkeys([*(item.name for item in why.reasons), OTHERWISE], 0)
    outside, book = np.flatnonzero(of_signature < 0), CodeBook(layout)
    for start in range(0, len(outside), _ROWS_AT_ONCE):
        rows = outside[start : start + _ROWS_AT_ONCE]
        table, edges = SignatureTable(layout, signatures[rows], book), counts[rows]
        left = table.evaluate(why.base).true
        for item in why.reasons:
            here = left & table.evaluate(item.predicate).true
            found[item.name] += int(edges[here].sum())
            left = left & ~here
        found[OTHERWISE] += int(edges[left].sum())
    return {reason: number for reason, number in found.items() if number}


def _check_work(signatures: int, views: int) -> None:
    if signatures * views <= ROWS_TIMES_VIEWS:
        return
    raise LimitError(
        f"{views:,} views over {signatures:,} distinct signatures are "
        f"{signatures * views:.1e} questions, more than {ROWS_TIMES_VIEWS:.1e}",
        hint="use fewer or coarser views, or make several collections",
    )


def _packed_rows(
    layout: SignatureLayout, signatures: Signatures, predicates: Sequence[Predicate]
) -> NDArray[np.uint8]:
    """The answers of all views on each signature, eight views a byte."""
    book = CodeBook(layout)
    packed = []
    for start in range(0, len(signatures), _ROWS_AT_ONCE):
        table = SignatureTable(layout, signatures[start : start + _ROWS_AT_ONCE], book)
        packed.append(np.packbits(_block(table, predicates), 1))
    return np.concatenate(packed) if packed else np.zeros((0, 0), np.uint8)


def _block(table: SignatureTable, predicates: Sequence[Predicate]) -> Mask:
    block = np.empty((len(predicates), table.rows), dtype=np.bool_)
    for row, predicate in enumerate(predicates):
        block[row] = table.evaluate(predicate).true
    return block.T


def _classes_of_runs(
    layout: SignatureLayout,
    signatures: Signatures,
    counts: NDArray[np.int64],
    predicates: Sequence[Predicate],
) -> EdgeClasses:
    """Classes by runs over the signatures in their order, one view at a time."""
    order = np.lexsort(signatures.T) if signatures.shape[1] else np.arange(len(signatures))
    table = RunTable(SignatureTable(layout, signatures[order], CodeBook(layout)))
    bounds = collect_runs(len(predicates), len(counts), lambda view: table.bounds(predicates[view]))
    merged = merge_rows(bounds, counts[order])
    of_signature = np.empty(len(counts), np.int32)
    of_signature[order] = merged.of_row
    return EdgeClasses(of_signature, merged.views)
