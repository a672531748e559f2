"""What is indexed, read: all records of a version, or those of one key."""

from __future__ import annotations

from typing import Any

from graphtide.engine.dataflow.reading import read_trace
from graphtide.engine.dataflow.records import encode, records
from graphtide.model.errors import InputError
from graphtide.run.dataflow.growing import GrowingFlow
from graphtide.run.dataflow.stages import Stage, check_outside
from graphtide.run.dataflow.times import Time
from graphtide.run.turns import Turns, in_turn


class IndexedStage(Stage):
    """A stage indexed by its first columns, the key, with its history."""

    def __init__(self, flow: GrowingFlow, number: int) -> None:
        super().__init__(flow, number)
        self.key = flow.plan.key_of(number)

    @property
    def by(self) -> tuple[str, ...]:
        """The names of the key columns."""
        return self.names[: self.key]

    @property
    def trace(self) -> int:
        """Where the arrangement is in the machine; installs the dataflow."""
        dweller = self.flow.install()
        traces = dweller.installed.traces
        if self.number not in traces and self.flow.host.once:
            raise InputError(
                f"{self!r} is kept without an index, since {self.flow.name} runs once",
                hint="read an output of it, or make the dataflow without `once`",
            )
        if self.number not in traces or dweller.plan.schemas[self.number] != self.schema:
            raise InputError(
                f"{self!r} is kept without an index of all its columns, since nobody held it "
                f"when {self.flow.name} began to run",
                hint="make the arrangement before the first advance, and hold on to it",
            )
        return traces[self.number]

    def read(self, at: Time | None = None) -> dict[tuple[Any, ...], int]:
        """All records with their multiplicities as of a version; the last closed one for None.

        A version before the last closed one can be read only while a handle holds it.
        """
        return self._read(at, None)

    def lookup(self, *key: Any, at: Time | None = None) -> dict[tuple[Any, ...], int]:
        """The same for one key: the work is in proportion to what that key has."""
        if len(key) != self.key:
            raise InputError(
                f"The key of {self!r} has {self.key} columns, not {len(key)}",
                hint=f"lookup({', '.join(self.by)})",
            )
        return self._read(at, key)

    def readable_word(self, at: Time | None) -> int:
        """The word of a closed version at which the arrangement can still be read."""
        clock = self.flow.clock
        word = clock.closed_word(at)
        if at is not None:
            clock.check_readable(word, self.trace)
        return word

    @property
    def _turns(self) -> Turns:
        return self.flow.clock.turns

    @in_turn
    def _read(self, at: Time | None, key: tuple[Any, ...] | None) -> dict[tuple[Any, ...], int]:
        check_outside(self, "read")
        version = self.readable_word(at)
        rows = read_trace(self.flow.host, self.trace, version, self._key_words(key))
        listed = records(rows, self.schema, self.flow.host.texts)
        return dict(zip(listed, rows[:, -1].tolist(), strict=True))

    def _key_words(self, key: tuple[Any, ...] | None) -> list[int] | None:
        if key is None:
            return None
        words = encode([key], self.schema[: self.key], self.flow.host.texts)
        return [int(word) for word in words[0, : self.key]]
