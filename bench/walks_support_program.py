"""The least mark two steps away, as a user writes it."""

from __future__ import annotations

import graphtide as gt


@gt.program
class LeastMark:
    """The least mark of all that are two steps away; marks are numbers below `marks`."""

    marks: int
    nearest: int = 0
    found = gt.Min(int)

    def traverse(self, u):  # type: ignore[no-untyped-def]
        """Everybody tells the neighbours of its neighbours."""
        for v in u.neighbours:
            for w in v.neighbours:
                w.found((u.id * 7919) % self.marks)

    def update(self, v):  # type: ignore[no-untyped-def]
        """The least of now."""
        v.nearest = v.found
