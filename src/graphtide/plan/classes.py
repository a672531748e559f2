"""Classes: which edges are in which views, told from the distinct signatures alone.

Evaluating every view on every distinct signature gives the edge-boolean matrix, compressed.
Signatures with the same row are one class. A class whose row is all zero is in no view and
gets the number -1. The work is distinct signatures x views, in NumPy, and never touches edges.

Where the matrix is small, this module makes it, packs it and compares its rows. Where it is large,
it evaluates one view after the other over the sorted signatures and turns each into its runs at
once; a sample of the views says beforehand how much memory that takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphtide.model.errors import LimitError
from graphtide.plan.atom_codes import CodeBook
from graphtide.plan.collection import ViewMatrix
from graphtide.plan.predicates import OTHERWISE, Predicate, Unviewed
from graphtide.plan.row_classes import merge_packed_rows, packs
from graphtide.plan.row_runs import collect_runs, merge_rows
from graphtide.plan.signature_table import RunTable, Signatures, SignatureTable
from graphtide.plan.signatures import SignatureLayout
from graphtide.plan.thresholds import ROWS_TIMES_VIEWS
from graphtide.plan.view_runs import Mask, ViewRuns

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
