"""What a run visits: versions of a graph, and the steps of their plan as arrays.

A plan lists classes; a runner wants edges. Edges are gathered for many steps at once, into one
flat array of which every delta is a slice: a step then costs no more than its edges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.optimize.strategy import StepSizes
from graphtide.plan.collection import CollectionPlan, check_depth_first
from graphtide.run.live.named_graph import NamedGraph
from graphtide.store.collection import GroupedEdges, StoredView

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
_BLOCK = 1 << 22

MANY_CHILDREN = 8
"""From here on the results of a stepping stone are worth having: its views differ from it less."""


class ViewVertices(NamedTuple):
    """Which vertices views have, where that is not all of the graph's; views by position.

    `removed` are vertices that are taken out of a view. Those of `windows` are the ones with an
    edge in the view, unless somebody asks for all.
    """

    removed: Mapping[int, tuple[int, ...]]
    windows: frozenset[int] = frozenset()

    @classmethod
    def of(cls, views: Sequence[StoredView]) -> ViewVertices:
        """The removed vertices and the windows of stored views."""
        return cls(
            {at: view.removed for at, view in enumerate(views) if view.removed},
            frozenset(at for at, view in enumerate(views) if view.window),
        )


ALL_VERTICES = ViewVertices({})


@dataclass(frozen=True, eq=False)
class RunSteps:
    """The steps of a run in order; every array has one entry per step.

    `view` is the position of the step's view among `names`, -1 for a stepping stone; `end` is
    the first step behind the step's subtree; `edges` counts those of the version.
    """

    names: tuple[str, ...]
    stones: tuple[str | None, ...]
    view: Int32
    parent: Int32
    end: Int32
    depth: Int32
    edges: Int64
    inserted: Int64
    deleted: Int64
    vertices: ViewVertices = ALL_VERTICES

    def __len__(self) -> int:
        return len(self.view)

    def label(self, step: int) -> str:
        """The name of a view, or the stone in brackets."""
        view = int(self.view[step])
        return f"({self.stones[step]})" if view < 0 else self.names[view]

    def returns_to(self, step: int) -> int | None:
        """Where the runner stands after the subtree of a step; None where the run is over."""
        behind = len(self) if step < 0 else int(self.end[step])
        return None if behind == len(self) else int(self.parent[behind])

    def path(self, step: int) -> list[int]:
        """The steps from the first version down to this one."""
        steps: list[int] = []
        while step >= 0:
            steps.append(step)
            step = int(self.parent[step])
        return steps[::-1]

    def way(self, at: int, step: int) -> tuple[list[int], list[int]]:
        """From one step to another along the plan: the steps to undo, then those to apply."""
        up: list[int] = []
        down: list[int] = []
        while step != at:
            if step >= 0 and (at < 0 or self.depth[step] >= self.depth[at]):
                down.append(step)
                step = int(self.parent[step])
            else:
                up.append(at)
                at = int(self.parent[at])
        return up, down[::-1]

    @cached_property
    def skipped(self) -> NDArray[np.bool_]:
        """The stepping stones that need no results where nothing is shared.

        The differences of the views behind are then those from the version before.
        """
        children = np.bincount(self.parent[self.parent >= 0], minlength=len(self))
        skipped: NDArray[np.bool_] = (self.view < 0) & (children < MANY_CHILDREN)
        return skipped

    def sizes(self, vertices: int) -> StepSizes:
        """What strategies are chosen by, but for what depends on the program.

        Deltas are told as shares of versions: nothing at all counts as one.
        """
        version, delta = self.edges + max(1, vertices), self.inserted + self.deleted
        return StepSizes(version, delta, self.parent, self.end, max(1, vertices), self.skipped)


class Deltas:
    """The edges in and out of every step, gathered block by block."""

    def __init__(self, plan: CollectionPlan, grouped: GroupedEdges) -> None:
        self._grouped = grouped
        lists = [item for step in plan.steps for item in (step.inserted, step.deleted)]
        self._classes = np.concatenate([np.empty(0, np.int32), *lists])
        self._bounds = np.concatenate([[0], np.cumsum([len(item) for item in lists])])
        weights = np.diff(grouped.offsets)[self._classes]
        running = np.concatenate([[0], np.cumsum(weights)])
        self.counts: Int64 = np.diff(running[self._bounds]).reshape(-1, 2)
        self._places = running[self._bounds]
        self._first = self._last = 0
        self._edges = np.empty(0, np.int32)

    def of(self, step: int) -> tuple[Int32, Int32]:
        """The edges that enter and those that leave; slices that are not to be written to."""
        if not self._first <= step < self._last:
            self._gather(step)
        start, middle, stop = self._places[2 * step : 2 * step + 3] - self._places[2 * self._first]
        return self._edges[start:middle], self._edges[middle:stop]

    def within_block(self, first: int, behind: int) -> int:
        """The end of the steps from `first` to `behind` whose edges are gathered together."""
        if not self._first <= first < self._last:
            self._gather(first)
        return min(behind, self._last)

    def span(self, first: int, behind: int) -> tuple[Int32, Int64]:
        """The edges of steps within a block, one after the other, and where each part begins."""
        places = self._places[2 * first : 2 * behind + 1]
        start, stop = places[[0, -1]] - self._places[2 * self._first]
        return self._edges[start:stop], places - places[0]

    def _gather(self, first: int) -> None:
        """All edges of the steps from `first` on, as many steps as fit into a block."""
        full = self._places[2 * first] + _BLOCK
        last = int(np.searchsorted(self._places[2 * first + 2 :: 2], full)) + first + 1
        self._first, self._last = first, min(last, len(self.counts))
        classes = self._classes[self._bounds[2 * first] : self._bounds[2 * self._last]]
        starts = self._grouped.offsets[classes]
        lengths = self._grouped.offsets[classes + 1] - starts
        shifts = starts - (np.cumsum(lengths) - lengths)
        places = np.repeat(shifts, lengths)
        places += np.arange(len(places))
        self._edges = self._grouped.edges[places]


def run_steps(
    plan: CollectionPlan,
    names: Sequence[str],
    deltas: Deltas,
    vertices: ViewVertices = ALL_VERTICES,
) -> RunSteps:
    """The steps of a plan with their sizes. O(steps)."""
    steps, counts = plan.steps, deltas.counts
    return _with_tree(
        names=tuple(names),
        stones=tuple(step.stone for step in steps),
        view=np.array([-1 if step.view is None else step.view for step in steps], np.int32),
        parent=np.array([step.parent for step in steps], np.int32),
        counts=counts,
        vertices=vertices,
    )


def steps_table(steps: RunSteps) -> pa.Table:
    labels = [steps.label(step) for step in range(len(steps))]
    views, (removed, windows) = steps.view.tolist(), steps.vertices
    return pa.table(
        {
            "name": pa.array(labels, pa.string()),
            "view": steps.view,
            "stone": pa.array(steps.stones, pa.string()),
            "parent": steps.parent,
            "edges": steps.edges,
            "inserted": steps.inserted,
            "deleted": steps.deleted,
            "removed": pa.array([removed.get(view) for view in views], pa.list_(pa.int64())),
            "window": pa.array([view in windows for view in views], pa.bool_()),
        }
    )


def steps_from(table: pa.Table) -> RunSteps:
    """The steps of a table that `steps_table` made."""
    columns = {name: table.column(name).to_numpy() for name in ("view", "parent")}
    counts = [table.column(name).to_numpy() for name in ("inserted", "deleted")]
    labels, view = table.column("name").to_pylist(), columns["view"]
    check_depth_first(columns["parent"].tolist())
    order = np.argsort(view, kind="stable")[np.count_nonzero(view < 0) :]
    return _with_tree(
        names=tuple(labels[at] for at in order),
        stones=tuple(table.column("stone").to_pylist()),
        counts=np.stack(counts, axis=1),
        vertices=_vertices_from(table),
        **columns,
    )


def _vertices_from(table: pa.Table) -> ViewVertices:
    """Runs of before know of no vertices that were taken out, and of no windows."""
    if "removed" not in table.column_names:
        return ALL_VERTICES
    columns = [table.column(name).to_pylist() for name in ("view", "removed", "window")]
    rows = list(zip(*columns, strict=True))
    return ViewVertices(
        {view: tuple(removed) for view, removed, _ in rows if removed},
        frozenset(view for view, _, window in rows if window),
    )


def _with_tree(
    names: tuple[str, ...],
    stones: tuple[str | None, ...],
    view: Int32,
    parent: Int32,
    counts: Int64,
    vertices: ViewVertices = ALL_VERTICES,
) -> RunSteps:
    """The steps with what follows from their parents. The last entry stands for no step."""
    edges, depth = [0] * (len(parent) + 1), [0] * (len(parent) + 1)
    end = list(range(1, len(parent) + 2))
    parents, grown = parent.tolist(), (counts[:, 0] - counts[:, 1]).tolist()
    for at, before in enumerate(parents):
        edges[at] = edges[before] + grown[at]
        depth[at] = depth[before] + 1
    for at in range(len(parents) - 1, -1, -1):
        end[parents[at]] = max(end[parents[at]], end[at])
    return RunSteps(
        names=names,
        stones=stones,
        view=view,
        parent=parent,
        end=np.array(end[:-1], np.int32),
        depth=np.array(depth[:-1], np.int32),
        edges=np.array(edges[:-1], np.int64),
        inserted=counts[:, 0],
        deleted=counts[:, 1],
        vertices=vertices,
    )


@dataclass(frozen=True)
class RunVersions:
    """What a run visits: a plan, the names of its views, a graph and the edges of each class.

    `vertices` says which vertices its views have, where these are not all; `told` has rows of the
    graph as users know its edges.
    """

    plan: CollectionPlan
    names: tuple[str, ...]
    known: NamedGraph
    grouped: GroupedEdges
    vertices: ViewVertices = ALL_VERTICES
    told: Callable[[NDArray[np.int64]], pa.Table] | None = None
