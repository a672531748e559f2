"""The clock of dataflows beside each other: which versions are open, and how they are closed.

A version is a number, or a tuple where the clock has several coordinates: then versions are only
partly ordered, and the frontier between closed and open is a set of versions none of which is
before another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.dataflow.host import Host
from graphtide.engine.dataflow.lowering import InstalledDataflow
from graphtide.kernels.dataflow.numbers import field_width, not_after, shape_of
from graphtide.model.errors import InputError
from graphtide.run.turns import CallLock, uninterrupted

Time = int | tuple[int, ...]


class ClockedFlow(Protocol):
    """A dataflow, as its clock knows it."""

    installed: InstalledDataflow | None

    def pour(self) -> None:
        """Hand what was inserted to the host."""


class VersionClock:
    """The versions of a host, and whose turn it is of the threads that use its dataflows."""

    def __init__(self, host: Host) -> None:
        self.turns = CallLock("the dataflow")
        self.host = host
        self.flows: list[ClockedFlow] = []
        self._width = field_width(host.coordinates)
        self._shape = shape_of(host.coordinates)

    @property
    def frontier(self) -> tuple[Time, ...]:
        """The least versions that are open."""
        return tuple(self.time(word) for word in self.host.frontier)

    @property
    def version(self) -> Time:
        """The least version that is open; the first of them where there are several."""
        return self.time(self.host.frontier[0])

    def word(self, time: Time) -> int:
        """A version as the machine knows it."""
        parts = time if isinstance(time, tuple) else (time,)
        limit = 1 << (self._width - 1)
        if len(parts) != self.host.coordinates or not all(
            isinstance(part, int) and 0 <= part < limit for part in parts
        ):
            raise InputError(
                f"{time!r} is not a version of this clock",
                hint="a version is a number from 0 up"
                if self.host.coordinates == 1
                else f"a version is a tuple of {self.host.coordinates} numbers from 0 up",
            )
        found = 0
        for part in parts:
            found = found << self._width | part
        return found

    def time(self, word: int) -> Time:
        """A version as users know it."""
        if self.host.coordinates == 1:
            return word
        mask = (1 << self._width) - 1
        return tuple(
            word >> (self._width * number) & mask
            for number in reversed(range(self.host.coordinates))
        )

    def open_word(self, at: Time | None) -> int:
        """The word of a version that is still open; of the current one for None."""
        if at is None:
            if len(self.host.frontier) > 1:
                raise InputError("Several versions are open", hint="say which one with `at=`")
            return self.host.frontier[0]
        word = self.word(at)
        if not self.is_open(word):
            raise InputError(
                f"Version {at!r} is closed",
                where=f"open from {_listed(self.frontier)} on",
                hint="insert and remove at versions that are open",
            )
        return word

    def open_words(self, at: Any, count: int) -> NDArray[np.int64]:
        """The words of so many versions, one a row, all of which are still open."""
        given = np.asarray(at)
        coordinates = self.host.coordinates
        wanted = (count,) if coordinates == 1 else (count, coordinates)
        if given.shape != wanted or (count > 0 and given.dtype.kind not in "iu"):
            raise InputError(
                f"{given.dtype} versions of shape {given.shape} for {count} records",
                hint="give one version for all, or a list of one version a record",
            )
        parts = given.astype(np.int64).reshape(count, coordinates)
        if count and (parts.min() < 0 or parts.max() >= 1 << (self._width - 1)):
            raise InputError(
                f"{parts.min()} to {parts.max()} are not all versions of this clock",
                hint="versions are numbers from 0 up",
            )
        words = np.zeros(count, np.int64)
        for number in range(coordinates):
            words = words << self._width | parts[:, number]
        for word in np.unique(words).tolist() if coordinates > 1 else words[words.argsort()[:1]]:
            self.open_word(self.time(int(word)))
        return words

    @property
    def shape(self) -> int:
        """How the words of versions are divided."""
        return self._shape

    def closed_word(self, at: Time | None) -> int:
        """The word of a version that is closed; of the last one for None."""
        if at is None and self.host.coordinates == 1:
            return max(self.host.frontier[0] - 1, 0)
        if at is None:
            raise InputError("Several versions could be meant", hint="say which one with `at=`")
        word = self.word(at)
        if self.is_open(word):
            raise InputError(
                f"Version {at!r} is still open: what it holds is not known yet",
                hint="advance first",
            )
        return word

    def check_readable(self, word: int, trace: int) -> None:
        """Refuse a closed version that a trace has merged with later ones."""
        held = [*self.host.since, *self.host.held.get(trace, [])]
        if not any(not_after(bound, word, self._shape) for bound in held):
            raise InputError(
                f"Version {self.time(word)!r} has been compacted: "
                "it cannot be told from later ones",
                where=f"readable from {_listed([self.time(bound) for bound in held])} on",
                hint="take a handle with hold() before a version passes, and keep it",
            )

    def is_open(self, word: int) -> bool:
        """True for versions at or after the frontier."""
        return any(not_after(bound, word, self._shape) for bound in self.host.frontier)

    def advance(self) -> Time:
        """Close the open version, a plain number."""
        if self.host.coordinates > 1:
            raise InputError(
                "A clock of several coordinates does not know which version comes next",
                hint="say what stays open with `advance_to`, such as advance_to((0, 1), (1, 0))",
            )
        following = self.host.frontier[0] + 1
        if following >= 1 << (self._width - 1):
            return self.advance_to(following)
        return self._close([following])

    def advance_to(self, *frontier: Time) -> Time:
        """Close all versions that are not at or after one of these."""
        words = self._antichain([self.word(time) for time in frontier])
        for word in words:
            if not self.is_open(word):
                raise InputError(
                    f"Time cannot go back to {self.time(word)!r}",
                    where=f"open from {_listed(self.frontier)} on",
                    hint="advance to a version that is open",
                )
        return self._close(words)

    def _close(self, frontier: list[int]) -> Time:
        """Let the host close what is not at or after a frontier that it may go to."""
        with self.turns.moving:
            for flow in self.flows:
                flow.pour()
            try:
                self.host.close(frontier)
            except BaseException:
                with uninterrupted():
                    self.host.restore(frontier)
                raise
        return self.version

    def remove(self, flow: ClockedFlow) -> None:
        """Uninstall a dataflow; nothing where that has been done."""
        if flow in self.flows and flow.installed is not None:
            self.host.uninstall(flow.installed)
        self.flows = [other for other in self.flows if other is not flow]

    def _antichain(self, words: Sequence[int]) -> list[int]:
        if not words:
            raise InputError("Say which versions stay open", hint="advance_to(3)")
        distinct = sorted(set(words))
        return [
            word
            for word in distinct
            if not any(other != word and not_after(other, word, self._shape) for other in distinct)
        ]


def _listed(times: Sequence[Time]) -> str:
    return ", ".join(map(repr, times))
