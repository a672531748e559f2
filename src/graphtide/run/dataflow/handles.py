"""Handles: readers that hold back the compaction of an arrangement."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from graphtide.kernels.dataflow.times import not_after
from graphtide.model.errors import InputError
from graphtide.run.dataflow.indexed import IndexedStage
from graphtide.run.dataflow.times import Time
from graphtide.run.staying import StaysInDataflow
from graphtide.run.turns import in_turn


class Handle(StaysInDataflow):
    """Keeps the history of an arrangement from a version on; what is before may be merged.

    History costs memory: downgrade a handle as soon as older versions are of no more use, and
    drop it (or use it in a `with` block) when no version is.
    """

    def __init__(self, arrangement: IndexedStage, at: Time | None) -> None:
        self._arrangement = arrangement
        self._clock = arrangement.flow.clock
        self._turns = self._clock.turns
        self._word: int | None = arrangement.readable_word(at)
        self._clock.host.hold(arrangement.trace, self._word)

    @property
    def version(self) -> Time:
        """The least version that the handle keeps readable."""
        return self._clock.time(self._held())

    def read(self, at: Time | None = None) -> dict[tuple[Any, ...], int]:
        """The records as of a version that is held."""
        return self._arrangement.read(at)

    @in_turn
    def downgrade(self, to: Time) -> None:
        """Give up the versions before a later one."""
        held, word = self._held(), self._clock.word(to)
        if not not_after(held, word, self._clock.shape):
            raise InputError(
                f"A handle cannot go back from {self.version!r} to {to!r}",
                hint="downgrade to a later version, or take another handle",
            )
        self._clock.host.hold(self._arrangement.trace, word)
        self._clock.host.let_go(self._arrangement.trace, held)
        self._word = word

    @in_turn
    def drop(self) -> None:
        """Hold nothing any more; a second time does nothing."""
        if self._word is not None and not self._arrangement.flow.closed:
            self._clock.host.let_go(self._arrangement.trace, self._word)
        self._word = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.drop()

    def _held(self) -> int:
        if self._word is None:
            raise InputError("The handle has been dropped", hint="take a new one with hold()")
        return self._word
