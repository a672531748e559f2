"""Which edges, or vertices, satisfy which predicates, by NumPy and Arrow alone.

What two Spark jobs do for a stored graph, in memory: features of endpoints are computed once per
vertex and taken by the edges, and the views are evaluated on the distinct signatures alone. Edges
are those of a graph in memory, or some of a stored graph, of which only the rows of these edges and
of their ends are read.

The codes of rows are those of `graphtide.spark.columns`, its twin: 0 where a property is missing or
the answer unknown; for a bucketing 1 + the number of cuts that the value reaches, for a flag 1
where its atom is false and 2 where it is true. Texts are compared once for each distinct text. NaN
is the largest float and equal to itself, and ints are compared with floats exactly.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.model.column_types import MEMORY_TYPES
from graphtide.model.delta import EdgeIds, no_edges
from graphtide.model.schema import PropertyType
from graphtide.plan import predicates as plan
from graphtide.plan.classes import EdgeClasses, classify_signatures, count_unviewed
from graphtide.plan.predicates import (
    ANY_EDGE,
    Predicate,
    PropertyRef,
    Unviewed,
    atoms_of,
    properties_of,
)
from graphtide.plan.signatures import (
    EDGE_NUMBER,
    VERTEX_NUMBER,
    Bucketing,
    Feature,
    SignatureLayout,
    Word,
    comparable,
    layout_signatures,
)
from graphtide.run.views.snapshot import Snapshot
from graphtide.store.graph import StoredGraph
from graphtide.store.tables import edge_table_rows, end_batches, vertex_table

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Columns = Callable[[plan.PropertyRef], pa.Array]
"""The values of a property, one a row, in the Arrow type of its type."""


def word_codes(word: Word, columns: Columns) -> Codes:
    """The codes of a word's features, packed into one number a row."""
    packed: Codes | None = None
    for feature in reversed(word.features):
        codes = feature_codes(feature, columns)
        packed = codes if packed is None else packed * feature.size + codes
    assert packed is not None
    return packed


def feature_codes(feature: Feature, columns: Columns) -> Codes:
    if isinstance(feature, Bucketing):
        column = columns(feature.item)
        return np.where(_missing(column), 0, 1 + _reached(column, feature))
    true, known = _answers(feature.atom, columns)
    return np.where(known, 1 + true.astype(np.int64), 0)


def _reached(column: pa.Array, feature: Bucketing) -> Codes:
    """How many cuts each value reaches; anything where it is missing."""
    if not feature.cuts:
        return np.zeros(len(column), np.int64)
    if feature.item.type is PropertyType.STRING:
        cuts = [str(cut) for cut in feature.cuts]
        return _by_text(column, lambda text: bisect_right(cuts, text))
    values = _comparable(column, feature.item.type)
    plain = np.array([comparable(cut) for cut in feature.cuts], values.dtype)
    return np.searchsorted(plain, values, side="right")


def _answers(atom: plan.Atom, columns: Columns) -> tuple[Mask, Mask]:
    """Where an atom that no cut decides is true, and where its answer is known."""
    match atom:
        case plan.Like(item, pattern):
            column, matches = columns(item), _pattern(pattern).fullmatch
            true = _by_text(column, lambda text: int(matches(text) is not None))
            return true.astype(np.bool_), ~_missing(column)
        case plan.Comparison(operator, left, plan.PropertyRef() as right):
            one, other = columns(left), columns(right)
            known = ~(_missing(one) | _missing(other))
            return _compared(operator, *_orders((left, one), (right, other))), known
    raise AssertionError(atom)


def _by_text(column: pa.Array, answer: Callable[[str], int]) -> Codes:
    """A number for each row by its text, worked out once a distinct text."""
    encoded = column.dictionary_encode()
    answers = np.array([answer(text) for text in encoded.dictionary.to_pylist()] or [0], np.int64)
    indices: NDArray[np.int32] = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
    return answers[indices]


def _pattern(pattern: str) -> re.Pattern[str]:
    """A pattern of `like` as a regular expression."""
    parts, letters = [], iter(pattern)
    for letter in letters:
        literal = next(letters) if letter == "\\" else None
        wild = {"%": ".*", "_": "."}.get(letter) if literal is None else None
        parts.append(wild or re.escape(literal or letter))
    return re.compile("".join(parts), re.DOTALL)


def _compared(operator: plan.Operator, less: Mask, equal: Mask) -> Mask:
    match operator:
        case plan.Operator.EQ:
            return equal
        case plan.Operator.NE:
            return ~equal
        case plan.Operator.LT:
            return less
        case plan.Operator.LE:
            return less | equal
        case plan.Operator.GT:
            return ~(less | equal)
        case plan.Operator.GE:
            return ~less


def _orders(
    left: tuple[plan.PropertyRef, pa.Array], right: tuple[plan.PropertyRef, pa.Array]
) -> tuple[Mask, Mask]:
    """Where the left value is less, and where both are equal."""
    (item, one), (against, other) = left, right
    if item.type is PropertyType.STRING:
        return _mask(pc.less(one, other)), _mask(pc.equal(one, other))
    ours, theirs = _comparable(one, item.type), _comparable(other, against.type)
    if item.type is against.type:
        return (
            _float_orders(ours, theirs) if ours.dtype.kind == "f" else _plain_orders(ours, theirs)
        )
    if item.type is PropertyType.INT:
        return _int_with_float(ours, theirs)
    less, equal = _int_with_float(theirs, ours)
    return ~(less | equal), equal


def _plain_orders(one: NDArray[Any], other: NDArray[Any]) -> tuple[Mask, Mask]:
    return one < other, one == other


def _float_orders(one: NDArray[Any], other: NDArray[Any]) -> tuple[Mask, Mask]:
    nan, other_nan = np.isnan(one), np.isnan(other)
    return (one < other) | (other_nan & ~nan), (one == other) | (nan & other_nan)


def _int_with_float(ints: NDArray[Any], floats: NDArray[Any]) -> tuple[Mask, Mask]:
    """Exact: doubles first; on a tie the float is whole, and the ints decide.

    A float of 2^63 ties with ints that round up to it, and is larger than all of them.
    """
    rounded = ints.astype(np.float64)
    tie, fits = rounded == floats, floats < 2.0**63
    whole = np.where(tie & fits, floats, 0.0).astype(np.int64)
    less = (rounded < floats) | np.isnan(floats) | (tie & (~fits | (ints < whole)))
    return less, tie & fits & (ints == whole)


def _missing(column: pa.Array) -> Mask:
    return _mask(column.is_null())


def _mask(answers: pa.Array) -> Mask:
    mask: Mask = pc.fill_null(answers, False).to_numpy(zero_copy_only=False)
    return mask


def _comparable(column: pa.Array, type_: PropertyType) -> NDArray[Any]:
    """Values that NumPy compares: dates as days and timestamps as microseconds since 1970."""
    match type_:
        case PropertyType.DATE:
            column = column.cast(pa.int32()).cast(pa.int64())
        case PropertyType.TIMESTAMP:
            column = column.cast(pa.int64())
        case PropertyType.BOOL:
            column = column.cast(pa.int64())
    values: NDArray[Any] = pc.fill_null(column, 0).to_numpy(zero_copy_only=False)
    return values


OfRow = NDArray[np.int32]


def edge_classes(
    snapshot: Snapshot | StoredEdgeRows, predicates: Sequence[Predicate]
) -> tuple[OfRow, EdgeClasses]:
    """The class of each edge, -1 where no predicate is true of it, and the classes."""
    return viewed_edges(snapshot, predicates, ANY_EDGE)[:2]


def viewed_edges(
    snapshot: Snapshot | StoredEdgeRows, predicates: Sequence[Predicate], why: Unviewed
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


class StoredEdgeRows:
    """Edges by their numbers, and the vertices that they join, in an order of their own.

    Vertices are read where they are asked for; of the edges, what `predicates` look at, if these
    are given.
    """

    def __init__(
        self,
        stored: StoredGraph,
        numbers: EdgeIds,
        predicates: Iterable[Predicate] | None = None,
    ) -> None:
        self._numbers, self._stored = numbers, stored
        self._schema = stored.schema
        columns = None if predicates is None else _columns_of(stored, predicates)
        self._edges = edge_table_rows(stored, numbers, columns)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def src(self) -> NDArray[Any]:
        """The place of each edge's source among the vertices."""
        return self._places[: len(self._numbers)]

    @property
    def dst(self) -> NDArray[Any]:
        """The place of each edge's target among the vertices."""
        return self._places[len(self._numbers) :]

    @property
    def _ends(self) -> NDArray[Any]:
        return self._joined[0]

    @property
    def _places(self) -> NDArray[Any]:
        return self._joined[1]

    @cached_property
    def _joined(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The vertices at the ends by number, sorted, and the place of each end among them."""
        ends = [self._edges.column(name).to_numpy() for name in ("_src", "_dst")]
        return np.unique(np.concatenate(ends), return_inverse=True)

    @cached_property
    def _vertices(self) -> pa.Table:
        return vertex_table(self._stored).take(pa.array(self._ends))

    def edge_values(self, item: PropertyRef) -> pa.Array:
        if item.owner != "edge":
            ends = self.src if item.owner == "src" else self.dst
            return self.vertex_values(item).take(pa.array(ends))
        names = self._edges.column_names
        if item.name == EDGE_NUMBER or (item.name == "id" and "id" not in names):
            return pa.array(self._numbers.astype(np.int64))
        return _column(self._edges, item, has_labels=bool(self._schema.edge_labels))

    def vertex_values(self, item: PropertyRef) -> pa.Array:
        """A property of each vertex, whichever end the predicate says it is."""
        if item.name == VERTEX_NUMBER:
            return pa.array(self._ends.astype(np.int64))
        if item.name == "id":
            return self._vertices.column("_id").combine_chunks().cast(MEMORY_TYPES[item.type])
        return _column(self._vertices, item, has_labels=bool(self._schema.vertex_labels))


def _columns_of(stored: StoredGraph, predicates: Iterable[Predicate]) -> list[str]:
    """The columns of the edges that predicates look at, with both ends."""
    items = {
        item
        for predicate in predicates
        for atom in atoms_of(predicate)
        for item in properties_of(atom)
        if item.owner == "edge"
    }
    known = {item.name for item in stored.schema.edge}
    names = {item.name for item in items if item.name in known}
    if stored.schema.edge_labels and any(item.name == "label" for item in items):
        names.add("_label")
    return ["_src", "_dst", *sorted(names)]


def ends_of(stored: StoredGraph, vertices: NDArray[np.integer]) -> EdgeIds:
    """The numbers of all edges that begin or end at some vertices, deleted ones included."""
    named = np.zeros(stored.vertices, np.bool_)
    named[vertices] = True
    met: list[EdgeIds] = [no_edges()]
    for first, src, dst in end_batches(stored):
        met.append(first + np.flatnonzero(named[src] | named[dst]))
    return np.concatenate(met).astype(stored.number_type)


def _column(table: pa.Table, item: PropertyRef, *, has_labels: bool) -> pa.Array:
    name = "_label" if item.name == "label" and has_labels else item.name
    return table.column(name).combine_chunks().cast(MEMORY_TYPES[item.type])
