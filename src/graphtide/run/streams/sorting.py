"""The rows of a batch sorted out: those to apply, and those that are late or wrong.

The clock is the data's, as it is for edges that expire: a row is late if its time lies too far
behind the latest that any row brought, in this batch or before it. What lies behind the period that
edges are kept for is late whatever it asks for, since the edge that it is about has left. A bound
of the stream's own (`late`) concerns rows that bring an edge; to change or take away an old edge is
never late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.run.durable.expiry import Keep, times_of
from graphtide.run.durable.shape import Shape
from graphtide.run.streams.columns import StreamColumns
from graphtide.run.streams.operations import (
    DELETE,
    INSERT,
    UNKNOWN,
    UPDATE,
    Codes,
    feed_order,
    operation_codes,
)
from graphtide.run.streams.refusals import in_type
from graphtide.run.views.typed_columns import typed_column

REASON = "_reason"
"""The column that says of rows which were set aside why they were."""

LATE = "late"

_MOST_TOLD = 5

Mask = NDArray[np.bool_]


class Clock(NamedTuple):
    """A period behind the latest time that was seen."""

    keep: Keep
    latest: float | int | None

    def seen(self, times: NDArray[Any]) -> Clock:
        """The clock behind some more times."""
        if not len(times):
            return self
        last = times.max().item()
        return self._replace(latest=last if self.latest is None else max(self.latest, last))

    def is_late(self, times: NDArray[Any]) -> Mask:
        """Which times lie too far behind."""
        late: Mask = times < self.keep.earliest(self.latest)
        return late


@dataclass(frozen=True)
class SortedOut:
    """`rows` to apply, in the columns of edges, with their codes; rows set `aside`, as the stream
    gave them, of which some are `late`; and the latest time by the stream's own clock.
    """

    rows: pa.Table
    codes: Codes
    aside: pa.Table
    late: int
    latest: float | int | None
    match: tuple[str, ...]


def nothing(shape: Shape, latest: float | int | None) -> SortedOut:
    """A batch without rows."""
    none = pa.table({name: pa.nulls(0) for name in (shape.src, shape.dst)})
    return SortedOut(none, np.empty(0, np.int8), pa.table({}), 0, latest, ())


def sorted_out(
    table: pa.Table,
    columns: StreamColumns,
    shape: Shape,
    expiry: Clock | None,
    bound: Clock | None,
) -> SortedOut:
    """A batch of a stream as it is to be applied, in the order in which its rows happened."""
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
    return SortedOut(rows, codes, reasons.aside(table), late, latest, columns.match)


class Reasons:
    """Why rows are not applied; the first reason counts."""

    def __init__(self, rows: int) -> None:
        self.texts: NDArray[Any] = np.empty(rows, object)
        self._any = False

    @property
    def none(self) -> Mask:
        """The rows that are applied."""
        if not self._any:
            return np.ones(len(self.texts), np.bool_)
        return np.array([text is None for text in self.texts], np.bool_)

    def add(self, wrong: Mask, reason: str | NDArray[Any]) -> None:
        """Rows with one more reason: the same for all, or a text each."""
        if wrong.any():
            new = self.none[wrong]
            places = np.flatnonzero(wrong)[new]
            self.texts[places] = reason if isinstance(reason, str) else reason[new]
            self._any = True

    def aside(self, table: pa.Table) -> pa.Table:
        """The rows that are not applied, with their reasons."""
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
    table: pa.Table, codes: Codes, columns: StreamColumns, shape: Shape, reasons: Reasons
) -> pa.Table:
    """The columns of edges in the types of the graph; values of other types are noted as wrong."""
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
    shape: Shape,
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
    rows: pa.Table, codes: Codes, expiry: Clock | None, bound: Clock | None, reasons: Reasons
) -> Clock | None:
    """Note rows that are late, and such without a time; the stream's own clock behind them."""
    if expiry is not None and expiry.keep.time in rows.column_names:
        clock, late = _timed(rows, codes, expiry, reasons)
        reasons.add(late, LATE)
    elif expiry is not None:  # An edge that is changed keeps its time.
        reasons.add((codes != DELETE) & (codes != UPDATE), f"no value in '{expiry.keep.time}'")
    if bound is None:
        return None
    clock, late = _timed(rows, codes, bound, reasons)
    reasons.add(late & (codes == INSERT), LATE)
    return clock


def _timed(rows: pa.Table, codes: Codes, clock: Clock, reasons: Reasons) -> tuple[Clock, Mask]:
    """The clock behind the rows that bring or change an edge, and which rows it finds late."""
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
