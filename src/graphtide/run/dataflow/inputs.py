"""Inputs and outputs: where records come from, and where users read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.reading import add_up
from graphtide.engine.dataflow.records import decode, encode, records
from graphtide.model.errors import InputError
from graphtide.run.dataflow.collection import Collection
from graphtide.run.dataflow.times import Time
from graphtide.run.staying import StaysInDataflow
from graphtide.run.turns import Turns, in_turn

if TYPE_CHECKING:
    from graphtide.run.dataflow.flow import Dataflow

Change = tuple[tuple[Any, ...], Time, int]
"""A record, the version at which its multiplicity changed, and by how much."""


class InputCollection(Collection):
    """A collection that users change. Records are tuples; columns may be given as arrays too."""

    def insert(self, rows: Any, *, at: Time | None = None) -> None:
        """Add each record once, at the open version or at one that is still to come."""
        self._change(rows, 1, at)

    def remove(self, rows: Any, *, at: Time | None = None) -> None:
        """Take each record away once. Nothing checks that it was there: see multiplicities."""
        self._change(rows, -1, at)

    def update(self, rows: Any, diffs: Any, *, at: Time | None = None) -> None:
        """Change the multiplicity of each record by a number of its own."""
        self._change(rows, np.asarray(diffs), at)

    def _change(self, rows: Any, diff: Any, at: Time | None) -> None:
        turns = self.flow.clock.turns
        with turns.lock:
            turns.check()
            self._put(rows, diff, at)

    def _put(self, rows: Any, diff: Any, at: Time | None) -> None:
        self.flow.check_open()
        version = self.flow.clock.open_word(at)
        words = encode(rows, self.schema, self.flow.host.texts)
        if np.ndim(diff) and (np.shape(diff) != (len(words),) or diff.dtype.kind not in "iu"):
            raise InputError(
                f"{np.size(diff)} diffs of type {np.asarray(diff).dtype} for {len(words)} records",
                hint="give one int a record",
            )
        words[:, -2] = version
        words[:, -1] = diff
        self.flow.waiting.append((self.number, version, words))


class Output(StaysInDataflow):
    """What a collection comes to, for users to read after each version."""

    def __init__(self, flow: Dataflow, number: int) -> None:
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
