"""Classes: which edges are in which views, told from the distinct signatures alone.

Evaluating every view on every distinct signature gives the edge-boolean matrix, compressed.
Signatures with the same row are one class. A class whose row is all zero is in no view and
gets the number -1. The work is distinct signatures x views, in NumPy, and never touches edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import LimitError
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
from graphtide.plan.signatures import Bucketing, Flag, SignatureLayout, is_cut

Mask = NDArray[np.bool_]
Signatures = NDArray[np.int64]
_ROWS_AT_ONCE = 1 << 16
_MATRIX_LIMIT = 8 * 2**30


@dataclass(frozen=True)
class EdgeClasses:
    """The rows of the edge-boolean matrix.

    `of_signature[i]` is the class of the i-th distinct signature, or -1; `membership` is
    classes x views; `weights` counts the edges of each class.
    """

    of_signature: NDArray[np.int32]
    membership: Mask
    weights: NDArray[np.int64]


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
    _check_size(len(counts), len(predicates))
    packed = [
        np.packbits(
            _evaluate_block(layout, signatures[start : start + _ROWS_AT_ONCE], predicates), 1
        )
        for start in range(0, len(counts), _ROWS_AT_ONCE)
    ]
    rows = np.concatenate(packed) if packed else np.zeros((0, 0), np.uint8)
    return _merge_equal_rows(rows, counts, len(predicates))


def _check_size(signatures: int, views: int) -> None:
    if signatures * views // 8 <= _MATRIX_LIMIT:
        return
    raise LimitError(
        f"{views:,} views over {signatures:,} distinct signatures make a matrix of "
        f"{signatures * views / 8 / 2**30:.0f} GiB",
        hint="use fewer or coarser views, or make several collections",
    )


def _evaluate_block(
    layout: SignatureLayout, signatures: Signatures, predicates: Sequence[Predicate]
) -> Mask:
    table = _SignatureTable(layout, signatures)
    block = np.empty((len(predicates), len(signatures)), dtype=np.bool_)
    for row, predicate in enumerate(predicates):
        block[row] = table.evaluate(predicate).true
    return block.T


def _merge_equal_rows(
    rows: NDArray[np.uint8], counts: NDArray[np.int64], views: int
) -> EdgeClasses:
    if not len(rows) or not views:
        nothing = np.full(len(counts), -1, np.int32)
        return EdgeClasses(nothing, np.zeros((0, views), np.bool_), np.zeros(0, np.int64))
    keys = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    membership = np.unpackbits(rows[first], axis=1, count=views).astype(np.bool_)
    weights = np.zeros(len(first), np.int64)
    np.add.at(weights, inverse, counts)
    wanted = membership.any(axis=1)
    number = np.where(wanted, np.cumsum(wanted) - 1, -1).astype(np.int32)
    return EdgeClasses(number[inverse.ravel()], membership[wanted], weights[wanted])


class _SignatureTable:
    """The codes of distinct signatures, and predicates evaluated on them."""

    def __init__(self, layout: SignatureLayout, columns: Signatures) -> None:
        self._rows = len(columns)
        self._buckets: dict[PropertyRef, tuple[NDArray[np.int64], dict[OrderingKey, int]]] = {}
        self._flags: dict[Atom, NDArray[np.int64]] = {}
        self._known: dict[Atom, _Truth] = {}
        for number, column in enumerate(layout.columns):
            rest = columns[:, number]
            for feature in (feature for word in column for feature in word.features):
                rest, codes = np.divmod(rest, feature.size)
                self._keep(feature, codes)

    def _keep(self, feature: Bucketing | Flag, codes: NDArray[np.int64]) -> None:
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
                if atom not in self._known:
                    self._known[atom] = self._evaluate_atom(atom)
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
        return codes - 1 > ranks[ordering_key(cut)]
