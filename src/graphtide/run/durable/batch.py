"""A batch of a live graph, brought to what a graph in memory takes: rows in, edges out.

An update becomes edges that go and edges that come with other values; a vertex that goes takes its
edges along; what has expired goes with the batch that brought the later time.

Edges expire by the clock of the data: their time lies too far behind the latest that was seen so
far, whatever the machine's clock says. So the same batches expire the same edges, whenever they
come. Times stand in sorted runs, one for what the graph began with and one for each batch; a heap
has the next time of every run, so an advance looks at what expires, and no further.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.columns import named_rows, read_columns
from graphtide.model.errors import InputError
from graphtide.model.schema import closest, name_hint
from graphtide.run.durable.records import BatchId, GraphShape
from graphtide.run.durable.steps import chosen_edges, edges_at
from graphtide.run.live.batches import NOTHING, bring_in, check_properties, read_delete, take_out
from graphtide.run.live.edge_rows import edge_numbers
from graphtide.run.live.ids import plain_id
from graphtide.run.live.vertex_ids import id_column
from graphtide.run.memory_graph import MemoryGraph
from graphtide.run.turns import changing, uninterrupted
from graphtide.run.views.typed_columns import typed_column

Numbers = NDArray[np.int64]


def numbers_of(graph: MemoryGraph, what: str, given: Any) -> Numbers:
    """The numbers of the edges that rows name, each another one; the graph stays as it is."""
    known = graph._known
    named = read_delete(known, given, what)
    if named.rows is None:
        return graph._resident.outside(named.edges).astype(np.int64)
    with uninterrupted(), changing(graph._turns):
        done = bring_in(known, NOTHING, named)
        try:
            return graph._resident.outside(done.delta.deleted).astype(np.int64)
        finally:
            take_out(known, done)


def check_match(shape: GraphShape, match: tuple[str, ...]) -> None:
    for name in match:
        if name not in shape.edge_types:
            known = ", ".join(shape.edge_types) or "none"
            raise InputError(
                f"match names '{name}', which is no property of edges",
                hint=name_hint(name, shape.edge_types, f"they have: {known}"),
            )


_UNITS = {
    "week": timedelta(weeks=1),
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
}
_PERIOD = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(week|day|hour|minute|second)s?\s*")
_MICROSECOND = timedelta(microseconds=1)
_LEAST = -(2**63)


class Keep(NamedTuple):
    """How long edges stay: `period` in the units of the property `time` as a number."""

    time: str
    period: float

    @property
    def facts(self) -> dict[str, Any]:
        return self._asdict()

    def earliest(self, latest: float | int | None) -> float | int:
        """The earliest time that is kept when `latest` is the latest time seen."""
        if latest is None or self.period == np.inf:
            return -np.inf
        if isinstance(latest, int):  # As whole numbers: floats would round large ones.
            return max(latest - math.floor(self.period), _LEAST)
        return latest - self.period


@dataclass(eq=False)
class _Run:
    times: NDArray[Any]
    numbers: NDArray[np.int64]
    at: int = 0

    def __lt__(self, other: _Run) -> bool:
        return bool(self.times[self.at] < other.times[other.at])


def read_keep(keep: Any, time: str | None, shape: GraphShape) -> Keep:
    """How long edges stay, as a user says it; InputError if the graph has no such time."""
    if time is None:
        moments = [name for name, kind in shape.kept if kind in ("timestamp", "date")]
        if len(moments) != 1:
            raise InputError("which property is the time of an edge?", hint="say so: time='...'")
        time = moments[0]
    kind = shape.edge_types.get(time)
    if kind not in ("timestamp", "date", "int", "float"):
        near = None if kind else closest(str(time), shape.edge_types)
        problem = f"it holds values of type {kind}" if kind else "edges have no such property"
        raise InputError(
            f"'{time}' is no time of edges: {problem}",
            hint=f"did you mean `{near}`?" if near else "give a date, a timestamp or a number",
        )
    return Keep(time, _period(keep, kind))


def _period(keep: Any, kind: str) -> float:
    if kind in ("int", "float"):
        if isinstance(keep, int | float) and not isinstance(keep, bool) and keep > 0:
            return keep
        raise InputError(
            f"keep cannot be {keep!r}: the time is a number", hint="give a number: keep=3600"
        )
    period = _PERIOD.fullmatch(keep) if isinstance(keep, str) else None
    length = keep if isinstance(keep, timedelta) else None
    if period is not None:
        length = float(period[1]) * _UNITS[period[2]]
    if length is None or length <= timedelta(0):
        raise InputError(f"keep cannot be {keep!r}", hint="give a period: keep='7 days'")
    return length / timedelta(days=1) if kind == "date" else length // _MICROSECOND


def keep_text(facts: dict[str, Any], shape: GraphShape) -> str:
    """The period as text, in the largest unit that makes it a whole number."""
    keep = Keep(**facts)
    kind = shape.edge_types[keep.time]
    if kind in ("int", "float"):
        return f"{keep.period} by {keep.time}"
    length = keep.period * (_UNITS["day"] if kind == "date" else _MICROSECOND)
    unit = next((name for name, one in _UNITS.items() if not length % one), "second")
    count = length / _UNITS["day" if unit == "week" else unit]
    shown = "day" if unit == "week" else unit
    return f"{count:g} {shown}{'' if count == 1 else 's'} by {keep.time}"


def times_of(values: Any, time: str) -> NDArray[Any]:
    """Times as numbers; InputError where one is missing."""
    if hasattr(values, "__len__") and not len(values):
        return np.empty(0, np.int64)
    column = typed_column(values)
    if column is None or column.null_count:
        missing = [] if column is None else np.flatnonzero(column.is_null()).tolist()
        raise InputError(
            f"edges come without a time in '{time}', which they expire by",
            where=named_rows(missing, lambda _: "no time") or None,
            hint="give every edge a time",
        )
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    elif pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    times: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    if times.dtype.kind not in "if":
        raise InputError(f"insert: '{time}' holds no times", hint="give values of the same type")
    return times


@dataclass
class Expiry:
    """The times of all edges, and the latest of them."""

    keep: Keep
    latest: float | int | None = None
    _runs: list[_Run] = field(default_factory=list)
    _before: float | int | None = None
    """The latest time before the batch that is being taken."""
    _moves: list[tuple[_Run, int]] = field(default_factory=list)
    """The runs that it has moved, and where each stood."""
    _entered: list[_Run] = field(default_factory=list)
    """The run that it has brought."""

    @property
    def border(self) -> float | int:
        return self.keep.earliest(self.latest)

    def see(self, times: NDArray[Any]) -> None:
        if len(times):
            last = times.max().item()
            self.latest = last if self.latest is None else max(self.latest, last)

    def enter(self, times: NDArray[Any], first: int) -> None:
        """Edges with numbers from the first on, in the order of their times."""
        self.enter_numbered(times, np.arange(first, first + len(times)))

    def enter_numbered(self, times: NDArray[Any], numbers: NDArray[np.int64]) -> None:
        if len(times):
            order = np.argsort(times, kind="stable")
            self._entered.append(_Run(times[order], numbers[order]))
            heapq.heappush(self._runs, self._entered[-1])

    def begin(self) -> None:
        """Begin a batch; `back` undoes everything since."""
        self._before, self._moves, self._entered = self.latest, [], []

    def take_due(self) -> NDArray[np.int64]:
        """The numbers of the edges whose time has come to leave."""
        numbers: list[NDArray[np.int64]] = []
        border = self.border
        while self._runs and self._runs[0].times[self._runs[0].at] < border:
            run = heapq.heappop(self._runs)
            self._moves.append((run, run.at))
            last = int(np.searchsorted(run.times, border, "left"))
            numbers.append(run.numbers[run.at : last])
            run.at = last
            if last < len(run.times):
                heapq.heappush(self._runs, run)
        return np.concatenate([np.empty(0, np.int64), *numbers])

    def back(self) -> None:
        """Undo everything since `begin`."""
        self.latest = self._before
        for run, at in reversed(self._moves):
            run.at = at
        moved = [run for run, _ in self._moves]
        apart = [*moved, *self._entered]
        self._runs = [run for run in self._runs if run not in apart] + moved
        heapq.heapify(self._runs)
        self._moves, self._entered = [], []


_NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class LiveBatch:
    """What an advance of a live graph is given."""

    insert: Any = None
    delete: Any = None
    vertices: Any = None
    update: Any = None
    remove: Any = None
    match: tuple[str, ...] = ()
    id: BatchId | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the log says of it besides, such as how far a stream has come by it."""


@dataclass
class ResolvedBatch:
    """What the graph is to take, and what the log says of it besides.

    `times` are those of the rows to come, in their order.
    """

    insert: Any
    delete: Any
    vertices: Any
    facts: dict[str, Any] = field(default_factory=dict)
    times: NDArray[Any] | None = None


def prepared(
    graph: MemoryGraph, given: LiveBatch, shape: GraphShape, expiry: Expiry | None
) -> ResolvedBatch:
    """Resolve a batch into edges in and out; the graph stays as it is."""
    refuse_numbers(given.insert)
    batch = ResolvedBatch(given.insert, given.delete, given.vertices, _facts(given))
    changed = _NONE
    if given.update is not None:
        changed = _update(graph, given, shape, batch)
    elif given.match:
        raise InputError("match is given without update", hint="it says what names the rows of it")
    if given.remove is not None:
        numbers = _vertex_numbers(graph, given.remove)
        gone = edges_at(graph, numbers)
        _refuse_both(changed, gone, "are edges of vertices that `remove` takes out")
        _delete(graph, batch, gone)
        batch.facts["left"] = numbers.tolist()
    if expiry is not None:
        _expire(graph, batch, shape, expiry)
    return batch


def refuse_numbers(insert: Any) -> None:
    """Refuse edges by number: one that has left a live graph does not come back."""
    if insert is not None and edge_numbers("insert", insert) is not None:
        raise InputError(
            "a live graph takes no edge numbers to insert",
            hint="give rows: every inserted row is an edge of its own, with a new number",
        )


def _facts(given: LiveBatch) -> dict[str, Any]:
    match given.id:
        case None:
            return dict(given.facts)
        case str():
            return {**given.facts, "id": given.id}
        case stream, number:
            return {**given.facts, "stream": {stream: number}}


def _update(
    graph: MemoryGraph, given: LiveBatch, shape: GraphShape, found: ResolvedBatch
) -> NDArray[np.int64]:
    """Let edges go and come with other values; the numbers of those that go."""
    check_match(shape, given.match)
    columns = read_columns("update", given.update, graph._known.layout)
    known = (shape.src, shape.dst, *given.match)
    if any(name not in columns for name in known):
        raise InputError(
            "update has rows that name no edges",
            hint=f"a row gives {', '.join(known)}, and new values for other properties",
        )
    changed = {name: values for name, values in columns.values.items() if name not in known}
    if not changed:
        raise InputError("update gives no new values", hint="give some, or leave the rows out")
    numbers = numbers_of(graph, "update", {name: columns[name] for name in known})
    if found.delete is not None:
        found.delete = numbers_of(graph, "delete", found.delete)
        _refuse_both(numbers, found.delete, "are edges that `delete` takes out")
    _insert(graph, found, {**chosen_edges(graph, numbers, shape), **changed})
    _delete(graph, found, numbers)
    return numbers


def _refuse_both(changed: NDArray[np.int64], gone: NDArray[np.int64], problem: str) -> None:
    rows = np.flatnonzero(np.isin(changed, gone)).tolist()
    if rows:
        raise InputError(
            f"rows of `update` {problem}",
            where=named_rows(rows, lambda at: f"edge {changed[at]}"),
            hint="leave them out of one of the two; of edges with the same ends, say which is "
            "meant: by `match`, or by their numbers in `delete`",
        )


def _insert(graph: MemoryGraph, found: ResolvedBatch, rows: dict[str, Any]) -> None:
    if found.insert is None:
        found.insert = rows
        return
    first = read_columns("insert", found.insert, graph._known.layout)
    check_properties(graph._known, first)
    found.insert = first.followed_by(rows).values


def _delete(graph: MemoryGraph, found: ResolvedBatch, numbers: NDArray[np.int64]) -> None:
    if not len(numbers):
        return
    if found.delete is not None:
        before = numbers_of(graph, "delete", found.delete)
        if len(np.unique(before)) < len(before):
            return  # The graph says which edge is listed twice.
        numbers = np.unique(np.concatenate([before, numbers]))
    found.delete = numbers


def _expire(graph: MemoryGraph, found: ResolvedBatch, shape: GraphShape, expiry: Expiry) -> None:
    time = expiry.keep.time
    given = [] if found.insert is None else found.insert
    rows = read_columns("insert", given, graph._known.layout)
    found.times = times_of(rows.values.get(time, []), time)
    if len(rows) and time not in rows:
        raise InputError(f"insert gives no time in '{time}'", hint="give every edge its time")
    expiry.see(found.times)
    stays = found.times >= expiry.border
    if not stays.all():
        found.facts["late"] = found.facts.get("late", 0) + int((~stays).sum())
        found.insert = rows.take(np.flatnonzero(stays)).values
        found.times = found.times[stays]
    found.facts["latest"] = expiry.latest
    due = expiry.take_due()
    resident = graph._resident
    _delete(graph, found, due[resident.are_live(resident.inside(due))])


def _vertex_numbers(graph: MemoryGraph, given: Any) -> NDArray[np.int32]:
    ids = id_column(given, "`remove`")
    numbers = graph._known.ids.numbers(ids)
    missing = np.flatnonzero(numbers < 0).tolist()
    if missing:
        raise InputError(
            "`remove` lists vertices that are not there",
            where=named_rows(missing, lambda at: repr(plain_id(ids[at]))),
            hint="list vertices by their ids",
        )
    return np.unique(numbers)


def expiry_of(
    graph: MemoryGraph, shape: GraphShape, keep: Keep, latest: float | int | None
) -> Expiry:
    expiry = Expiry(keep, latest)
    inside = graph._resident.live_edges()
    numbers = np.sort(graph._resident.outside(inside)).astype(np.int64)
    if len(numbers):
        times = times_of(chosen_edges(graph, numbers, shape)[keep.time], keep.time)
        expiry.see(times)
        expiry.enter_numbered(times, numbers)
    return expiry
