"""Rings of four, as a user writes them."""

from __future__ import annotations

import graphtide as gt


@gt.program
class Rings:
    """In how many rings each vertex is: cycles of four vertices, along edges of increasing `time`.

    The last edge is at most `within` later than the first. Parallel edges make rings of their own.
    """

    within: int
    rings: int = 0
    found = gt.Sum(int)

    def traverse(self, a):  # type: ignore[no-untyped-def]
        """Begin with the earliest edge, and come back to where it starts.

        That the last edge is near every other one follows from its being near the first. It is
        said so that a search which begins at the last edge need not look at older ones.
        """
        for b, first in a.out_edges:
            latest = first.time + self.within
            if b != a:
                for c, second in b.out_edges:
                    if c != a and c != b and first.time < second.time <= latest:
                        for d, third in c.out_edges:
                            if d != a and d != b and d != c and second.time < third.time <= latest:
                                for end, last in d.out_edges:
                                    near = last.time - self.within
                                    if (
                                        end == a
                                        and third.time < last.time <= latest
                                        and near <= third.time
                                        and near <= second.time
                                    ):
                                        a.found(1)
                                        b.found(1)
                                        c.found(1)
                                        d.found(1)

    def update(self, v):  # type: ignore[no-untyped-def]
        """Only as many as there are now."""
        v.rings = v.found
