"""The host: what is fed to the dataflows that dwell on it, and how versions are closed.

Inputs belong to versions. What users insert waits here until its version is *closed*; closing
feeds all of it to the machine as one physical batch, however many versions that is, and runs the
machine until nothing waits. After that the closed versions are final, operators need no version
before the last of them, and traces may be compacted up to there, as far as handles let them.

Versions are machine words here: plain numbers, or several coordinates in one word. One machine does
all of it or, for several workers, each of a crew of machines does it for the keys that it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphtide.engine.dataflow.checking import versions_of
from graphtide.engine.dataflow.dwelling import Dwelling
from graphtide.engine.dataflow.faults import find_fault
from graphtide.engine.dataflow.feeding import Unread, as_rows
from graphtide.engine.dataflow.limits import limit_of
from graphtide.engine.dataflow.machine import Int64
from graphtide.engine.dataflow.restoring import restore
from graphtide.engine.dataflow.waiting import Part, Waiting
from graphtide.kernels.dataflow import layout
from graphtide.model.errors import GraphtideError, InputError, LimitError


@dataclass
class Host(Dwelling):
    """See the module."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.failed: str | None = None
        self._restorable = False
        self._waiting = Waiting(self._shape())
        self._lasting: list[Part] = []

    def feed(
        self, port: int, rows: Int64 | Unread, version: int | None, *, lasting: bool = False
    ) -> None:
        """Let rows wait until their version is closed: one for all, or each its own for None.

        Those that are `lasting` wait again where that fails; all others are gone then.
        """
        part = Part(port, version, rows)
        self._waiting.put(part)
        if lasting:
            self._lasting.append(part)

    def close(self, frontier: list[int]) -> None:
        """Close all versions that are not at or after the new frontier, as one batch.

        Where that fails, the host is of no more use until it is restored.
        """
        if self.failed:
            raise InputError(
                "This dataflow stopped in the middle of a batch and cannot go on",
                where=self.failed,
                hint="make it anew; outputs can be read as of the last version that was closed",
            )
        if self.once and any(dweller.ran for dweller in self.dwellers):
            raise InputError(
                "This dataflow runs once, and has run", hint="make it anew, or without `once`"
            )
        before = self.frontier
        # An interrupt may come at any line: until all is noted, the host counts as failed.
        self.failed = "it was interrupted"
        try:
            self._begin_batch(frontier)
            self._runner.run()
            self._tell_fault(frontier)
        except BaseException as error:
            self._note_failure(error)
            raise
        self._lasting.clear()
        self._fresh = self._fresh_history = False
        self.frontier = frontier
        for dweller in self.dwellers:
            dweller.ran = True
        self.failed = None
        if self._checkers:
            self._check(before, frontier)

    def _tell_fault(self, frontier: Sequence[int]) -> None:
        """Raise an error where a version that is closed now has a record without a word."""
        operator = find_fault(self.crew, self.dwellers, frontier)
        if operator is not None:
            self.machine.failed_at = operator
            raise limit_of(ArithmeticError("a value is beyond its word"), 0)

    def _note_failure(self, error: BaseException) -> None:
        """Note why a batch failed, and whether machines can be brought back to before it."""
        if isinstance(error, LimitError):
            error.where = error.where or self._failed_at()
        self.failed = str(error) or self.failed
        # Where memory was full, a merge may have lost what it had in hand.
        lost = type(error) is GraphtideError or isinstance(error.__cause__, MemoryError)
        plain = self.coordinates == 1 and not self.once and not self.debug
        self._restorable = plain and not lost

    def restore(self, frontier: list[int]) -> None:
        """Go back to where a batch began that failed to come to a frontier, if that can be done.

        What was fed for it is gone, but for what is lasting.
        """
        if not self.failed or not self._restorable:
            return
        self._restorable = False
        self._waiting.take(frontier)
        try:
            restore(self.crew, self.dwellers, self.frontier[0])
        except (MemoryError, ArithmeticError):
            return
        for part in self._lasting:
            self._waiting.put(part)
        self.failed = None

    def _forget_fed(self, ports: set[int]) -> None:
        self._waiting.forget(ports)
        self._lasting = [part for part in self._lasting if part.port not in ports]

    def _failed_at(self) -> str | None:
        """The operator that met a number which is too large, where one did."""
        for worker, machine in enumerate(self.crew.machines):
            for dweller in self.dwellers:
                if where := dweller.told(worker, machine.failed_at):
                    return where
        return None

    def _check(self, before: list[int], frontier: list[int]) -> None:
        """Compare what was computed for the versions between two frontiers with plain Python."""
        checkers = list(self._checkers.values())
        due = versions_of(checkers, self._shape(), before, frontier)
        for checker in checkers:
            checker.check(due)

    def end(self) -> None:
        """Give all memory back to the system at once; the host is of no more use."""
        self.failed = self.failed or "it was closed"
        self._waiting.clear()
        self._checkers.clear()
        self.crew.end()

    def _begin_batch(self, frontier: list[int]) -> None:
        """Feed the machines what waits for versions that are closed now, and tell them of these.

        Where that fails, rows wait nowhere any more: the batch must not be taken for one without.
        """
        try:
            self._set_versions(self._feed_closed(frontier))
        except MemoryError as error:
            raise limit_of(error, len(self.machine.words) * 8) from error

    def _set_versions(self, versions: set[int]) -> None:
        """Tell the machines which versions a batch closes, and from where on they stay apart."""
        one = len(versions) == 1 and self.coordinates == 1 and not self._fresh
        only = versions.pop() if one else -1
        lower = self.frontier[0] if self.coordinates == 1 else 0
        # One version before the batch stays apart: users may still read it.
        self.since = [max(lower - 1, 0)] if self.coordinates == 1 else self.frontier
        # A history that is imported in this batch is gone through from its beginning: whoever looks
        # at one of its versions must not find rows of a trace that were moved behind it meanwhile.
        since = [0] if self._fresh_history else self.since
        for machine in self.crew.machines:
            machine.words[layout.ONE_VERSION] = only
            machine.set_frontier(layout.SINCE, since)

    def _feed_closed(self, frontier: list[int]) -> set[int]:
        """Feed what waits for versions that are closed now; those versions."""
        due, versions = self._waiting.take(frontier)
        for checker in self._checkers.values():
            checker.begin([(port, as_rows(rows)) for port, rows in due])
        for port, rows in due:
            if self.workers > 1:
                self._feed_crew(port, as_rows(rows))
            elif port in self._inputs:
                self.machine.send_later(self._inputs[port], rows)
            else:
                self.machine.feed(port, as_rows(rows))
        return versions

    def _feed_crew(self, port: int, rows: Int64) -> None:
        """Hand rows to the workers that have their keys, or to all in equal parts."""
        if port in self._keys:
            self.crew.feed_owners(port, rows, self._keys[port])
        elif port in self._inputs:
            self.crew.send_later(self._inputs[port], rows)
        else:
            self.crew.feed(port, rows)
