"""The finished steps of a run, part by part: what a part is, and parts in memory.

A run whose plan is cut has an attempt for each sub-plan: parts beside its own, with the steps of
the sub-plan that a worker has finished. They become parts of the run one after the other, in its
order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import pyarrow as pa

from graphtide.model.errors import InputError


class Span(NamedTuple):
    """Some supersteps in a row of one task, from which on, and what they took.

    `began` is counted from the beginning of the view. All times are in microseconds.
    """

    superstep: int
    supersteps: int
    began: int
    computed: int
    waited: int
    transferred: int


class Made(NamedTuple):
    """Who made a part, and from when to when (seconds of the epoch), in how much processor time.

    `sub_plan` is the number of the one that its steps belong to; `spans` are what supersteps took,
    `sent` how many bytes of states went to other tasks.
    """

    worker: str
    sub_plan: int
    began: float
    ended: float
    processor: float
    spans: Sequence[Span] = ()
    sent: int = 0


@dataclass(frozen=True)
class Part:
    """Finished steps: their record, the differences of each field, and who made them."""

    record: pa.Table
    differences: Mapping[str, pa.Table]
    made: Made | None = None


class KeptParts(Protocol):
    """Finished steps, part by part."""

    def __len__(self) -> int: ...

    def append(self, part: Part) -> None:
        """Keep a part, for good."""

    def record(self) -> pa.Table | None:
        """The records of all finished steps; None where there are none."""

    def first_step(self, part: int) -> int:
        """The first of the steps that a part holds."""

    def differences(self, part: int, field: str) -> pa.Table:
        """The differences of a field in one part."""

    def made(self, part: int) -> tuple[Made, ...]:
        """The workers that made a part: none if that is not known, several if they shared it."""


class Parts(KeptParts, Protocol):
    """The finished steps of a run, part by part."""

    def pieces(self, wanted: int) -> Sequence[Parts]:
        """Parts for each piece of a run that is done in pieces: as many as were begun, if any."""

    def end_pieces(self) -> None:
        """Give up the pieces, which have become parts."""

    def attempt(self, number: int) -> Parts:
        """A new attempt at a sub-plan, which begins with the furthest one that there was."""

    def take_over(self, attempt: KeptParts, part: int) -> None:
        """Make a part of an attempt the next part."""

    def end_attempts(self) -> None:
        """Give up all attempts, which have become parts."""


class PartsInMemory:
    """Parts that last as long as the process."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._pieces: list[PartsInMemory] = []
        self._attempts: dict[int, PartsInMemory] = {}

    def __len__(self) -> int:
        return len(self._parts)

    def append(self, part: Part) -> None:
        """Keep a part."""
        self._parts.append(part)

    def record(self) -> pa.Table | None:
        """The records of all finished steps."""
        return pa.concat_tables([part.record for part in self._parts]) if self._parts else None

    def first_step(self, part: int) -> int:
        """The first of the steps that a part holds."""
        return int(self._parts[part].record.column("step")[0].as_py())

    def differences(self, part: int, field: str) -> pa.Table:
        """The differences of a field in one part."""
        return self._parts[part].differences[field]

    def made(self, part: int) -> tuple[Made, ...]:
        """Who made a part."""
        made = self._parts[part].made
        return () if made is None else (made,)

    def pieces(self, wanted: int) -> Sequence[Parts]:
        """Parts for each piece: as many as were begun, if any."""
        self._pieces = self._pieces or [PartsInMemory() for _ in range(wanted)]
        return self._pieces

    def end_pieces(self) -> None:
        """Give up the pieces."""
        self._pieces = []

    def attempt(self, number: int) -> PartsInMemory:
        """The attempt at a sub-plan: there is one."""
        return self._attempts.setdefault(number, type(self)())

    def take_over(self, attempt: KeptParts, part: int) -> None:
        """Make a part of an attempt the next part."""
        assert isinstance(attempt, PartsInMemory)
        self._parts.append(attempt._parts[part])

    def end_attempts(self) -> None:
        """Give up the attempts."""
        self._attempts = {}


class RecordOnly(PartsInMemory):
    """The records of finished steps, and none of their results."""

    def append(self, part: Part) -> None:
        """Keep the record of the steps, and drop their differences."""
        super().append(Part(part.record, {}, part.made))

    def differences(self, part: int, field: str) -> pa.Table:
        """InputError: there are none."""
        raise InputError(
            "the results of this run were not kept",
            hint="its record is there; run it again with results to read them",
        )
