"""A graph in memory, its versions, and what follows it. No store, no Spark.

A graph has one current version, and every program on it has the results of that version. Advances
can be rolled back one by one, down to the graph as it was made. Threads may share a graph and its
programs: each call waits for the one before it.

`Pace` measures how fast a graph advances, at the cost of one entry per advance (0.2 microseconds):
the last thousand stay one by one, those before are added up by the second for a minute.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from operator import itemgetter
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.resident import ResidentGraph
from graphtide.model.columns import ColumnBatch, named_rows
from graphtide.model.errors import InputError
from graphtide.run.limits import UNBOUNDED, QuerySettings, Undo
from graphtide.run.live.batches import NOBODY, pair_words, repeated
from graphtide.run.live.edge_rows import ColumnNames
from graphtide.run.live.named_graph import NamedGraph, SavedGraph, restored_graph, saved_graph
from graphtide.run.live.results import GraphVertices
from graphtide.run.live.versions import Followers, GraphVersions
from graphtide.run.live.vertex_ids import number_vertices
from graphtide.run.table import Table
from graphtide.run.turns import CallLock, in_turn
from graphtide.run.views.snapshot import (
    Snapshot,
    ViewColumns,
    vertex_table,
)
from graphtide.run.views.sources import MemoryGraphSource, entering_vertices

if TYPE_CHECKING:
    from graphtide.engine.histories.settings import Histories
    from graphtide.engine.queries.landmark_settings import Landmarks
    from graphtide.run.queries.standing_queries import StandingQueries


KEPT = 1_000
"""Advances that are kept one by one."""

SECONDS = 60
"""Seconds that are kept added up."""

_RECENT = 10.0

Entry = tuple[float, int, float]
"""How many seconds an advance took, how many rows it brought and took, and when it was done."""


class Second(NamedTuple):
    """All advances that were done within one second of the clock."""

    at: int
    rows: int
    longest: float


class Pace:
    """The last advances of a graph. `entries` are appended to; call `fold` at `2 * KEPT` of them.

    Whoever calls has the graph's turn.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._folded = 0
        self._seconds: deque[Second] = deque(maxlen=SECONDS + 1)

    def note(self, began: float, rows: int) -> None:
        now = perf_counter()
        self.entries.append((now - began, rows, now))
        if len(self.entries) >= 2 * KEPT:
            self.fold()

    def promised(self, count: int) -> None:
        """Extend the time of the last `count` advances until now, when they reached the disk."""
        now, entries = perf_counter(), self.entries
        for at in range(max(0, len(entries) - count), len(entries)):
            seconds, rows, done = entries[at]
            entries[at] = seconds + now - done, rows, now

    def fold(self) -> None:
        """Add up all but the last advances that are kept."""
        count = max(0, len(self.entries) - KEPT)
        for second in _by_second(self.entries[:count]):
            self._add(second)
        del self.entries[:count]
        self._folded += count

    def told(self, *, latencies: bool = True) -> dict[str, Any]:
        """The pace as a page shows it; without latencies where this process only follows.

        Rows a second are those of the last ten seconds.
        """
        now = perf_counter()
        took = 1e3 * np.array([seconds for seconds, _, _ in self.entries[-KEPT:]])
        percentiles: list[float | None] = [None, None, None]
        if latencies and len(took):
            percentiles = [round(float(item), 4) for item in np.percentile(took, (50, 90, 99))]
        rows, longest = self._last_minute(int(now))
        return {
            "advances": self._folded + len(self.entries),
            "rows_a_second": round(self._recent_rate(now), 1),
            **dict(zip(("p50", "p90", "p99"), percentiles, strict=True)),
            "rows": rows,
            "longest": longest if latencies else [],
        }

    def _last_minute(self, now: int) -> tuple[list[int], list[float]]:
        rows, longest = [0] * SECONDS, [0.0] * SECONDS
        for second in (*self._seconds, *_by_second(self.entries)):
            at = second.at - now + SECONDS - 1
            if 0 <= at < SECONDS:
                rows[at] += second.rows
                longest[at] = max(longest[at], round(1e3 * second.longest, 4))
        return rows, longest

    def _recent_rate(self, now: float) -> float:
        """Rows a second, over the last ten seconds, or as long as there have been any."""
        entries, since = self.entries, now - _RECENT
        rows = sum(rows for _, rows, done in entries if done >= since)
        first = entries[0][2] - entries[0][0] if entries else now
        for second in islice(reversed(self._seconds), int(_RECENT) + 1):
            if second.at >= since:
                rows, first = rows + second.rows, min(first, float(second.at))
        return rows / max(now - max(first, since), 1.0)

    def _add(self, second: Second) -> None:
        seconds = self._seconds
        if seconds and seconds[-1].at == second.at:
            last = seconds.pop()
            second = Second(last.at, last.rows + second.rows, max(last.longest, second.longest))
        seconds.append(second)


def _by_second(entries: list[Entry]) -> list[Second]:
    """Advances added up by the second in which they were done, in their order."""
    if not entries:
        return []
    first, last = int(entries[0][2]), int(entries[-1][2])
    if first == last:  # As it is where advances take microseconds: all of it in C.
        rows, longest = sum(map(itemgetter(1), entries)), max(map(itemgetter(0), entries))
        return [Second(first, rows, longest)]
    found: dict[int, Second] = {}
    for seconds, rows, done in entries:
        at = int(done)
        known = found.get(at, Second(at, 0, 0.0))
        found[at] = Second(at, known.rows + rows, max(known.longest, seconds))
    return [*found.values()]


Int32 = NDArray[np.int32]


class MemoryGraph:
    """Vertices with ids of users' own, edges with properties, and versions of them."""

    _vertices_change: ClassVar[bool] = False
    """Whether a vertex that is there may get other values."""

    _undo: Undo = UNBOUNDED
    """What it keeps to roll back."""

    _histories: Histories | None = None
    """How queries are kept by histories; None where they are kept by their fixpoints."""

    _budget: int | None = None
    """How many bytes queries may take in all; None is any number."""

    _patience: float = 1.0
    """How many times as many edges as from scratch they look at, beside that, before they do."""

    _landmarks: Landmarks | None = None
    """The landmarks that bound paths which are computed anew."""

    def _build(self, source: MemoryGraphSource, simple: bool) -> None:
        rows, kept = source.rows, source.kept
        given_src, given_dst, *_ = rows.values.values()
        properties = dict(list(rows.values.items())[2:])
        ids, src, dst = number_vertices(given_src, given_dst, source.vertices.ids)
        if simple:
            _check_parallel(rows, src, dst, directed=source.directed)
        resident = ResidentGraph(
            len(ids), src, dst, properties, grows=True, directed=source.directed
        )
        known = ColumnNames(*source.names, tuple(properties))
        vertices = source.vertices.columns
        edges = NamedGraph(resident, ids, known, simple, vertices, kept)
        edges.timezone = source.timezone
        self._hold(edges)

    @classmethod
    def _of_source(cls, source: MemoryGraphSource, simple: bool) -> Self:
        graph = cls.__new__(cls)
        graph._build(source, simple)
        return graph

    @classmethod
    def _of_snapshot(
        cls, snapshot: Snapshot, rows: NDArray[np.int64], vertices: NDArray[np.int64]
    ) -> Self:
        """A graph of some edges and vertices of a version of another; these hold their ends."""
        graph = cls.__new__(cls)
        graph._hold(snapshot.part(rows, vertices))
        return graph

    def _hold(self, known: NamedGraph) -> None:
        self._turns, self._pace = CallLock("the graph"), Pace()
        self._put(known)

    def _put(self, known: NamedGraph) -> None:
        self._known = known
        self._names = known.names
        self._resident = known.resident
        self._vertices = GraphVertices(known.ids)
        self._followers = Followers()
        made = getattr(self, "_versions", None)
        version = 0 if made is None else made.current
        self._versions = GraphVersions(
            self._known, self._followers, self._turns, version, self._undo
        )
        self._asked: StandingQueries | None = None

    @property
    def _kept(self) -> pa.Table:
        """The table of edge columns besides numbers."""
        return self._known.edge_columns.table

    @property
    def _columns(self) -> ViewColumns:
        """What edges have besides numbers, and all that vertices have."""
        return ViewColumns(self._kept, self._known.vertex_columns.table)

    @property
    @in_turn
    def num_vertices(self) -> int:
        """How many vertices there are, those without edges included."""
        return self._resident.vertices

    @property
    @in_turn
    def num_edges(self) -> int:
        """How many edges are in the current version."""
        return int(self._resident.adjacency.out.live.sum())

    @property
    def directed(self) -> bool:
        """Whether edges lead from one vertex to another, and do not just join the two."""
        return self._resident.directed

    @property
    def _kind(self) -> str:
        return "graph" if self.directed else "undirected graph"

    @property
    @in_turn
    def version(self) -> int:
        """How many advances lie between the graph as it was made and the current version."""
        return self._versions.current

    @in_turn
    def vertices(self) -> Table:
        """The ids and properties of all vertices, in the order of results."""
        every = np.arange(self.num_vertices)
        return Table(vertex_table(self._known.ids, self._columns.vertices, every))

    @in_turn
    def edges(self) -> Table:
        """The edges of the current version: their number, ends and properties."""
        return Table(self._snapshot().edge_table(np.arange(self.num_edges)))

    @in_turn
    def ids(self, numbers: NDArray[Any]) -> pa.Array:
        """The ids of vertices by their numbers, which are their places in results."""
        places = np.asarray(numbers)
        if len(places) == 0:
            places = places.astype(np.int64)
        whole = places.ndim == 1 and places.dtype.kind in "iu"
        if not whole or ((places < 0) | (places >= self.num_vertices)).any():
            raise InputError(
                "there are no vertices with such numbers",
                hint=f"give whole numbers from 0 to {self.num_vertices - 1}",
            )
        return self._known.ids.taken(places)

    @in_turn
    def number(self, vertex: Any) -> int:
        """The number of a vertex, which is its place in results."""
        return self._vertices.number(vertex)

    @in_turn
    def _snapshot(self) -> Snapshot:
        """The current version, which shares nothing with the graph."""
        inside = self._resident.live_edges()
        numbers = self._resident.outside(inside)
        order = np.argsort(numbers)
        inside = inside[order]
        properties = {name: column[inside] for name, column in self._resident.properties.items()}
        ends = self._resident.ends(inside)
        ids, names = self._known.ids.copy(), self._names
        simple = self._known.simple
        kept, zone, directed = self._columns, self._known.timezone, self._resident.directed
        return Snapshot(
            *(numbers[order], *ends, properties, ids, names, simple, kept), zone, directed
        )

    @in_turn
    def advance(self, insert: Any = None, delete: Any = None, vertices: Any = None) -> None:
        """Go to the next version: edges in, edges out, and every program follows.

        Edges are rows `(src, dst, properties...)`, dicts, columns by name, a frame, or a list of
        edge numbers as in `edges()`. A deleted row may leave properties out: any edge between
        its ends will do, and of an undirected graph whichever end is named first. `vertices` lists
        vertices that enter, by their ids or in a table with a column `id` and their properties;
        others enter with the first edge that names them, and have no properties. All or nothing:
        what cannot be is refused, and nothing has changed.
        """
        self._advance(insert, delete, vertices)

    def _advance(self, insert: Any, delete: Any, vertices: Any) -> None:
        """`advance`, for a caller that already has the turn."""
        began, listed = perf_counter(), NOBODY
        if vertices is not None:
            changing = self._vertices_change
            listed = entering_vertices(self._known, vertices, may_change=changing)
        count = self._versions.advance(insert, delete, listed)
        self._pace.note(began, count)

    @in_turn
    def rollback(self) -> None:
        """Undo the last advance that has not been undone, at the cost of what it changed.

        As far as `undo` goes: by default the last 100 advances, within 256 MB.
        """
        self._versions.rollback()

    @in_turn
    def forget(self) -> None:
        """Let no advance so far be rolled back any more, and free the memory that this takes."""
        self._versions.forget()

    def _queries(self) -> StandingQueries:
        """All queries on the graph; they follow it from the first one on."""
        if self._asked is None or self._asked.failed:
            # Imported here: regular paths and their kernels, which programs do not need.
            from graphtide.run.queries.standing_queries import StandingQueries

            self._asked = StandingQueries(
                self._known,
                lambda: self._kept,
                self._versions.current,
                self._kept_by,
            )
            self._followers.add(self._asked, self)
        return self._asked

    @property
    def _kept_by(self) -> QuerySettings:
        return QuerySettings(self._budget, self._patience, self._histories, self._landmarks)

    def _keep_asking(self, asked: StandingQueries | None) -> None:
        """Move the queries to the vertices and edges that replace the old ones."""
        if asked is None:
            return
        self._asked = asked
        self._followers.add(asked, self)
        asked.move(self._known, self._versions.current)

    @in_turn
    def __getstate__(self) -> tuple[SavedGraph, ViewColumns]:
        """Pickled and copied as it is now: another graph, without programs and rollbacks."""
        return saved_graph(self._known), self._columns

    def __setstate__(self, saved: tuple[SavedGraph, ViewColumns]) -> None:
        graph, columns = saved
        self._hold(restored_graph(graph, columns.vertices, columns.edges))


def _check_parallel(rows: ColumnBatch, src: Int32, dst: Int32, *, directed: bool) -> None:
    twice = repeated(pair_words(src, dst, directed=directed))
    if twice.any():
        raise InputError(
            "a simple graph has no parallel edges",
            where=named_rows(np.flatnonzero(twice).tolist(), rows.row),
            hint="leave out simple=True, or one of them",
        )
