"""Which edges a view has, and which vertices it touches: those with an edge in it.

A graph has vertices that no edge of a view is about: posts and comments, where the view is of who
knows whom. How many edges each vertex has is kept along the plan, so that neighbouring views cost
the edges between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from graphtide.plan.collection import CollectionPlan
from graphtide.run.collection.steps import Deltas, Int32, run_steps
from graphtide.store.collection import GroupedEdges

Ends = Callable[[Int32], tuple[Int32, Int32]]
"""The sources and the destinations of edges."""


class TouchedVertices:
    """The vertices with an edge, one view at a time, beginning with the empty version."""

    def __init__(
        self,
        plan: CollectionPlan,
        names: Sequence[str],
        grouped: GroupedEdges,
        ends: Ends,
        directed: bool = True,
    ) -> None:
        self.directed = directed
        self.plan, self.grouped = plan, grouped
        self._view_steps = plan.view_steps
        self._deltas = Deltas(plan, grouped)
        self._steps = run_steps(plan, names, self._deltas)
        self.ends = ends
        self._edges = np.zeros(0, np.int32)
        self._at = -1

    def mask(self, view: int, vertices: int) -> NDArray[np.bool_]:
        """True for each of so many vertices that has an edge in a view, by its position."""
        if not len(self._edges):
            self._edges = np.zeros(vertices, np.int32)
        step = int(self._view_steps[view])
        up, down = self._steps.way(self._at, step)
        for passed in up:
            self._move(passed, -1)
        for passed in down:
            self._move(passed, 1)
        self._at = step
        return self._edges > 0

    def edges(self, view: int) -> NDArray[np.int64]:
        """The numbers of both ends of each edge of a view, a row an edge."""
        src, dst = self.ends(self.grouped.of_view(self.plan, view))
        return np.column_stack([src, dst]).astype(np.int64)

    def _move(self, step: int, sign: int) -> None:
        for edges, change in zip(self._deltas.of(step), (sign, -sign), strict=True):
            for end in self.ends(edges):
                # Of the types of the array and of indices: any other takes NumPy ten times as long.
                np.add.at(self._edges, end.astype(np.intp), np.int32(change))
