"""When a task did what: the supersteps of a view, each as computing, waiting and transfer.

A superstep computes until its task has something to tell the others, waits until the last of them
has begun to send, and is in transfer until all is taken in: packing and unpacking count as that.
Whatever is kept between two supersteps is in none of them. Two looks at the clock a superstep are
all that this costs. Where there are many supersteps, two neighbours become one span, again and
again: what is kept of a view has a bound.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from graphtide.store.parts import Span

MOST_SPANS = 256
_MICRO = 1e6


class Timeline:
    """The supersteps of one view in one task; begins when it is made.

    `waited` tells the seconds that the task has waited for others so far.
    """

    def __init__(self, waited: Callable[[], float], clock: Callable[[], float] = monotonic) -> None:
        self._waits, self._clock = waited, clock
        self._first = self._began = self._computed = clock()
        self._waited = self._waited_before = waited()
        self._spans: list[Span] = []
        self._each = 1
        self._held: Span | None = None

    def computed(self) -> None:
        """The own vertices of a superstep are done."""
        self._computed, self._waited_before = self._clock(), self._waits()

    def exchanged(self, superstep: int) -> None:
        """All tasks have told each other: the superstep of this number is at its end."""
        now, waits = self._clock(), self._waits()
        early, late = self._waited_before - self._waited, waits - self._waited_before
        took = self._computed - self._began - early, early + late, now - self._computed - late
        parts = [max(0, round(_MICRO * part)) for part in took]
        self._add(Span(superstep, 1, round(_MICRO * (self._began - self._first)), *parts))
        self._began, self._waited = now, waits

    def skip(self) -> None:
        """What went by since the last superstep belongs to none."""
        self._began, self._waited = self._clock(), self._waits()

    def spans(self) -> list[Span]:
        """All supersteps so far, in order."""
        return self._spans if self._held is None else [*self._spans, self._held]

    def _add(self, span: Span) -> None:
        held = span if self._held is None else joined(self._held, span)
        self._held = held if held.supersteps < self._each else None
        if self._held is None:
            self._spans.append(held)
        if len(self._spans) == MOST_SPANS:
            pairs = zip(self._spans[::2], self._spans[1::2], strict=True)
            self._spans = [joined(one, other) for one, other in pairs]
            self._each *= 2


def joined(one: Span, other: Span) -> Span:
    """Two spans in a row as one."""
    sums = (left + right for left, right in zip(one[3:], other[3:], strict=True))
    return Span(one.superstep, one.supersteps + other.supersteps, one.began, *sums)
