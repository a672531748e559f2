"""The rows of a stream: which column is which, what each row does, and which are late or wrong.

A row brings an edge, changes one, or takes one away. A stream says so in a column of words, or it
is a change feed of Delta and has its words in `_change_type`; without either every row brings an
edge. In a change feed an edge that is changed has two rows, as it was and as it is: the first takes
an edge away, the second brings one in its place.

An advance takes all of its rows or none, so rows that it would refuse are found before: those whose
values are not of the type that the graph has, and those that a program or a query on the graph
cannot take. The clock is the data's: a row is late if its time lies too far behind the latest that
any row brought. What lies behind the period that edges are kept for is late whatever it asks for,
since its edge has left. A bound of the stream's own (`late`) concerns rows that bring an edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.engine.graph_data import NO_MOMENT
from graphtide.model.column_types import ARROW_TYPES, COLUMN_TYPES, is_number
from graphtide.model.errors import InputError
from graphtide.model.schema import closest, name_hint
from graphtide.plan.expressions import ValueType
from graphtide.run.durable.batch import Keep, times_of
from graphtide.run.durable.records import GraphShape
from graphtide.run.live.edge_rows import property_column
from graphtide.run.live.named_graph import moment_numbers
from graphtide.run.live.vertex_ids import id_column
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.views.typed_columns import typed_column

INSERT, UPDATE, DELETE, REPLACE, UNKNOWN = range(5)
"""`REPLACE` brings an edge in place of one that an earlier row takes away."""

CHANGE_TYPE = "_change_type"
"""The column that makes a stream a change feed of Delta."""

COMMIT_VERSION = "_commit_version"
FEED_COLUMNS = (CHANGE_TYPE, COMMIT_VERSION, "_commit_timestamp")
"""What a change feed has besides the columns of its table."""

WORDS = {
    "insert": INSERT,
    "i": INSERT,
    "create": INSERT,
    "c": INSERT,
    "r": INSERT,
    "update": UPDATE,
    "u": UPDATE,
    "delete": DELETE,
    "d": DELETE,
    "update_preimage": DELETE,
    "update_postimage": REPLACE,
}
"""Words, in any case: spelled out, by their letter, Debezium's (c, r, u, d), Delta's."""

Codes = NDArray[np.int8]


def operation_codes(column: pa.ChunkedArray) -> Codes:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return np.full(len(column), UNKNOWN, np.int8)
    encoded = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    known = [
        UNKNOWN if word is None else WORDS.get(word.strip().lower(), UNKNOWN)
        for word in encoded.dictionary.to_pylist()
    ]
    codes: Codes = np.array(known, np.int8)[encoded.indices.to_numpy(zero_copy_only=False)]
    return codes


def feed_order(table: pa.Table, codes: Codes) -> NDArray[np.int64]:
    """The rows of a change feed in the order in which they happened.

    Spark hands out the commits of a batch in any order. Within a commit, what goes is before what
    comes.
    """
    commits = np.zeros(table.num_rows, np.int64)
    if COMMIT_VERSION in table.column_names:
        commits = table.column(COMMIT_VERSION).to_numpy()
    order: NDArray[np.int64] = np.lexsort((codes != DELETE, commits))
    return order


@dataclass(frozen=True)
class StreamColumns:
    """`read` has the column of the stream by that of edges; `match` are properties that tell
    parallel edges apart where a row takes one away or changes one.
    """

    read: Mapping[str, str]
    operation: str | None
    match: tuple[str, ...]

    @property
    def is_feed(self) -> bool:
        return self.operation == CHANGE_TYPE


class ColumnChoice(NamedTuple):
    """What a user says of the columns of a stream: `columns` has that of the stream by that of
    edges, None where they are called alike.
    """

    columns: Mapping[str, str] | None = None
    operation: str | None = None
    match: tuple[str, ...] | None = None


def stream_columns(there: Sequence[str], shape: GraphShape, choice: ColumnChoice) -> StreamColumns:
    columns, operation, match = choice
    if operation is None and CHANGE_TYPE in there:
        operation = CHANGE_TYPE
    if operation is not None:
        _check_there(operation, there, "`operation`")
    besides = FEED_COLUMNS if operation == CHANGE_TYPE else (operation,)
    read = _named_alike(there, besides, shape) if columns is None else dict(columns)
    for name, column in read.items():
        _check_edge_column(name, shape)
        _check_there(column, there, "`columns`")
    _check_all_there(read, shape)
    return StreamColumns(read, operation, _matched(match, read, shape, operation))


def _named_alike(
    there: Sequence[str], besides: tuple[str | None, ...], shape: GraphShape
) -> dict[str, str]:
    known = (shape.src, shape.dst, *shape.edge_types)
    unknown = [name for name in there if name not in besides and name not in known]
    if unknown:
        near = closest(unknown[0], known)
        raise InputError(
            f"the stream has a column '{unknown[0]}', which edges do not have",
            hint=(f"did you mean `{near}`? " if near else "")
            + f"edges have {', '.join(known)}: select these, or say which column is which: "
            f"columns={{'{shape.src}': ..., '{shape.dst}': ...}}",
        )
    return {name: name for name in there if name not in besides}


def _check_edge_column(name: str, shape: GraphShape) -> None:
    known = (shape.src, shape.dst, *shape.edge_types)
    if name not in known:
        raise InputError(
            f"`columns` has '{name}', which edges do not have",
            hint=name_hint(name, known, f"edges have {', '.join(known)}"),
        )


def _check_there(column: str, there: Sequence[str], what: str) -> None:
    if column not in there:
        raise InputError(
            f"{what} names the column '{column}', which the stream does not have",
            hint=name_hint(column, there, f"it has {', '.join(there)}"),
        )


def _check_all_there(read: Mapping[str, str], shape: GraphShape) -> None:
    needed = (shape.src, shape.dst, *(name for name, _ in shape.numbers))
    lacking = [name for name in needed if name not in read]
    if lacking:
        raise InputError(
            f"the stream has no column for '{lacking[0]}' of edges",
            hint=f"name it: columns={{'{lacking[0]}': '...'}}, or add it to the stream",
        )


def _matched(
    match: tuple[str, ...] | None, read: Mapping[str, str], shape: GraphShape, operation: str | None
) -> tuple[str, ...]:
    """Change feeds match by all properties, other streams by those that the user names."""
    properties = [name for name in read if name not in (shape.src, shape.dst)]
    if match is None:
        return tuple(properties) if operation == CHANGE_TYPE else ()
    for name in match:
        if name not in properties:
            raise InputError(
                f"`match` names '{name}', which is no property that the stream gives",
                hint=f"it gives {', '.join(properties) or 'none'}",
            )
    return match


Mask = NDArray[np.bool_]

_EXACT = 2.0**53
"""From here on floats do not tell all whole numbers apart."""

_IDS = {"string": "texts", "int": "whole numbers"}


def in_type(
    column: pa.ChunkedArray, name: str, kind: str, *, of_ids: bool
) -> tuple[pa.ChunkedArray, Any]:
    """A column as the graph takes it, missing where a value is not of its type; and what is wrong
    with each of those values, None where nothing is wrong with any.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if COLUMN_TYPES[kind].accepts(column.type) or pa.types.is_null(column.type):
        return column, None
    fits = np.zeros(len(column), np.bool_)
    if kind == "int" and is_number(column.type):
        floats = column.cast(pa.float64(), safe=False).to_numpy()
        fits = (floats == np.floor(floats)) & (np.abs(floats) < _EXACT)
        if pa.types.is_integer(column.type):
            fits = np.asarray(pc.less(column, pa.scalar(2**63, pa.uint64())).fill_null(False))
    fitting = pc.if_else(pa.array(fits), column, pa.scalar(None, column.type))
    wrong = np.asarray(pc.is_valid(column)) & ~fits
    taken = pa.nulls(len(column), ARROW_TYPES[kind]) if not fits.any() else fitting.cast(pa.int64())
    wanted = (
        f"the ids of this graph are {_IDS[kind]}"
        if of_ids
        else f"is to be {COLUMN_TYPES[kind].article}"
    )
    texts = np.full(len(column), "", object)
    for at in np.flatnonzero(wrong).tolist():
        texts[at] = f"'{name}' is {column[at].as_py()!r}, and {wanted}"
    return pa.chunked_array([taken]) if isinstance(taken, pa.Array) else taken, texts


def kind_of_ids(graph: MemoryGraph, shape: GraphShape, given: pa.ChunkedArray) -> str:
    """The type of the graph's ids; in an empty graph the type of the first ids."""
    if len(graph._known.ids):
        return shape.ids
    return "int" if is_number(given.type) else "string"


def refused(graph: MemoryGraph, shape: GraphShape, rows: Mapping[str, Any]) -> NDArray[Any]:
    """The reason why some program or query refuses each row; empty if all accept it."""
    count = len(rows[shape.src])
    reasons = np.full(count, "", object)
    bare: Mask | None = None
    for follower in graph._followers.all():
        conditions = follower.conditions
        if not conditions.properties and conditions.refuses_bare() is None:
            continue
        columns = {}
        for name, type_ in conditions.properties.items():
            none = pa.nulls(count, ARROW_TYPES[shape.edge_types[name]])
            columns[name] = _as_read(graph, name, type_, rows.get(name, none))
        for fault in conditions.faults(columns):
            reasons[fault.rows & (reasons == "")] = fault.what
        if (why := conditions.refuses_bare()) is not None:
            bare = _bring_vertices(graph, shape, rows) if bare is None else bare
            reasons[bare & (reasons == "")] = why
    return reasons


def _as_read(graph: MemoryGraph, name: str, type_: ValueType, values: Any) -> NDArray[Any]:
    """A property as conditions check it, in the words of `KnownEdges.columns`."""
    if type_ is ValueType.TEXT:
        return np.zeros(len(values), np.int64)  # Any text will do, and none.
    if type_.is_moment:
        column = typed_column(values)
        assert column is not None, "rows are in the types of the graph"
        numbers = moment_numbers(column).cast(pa.int64()).fill_null(NO_MOMENT)
        moments: NDArray[Any] = numbers.to_numpy(zero_copy_only=False)
        return moments
    read = property_column(values, name, "the stream")
    dtype = graph._resident.dtypes[name]
    return read if read.dtype == dtype else read.astype(dtype)


def _bring_vertices(graph: MemoryGraph, shape: GraphShape, rows: Mapping[str, Any]) -> Mask:
    ids = graph._known.ids
    ends = [ids.numbers(id_column(rows[name], name)) < 0 for name in (shape.src, shape.dst)]
    return ends[0] | ends[1]


REASON = "_reason"
"""The column that says of rows which were set aside why they were."""

LATE = "late"

_MOST_TOLD = 5


class EventClock(NamedTuple):
    """A period behind the latest time that was seen."""

    keep: Keep
    latest: float | int | None

    def seen(self, times: NDArray[Any]) -> EventClock:
        if not len(times):
            return self
        last = times.max().item()
        return self._replace(latest=last if self.latest is None else max(self.latest, last))

    def is_late(self, times: NDArray[Any]) -> Mask:
        late: Mask = times < self.keep.earliest(self.latest)
        return late


@dataclass(frozen=True)
class SortedBatch:
    """`rows` to apply, in the columns of edges, with their codes; rows set `aside`, as the stream
    gave them, of which some are `late`; and the latest time by the stream's own clock.
    """

    rows: pa.Table
    codes: Codes
    aside: pa.Table
    late: int
    latest: float | int | None
    match: tuple[str, ...]


def nothing(shape: GraphShape, latest: float | int | None) -> SortedBatch:
    none = pa.table({name: pa.nulls(0) for name in (shape.src, shape.dst)})
    return SortedBatch(none, np.empty(0, np.int8), pa.table({}), 0, latest, ())


def sorted_out(
    table: pa.Table,
    columns: StreamColumns,
    shape: GraphShape,
    expiry: EventClock | None,
    bound: EventClock | None,
) -> SortedBatch:
    """Sort a batch into rows to apply, in the order in which they happened, and rows set aside."""
    codes = np.zeros(table.num_rows, np.int8)
    if columns.operation is not None:
        codes = operation_codes(table.column(columns.operation))
    if columns.is_feed:
        order = feed_order(table, codes)
        table, codes = table.take(pa.array(order)), codes[order]
    reasons = Reasons(table.num_rows)
    rows = _in_types(table, codes, columns, shape, reasons)
    _find_wrong(rows, codes, table, columns, shape, reasons)
    bound = _find_late(rows, codes, expiry, bound, reasons)
    stays = reasons.none
    if not stays.all():
        rows, codes = rows.filter(pa.array(stays)), codes[stays]
    late = int((reasons.texts == LATE).sum()) if not stays.all() else 0
    latest = None if bound is None else bound.latest
    return SortedBatch(rows, codes, reasons.aside(table), late, latest, columns.match)


class Reasons:
    """Why rows are not applied; the first reason counts."""

    def __init__(self, rows: int) -> None:
        self.texts: NDArray[Any] = np.empty(rows, object)
        self._any = False

    @property
    def none(self) -> Mask:
        if not self._any:
            return np.ones(len(self.texts), np.bool_)
        return np.array([text is None for text in self.texts], np.bool_)

    def add(self, wrong: Mask, reason: str | NDArray[Any]) -> None:
        if wrong.any():
            new = self.none[wrong]
            places = np.flatnonzero(wrong)[new]
            self.texts[places] = reason if isinstance(reason, str) else reason[new]
            self._any = True

    def aside(self, table: pa.Table) -> pa.Table:
        if not self._any:
            return table.slice(0, 0).append_column(REASON, pa.nulls(0, pa.string()))
        at = pa.array(~self.none)
        why = pa.array(self.texts, pa.string()).filter(at)
        return table.filter(at).append_column(REASON, why)


def refuse_wrong(aside: pa.Table, stream: str, batch: int) -> None:
    """InputError where rows of a batch are wrong; late ones are not."""
    if not aside.num_rows:
        return
    wrong = aside.filter(pc.not_equal(aside.column(REASON), LATE))
    if not wrong.num_rows:
        return
    rows = [f"{row.pop(REASON)}: {row}" for row in wrong.slice(0, _MOST_TOLD).to_pylist()]
    if wrong.num_rows > _MOST_TOLD:
        rows.append(f"and {wrong.num_rows - _MOST_TOLD:,} more")
    count = "a row is" if wrong.num_rows == 1 else f"{wrong.num_rows:,} rows are"
    raise InputError(
        f"{count} wrong in the batch {batch:,} of the stream '{stream}'",
        where="; ".join(rows),
        hint="mend the rows in the stream, or follow it with on_error='set aside'",
    )


def _in_types(
    table: pa.Table, codes: Codes, columns: StreamColumns, shape: GraphShape, reasons: Reasons
) -> pa.Table:
    """Cast columns to the graph's types, and note values that do not fit as wrong."""
    rows = {}
    ends = (shape.src, shape.dst)
    for name, column in columns.read.items():
        of_ids = name in ends
        kind = shape.ids if of_ids else shape.edge_types[name]
        rows[name], texts = in_type(table.column(column), name, kind, of_ids=of_ids)
        if texts is not None:
            is_read = name in (*ends, *columns.match)
            wrong = (texts != "") & (is_read | (codes != DELETE))
            reasons.add(wrong, texts[wrong])
    return pa.table(rows)


def _find_wrong(
    rows: pa.Table,
    codes: Codes,
    table: pa.Table,
    columns: StreamColumns,
    shape: GraphShape,
    reasons: Reasons,
) -> None:
    if columns.operation is not None and (codes == UNKNOWN).any():
        words = table.column(columns.operation).filter(pa.array(codes == UNKNOWN)).to_pylist()
        texts = [f"unknown operation {word!r}" for word in words]
        reasons.add(codes == UNKNOWN, np.array(texts, object))
    for name in (shape.src, shape.dst):
        reasons.add(_missing(rows.column(name)), f"no value in '{name}'")
    for name, dtype in shape.numbers:
        if np.dtype(dtype).kind != "f" and name not in shape.seen:
            reasons.add(_missing(rows.column(name)) & (codes != DELETE), f"no value in '{name}'")


def _find_late(
    rows: pa.Table,
    codes: Codes,
    expiry: EventClock | None,
    bound: EventClock | None,
    reasons: Reasons,
) -> EventClock | None:
    """Note late rows and rows without a time; return the stream's clock after the batch."""
    if expiry is not None and expiry.keep.time in rows.column_names:
        clock, late = _late_by(rows, codes, expiry, reasons)
        reasons.add(late, LATE)
    elif expiry is not None:  # An edge that is changed keeps its time.
        reasons.add((codes != DELETE) & (codes != UPDATE), f"no value in '{expiry.keep.time}'")
    if bound is None:
        return None
    clock, late = _late_by(rows, codes, bound, reasons)
    reasons.add(late & (codes == INSERT), LATE)
    return clock


def _late_by(
    rows: pa.Table, codes: Codes, clock: EventClock, reasons: Reasons
) -> tuple[EventClock, Mask]:
    """The clock after the rows that bring or change an edge, and which rows are late by it."""
    time = clock.keep.time
    column = typed_column(rows.column(time))
    if column is None:
        raise InputError(
            f"the stream gives no times in '{time}'", hint="give values of the type of the graph's"
        )
    there = ~_missing(column)
    brings = codes != DELETE
    reasons.add(~there & brings, f"no value in '{time}'")
    times = times_of(column.filter(pa.array(there)), time)
    clock = clock.seen(times[(brings & reasons.none)[there]])
    late = np.zeros(len(codes), np.bool_)
    late[there] = clock.is_late(times)
    return clock, late


def _missing(column: pa.Array | pa.ChunkedArray) -> Mask:
    if not column.null_count:
        return np.zeros(len(column), np.bool_)
    missing: Mask = np.asarray(pc.is_null(column))
    return missing
