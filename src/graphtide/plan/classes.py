"""Classes: which edges are in which views, told from the distinct signatures alone.

Evaluating every view on every distinct signature gives the edge-boolean matrix, compressed.
Signatures with the same row are one class. A class whose row is all zero is in no view and
gets the number -1. The work is distinct signatures x views, in NumPy, and never touches edges.

Where the matrix is small it is made, packed, and its rows compared. Where it is not, views are
evaluated one after the other over the sorted signatures, and each becomes its runs at once; a
sample of the views says beforehand how much memory that takes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import LimitError
from graphtide.plan.collection import ViewMatrix
from graphtide.plan.cuts import Cut, OrderingKey, Reach, cut_above, cut_at, ordering_key
from graphtide.plan.predicates import (
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
)
from graphtide.plan.row_classes import merge_packed_rows, packs
from graphtide.plan.row_runs import collect_runs, merge_rows
from graphtide.plan.signatures import Bucketing, Flag, SignatureLayout, is_cut
from graphtide.plan.thresholds import ROWS_TIMES_VIEWS
from graphtide.plan.view_runs import Mask, ViewRuns

Signatures = NDArray[np.int64]
Codes = NDArray[np.int32] | NDArray[np.int64]
_ROWS_AT_ONCE = 1 << 16
_REMEMBERED_BYTES = 1 << 26


@dataclass(frozen=True)
class EdgeClasses:
    """The rows of the edge-boolean matrix.

    `of_signature[i]` is the class of the i-th distinct signature, or -1; `views` says which
    classes each view holds, and how many edges each class has.
    """

    of_signature: NDArray[np.int32]
    views: ViewMatrix | ViewRuns


@dataclass(frozen=True)
class _Truth:
    """Three-valued answers: true, false, and unknown where neither."""

    true: Mask
    false: Mask


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
    packed = [
        np.packbits(
            _evaluate_block(layout, signatures[start : start + _ROWS_AT_ONCE], predicates), 1
        )
        for start in range(0, len(signatures), _ROWS_AT_ONCE)
    ]
    return np.concatenate(packed) if packed else np.zeros((0, 0), np.uint8)


def _evaluate_block(
    layout: SignatureLayout, signatures: Signatures, predicates: Sequence[Predicate]
) -> Mask:
    table = _SignatureTable(layout, signatures)
    block = np.empty((len(predicates), len(signatures)), dtype=np.bool_)
    for row, predicate in enumerate(predicates):
        block[row] = table.evaluate(predicate).true
    return block.T


def _classes_of_runs(
    layout: SignatureLayout,
    signatures: Signatures,
    counts: NDArray[np.int64],
    predicates: Sequence[Predicate],
) -> EdgeClasses:
    """The same by runs over the signatures in their order, one view at a time."""
    order = np.lexsort(signatures.T) if signatures.shape[1] else np.arange(len(signatures))
    table = _SignatureTable(layout, signatures[order])
    bounds = collect_runs(
        len(predicates), len(counts), lambda view: table.evaluate(predicates[view]).true
    )
    merged = merge_rows(bounds, counts[order])
    of_signature = np.empty(len(counts), np.int32)
    of_signature[order] = merged.of_row
    return EdgeClasses(of_signature, merged.views)


class _SignatureTable:
    """The codes of distinct signatures, and predicates evaluated on them."""

    def __init__(self, layout: SignatureLayout, columns: Signatures) -> None:
        self._rows = len(columns)
        self._buckets: dict[PropertyRef, tuple[Codes, dict[OrderingKey, int]]] = {}
        self._flags: dict[Atom, Codes] = {}
        self._known: OrderedDict[Atom, _Truth] = OrderedDict()
        self._most_known = max(16, _REMEMBERED_BYTES // (2 * max(1, len(columns))))
        for number, column in enumerate(layout.columns):
            rest = columns[:, number]
            for feature in (feature for word in column for feature in word.features):
                rest, codes = np.divmod(rest, feature.size)
                self._keep(feature, codes.astype(np.int32) if feature.size < 2**31 else codes)

    def _keep(self, feature: Bucketing | Flag, codes: Codes) -> None:
        if isinstance(feature, Flag):
            self._flags[feature.atom] = codes
        else:
            ranks = {ordering_key(cut): rank for rank, cut in enumerate(feature.cuts)}
            self._buckets[feature.item] = (codes, ranks)

    def evaluate(self, predicate: Predicate) -> _Truth:
        match predicate:
            case Always(value):
                return _Truth(np.full(self._rows, value), np.full(self._rows, not value))
            case Not(term):
                inner = self.evaluate(term)
                return _Truth(inner.false, inner.true)
            case IsTrue(term):
                inner = self.evaluate(term)
                return _Truth(inner.true, ~inner.true)
            case And(terms):
                parts = [self.evaluate(term) for term in terms]
                return _Truth(
                    np.logical_and.reduce([part.true for part in parts]),
                    np.logical_or.reduce([part.false for part in parts]),
                )
            case Or(terms):
                parts = [self.evaluate(term) for term in terms]
                return _Truth(
                    np.logical_or.reduce([part.true for part in parts]),
                    np.logical_and.reduce([part.false for part in parts]),
                )
            case atom:
                return self._remembered(atom)

    def _remembered(self, atom: Atom) -> _Truth:
        """The answers to an atom, of which those asked for last are kept."""
        if atom not in self._known:
            self._known[atom] = self._evaluate_atom(atom)
            if len(self._known) > self._most_known:
                self._known.popitem(last=False)
        self._known.move_to_end(atom)
        return self._known[atom]

    def _evaluate_atom(self, atom: Atom) -> _Truth:
        if not is_cut(atom):
            codes = self._flags[atom]
            return _Truth(codes == 2, codes == 1)
        match atom:
            case Comparison(operator, left, Constant() as right):
                return self._compare(operator, left, right)
            case InSet(item, constants):
                return self._among(item, constants)
            case IsNull(item):
                missing = self._buckets[item][0] == 0
                return _Truth(missing, ~missing)
        raise AssertionError(atom)

    def _among(self, item: PropertyRef, constants: tuple[Constant, ...]) -> _Truth:
        found = np.zeros(self._rows, np.bool_)
        for constant in constants:
            found |= self._compare(Operator.EQ, item, constant).true
        return _Truth(found, ~found & (self._buckets[item][0] > 0))

    def _compare(self, operator: Operator, item: PropertyRef, constant: Constant) -> _Truth:
        present = self._buckets[item][0] > 0
        match operator:
            case Operator.GE | Operator.LT:
                true = self._reaches(item, cut_at(item.type, constant))
            case Operator.GT | Operator.LE:
                true = self._reaches(item, cut_above(item.type, constant))
            case _:
                true = self._reaches(item, cut_at(item.type, constant))
                true = true & ~self._reaches(item, cut_above(item.type, constant))
        if operator in (Operator.LT, Operator.LE, Operator.NE):
            true = ~true
        return _Truth(true & present, ~true & present)

    def _reaches(self, item: PropertyRef, cut: Cut) -> Mask:
        codes, ranks = self._buckets[item]
        if isinstance(cut, Reach):
            return np.full(self._rows, cut is Reach.ALWAYS)
        found: Mask = codes > ranks[ordering_key(cut)] + 1
        return found
