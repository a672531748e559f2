"""Probes: which versions of a collection are complete.

Versions that are closed have been run until nothing waits, so a collection is complete up to the
frontier of the clock, as soon as its dataflow has taken part in a run. Within a run, where only
functions of Python could ask, the versions that are being run are not complete yet.
"""

from __future__ import annotations

from graphtide.run.dataflow.growing import GrowingFlow
from graphtide.run.dataflow.times import Time


class Probe:
    """Tells how far a collection has come.

    probe = degrees.probe()
    edges.insert([(1, 2)], at=3)
    flow.advance_to(4)
    probe.done(3)           # True: nothing about version 3 can change any more
    probe.frontier()        # (4,)
    """

    def __init__(self, flow: GrowingFlow) -> None:
        self._flow = flow

    def done(self, version: Time) -> bool:
        """True where the collection is complete at a version, and so at all versions before it."""
        clock = self._flow.clock
        word = clock.word(version)
        return self._has_run() and not clock.is_open(word)

    def frontier(self) -> tuple[Time, ...]:
        """The least versions that are not complete: all others are at or after one of them."""
        clock = self._flow.clock
        return clock.frontier if self._has_run() else (clock.time(0),)

    def _has_run(self) -> bool:
        flow = self._flow
        flow.check_open()
        return flow.dweller is not None and flow.dweller.ran

    def __repr__(self) -> str:
        listed = ", ".join(map(repr, self.frontier()))
        return f"<probe of {self._flow.name}: complete before {listed}>"
