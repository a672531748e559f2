"""Edges that leave by themselves: those whose time lies too far behind the latest that was seen.

The clock is the data's: the latest time of any edge so far, whatever the machine's clock says. So
the same batches expire the same edges, whenever they come.

Times stand in runs, sorted, one for what the graph began with and one for each batch; a heap has
the next time of every run. An advance looks at what expires, and no further.
"""

from __future__ import annotations

import heapq
import math
import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.model.errors import InputError
from graphtide.model.schema import closest
from graphtide.run.durable.shape import Shape
from graphtide.run.live.vertex_ids import named_rows
from graphtide.run.views.typed_columns import typed_column

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
        """As a manifest holds it."""
        return self._asdict()

    def earliest(self, latest: float | int | None) -> float | int:
        """The earliest time that stays where that is the latest that was seen."""
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


def read_keep(keep: Any, time: str | None, shape: Shape) -> Keep:
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


def told_keep(facts: dict[str, Any], shape: Shape) -> str:
    """How long edges stay, in the largest unit that tells it in whole numbers."""
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
        """The earliest time that stays."""
        return self.keep.earliest(self.latest)

    def see(self, times: NDArray[Any]) -> None:
        """Take note of the times of a batch."""
        if len(times):
            last = times.max().item()
            self.latest = last if self.latest is None else max(self.latest, last)

    def enter(self, times: NDArray[Any], first: int) -> None:
        """Edges with numbers from the first on, in the order of their times."""
        self.enter_numbered(times, np.arange(first, first + len(times)))

    def enter_numbered(self, times: NDArray[Any], numbers: NDArray[np.int64]) -> None:
        """Edges with these numbers."""
        if len(times):
            order = np.argsort(times, kind="stable")
            self._entered.append(_Run(times[order], numbers[order]))
            heapq.heappush(self._runs, self._entered[-1])

    def begin(self) -> None:
        """From here on a batch is taken; `back` undoes what it does."""
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
        """To where the batch began, however far it has come."""
        self.latest = self._before
        for run, at in reversed(self._moves):
            run.at = at
        moved = [run for run, _ in self._moves]
        apart = [*moved, *self._entered]
        self._runs = [run for run in self._runs if run not in apart] + moved
        heapq.heapify(self._runs)
        self._moves, self._entered = [], []
