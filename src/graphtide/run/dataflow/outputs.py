"""Outputs: where users read what a collection comes to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.reading import add_up
from graphtide.engine.dataflow.records import decode, records
from graphtide.run.dataflow.growing import GrowingFlow
from graphtide.run.dataflow.times import Time
from graphtide.run.staying import StaysInDataflow
from graphtide.run.turns import Turns, in_turn

Change = tuple[tuple[Any, ...], Time, int]
"""A record, the version at which its multiplicity changed, and by how much."""


_SHOWN = 5


class Output(StaysInDataflow):
    """What a collection comes to, for users to read after each version."""

    def __init__(self, flow: GrowingFlow, number: int) -> None:
        self.flow = flow
        self.number = number
        self.schema = flow.plan.schemas[number]
        self._total = np.empty((0, len(self.schema) + 1), np.int64)
        self._unread: list[NDArray[np.int64]] = []

    @property
    def _turns(self) -> Turns:
        return self.flow.clock.turns

    @in_turn
    def changes(self) -> list[Change]:
        """What has changed since the last call, added up for each version, in order."""
        self._take()
        rows = add_up(np.concatenate([self._empty(), *self._unread]))
        self._unread = []
        rows = rows[np.argsort(rows[:, -2], kind="stable")]
        found = records(rows, self.schema, self.flow.host.texts)
        times = [self.flow.clock.time(word) for word in rows[:, -2].tolist()]
        return list(zip(found, times, rows[:, -1].tolist(), strict=True))

    @in_turn
    def records(self) -> dict[tuple[Any, ...], int]:
        """All records that are there now, each with its multiplicity."""
        self._take()
        found = records(self._total, self.schema, self.flow.host.texts)
        return dict(zip(found, self._total[:, -1].tolist(), strict=True))

    @in_turn
    def columns(self) -> dict[str, NDArray[Any]]:
        """All records that are there now, as arrays by column; more often where they count so."""
        self._take()
        repeated = np.repeat(self._total, np.maximum(self._total[:, -1], 0), axis=0)
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
        self._take()
        first = records(self._total[:_SHOWN], self.schema, self.flow.host.texts)
        more = ", ..." if len(self._total) > _SHOWN else ""
        told = f": {', '.join(map(str, first))}{more}" if first else ""
        return f"<output ({names}), {len(self._total):,} distinct records{told}>"

    def _empty(self) -> NDArray[np.int64]:
        return np.empty((0, len(self.schema) + 2), np.int64)

    def _take(self) -> None:
        """Take what the machine has put down, and add it to the total."""
        self.flow.check_open()
        if self.flow.dweller is None:
            return
        rows = self.flow.host.machine.take(self.flow.dweller.installed.ports[self.number])
        if len(rows) == 0:
            return
        self._unread.append(rows)
        plain = np.delete(rows, -2, axis=1)
        self._total = add_up(np.concatenate([self._total, plain]))
