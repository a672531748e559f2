"""Outputs: where users read what a collection comes to.

What the machine puts down is kept twice: as changes that have not been read, and as rows that wait
to be added to the total. They are added when somebody asks for all records, or when as many wait as
there are records. So reading changes costs the changes, however large the output is, and all that
is kept stays within twice the records and what has not been read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.reading import add_up
from graphtide.engine.dataflow.records import decode, records
from graphtide.run.dataflow.changes import Changes
from graphtide.run.dataflow.growing import GrowingFlow
from graphtide.run.staying import StaysInDataflow
from graphtide.run.turns import Turns, in_turn

_SHOWN = 5
_FEW = 4096
"""Up to this many rows wait before they are added to the total, however small that is."""
_FEW_PARTS = 32
"""Up to this many parts wait unjoined: joining them costs more than a small part."""


class Output(StaysInDataflow):
    """What a collection comes to, for users to read after each version."""

    def __init__(self, flow: GrowingFlow, number: int) -> None:
        self.flow = flow
        self.number = number
        self.schema = flow.plan.schemas[number]
        self._total = np.empty((0, len(self.schema) + 1), np.int64)
        self._recent: list[NDArray[np.int64]] = []
        self._waiting: list[NDArray[np.int64]] = []
        self._waiting_rows = 0
        self._unread: list[NDArray[np.int64]] = []

    @property
    def _turns(self) -> Turns:
        return self.flow.clock.turns

    @in_turn
    def changes(self) -> Changes:
        """What has changed since the last call, added up for each version, in order.

        The work is in proportion to the changes, not to the records that are there; to make records
        of them waits until somebody looks.
        """
        self._take()
        unread, self._unread = self._unread, []
        return Changes(unread, self.schema, self.flow.host.texts, self.flow.clock.time)

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
        if flow.dweller is None:
            return
        port = flow.dweller.installed.ports[self.number]
        if not flow.host.crew.has_rows(port):
            return
        rows = flow.host.crew.take(port)
        if flow.host.failed:
            rows = rows[self._are_closed(rows[:, -2])]
        self._unread.append(rows)
        self._recent.append(rows)
        self._waiting_rows += len(rows)
        if len(self._recent) == _FEW_PARTS:
            self._put_off_recent()
        if self._waiting_rows > max(len(self._total), _FEW):
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
