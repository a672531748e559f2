"""Which edges, or vertices, satisfy which predicates: signatures, their counts, classes.

What two Spark jobs do for a stored graph, in memory: features of endpoints are worked out once a
vertex and taken by the edges, and the views are evaluated on the distinct signatures alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.plan.classes import EdgeClasses, classify_signatures, count_unviewed
from graphtide.plan.predicates import ANY_EDGE, Predicate, PropertyRef, Unviewed
from graphtide.plan.signatures import SignatureLayout, Word, layout_signatures
from graphtide.run.views.feature_codes import Codes, word_codes
from graphtide.run.views.snapshot import Snapshot

OfRow = NDArray[np.int32]


class EdgesWithEnds(Protocol):
    """Edges that can be classified: what they and the vertices have, and which are their ends."""

    def __len__(self) -> int: ...

    @property
    def src(self) -> NDArray[Any]:
        """The place of each edge's source among the vertices."""

    @property
    def dst(self) -> NDArray[Any]:
        """The place of each edge's target among the vertices."""

    def edge_values(self, item: PropertyRef) -> pa.Array:
        """A property of each edge, or of its end."""

    def vertex_values(self, item: PropertyRef) -> pa.Array:
        """A property of each vertex."""


def edge_classes(
    snapshot: EdgesWithEnds, predicates: Sequence[Predicate]
) -> tuple[OfRow, EdgeClasses]:
    """The class of each edge, -1 where no predicate is true of it, and the classes."""
    return viewed_edges(snapshot, predicates, ANY_EDGE)[:2]


def viewed_edges(
    snapshot: EdgesWithEnds, predicates: Sequence[Predicate], why: Unviewed
) -> tuple[OfRow, EdgeClasses, dict[str, int]]:
    """The same, and how many edges are in no view, by reason."""

    def codes(word: Word) -> Codes:
        if word.side not in ("src", "dst"):
            return word_codes(word, snapshot.edge_values)
        ends = snapshot.src if word.side == "src" else snapshot.dst
        codes_at_ends: Codes = word_codes(word, snapshot.vertex_values)[ends]
        return codes_at_ends

    return _classes(len(snapshot), codes, predicates, why)


def matching_edges(snapshot: Snapshot, predicate: Predicate) -> NDArray[np.bool_]:
    """The edges of which a predicate is true, as a mask."""
    return edge_classes(snapshot, [predicate])[0] >= 0


def matching_vertices(snapshot: Snapshot, predicate: Predicate) -> NDArray[np.bool_]:
    """The vertices of which a predicate over their own properties is true, as a mask."""

    def codes(word: Word) -> Codes:
        return word_codes(word, snapshot.vertex_values)

    return _classes(len(snapshot.ids), codes, [predicate], ANY_EDGE)[0] >= 0


def _classes(
    rows: int, codes: Callable[[Word], Codes], predicates: Sequence[Predicate], why: Unviewed
) -> tuple[OfRow, EdgeClasses, dict[str, int]]:
    layout = layout_signatures([*predicates, *why.predicates])
    signatures, of_row, counts = _distinct(_signatures(layout, rows, codes))
    classes = classify_signatures(layout, signatures, counts, predicates)
    unviewed = count_unviewed(layout, signatures, counts, classes.of_signature, why)
    return classes.of_signature[of_row], classes, unviewed


def _signatures(layout: SignatureLayout, rows: int, codes: Callable[[Word], Codes]) -> list[Codes]:
    """The columns of the signature; at least one, also where there are no atoms."""
    signatures = []
    for column in layout.columns:
        packed: Codes | None = None
        for word in reversed(column):
            packed = codes(word) if packed is None else packed * word.radix + codes(word)
        assert packed is not None
        signatures.append(packed)
    return signatures or [np.zeros(rows, np.int64)]


def _distinct(columns: Sequence[Codes]) -> tuple[Codes, NDArray[np.intp], NDArray[np.int64]]:
    """The distinct rows, which of them each row is, and how often each is there."""
    _, of_row = np.unique(columns[0], return_inverse=True)
    for column in columns[1:]:
        values, places = np.unique(column, return_inverse=True)
        _, of_row = np.unique(of_row * len(values) + places, return_inverse=True)
    _, first, counts = np.unique(of_row, return_index=True, return_counts=True)
    return np.column_stack([column[first] for column in columns]), of_row, counts
