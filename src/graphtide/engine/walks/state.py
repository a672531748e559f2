"""The arrays of the maintainer of a walk program: pairs, ordered rows, accumulators and state.

Arrays grow with the graph and with the size of batches. `block` is written anew where any of them,
or one of the graph's, was replaced.

Ordered rows are made for a version and follow as edges come and go: 8 bytes an edge and direction,
of which up to half as many again are spare, and 32 bytes a vertex and direction; for each property
that walks bound, and nothing for programs that bound none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from mmap import ACCESS_COPY, mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.growing import GrowingArray, with_spare
from graphtide.engine.inputs import FIELD_TYPES, edge_array
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.rows import RowColumn
from graphtide.engine.walks.layout import WalkLayout
from graphtide.kernels.blocks import Block
from graphtide.kernels.walks import records
from graphtide.kernels.walks.ordered import (
    BEGIN,
    BOUNDS,
    END,
    FREE_ROOMS,
    INTO_ROW,
    LACKING,
    MOST,
    MOVED,
    NOBODY,
    OUT_ROW,
    POOL_WORDS,
    TOP,
    lay_rows,
    move_rows,
)
from graphtide.kernels.walks.pairs import FREE, copy_pairs, pairs_within, places_for
from graphtide.kernels.walks.records import (
    BatchChanges,
    Ordered,
    PairIndex,
    TouchedVertices,
    Walking,
    WordRows,
)
from graphtide.kernels.walks.versions import LAST_GATHERING, ROOM
from graphtide.plan.walk_explain import WalkFacts

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Words = Callable[[], Int64]
"""Where all that kernels work with is; asked for anew where an array was replaced."""

PATIENCE = 64
"""Edges may move so many entries each before they are sorted. 25,000 that come to a row of 100,000
in no order would move a billion; sorted, they move each entry once."""
_SPARE = 1024
_WASTE = 3
"""So many times as large as all entries a pool may be before its free rooms are given up."""
_NO_END = np.iinfo(np.int64).max


class OrderedRows:
    """All rows of one maintainer; `some` says whether the program has any."""

    def __init__(self, graph: ResidentGraph, facts: WalkFacts, kernels: Any, words: Words) -> None:
        self.some = bool(facts.ordered)
        self._graph, self._kernels, self._words = graph, kernels, words
        types = dict(facts.properties)
        self._properties = [(name, types[name]) for name in facts.ordered]
        self._width = 2 * len(facts.ordered)
        self._bounds = GrowingArray(np.zeros(0, np.int64))
        self._entries = np.zeros(0, np.int64)
        self._pool = np.zeros(POOL_WORDS, np.int64)
        self._widest = np.zeros(len(facts.ordered), np.float64)
        self.highest, self._before = np.full((2, len(facts.ordered)), NOBODY, np.int64)
        """Of each property, the edge with the last place of all; whoever undoes puts it back: its
        number may then be that of another edge."""
        self.replaced = False
        """Whether arrays were replaced since the caller last set it to False."""

    @property
    def record(self) -> Ordered:
        extents = self._widest, self.highest, self._before
        return Ordered(self._bounds.room, self._entries, self._pool, *extents)

    def resize(self, vertices: int) -> None:
        """Change the number of vertices; rows of vertices that go are empty by then."""
        before = self._bounds.length
        self._bounds.resize(BOUNDS * vertices * self._width)
        self._bounds.view[before:] = 0

    def build(self) -> None:
        """Sort the edges of the graph's version into rows. O(edges log edges)."""
        live = self._graph.live_edges()
        ends = self._graph.ends(live)
        self._entries = np.empty((len(live) + len(live) // 8) * self._width + _SPARE, np.int64)
        self.replaced = True
        self._pool[TOP], self._pool[MOST], self._pool[FREE_ROOMS:] = 0, _NO_END, 0
        self.highest[:] = NOBODY
        for number, (name, type_) in enumerate(self._properties):
            lay_rows(self._words(), self._width, number)
            keys = edge_array(self._graph, name, type_)
            order = np.lexsort((live, keys[live]))
            given = live[order], ends[0][order], ends[1][order]
            for side in (OUT_ROW, INTO_ROW):
                self._kernels.enter_ordered(self._words(), number, side, *self._rows(side, given))

    def begin_batch(self) -> None:
        """Let kernels know the highest edges of the version before."""
        self._before[:] = self.highest

    def enter(self, edges: Int32, sources: Int32, targets: Int32) -> None:
        """Take edges into their rows.

        O(1) an edge at the end of its rows, and the entries behind it elsewhere; where that is
        much, the rows of the edges, each once.
        """
        for number in range(len(self._properties) if len(edges) else 0):
            self._change(self._kernels.enter_ordered, number, (edges, sources, targets))

    def leave(self, edges: Int32, sources: Int32, targets: Int32) -> None:
        """Take edges out of their rows, at the same cost at either end."""
        for number in range(len(self._properties) if len(edges) else 0):
            self._change(self._kernels.leave_ordered, number, (edges, sources, targets))

    def _change(self, kernel: Any, number: int, given: tuple[Int32, Int32, Int32]) -> None:
        for side in (OUT_ROW, INTO_ROW):
            self._change_side(kernel, (number, side), self._rows(side, given))

    def _change_side(
        self, kernel: Any, which: tuple[int, int], given: tuple[Int32, Int32, Int32]
    ) -> None:
        (edges, near, far), pool = given, self._pool
        pool[MOVED], pool[MOST] = 0, PATIENCE * (len(edges) + PATIENCE)
        while (taken := kernel(self._words(), *which, edges, near, far)) < len(edges):
            edges, near, far = edges[taken:], near[taken:], far[taken:]
            if pool[LACKING]:
                self._reserve()
                continue
            keys = edge_array(self._graph, *self._properties[which[0]])
            order = np.lexsort((edges, keys[edges], near))
            edges, near, far = edges[order], near[order], far[order]
            pool[MOST] = _NO_END

    def _reserve(self) -> None:
        """Have as many words free at the end of the pool as a kernel looked for in vain.

        A pool that is mostly free rooms is taken over without them. Any other is doubled: what is
        not written to costs no memory.
        """
        used, more = int(self._pool[TOP]), int(self._pool[LACKING])
        self._pool[LACKING] = 0
        bounds = self._bounds.view.reshape(-1, BOUNDS)
        total = int((bounds[:, END] - bounds[:, BEGIN]).sum())
        if used > _WASTE * total + _SPARE:
            larger = np.empty(2 * (total + more) + _SPARE, np.int64)
            move_rows(self._words(), larger, len(bounds))
        else:
            larger = np.empty(2 * (used + more) + _SPARE, np.int64)
            larger[:used] = self._entries[:used]
        self._entries, self.replaced = larger, True

    def _rows(self, side: int, given: tuple[Int32, Int32, Int32]) -> tuple[Int32, Int32, Int32]:
        """Edges with their near ends and their far ends; a loop of an undirected graph is in the
        row of out-edges alone.
        """
        edges, sources, targets = given
        if side == OUT_ROW:
            return edges, sources, targets
        if not self._graph.directed and (loops := sources == targets).any():
            edges, sources, targets = edges[~loops], sources[~loops], targets[~loops]
        return edges, targets, sources


_FIRST_BATCH = 64
_FIRST_REPORT = 1024
_ENTRIES = 8
"""Entries of the journal for an edge of a batch: five at most, for marks and a pair. The rest of
64 edges is room for what belongs to no edge, but for globals."""


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
        self.touched = _touched(0, self._seats.room[:, 1])
        self.changed = _changed(_FIRST_BATCH, self._seats.room[:, 0])
        self._batch = _FIRST_BATCH
        self._journal = _words(0)
        self.block: Block | None = None

    @property
    def sums(self) -> Int64:
        return self._sums.view

    @property
    def states(self) -> Int64:
        return self._states.view

    @property
    def journal(self) -> Int64:
        """What the last advance replaced: what and where, then the old word, again and again."""
        return self._journal[: self.counts[records.JOURNALED]]

    def fit(self, graph: ResidentGraph) -> None:
        """Make room for what the graph has now; vertices that come have zeros."""
        if self.vertices != graph.vertices:
            self.resize(graph.vertices)
        edges = len(graph.adjacency.out.slot)
        if self._keeps_pairs and len(self._marks.room) < edges:
            self._marks.resize(len(self._marks.room))
            self._marks.reserve(edges)
            self.block = None

    def resize(self, vertices: int) -> None:
        """Change the number of vertices."""
        self.vertices = vertices
        self._sums.resize(vertices * self.widths["sums"])
        self._states.resize(vertices * self.widths["states"])
        self.ordered.resize(vertices)
        self._seats.resize(vertices)
        slots, entry = self._seats.room.T
        if len(self.touched.vertex) < vertices:
            self.touched = _touched(with_spare(vertices), entry)
        self.touched = self.touched._replace(entry=entry)
        self.changed = self.changed._replace(slots=slots)
        self.block = None
        self._make_journal()

    def make_ready(self, batch: int) -> None:
        """Have room for a batch of so many edges, in the index and beside it."""
        if self.counts[records.GATHERED] > LAST_GATHERING:
            self.beside[:], self.counts[records.GATHERED] = 0, 0
        if batch > self._batch:
            self._batch = max(batch, 2 * self._batch)
            self.changed = _changed(self._batch, self._seats.room[:, 0])
            self.block = None
            self._make_journal()
        if self._keeps_pairs:
            self.reserve_pairs(int(self.counts[records.USED]) + batch)

    def _make_journal(self) -> None:
        """Have a journal with room for all rows of vertices and the largest batch so far."""
        rows = len(self.touched.vertex) * (self.widths["sums"] + self.widths["states"])
        entries = rows + self.widths["globals"] + _ENTRIES * self._batch
        if len(self._journal) < 2 * entries:
            self._journal, self.block = _unwritten(2 * entries, np.int64), None

    def reserve_pairs(self, pairs: int) -> None:
        """Make room for so many pairs in all, and drop pairs that are joined no more."""
        if pairs <= pairs_within(len(self.table)):
            return
        larger = np.full(places_for(pairs + pairs // 16), FREE, np.int64)
        self.counts[records.USED] = copy_pairs(self.table, larger)
        self.table, self.block = larger, None

    def enlarge_report(self, words: int) -> None:
        """Make room for so many words of reported rows."""
        self.reported, self.block = _words(max(words, 2 * len(self.reported))), None

    def walking(self, graph: ResidentGraph) -> Walking:
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
            journal=self._journal,
            beside=self.beside,
            counts=self.counts,
            fault=self.fault,
        )

    def field(self, column: RowColumn) -> NDArray[Any]:
        """A state field of every vertex, a view: numbers, or rows of them."""
        return self.field_of(self.states, column)

    def field_of(self, words: Int64, column: RowColumn) -> NDArray[Any]:
        """A state field in other rows of state; O(1)."""
        offset, dtype, length = self.shape(column)
        stride = 8 * self.widths["states"]
        count = 8 * words.size // stride
        shape: tuple[int, ...] = (count,)
        strides: tuple[int, ...] = (stride,)
        if length is not None:
            shape, strides = (count, length), (stride, 8)
        return np.ndarray(shape, dtype, words, offset, strides) if count else np.empty(shape, dtype)

    def shape(self, column: RowColumn) -> tuple[int, Any, int | None]:
        """Where a field begins in a row, in bytes, its type, and its length if it is an array."""
        return self._shapes[column.item.name]

    def _shape(self, column: RowColumn) -> tuple[int, Any, int | None]:
        """Where a field begins in a row, its type, and its length if it is an array.

        A truth value is the first byte of a word that is 0 or 1.
        """
        size = column.item.size
        length = self._settings[size] if isinstance(size, str) else size
        return 8 * column.offset.value(self._settings), FIELD_TYPES[column.item.type], length


def rows_of(words: Int64) -> WordRows:
    """The same words as ints and as floats."""
    return WordRows(words, words.view(np.float64))


def _words(count: int) -> Int64:
    return np.zeros(count, np.int64)


def _touched(vertices: int, entry: NDArray[np.int32]) -> TouchedVertices:
    """Room for all vertices, of which most batches touch few."""
    return TouchedVertices(
        entry=entry,
        vertex=_unwritten(vertices, np.int32),
        doubt=_unwritten(vertices, np.uint8),
    )


def _unwritten(count: int, dtype: Any) -> NDArray[Any]:
    """Memory of which only the pages that are written to cost anything.

    Arrays of NumPy may stand where larger ones stood before, for which it asked for pages of 2 MB:
    rows of one batch then took 2.5 bytes for each edge of com-dblp.
    """
    size = max(1, count * np.dtype(dtype).itemsize)
    return np.frombuffer(mmap(-1, size, access=ACCESS_COPY), dtype, count)


def _changed(batch: int, slots: NDArray[np.int32]) -> BatchChanges:
    """Room for a batch: an edge has two ends, and can leave in six ways."""

    def ints(count: int) -> NDArray[np.int32]:
        return np.zeros(count, np.int32)

    def bytes_(count: int) -> NDArray[np.uint8]:
        return np.zeros(count, np.uint8)

    places = 1 << (2 * batch).bit_length()
    return BatchChanges(
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
    )
