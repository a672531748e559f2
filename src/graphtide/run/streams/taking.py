"""Batches of a stream into a live graph, each applied once.

A batch is one advance, whose record in the log says how far the stream has come by it: either both
are on the disk or neither is. A batch that is too large for one advance, or in which rows must see
one another, is cut into parts; these are on the disk before the first is applied, and the log says
how many were.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from graphtide.run.durable.expiry import Keep
from graphtide.run.durable.given import GivenBatch
from graphtide.run.durable.writer import Writer
from graphtide.run.streams.columns import ColumnChoice, stream_columns
from graphtide.run.streams.part_advance import Part, part_advance
from graphtide.run.streams.parts import part_numbers
from graphtide.run.streams.position import Batch, Position, check_query, is_new
from graphtide.run.streams.refusals import kind_of_ids
from graphtide.run.streams.sorting import Clock, SortedOut, nothing, refuse_wrong, sorted_out
from graphtide.run.streams.spool import Spooled, StreamFolder
from graphtide.run.turns import in_turn

OnError = Literal["stop", "set aside"]


@dataclass(frozen=True)
class Following:
    """How a stream is followed. `late` is its own bound, `limit` the most rows of an advance."""

    stream: str
    columns: ColumnChoice
    late: Keep | None
    on_error: OnError
    limit: int


class StreamTaker:
    """Takes the batches of one stream, one at a time."""

    def __init__(self, writer: Writer, graph: Path, following: Following) -> None:
        self._writer = writer
        self._turns = writer.graph._turns
        self.following = following
        self.folder = StreamFolder(graph, following.stream)

    @property
    def position(self) -> Position | None:
        """How far the stream has come; None before its first batch. Waits for no advance."""
        followed = self._writer.state.followed.get(self.following.stream)
        return None if followed is None else Position.from_json(followed)

    def check(self, query: str) -> None:
        """Refuse a query that is not the one that was followed before."""
        check_query(self.following.stream, self.position, query)

    def tidy(self) -> None:
        """Remove what an earlier process has left, but for the batch that it was within."""
        position = self.position
        begun = position is not None and position.part is not None
        self.folder.remove_spools(position.batch if position is not None and begun else None)

    def take(self, given: Batch) -> int:
        """Apply a batch, or what is left of it, unless it was applied; how many rows came now."""
        self.check(given.query)
        known, batch = self.position, given.number
        if not is_new(self.following.stream, known, given):
            return 0
        position = known or Position(given.query)
        if position.part is not None:
            return self._apply(self.folder.read_spool(batch), position, given)
        spooled = self._cut(given.load(), position, batch)
        position = replace(
            position,
            batch=batch,
            part=0,
            late=position.late + spooled.facts["late"],
            aside=position.aside + spooled.facts["aside"],
            latest=position.latest if self.following.late is None else spooled.facts["latest"],
        )
        return self._apply(spooled, position, given)

    def _cut(self, table: pa.Table, position: Position, batch: int) -> Spooled:
        """A batch in the parts that it is applied in, on the disk where these are several."""
        sorted_out = self._sorted_out(table, position)
        if self.following.on_error == "stop":
            refuse_wrong(sorted_out.aside, self.following.stream, batch)
        if sorted_out.aside.num_rows:
            self.folder.write_aside(sorted_out.aside, batch)
        shape = self._writer.shape
        parts = part_numbers(
            (sorted_out.rows.column(shape.src), sorted_out.rows.column(shape.dst)),
            sorted_out.codes,
            self.following.limit,
            simple=shape.simple,
            directed=shape.directed,
        )
        aside = sorted_out.aside.num_rows - sorted_out.late
        facts = {
            "late": sorted_out.late,
            "aside": aside,
            "latest": sorted_out.latest,
            "match": list(sorted_out.match),
        }
        if not parts.any():
            return Spooled(sorted_out.rows, sorted_out.codes, parts, facts)
        order = np.argsort(parts, kind="stable")
        spooled = Spooled(
            sorted_out.rows.take(pa.array(order)), sorted_out.codes[order], parts[order], facts
        )
        self.folder.write_spool(batch, spooled)
        return spooled

    @in_turn
    def _sorted_out(self, table: pa.Table, position: Position) -> SortedOut:
        following, expiry, shape = self.following, self._writer.expiry, self._writer.shape
        if not table.num_rows:
            return nothing(shape, position.latest)
        columns = stream_columns(table.column_names, shape, following.columns)
        given = table.column(columns.read[shape.src])
        return sorted_out(
            table,
            columns,
            replace(shape, ids=kind_of_ids(self._writer.graph, shape, given)),
            None if expiry is None else Clock(expiry.keep, expiry.latest),
            None if following.late is None else Clock(following.late, position.latest),
        )

    def _apply(self, spooled: Spooled, position: Position, given: Batch) -> int:
        """All parts that are left, one advance each."""
        count, before = int(spooled.parts.max(initial=0)) + 1, position.rows
        for part in range(position.part or 0, count):
            first, stop = np.searchsorted(spooled.parts, [part, part + 1]).tolist()
            rows, codes = spooled.rows.slice(first, stop - first), spooled.codes[first:stop]
            position = replace(position, part=part + 1)
            if part + 1 == count:
                position = replace(position, part=None, files=given.files)
            late = spooled.facts["late"] if part == 0 else 0
            given_part = Part(part, rows, codes, tuple(spooled.facts["match"]), late)
            position = self._advance(given_part, position)
        if count > 1:
            self.folder.remove_spools()
        return position.rows - before

    @in_turn
    def _advance(self, part: Part, position: Position) -> Position:
        """One part, with the position behind it."""
        advance = part_advance(self._writer.graph, self._writer.shape, part)
        if advance.wrong.num_rows:
            if self.following.on_error == "stop":
                refuse_wrong(advance.wrong, self.following.stream, position.batch)
            self.folder.write_aside(advance.wrong, position.batch, part.number)
        position = replace(
            position,
            rows=position.rows + advance.rows,
            aside=position.aside + advance.wrong.num_rows,
        )
        facts = self._facts(position, part.late)
        self._writer.advance(GivenBatch(advance.insert, advance.delete, facts=facts))
        return position

    def _facts(self, position: Position, late: int) -> dict[str, Any]:
        stream = self.following.stream
        facts: dict[str, Any] = {"followed": {stream: position.to_json()}}
        if position.part is None:
            facts["stream"] = {stream: position.batch}
        if late:
            facts["late"] = late
        return facts
