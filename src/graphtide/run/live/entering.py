"""Brings a batch that has been read into a graph in memory: as a whole, or not at all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.kernels.graph.batches import MISSING, UNKNOWN
from graphtide.kernels.graph.flips import Delta
from graphtide.kernels.graph.matching import DST, SRC, Batch
from graphtide.run.live.batches import NO_SUCH_EDGES, Side, refuse
from graphtide.run.live.edge_rows import EdgeRows
from graphtide.run.live.given_ids import Ids
from graphtide.run.live.id_looks import plain_id
from graphtide.run.live.known_edges import KnownEdges
from graphtide.run.live.vertex_columns import NO_TABLE

Int64 = NDArray[np.int64]
_NO_TABLE = _NO_COLUMNS = np.empty(0, np.int64)


class ChangedVertices(NamedTuple):
    """Vertices whose values change, by number, and their new values as columns."""

    numbers: Int64
    rows: pa.Table


class Advance(NamedTuple):
    """What undoes an advance: its delta, and how many vertices and edges there were before.

    Where vertices got other values, which, and the table of their values before.
    """

    delta: Delta
    vertices: int
    edges: int
    changed: ChangedVertices | None = None
    before: pa.Table = NO_TABLE

    @property
    def names(self) -> list[str]:
        """The properties of vertices that have other values."""
        return [] if self.changed is None else self.changed.rows.column_names


class EnteringVertices(NamedTuple):
    """The vertices that an advance lists, with a row of properties each."""

    ids: Ids
    rows: pa.Table
    changed: ChangedVertices | None = None


NOBODY = EnteringVertices(np.empty(0, np.int64), NO_TABLE)


def bring_in(
    known: KnownEdges, insert: Side, delete: Side, listed: EnteringVertices = NOBODY
) -> Advance:
    """Bring the graph to its next version; InputError, and nothing changed, if it cannot be."""
    before = known.resident.vertices, known.resident.edges
    delta = _empty_delta(insert, delete)
    try:
        if len(listed.ids):
            _append(known, tuple(map(plain_id, listed.ids.tolist())), listed.rows)
        ended = _tried(known, insert, delete, delta)
        if ended == UNKNOWN:
            _check_deleted_ends(insert, delete, delta)
            _add_vertices(known, insert, delta)
            ended = _tried(known, insert, delete, delta)
        if ended == MISSING:
            assert delete.rows is not None
            refuse(delete.rows, delta.deleted < 0, *NO_SUCH_EDGES)
    except BaseException:
        _forget(known, *before)
        raise
    done = Advance(delta, *before)
    if known.simple:
        _check_simple(known, insert, done)
    if listed.changed is None:
        return done
    earlier = known.vertex_columns.change(*listed.changed)
    return done._replace(changed=listed.changed, before=earlier)


def take_out(known: KnownEdges, done: Advance) -> None:
    """Bring the graph back to the version before an advance."""
    if done.changed is not None:
        known.vertex_columns.restore(done.before, done.changed.numbers)
    known.resident.flip(inserted=done.delta.deleted, deleted=done.delta.inserted)
    _forget(known, done.vertices, done.edges)


def _forget(known: KnownEdges, vertices: int, edges: int) -> None:
    known.resident.forget(vertices, edges)
    known.ids.truncate(vertices)
    known.vertex_columns.truncate(vertices)


def _empty_delta(insert: Side, delete: Side) -> Delta:
    """A delta that the kernel fills in; it already has the edges that the user gave by number."""
    come, both = insert.size, insert.size + delete.size
    room = np.empty(3 * both, np.int32)
    inserted = insert.edges if insert.rows is None else room[:come]
    deleted = delete.edges if delete.rows is None else room[come:both]
    return Delta(inserted, deleted, room[both : 2 * both], room[2 * both :])


def _tried(known: KnownEdges, insert: Side, delete: Side, delta: Delta) -> int:
    """Have the kernel try the batch once, and return how that ended."""
    table = known.ids.table if insert.whole and delete.whole else None
    if table is None:
        table = _NO_TABLE
        for side in (insert, delete):
            _put_numbers(known, side)
    of = _NO_COLUMNS if delete.rows is None else known.columns_of(delete.rows)
    return known.resident.bring_in(table, Batch(insert.lines, delete.lines, of), delta)


def _put_numbers(known: KnownEdges, side: Side) -> None:
    """Write the numbers of both ends for the kernel, where only Python can look up the ids."""
    rows = side.rows
    if rows is not None:
        if rows.lines is not None:  # Numbers take the place of ids there, and not in the rows.
            rows.src, rows.dst, rows.lines = rows.src.copy(), rows.dst.copy(), None
        side.lines[SRC] = known.ids.numbers(rows.src)
        side.lines[DST] = known.ids.numbers(rows.dst)


def _check_deleted_ends(insert: Side, delete: Side, delta: Delta) -> None:
    """Refuse deleted rows that name vertices which are not there."""
    if delete.rows is not None:
        first = 0 if insert.rows is None else len(insert.rows)
        unknown = np.minimum(delta.sources, delta.targets)[first : first + len(delete.rows)] < 0
        refuse(delete.rows, unknown, "name vertices that are not there", "check the ids")


def _add_vertices(known: KnownEdges, insert: Side, delta: Delta) -> None:
    """Append a vertex for each unknown id of inserted rows, in the order of the rows."""
    rows = insert.rows
    assert rows is not None
    ends = delta.sources[: len(rows)], delta.targets[: len(rows)]
    new = {
        plain_id(column[at]): None
        for at in np.flatnonzero(np.minimum(*ends) < 0).tolist()
        for column, numbers in zip((rows.src, rows.dst), ends, strict=True)
        if numbers[at] < 0
    }
    _append(known, tuple(new))


def _append(known: KnownEdges, ids: tuple[Any, ...], rows: pa.Table | None = None) -> None:
    """Append vertices without edges; `rows` holds their properties."""
    known.ids.check_new(ids)
    known.resident.append_vertices(len(ids))
    known.ids.append(ids)
    known.vertex_columns.append(len(ids), rows)


def _check_simple(known: KnownEdges, insert: Side, done: Advance) -> None:
    """Undo and refuse an advance that has put two edges between the same ends."""
    parallel = known.resident.parallel(done.delta)
    if not parallel.any():
        return
    count = len(done.delta.inserted)
    src, dst = done.delta.sources[:count], done.delta.targets[:count]
    pairs = pair_words(src, dst, directed=known.resident.directed)
    twice = np.ones(count, np.bool_)
    twice[np.unique(pairs, return_index=True)[1]] = False
    rows = insert.rows or _rows_of(known, src, dst)
    try:
        refuse(rows, twice, "are parallel to another one", "the graph was made with simple=True")
        hint = "delete them in the same advance"
        refuse(rows, parallel, "name edges that are already there", hint)
    finally:
        take_out(known, done)


def pair_words(
    src: NDArray[np.int32], dst: NDArray[np.int32], *, directed: bool
) -> NDArray[np.int64]:
    """A number for each edge, the same for parallel ones: whichever way, where edges have none."""
    if not directed:
        src, dst = np.minimum(src, dst), np.maximum(src, dst)
    return src.astype(np.int64) << 32 | dst


def _rows_of(known: KnownEdges, src: NDArray[np.int32], dst: NDArray[np.int32]) -> EdgeRows:
    """Edges that the user gave by number, as rows that an error can show."""
    ids = [
        np.fromiter((known.ids[n] for n in end.tolist()), object, len(end)) for end in (src, dst)
    ]
    return EdgeRows("insert", ids[0], ids[1], {})
