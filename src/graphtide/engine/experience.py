"""What earlier advances tell of the next one: whether it is worth trying.

A repair that is broken off has cost its trial, and then a run from scratch. Where that happens
again and again to deltas of about one size, the next ones are not tried any more; but one in a
while is, less often each time that it fails, since graphs change. Sizes differ from one another by
doubling: what a thousand edges do says nothing of one edge.
"""

from __future__ import annotations

FAILURES = 3
"""So many in a row are no accident; two are, where a hub is cut off and comes back."""
LONGEST = 16
"""At least one delta in this many is tried."""
_SIZES = 64


class Experience:
    """How the last trials of deltas of each size ended."""

    __slots__ = ("_failures", "_passed")

    def __init__(self) -> None:
        self._failures = [0] * _SIZES
        self._passed = [0] * _SIZES

    def worth_trying(self, edges: int) -> bool:
        """True if a delta of so many edges should be tried; the caller then calls `learn`."""
        size = edges.bit_length()
        failures = self._failures[size]
        if failures < FAILURES:
            return True
        if self._passed[size] >= min(2 << (failures - FAILURES), LONGEST):
            return True
        self._passed[size] += 1
        return False

    def learn(self, edges: int, *, broken_off: bool) -> None:
        """Note how a trial of a delta of so many edges ended."""
        size = edges.bit_length()
        self._failures[size] = self._failures[size] + 1 if broken_off else 0
        self._passed[size] = 0
