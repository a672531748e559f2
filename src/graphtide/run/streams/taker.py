"""Batches of a stream into a live graph, each applied once.

A batch is one advance, whose record in the log says how far the stream has come by it: either both
are on the disk or neither is. `foreachBatch` of Spark is called at least once for every batch; one
that was applied is known by its number, and a checkpoint that is another one, or has run ahead of
the graph, is noticed before a row is applied.

An advance looks edges up in the version before it. So rows that are about the same ends and must
see one another stand in different parts, in the order in which they came; rows about other ends may
change places. A batch of several parts is on the disk before the first is applied, and the log says
how many were: whoever dies between two of them finds the parts again as they were cut.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.model import disk
from graphtide.model.disk import disk_errors
from graphtide.model.errors import DamagedError, InputError, StoreError
from graphtide.model.names import folder_name
from graphtide.run.durable.batch import Keep, LiveBatch
from graphtide.run.durable.records import GraphShape
from graphtide.run.durable.steps import chosen_edges
from graphtide.run.durable.writer import LiveWriter
from graphtide.run.live.named_edges import find_edges, key_codes
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.streams.rows import (
    DELETE,
    INSERT,
    REASON,
    REPLACE,
    UNKNOWN,
    UPDATE,
    Codes,
    ColumnChoice,
    EventClock,
    SortedBatch,
    kind_of_ids,
    nothing,
    refuse_wrong,
    refused,
    sorted_out,
    stream_columns,
)
from graphtide.run.turns import in_turn
from graphtide.store.files import facts_of, within
from graphtide.store.log import STREAMS


@dataclass(frozen=True)
class StreamBatch:
    """A batch of a stream; `load` gets its rows, and is called where the batch is new.

    One of a file sink may hold several, from the `first` on; `files` is how many files have been
    listed by its end.
    """

    query: str
    number: int
    load: Callable[[], pa.Table]
    first: int | None = None
    files: int = 0


@dataclass(frozen=True)
class Position:
    """The last batch of a stream, and how many of its parts were applied; None if all were.

    `rows`, `late` and `aside` count what has come since the beginning: rows that were applied,
    and rows that were set aside, late ones apart. `latest` is the latest time seen, where the
    stream has a bound of its own. `files` is how many files of a file sink have been followed.
    """

    query: str
    batch: int = -1
    part: int | None = None
    rows: int = 0
    late: int = 0
    aside: int = 0
    latest: float | int | None = None
    files: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Position:
        return facts_of(cls, data)


def check_query(stream: str, position: Position | None, query: str) -> None:
    if position is not None and position.query != query:
        raise StoreError(
            f"the stream '{stream}' of the graph is another one: it has followed "
            f"{position.batch + 1:,} batches of the query {position.query}, and this is {query}",
            hint="give the checkpoint folder that the stream had, or follow this one under "
            "another name: every row of it is then new to the graph",
        )


def is_new(stream: str, position: Position | None, given: StreamBatch) -> bool:
    """Whether a batch is to be applied, or the rest of it; StoreError where some are missing."""
    batch, first = given.number, given.number if given.first is None else given.first
    last = -1 if position is None else position.batch
    begun = position is not None and position.part is not None
    if batch < last or (batch == last and not begun):
        return False
    if batch == last or (first <= last + 1 and not begun):
        return True
    came = "none" if last < 0 else f"those up to {last - begun:,}"
    raise StoreError(
        f"the batch {batch:,} of the stream '{stream}' does not follow: of its batches, the graph "
        f"has {came}",
        hint="the checkpoint has run ahead of the graph, which may have been put back from a copy: "
        "put the checkpoint back as well, or follow the stream under another name, with a new "
        "checkpoint",
    )


_CODE, _PART = "_code", "_part"


class SpooledBatch(NamedTuple):
    """The rows of a batch, what they ask for, and the part of each; parts are in their order."""

    rows: pa.Table
    codes: Codes
    parts: NDArray[np.int64]
    facts: dict[str, Any]


class StreamFolder:
    """What one stream has on the disk, beside the log."""

    def __init__(self, graph: Path, stream: str) -> None:
        self.path = disk.below(graph, f"{STREAMS}/{folder_name(stream)}")
        self._what = f"the stream '{stream}'"

    @property
    def checkpoint(self) -> Path:
        """Where Spark keeps how far it is, unless a user says otherwise."""
        return self.path / "checkpoint"

    @property
    def sink(self) -> Path:
        """Where Spark writes rows that it cannot hand over."""
        return self.path / "sink"

    @property
    def set_aside(self) -> Path:
        """Where rows are that were not applied."""
        return self.path / "set-aside"

    def write_aside(self, rows: pa.Table, batch: int, part: int | None = None) -> None:
        """Rows that are not applied; the same batch, once more, has the same file."""
        name = f"batch-{batch:012d}" + ("" if part is None else f"-{part:06d}")
        with disk_errors(self._what, self.set_aside):
            disk.make_folders_below(self.path.parent.parent, self.set_aside)
            with disk.whole_new_file(self.set_aside / f"{name}.parquet") as file:
                pq.write_table(rows, file)

    def write_spool(self, batch: int, spooled: SpooledBatch) -> None:
        """A batch in parts, on the disk when this returns."""
        table = spooled.rows.append_column(_CODE, pa.array(spooled.codes))
        table = table.append_column(_PART, pa.array(spooled.parts))
        table = table.replace_schema_metadata({b"facts": json.dumps(spooled.facts).encode()})
        with disk_errors(self._what, self.path):
            disk.make_folders_below(self.path.parent.parent, self.path)
            with (
                disk.whole_new_file(self._spool(batch)) as file,
                pa.ipc.new_file(file, table.schema) as writer,
            ):
                writer.write_table(table)

    def read_spool(self, batch: int) -> SpooledBatch:
        path = self._spool(batch)
        try:
            table = pa.ipc.open_file(pa.py_buffer(disk.read_file(path))).read_all()
            table.validate(full=True)
            return _spooled(table)
        except (OSError, pa.ArrowException, KeyError, ValueError, TypeError) as error:
            raise DamagedError(
                f"{self._what} was left within its batch {batch:,}, and the rest of that cannot "
                f"be read: {error}",
                where=str(path),
                hint="put the file back from a copy",
            ) from None

    def remove_spools(self, besides: int | None = None) -> None:
        """Forget the parts of batches, but for one that is not done."""
        for path in self.path.glob("batch-*.arrow"):
            if besides is None or path != self._spool(besides):
                disk.remove(path)

    def _spool(self, batch: int) -> Path:
        return self.path / f"batch-{batch:012d}.arrow"


def _spooled(table: pa.Table) -> SpooledBatch:
    facts = json.loads(table.schema.metadata[b"facts"])
    codes, parts = (table.column(name).to_numpy() for name in (_CODE, _PART))
    if not (
        codes.dtype == np.int8
        and parts.dtype == np.int64
        and within(codes, UNKNOWN)
        and within(parts, len(parts))
        and bool((parts[:-1] <= parts[1:]).all())
    ):
        raise ValueError("its rows are not those of parts")
    if type(facts["late"]) is not int or not all(isinstance(item, str) for item in facts["match"]):
        raise TypeError(f"it says {facts!r:.80}")
    return SpooledBatch(table.drop_columns([_CODE, _PART]), codes, parts, facts)


def part_numbers(
    ends: tuple[pa.ChunkedArray, pa.ChunkedArray],
    codes: Codes,
    most: int,
    *,
    simple: bool,
    directed: bool = True,
) -> NDArray[np.int64]:
    """The part of each row; a stable sort by part gives the order of application."""
    rounds = _rounds(ends, codes, simple=simple, directed=directed)
    if len(rounds) <= most and not rounds.any():
        return rounds
    order = np.argsort(rounds, kind="stable")
    sizes = np.bincount(rounds)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    within = np.arange(len(rounds)) - np.repeat(first, sizes)
    pieces = -(-sizes // most)
    before = np.concatenate([[0], np.cumsum(pieces)[:-1]])
    parts = np.empty(len(rounds), np.int64)
    parts[order] = np.repeat(before, sizes) + within // most
    return parts


def _rounds(
    ends: tuple[pa.ChunkedArray, pa.ChunkedArray], codes: Codes, *, simple: bool, directed: bool
) -> NDArray[np.int64]:
    """The round of each row: one more than the earlier rows with its ends that it must see."""
    rounds = np.zeros(len(codes), np.int64)
    if len(codes) < 2 or (not simple and (codes == INSERT).all()):
        return rounds
    both = key_codes(pa.chunked_array([chunk for end in ends for chunk in end.chunks]))
    sources, targets = both[: len(codes)], both[len(codes) :]
    if not directed:  # Whichever end is named first.
        sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
    order = np.lexsort((targets, sources))
    same = (np.diff(sources[order]) == 0) & (np.diff(targets[order]) == 0)
    before, behind = codes[order[:-1]], codes[order[1:]]
    sees = same & _must_see(before, behind, simple=simple)
    total = np.concatenate([[0], np.cumsum(sees)])
    begins = np.concatenate([[True], ~same])
    base = total[np.flatnonzero(begins)]
    rounds[order] = total - np.repeat(base, np.diff([*np.flatnonzero(begins), len(codes)]))
    return rounds


def _must_see(before: Codes, behind: Codes, *, simple: bool) -> NDArray[np.bool_]:
    """True if a row must see the effect of the row before it."""
    comes = (before == INSERT) | (before == REPLACE)
    either: NDArray[np.bool_] = (
        (before == UPDATE) | (behind == UPDATE) | (comes & (behind == DELETE))
    )
    return either | (comes & (behind != DELETE)) if simple else either


_NO_EDGE, _PARALLEL = "no such edge", "such an edge is there already"

Numbers = NDArray[np.int64]


class BatchPart(NamedTuple):
    """Rows in the columns of edges, what they ask for, and by which properties they mean edges;
    `late` is how many rows of the batch are told of with it as late.
    """

    number: int
    rows: pa.Table
    codes: Codes
    match: tuple[str, ...]
    late: int = 0


class PartAdvance(NamedTuple):
    """What the graph is to take, of how many rows, and rows that are wrong, with the reason."""

    insert: Any
    delete: Numbers | None
    rows: int
    wrong: pa.Table


def part_advance(graph: MemoryGraph, shape: GraphShape, part: BatchPart) -> PartAdvance:
    numbers = np.full(len(part.codes), -1, np.int64)
    wrong = [part.rows.slice(0, 0).append_column(REASON, pa.nulls(0, pa.string()))]
    if shape.simple or (part.codes != INSERT).any():
        numbers = _meant_edges(graph, shape, part)
        reasons = _reasons(graph, shape, part, numbers)
        part, numbers = _without(part, numbers, reasons, wrong)
    brought = _brought(graph, shape, part, numbers)
    reasons = np.full(len(numbers), "", object)
    reasons[_places_of_brought(part)] = refused(graph, shape, brought)
    if (reasons != "").any():
        part, numbers = _without(part, numbers, reasons, wrong)
        brought = _brought(graph, shape, part, numbers)
    gone = np.sort(numbers[numbers >= 0])
    insert = brought if len(brought[shape.src]) else None
    delete = gone if len(gone) else None
    return PartAdvance(insert, delete, len(part.codes), pa.concat_tables(wrong))


def _without(
    part: BatchPart, numbers: Numbers, reasons: NDArray[Any], wrong: list[pa.Table]
) -> tuple[BatchPart, Numbers]:
    bad = reasons != ""
    if not bad.any():
        return part, numbers
    why = pa.array(reasons[bad], pa.string())
    wrong.append(part.rows.filter(pa.array(bad)).append_column(REASON, why))
    rows = part.rows.filter(pa.array(~bad))
    return part._replace(rows=rows, codes=part.codes[~bad]), numbers[~bad]


def _meant_edges(graph: MemoryGraph, shape: GraphShape, part: BatchPart) -> Numbers:
    """The edges that rows change or take away, -1 where they do neither or mean none."""
    meaning = (part.codes == UPDATE) | (part.codes == DELETE)
    return _found(graph, shape, part.rows, meaning, part.match)


def _found(
    graph: MemoryGraph,
    shape: GraphShape,
    rows: pa.Table,
    chosen: NDArray[np.bool_],
    match: tuple[str, ...] = (),
) -> Numbers:
    edges = np.full(len(chosen), -1, np.int64)
    if chosen.any():
        few = rows.select([shape.src, shape.dst, *match]).filter(pa.array(chosen))
        given = {name: few.column(name) for name in (shape.src, shape.dst)}
        for name in match:
            given[name] = as_column(few.column(name), shape.edges.field(name).type, name)
        edges[chosen] = find_edges(graph._known, given)
    return edges


def _reasons(
    graph: MemoryGraph, shape: GraphShape, part: BatchPart, numbers: Numbers
) -> NDArray[Any]:
    """Why rows are wrong, empty where they are not."""
    reasons = np.full(len(numbers), "", object)
    meaning = (part.codes == UPDATE) | (part.codes == DELETE)
    reasons[meaning & (numbers < 0)] = _NO_EDGE
    if shape.simple:
        there = _found(graph, shape, part.rows, ~meaning)
        goes = np.isin(there, numbers[numbers >= 0])
        reasons[(there >= 0) & ~goes] = _PARALLEL
    return reasons


def _brought(
    graph: MemoryGraph, shape: GraphShape, part: BatchPart, numbers: Numbers
) -> dict[str, Any]:
    """The rows to insert: new edges, then changed edges with their new values."""
    changes = part.codes == UPDATE
    new = part.rows.filter(pa.array(~changes & (part.codes != DELETE)))
    if not changes.any():
        return {name: new.column(name) for name in new.column_names}
    old = chosen_edges(graph, numbers[changes], shape)
    given = part.rows.filter(pa.array(changes))
    known = (shape.src, shape.dst, *part.match)
    columns = {}
    for name, before in old.items():
        wanted, says = before.type, name in given.column_names and name not in known
        now = (
            as_column(given.column(name), wanted, name) if says else as_column(before, wanted, name)
        )
        came = pa.nulls(new.num_rows, wanted)
        if name in new.column_names:
            came = as_column(new.column(name), wanted, name)
        columns[name] = pa.chunked_array([came, now])
    return columns


def _places_of_brought(part: BatchPart) -> Numbers:
    """The positions of the rows that `_brought` returns, in its order."""
    changes = part.codes == UPDATE
    new = np.flatnonzero(~changes & (part.codes != DELETE))
    return np.concatenate([new, np.flatnonzero(changes)])


def as_column(values: Any, wanted: pa.DataType, name: str) -> pa.Array:
    try:
        column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if isinstance(column, pa.ChunkedArray):  # Of no rows.
            return pa.array([], wanted)
        return column if column.type == wanted else column.cast(wanted)
    except pa.ArrowException:
        raise InputError(
            f"the stream gives '{name}' as {values.type}, and edges have it as {wanted}",
            hint="cast the column of the stream to the type that the graph has",
        ) from None


OnError = Literal["stop", "set aside"]


@dataclass(frozen=True)
class StreamSettings:
    """How a stream is followed. `late` is its own bound, `limit` the most rows of an advance."""

    stream: str
    columns: ColumnChoice
    late: Keep | None
    on_error: OnError
    limit: int


class StreamTaker:
    """Takes the batches of one stream, one at a time."""

    def __init__(self, writer: LiveWriter, graph: Path, following: StreamSettings) -> None:
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
        check_query(self.following.stream, self.position, query)

    def tidy(self) -> None:
        """Remove files of an earlier process, except for the batch that it had begun."""
        position = self.position
        begun = position is not None and position.part is not None
        self.folder.remove_spools(position.batch if position is not None and begun else None)

    def take(self, given: StreamBatch) -> int:
        """Apply what is left of a batch, and return how many rows that was."""
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

    def _cut(self, table: pa.Table, position: Position, batch: int) -> SpooledBatch:
        """Cut a batch into parts; several parts are written to disk first."""
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
            return SpooledBatch(sorted_out.rows, sorted_out.codes, parts, facts)
        order = np.argsort(parts, kind="stable")
        spooled = SpooledBatch(
            sorted_out.rows.take(pa.array(order)), sorted_out.codes[order], parts[order], facts
        )
        self.folder.write_spool(batch, spooled)
        return spooled

    @in_turn
    def _sorted_out(self, table: pa.Table, position: Position) -> SortedBatch:
        following, expiry, shape = self.following, self._writer.expiry, self._writer.shape
        if not table.num_rows:
            return nothing(shape, position.latest)
        columns = stream_columns(table.column_names, shape, following.columns)
        given = table.column(columns.read[shape.src])
        return sorted_out(
            table,
            columns,
            replace(shape, ids=kind_of_ids(self._writer.graph, shape, given)),
            None if expiry is None else EventClock(expiry.keep, expiry.latest),
            None if following.late is None else EventClock(following.late, position.latest),
        )

    def _apply(self, spooled: SpooledBatch, position: Position, given: StreamBatch) -> int:
        """Apply the remaining parts, one advance for each."""
        count, before = int(spooled.parts.max(initial=0)) + 1, position.rows
        for part in range(position.part or 0, count):
            first, stop = np.searchsorted(spooled.parts, [part, part + 1]).tolist()
            rows, codes = spooled.rows.slice(first, stop - first), spooled.codes[first:stop]
            position = replace(position, part=part + 1)
            if part + 1 == count:
                position = replace(position, part=None, files=given.files)
            late = spooled.facts["late"] if part == 0 else 0
            given_part = BatchPart(part, rows, codes, tuple(spooled.facts["match"]), late)
            position = self._advance(given_part, position)
        if count > 1:
            self.folder.remove_spools()
        return position.rows - before

    @in_turn
    def _advance(self, part: BatchPart, position: Position) -> Position:
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
        self._writer.advance(LiveBatch(advance.insert, advance.delete, facts=facts))
        return position

    def _facts(self, position: Position, late: int) -> dict[str, Any]:
        stream = self.following.stream
        facts: dict[str, Any] = {"followed": {stream: position.to_json()}}
        if position.part is None:
            facts["stream"] = {stream: position.batch}
        if late:
            facts["late"] = late
        return facts
