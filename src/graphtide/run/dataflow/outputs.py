"""Outputs: where users read what a collection comes to, and what it has changed by.

What the machine puts down is kept twice: as changes that have not been read, and as rows that wait
to be added to the total. They are added when somebody asks for all records, or when as many wait as
there are records. So reading changes costs the changes, however large the output is, and all that
is kept stays within twice the records and what has not been read.

Changes are numbers until somebody looks: to add them up and order them is cheap, to make Python
records of them is most of what a small batch costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.columns import Texts
from graphtide.engine.dataflow.reading import add_up
from graphtide.engine.dataflow.records import decode, records
from graphtide.plan.dataflow import Schema
from graphtide.run.dataflow.flow_builder import FlowBuilder, Time
from graphtide.run.turns import CallLock, StaysInDataflow, in_turn

Change = tuple[tuple[Any, ...], Time, int]
"""A record, the version at which its multiplicity changed, and by how much."""


class OutputChanges(Sequence[Change]):
    """Records with the version and the diff of each, in the order of versions.

    It reads as a list of tuples does. `columns()`, `versions` and `diffs` are the same as arrays,
    which cost no objects of Python's for numbers.
    """

    def __init__(
        self,
        parts: list[NDArray[np.int64]],
        schema: Schema,
        texts: Texts,
        time: Callable[[int], Time],
    ) -> None:
        self._parts = parts
        self._schema = schema
        self._texts = texts
        self._time = time

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns of all records, by name."""
        arrays = decode(self._rows, self._schema, self._texts)
        return {name: array for (name, _), array in zip(self._schema, arrays, strict=True)}

    @property
    def versions(self) -> list[Time]:
        """The version at which each change took place."""
        return [self._time(word) for word in self._rows[:, -2].tolist()]

    @property
    def diffs(self) -> NDArray[np.int64]:
        """By how much the multiplicity of each record changed."""
        return self._rows[:, -1].copy()

    def __len__(self) -> int:
        return len(self._rows) if self._parts else 0

    def __iter__(self) -> Iterator[Change]:
        return iter(self._listed)

    def __getitem__(self, key: Any) -> Any:
        return self._listed[key]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, OutputChanges):
            other = other._listed
        return self._listed == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Sequence[Change]) -> list[Change]:
        return [*self, *other]

    def __radd__(self, other: Sequence[Change]) -> list[Change]:
        return [*other, *self]

    def __repr__(self) -> str:
        return repr(self._listed)

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """Rows of words, version and diff, added up, in the order of versions and then of words."""
        parts = self._parts or [np.empty((0, len(self._schema) + 2), np.int64)]
        rows = add_up(np.concatenate(parts))
        return rows[np.argsort(rows[:, -2], kind="stable")]

    @cached_property
    def _listed(self) -> list[Change]:
        """All changes as tuples."""
        rows = records(self._rows, self._schema, self._texts)
        return list(zip(rows, self.versions, self._rows[:, -1].tolist(), strict=True))


_SHOWN = 5
_FEW_ROWS = 4096
"""Up to this many rows wait before they are added to the total, however small that is."""
_FEW_PARTS = 32
"""Up to this many parts wait unjoined: joining them costs more than a small part."""


class Output(StaysInDataflow):
    """What a collection comes to, for users to read after each version."""

    def __init__(self, flow: FlowBuilder, number: int) -> None:
        self.flow = flow
        self.number = number
        self.schema = flow.plan.schemas[number]
        self._total = np.empty((0, len(self.schema) + 1), np.int64)
        self._recent: list[NDArray[np.int64]] = []
        self._waiting: list[NDArray[np.int64]] = []
        self._waiting_rows = 0
        self._unread: list[NDArray[np.int64]] = []

    @property
    def _turns(self) -> CallLock:
        return self.flow.clock.turns

    @in_turn
    def changes(self) -> OutputChanges:
        """What has changed since the last call, added up for each version, in order.

        The work is in proportion to the changes, not to the records that are there; to make records
        of them waits until somebody looks.
        """
        self._take()
        unread, self._unread = self._unread, []
        return OutputChanges(unread, self.schema, self.flow.host.texts, self.flow.clock.time)

    @in_turn
    def records(self) -> dict[tuple[Any, ...], int]:
        """All records that are there now, each with its multiplicity."""
        total = self._all()
        listed = records(total, self.schema, self.flow.host.texts)
        return dict(zip(listed, total[:, -1].tolist(), strict=True))

    @in_turn
    def columns(self) -> dict[str, NDArray[Any]]:
        """All records that are there now, as arrays by column; more often where they count so."""
        total = self._all()
        repeated = np.repeat(total, np.maximum(total[:, -1], 0), axis=0)
        arrays = decode(repeated, self.schema, self.flow.host.texts)
        return {name: array for (name, _), array in zip(self.schema, arrays, strict=True)}

    @in_turn
    def drain(self) -> None:
        """Forget the changes that have not been read; the records stay."""
        self._take()
        self._unread = []

    @in_turn
    def __repr__(self) -> str:
        names = ", ".join(name for name, _ in self.schema)
        if self.flow.closed:
            return f"<output ({names}) of a closed dataflow>"
        total = self._all()
        first = records(total[:_SHOWN], self.schema, self.flow.host.texts)
        more = ", ..." if len(total) > _SHOWN else ""
        shown = f": {', '.join(map(str, first))}{more}" if first else ""
        return f"<output ({names}), {len(total):,} distinct records{shown}>"

    def _all(self) -> NDArray[np.int64]:
        """All records that are there now with their multiplicities, in order."""
        self._take()
        if self._waiting_rows:
            self._settle()
        return self._total

    def _take(self) -> None:
        """Take what the machine has put down; add it to the total where much waits for that."""
        flow = self.flow
        flow.check_open()
        if flow.installed is None:
            return
        port = flow.installed.addresses.ports[self.number]
        if not flow.host.pool.has_rows(port):
            return
        rows = flow.host.pool.take(port)
        if flow.host.failed:
            rows = rows[self._are_closed(rows[:, -2])]
        self._unread.append(rows)
        self._recent.append(rows)
        self._waiting_rows += len(rows)
        if len(self._recent) == _FEW_PARTS:
            self._put_off_recent()
        if self._waiting_rows > max(len(self._total), _FEW_ROWS):
            self._settle()

    def _are_closed(self, versions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which versions are closed: the others are of a batch that stopped in its middle."""
        is_open = self.flow.clock.is_open
        return np.array([not is_open(word) for word in versions.tolist()], np.bool_)

    def _put_off_recent(self) -> None:
        """Let rows wait without their versions, and as one part."""
        if self._recent:
            self._put_off(np.delete(np.concatenate(self._recent), -2, axis=1))
            self._recent = []

    def _put_off(self, rows: NDArray[np.int64]) -> None:
        """Let rows wait. Parts double in size from the last to the first, so that they are few."""
        while self._waiting and len(self._waiting[-1]) < 2 * len(rows):
            rows = np.concatenate([self._waiting.pop(), rows])
        self._waiting.append(rows)

    def _settle(self) -> None:
        """Add what waits to the total."""
        self._put_off_recent()
        self._total = add_up(np.concatenate([self._total, *self._waiting]))
        self._waiting, self._waiting_rows = [], 0
