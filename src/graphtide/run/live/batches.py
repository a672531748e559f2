"""A batch of inserts and deletes: read and checked, then brought into the graph as a whole.

`read_insert` and `read_delete` turn rows into two lines of ids and a line of words for each
property, which is what the kernel in `kernels/graph/batches.py` takes; edge numbers of users become
inside numbers. Reading changes nothing. `bring_in` then brings a graph to its next version, or
leaves it as it was and raises an InputError that names the rows at fault; `take_out` undoes it.

Within one advance, deletions are applied before insertions. Programs that follow the graph are no
concern of this module: see `versions`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.engine.maintainer import held_bytes
from graphtide.kernels.graph.batches import DST, FIRST_WORD, MISSING, SRC, UNKNOWN, Batch
from graphtide.kernels.graph.flips import Delta
from graphtide.model.columns import ColumnBatch, named_rows, read_columns
from graphtide.model.delta import no_edges
from graphtide.model.errors import InputError
from graphtide.run.live.edge_rows import (
    NO_SUCH_EDGES,
    check_edge_numbers,
    edge_numbers,
    refuse,
    typed_edges,
)
from graphtide.run.live.ids import Ids, plain_id
from graphtide.run.live.named_edges import names_texts, numbers_by_texts
from graphtide.run.live.named_graph import NO_TABLE, NamedGraph
from graphtide.run.live.vertex_ids import Int32

Int64 = NDArray[np.int64]

_KINDS = {"b": "truth values", "i": "whole numbers", "f": "numbers with fractions"}
_NO_EDGES = no_edges()
_INT = np.dtype(np.int64)
_NO_WORDS = np.empty(0, np.int64)
_NO_LINES = np.empty((FIRST_WORD, 0), np.int64)


class Side(NamedTuple):
    """One side of a batch, inserts or deletes: edges by inside number, or else rows.

    `lines` is what a kernel takes of rows: the ids of both ends, if they are `whole` numbers, and a
    line of words for each property that the rows give.
    """

    edges: Int32 = _NO_EDGES
    rows: ColumnBatch | None = None
    lines: Int64 = _NO_LINES
    whole: bool = True

    @property
    def size(self) -> int:
        return len(self.edges if self.rows is None else self.rows)


NOTHING = Side()


def read_insert(known: NamedGraph, given: Any) -> Side:
    """Read the inserts of a batch; rows must give every property, in the graph's own type."""
    numbers = edge_numbers("insert", given)
    if numbers is not None:
        return Side(_flipped_numbers(known, numbers, "insert"))
    given_rows = read_columns("insert", given, known.layout)
    check_properties(known, given_rows)
    rows = typed_edges(known.edge_columns.for_programs(given_rows), known.names)
    ends = {name: rows[name] for name in (known.names.src, known.names.dst)}
    rows.values = ends | {
        name: _as_stored(name, rows.values.get(name, _NO_EDGES), dtype)
        for name, dtype in known.dtypes
    }
    known.edge_columns.put(given_rows, known.resident.edges)
    return _side(rows)


def check_properties(known: NamedGraph, rows: ColumnBatch) -> None:
    """Refuse inserted rows without a value for a property that programs read."""
    for name in known.names.properties:
        if name not in rows and len(rows):
            raise InputError(
                f"insert has no value for the property '{name}'",
                hint=f"a row is {known.layout}",
            )


def read_delete(known: NamedGraph, given: Any, what: str = "delete") -> Side:
    """Read the deletes of a batch; rows may leave properties out. Errors call the batch `what`."""
    numbers = edge_numbers(what, given)
    if numbers is None:
        given_rows = read_columns(what, given, known.layout)
        if names_texts(known, given_rows):
            numbers = numbers_by_texts(known, given_rows)
    if numbers is not None:
        return Side(_flipped_numbers(known, numbers, what))
    rows = typed_edges(given_rows, known.names)
    for name in list(rows.values)[2:]:
        dtype = known.resident.dtypes[name]
        if rows[name].dtype != dtype:
            rows.values[name] = _comparable(rows, rows[name], dtype)
    return _side(rows)


def _side(rows: ColumnBatch) -> Side:
    """Rows with their lines of words for the kernel; a float becomes the word of its bits."""
    src, dst, *properties = rows.values.values()
    words = [item if item.dtype.kind == "b" else item.view(_INT) for item in properties]
    whole = src.dtype.kind == dst.dtype.kind == "i"
    ends = (src, dst) if whole else np.empty((FIRST_WORD, len(rows)), _INT)
    return Side(_NO_EDGES, rows, np.array((*ends, *words), _INT), whole)


def _as_stored(name: str, given: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert a property of inserted rows to the graph's type; refuse if a value would change."""
    if given.dtype == dtype:
        return np.ascontiguousarray(given)
    if not _fits(given, dtype):
        lacks = given.dtype.kind == "f" and np.isnan(given).any()
        raise InputError(
            f"insert: the property '{name}' holds {_KINDS[dtype.kind]}, "
            f"and the rows give {'a missing value' if lacks else _KINDS[given.dtype.kind]}",
            hint="give values of the same type"
            + (", or make the graph with one that is missing" if lacks else ""),
        )
    return given.astype(dtype)


def _fits(given: NDArray[Any], dtype: np.dtype[Any]) -> bool:
    if not len(given):
        return True
    if dtype.kind == "f":
        return given.dtype.kind == "i"
    whole = dtype.kind == "i" and given.dtype.kind == "f"
    return whole and bool((given == np.floor(given)).all() and (abs(given) < 2**53).all())


def _comparable(rows: ColumnBatch, given: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert a property of deleted rows to the graph's type; refuse what no edge can have."""
    with np.errstate(invalid="ignore"):
        converted = given.astype(dtype)
        if dtype.kind != "f" or given.dtype.kind == "i":
            refuse(rows, converted.astype(given.dtype) != given, *NO_SUCH_EDGES)
    return converted


def _flipped_numbers(known: NamedGraph, numbers: Int64, what: str) -> Int32:
    """The inside numbers of edges that the user names by their numbers in `graph.edges()`."""
    resident = known.resident
    outside = (numbers < 0) | (numbers >= resident.edges)
    check_edge_numbers(what, numbers, outside, "of no edge")
    check_edge_numbers(what, numbers, repeated(numbers), "listed twice")
    inside = resident.inside(numbers)
    at = np.flatnonzero(resident.are_live(inside) == (what == "insert"))
    if len(at):
        state = "already there" if what == "insert" else "not there"
        raise InputError(
            f"{what} has edges that are {state}",
            where=named_rows(
                at.tolist(), lambda row: f"edge {numbers[row]} {known.text(int(inside[row]))}"
            ),
        )
    return inside


class ChangedVertices(NamedTuple):
    """Vertices whose values change, by number, and their new values as columns."""

    numbers: Int64
    rows: pa.Table


_ADVANCE_BYTES = 700
"""What Python's objects take of an advance without rows."""


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
    def nbytes(self) -> int:
        """The memory that it keeps; counted part by part it took 7 microseconds of an advance."""
        arrays = sum(part.nbytes for part in self.delta)
        return _ADVANCE_BYTES + arrays + (held_bytes(self[3:]) if self.changed is not None else 0)

    @property
    def names(self) -> list[str]:
        return [] if self.changed is None else self.changed.rows.column_names


class EnteringVertices(NamedTuple):
    """The vertices that an advance lists, with a row of properties each."""

    ids: Ids
    rows: pa.Table
    changed: ChangedVertices | None = None


NOBODY = EnteringVertices(np.empty(0, np.int64), NO_TABLE)


def bring_in(
    known: NamedGraph, insert: Side, delete: Side, listed: EnteringVertices = NOBODY
) -> Advance:
    """Bring the graph to its next version; InputError, and nothing changed, if it cannot be."""
    before = known.resident.vertices, known.resident.edges
    delta = _empty_delta(insert, delete)
    try:
        if len(listed.ids):
            _append(known, tuple(map(plain_id, listed.ids.tolist())), listed.rows)
        ended = _apply_once(known, insert, delete, delta)
        if ended == UNKNOWN:
            _check_deleted_ends(insert, delete, delta)
            _add_vertices(known, insert, delta)
            ended = _apply_once(known, insert, delete, delta)
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


def take_out(known: NamedGraph, done: Advance) -> None:
    """Bring the graph back to the version before an advance."""
    if done.changed is not None:
        known.vertex_columns.restore(done.before, done.changed.numbers)
    known.resident.flip(inserted=done.delta.deleted, deleted=done.delta.inserted)
    _forget(known, done.vertices, done.edges)


def _forget(known: NamedGraph, vertices: int, edges: int) -> None:
    known.resident.forget(vertices, edges)
    known.ids.truncate(vertices)
    known.vertex_columns.truncate(vertices)


def _empty_delta(insert: Side, delete: Side) -> Delta:
    """An empty delta for the kernel to fill; it has the edges that users gave by number."""
    come, both = insert.size, insert.size + delete.size
    room = np.empty(3 * both, np.int32)
    inserted = insert.edges if insert.rows is None else room[:come]
    deleted = delete.edges if delete.rows is None else room[come:both]
    return Delta(inserted, deleted, room[both : 2 * both], room[2 * both :])


def _apply_once(known: NamedGraph, insert: Side, delete: Side, delta: Delta) -> int:
    table = known.ids.table if insert.whole and delete.whole else None
    if table is None:
        table = _NO_WORDS
        for side in (insert, delete):
            _put_numbers(known, side)
    of = _NO_WORDS if delete.rows is None else known.columns_of(delete.rows)
    return known.resident.bring_in(table, Batch(insert.lines, delete.lines, of), delta)


def _put_numbers(known: NamedGraph, side: Side) -> None:
    """Put vertex numbers in place of ids: the kernel looks up whole numbers only."""
    rows = side.rows
    if rows is not None:
        for line, ids in zip((SRC, DST), rows.values.values(), strict=False):
            side.lines[line] = known.ids.numbers(ids)


def _check_deleted_ends(insert: Side, delete: Side, delta: Delta) -> None:
    if delete.rows is not None:
        first = 0 if insert.rows is None else len(insert.rows)
        unknown = np.minimum(delta.sources, delta.targets)[first : first + len(delete.rows)] < 0
        refuse(delete.rows, unknown, "name vertices that are not there", "check the ids")


def _add_vertices(known: NamedGraph, insert: Side, delta: Delta) -> None:
    rows = insert.rows
    assert rows is not None
    ends = delta.sources[: len(rows)], delta.targets[: len(rows)]
    new = {
        plain_id(column[at]): None
        for at in np.flatnonzero(np.minimum(*ends) < 0).tolist()
        for column, numbers in zip(rows.values.values(), ends, strict=False)
        if numbers[at] < 0
    }
    _append(known, tuple(new))


def _append(known: NamedGraph, ids: tuple[Any, ...], rows: pa.Table | None = None) -> None:
    known.ids.check_new(ids)
    known.resident.append_vertices(len(ids))
    known.ids.append(ids)
    known.vertex_columns.append(len(ids), rows)


def _check_simple(known: NamedGraph, insert: Side, done: Advance) -> None:
    parallel = known.resident.parallel(done.delta)
    if not parallel.any():
        return
    count = len(done.delta.inserted)
    src, dst = done.delta.sources[:count], done.delta.targets[:count]
    twice = repeated(pair_words(src, dst, directed=known.resident.directed))
    rows = insert.rows or _rows_of(known, src, dst)
    try:
        refuse(rows, twice, "are parallel to another one", "the graph was made with simple=True")
        hint = "delete them in the same advance"
        refuse(rows, parallel, "name edges that are already there", hint)
    finally:
        take_out(known, done)


def repeated(values: NDArray[Any]) -> NDArray[np.bool_]:
    """True for each value that an earlier place has too."""
    twice = np.ones(len(values), np.bool_)
    twice[np.unique(values, return_index=True)[1]] = False
    return twice


def pair_words(
    src: NDArray[np.int32], dst: NDArray[np.int32], *, directed: bool
) -> NDArray[np.int64]:
    """One number for each pair of ends; in undirected graphs the order of the ends is ignored."""
    if not directed:
        src, dst = np.minimum(src, dst), np.maximum(src, dst)
    return src.astype(np.int64) << 32 | dst


def _rows_of(known: NamedGraph, src: NDArray[np.int32], dst: NDArray[np.int32]) -> ColumnBatch:
    """Edges that the user gave by number, as rows that an error can show."""
    names = known.names.src, known.names.dst
    ids = ([known.ids[number] for number in end.tolist()] for end in (src, dst))
    return ColumnBatch("insert", dict(zip(names, ids, strict=True)))
