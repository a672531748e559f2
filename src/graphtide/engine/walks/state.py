"""What the maintainer of a walk program keeps: an index of pairs, ordered rows, rows of
accumulators and state.

Arrays grow with the graph and with the size of batches. `block` is written anew where any of them,
or one of the graph's, was replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from mmap import ACCESS_COPY, mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import FIELD_TYPES
from graphtide.engine.growing import GrowingArray, with_spare
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.row_layout import Column
from graphtide.engine.walks.layout import WalkLayout
from graphtide.engine.walks.ordered import OrderedRows
from graphtide.kernels.blocks import Block
from graphtide.kernels.walks import records
from graphtide.kernels.walks.beside import LAST_GATHERING, ROOM
from graphtide.kernels.walks.pairs import FREE, copy_pairs, pairs_within, places_for
from graphtide.kernels.walks.records import Changed, PairIndex, Rows, Touched, Walking

Int64 = NDArray[np.int64]
_FIRST_BATCH = 64
_FIRST_REPORT = 1024


class WalkState:
    """All arrays of one maintainer; `counts` is shared with kernels."""

    def __init__(
        self,
        layout: WalkLayout,
        settings: Mapping[str, Any],
        *,
        pairs: bool,
        ordered: OrderedRows,
    ) -> None:
        self.layout, self._keeps_pairs, self.ordered = layout, pairs, ordered
        self.widths = {
            "sums": layout.sums_width.value(dict(settings)),
            "states": layout.state_width.value(dict(settings)),
            "globals": layout.globals_width.value(dict(settings)),
            "values": layout.values_width.value(dict(settings)),
        }
        self._settings = dict(settings)
        self._shapes = {column.item.name: self._shape(column) for column in layout.state}
        self.vertices = 0
        self.counts = np.zeros(records.COUNTS, np.int64)
        self.counts[records.SUMS_WIDTH] = self.widths["sums"]
        self.counts[records.STATE_WIDTH] = self.widths["states"]
        self.fault = np.zeros(3, np.int64)
        self.beside = _words(ROOM)
        self.table = np.full(places_for(0), FREE, np.int64)
        self._marks = GrowingArray(np.zeros(0, np.uint8))
        self._sums, self._states = GrowingArray(_words(0)), GrowingArray(_words(0))
        self.globals, self.values = _words(self.widths["globals"]), _words(self.widths["values"])
        self.reported = _words(_FIRST_REPORT)
        self._seats = GrowingArray(np.zeros((0, 2), np.int32))
        self.touched = _touched(0, self._seats.room[:, 1], self.widths)
        self.changed = _changed(_FIRST_BATCH, self._seats.room[:, 0])
        self._batch = _FIRST_BATCH
        self.block: Block | None = None

    @property
    def sums(self) -> Int64:
        """The accumulators of all vertices, as words."""
        return self._sums.view

    @property
    def states(self) -> Int64:
        """The state of all vertices, as words."""
        return self._states.view

    def fit(self, graph: ResidentGraph) -> None:
        """Have room for what the graph has now; vertices that come have nothing set."""
        if self.vertices != graph.vertices:
            self.resize(graph.vertices)
        edges = len(graph.adjacency.out.slot)
        if self._keeps_pairs and len(self._marks.room) < edges:
            self._marks.resize(len(self._marks.room))
            self._marks.reserve(edges)
            self.block = None

    def resize(self, vertices: int) -> None:
        """Have so many vertices."""
        self.vertices = vertices
        self._sums.resize(vertices * self.widths["sums"])
        self._states.resize(vertices * self.widths["states"])
        self.ordered.resize(vertices)
        self._seats.resize(vertices)
        slots, entry = self._seats.room.T
        if len(self.touched.vertex) < vertices:
            self.touched = _touched(with_spare(vertices), entry, self.widths)
        self.touched = self.touched._replace(entry=entry)
        self.changed = self.changed._replace(slots=slots)
        self.block = None

    def make_ready(self, batch: int) -> None:
        """Have room for a batch of so many edges, in the index and beside it."""
        if self.counts[records.GATHERED] > LAST_GATHERING:
            self.beside[:], self.counts[records.GATHERED] = 0, 0
        if batch > self._batch:
            self._batch = max(batch, 2 * self._batch)
            self.changed = _changed(self._batch, self._seats.room[:, 0])
            self.block = None
        if self._keeps_pairs:
            self.reserve_pairs(int(self.counts[records.USED]) + batch)

    def reserve_pairs(self, pairs: int) -> None:
        """Have places for so many pairs in all; pairs that are joined no more are left out."""
        if pairs <= pairs_within(len(self.table)):
            return
        larger = np.full(places_for(pairs + pairs // 16), FREE, np.int64)
        self.counts[records.USED] = copy_pairs(self.table, larger)
        self.table, self.block = larger, None

    def enlarge_report(self, words: int) -> None:
        """Have room for so many words of reported rows."""
        self.reported, self.block = _words(max(words, 2 * len(self.reported))), None

    def walking(self, graph: ResidentGraph) -> Walking:
        """What kernels take, but for properties and parameters."""
        return Walking(
            graph=graph.adjacency,
            pairs=PairIndex(self.table, self._marks.room),
            changed=self.changed,
            ordered=self.ordered.record,
            touched=self.touched,
            sums=rows_of(self._sums.room),
            states=rows_of(self._states.room),
            work=rows_of(_words(self.widths["states"])),
            globals=rows_of(self.globals),
            global_values=rows_of(self.values),
            reported=rows_of(self.reported),
            beside=self.beside,
            counts=self.counts,
            fault=self.fault,
        )

    def field(self, column: Column) -> NDArray[Any]:
        """A state field of every vertex, a view: numbers, or rows of them."""
        return self.field_of(self.states, column)

    def field_of(self, words: Int64, column: Column) -> NDArray[Any]:
        """The same in other rows of state; O(1)."""
        offset, dtype, length = self.shape(column)
        stride = 8 * self.widths["states"]
        count = 8 * words.size // stride
        shape: tuple[int, ...] = (count,)
        strides: tuple[int, ...] = (stride,)
        if length is not None:
            shape, strides = (count, length), (stride, 8)
        return np.ndarray(shape, dtype, words, offset, strides) if count else np.empty(shape, dtype)

    def shape(self, column: Column) -> tuple[int, Any, int | None]:
        """Where a field begins in a row, in bytes, its type, and its length if it is an array."""
        return self._shapes[column.item.name]

    def _shape(self, column: Column) -> tuple[int, Any, int | None]:
        """Where a field begins in a row, its type, and its length if it is an array.

        A truth value is the first byte of a word that is 0 or 1.
        """
        size = column.item.size
        length = self._settings[size] if isinstance(size, str) else size
        return 8 * column.offset.value(self._settings), FIELD_TYPES[column.item.type], length


def rows_of(words: Int64) -> Rows:
    """Words as ints and as floats."""
    return Rows(words, words.view(np.float64))


def _words(count: int) -> Int64:
    return np.zeros(count, np.int64)


def _touched(vertices: int, entry: NDArray[np.int32], widths: Mapping[str, int]) -> Touched:
    """Room for all vertices, of which most batches touch few."""
    return Touched(
        entry=entry,
        vertex=_unwritten(vertices, np.int32),
        doubt=_unwritten(vertices, np.uint8),
        sums=_unwritten(vertices * widths["sums"], np.int64),
    )


def _unwritten(count: int, dtype: Any) -> NDArray[Any]:
    """Memory of which only the pages that are written to cost anything.

    Arrays of NumPy may stand where larger ones stood before, for which it asked for pages of 2 MB:
    rows of one batch then took 2.5 bytes for each edge of com-dblp.
    """
    size = max(1, count * np.dtype(dtype).itemsize)
    return np.frombuffer(mmap(-1, size, access=ACCESS_COPY), dtype, count)


def _changed(batch: int, slots: NDArray[np.int32]) -> Changed:
    """Room for a batch: an edge has two ends, and can leave in six ways."""

    def ints(count: int) -> NDArray[np.int32]:
        return np.zeros(count, np.int32)

    def bytes_(count: int) -> NDArray[np.uint8]:
        return np.zeros(count, np.uint8)

    places = 1 << (2 * batch).bit_length()
    return Changed(
        slots=slots,
        vertex=ints(2 * batch),
        out_more=ints(2 * batch),
        into_more=ints(2 * batch),
        pairs_at=ints(2 * batch),
        partner=ints(2 * batch),
        left_start=ints(2 * batch + 1),
        left_vertex=ints(8 * batch),
        left_edge=ints(8 * batch),
        left_rank=ints(8 * batch),
        left_kind=bytes_(8 * batch),
        low=ints(batch),
        high=ints(batch),
        known=_words(batch),
        old=bytes_(batch),
        new=bytes_(batch),
        fresh_forward=ints(batch),
        fresh_backward=ints(batch),
        lost=bytes_(batch),
        place=ints(places),
        marked=ints(4 * batch),
        before=bytes_(4 * batch),
    )
