"""Triangles of one level, as a user writes them: walks that read state."""

from __future__ import annotations

from math import inf

import graphtide as gt


@gt.program
class LevelTriangles:
    """How far each vertex is from `source`, and in how many triangles of its level it is."""

    source: gt.Vertex
    level: float = inf
    triangles: int = 0
    nearest = gt.Min(float)
    found = gt.Count()

    def initialize(self, v):  # type: ignore[no-untyped-def]
        """Everything begins at the source."""
        v.level = 0.0 if v.id == self.source else inf

    def traverse(self, u):  # type: ignore[no-untyped-def]
        """Levels go on by one step; triangles are looked for where levels are the same."""
        for v in u.neighbours:
            v.nearest(u.level + 1.0)
            if u < v and u.level == v.level and u.level < inf:
                for w in v.neighbours:
                    if v < w and v.level == w.level and w in u.neighbours:
                        u.found()
                        v.found()
                        w.found()

    def update(self, v):  # type: ignore[no-untyped-def]
        """The shortest way so far, and as many triangles as there are now."""
        v.level = min(v.level, v.nearest)
        v.triangles = v.found
