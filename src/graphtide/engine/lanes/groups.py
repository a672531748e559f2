"""A program that is run on a group of versions at once.

The owner of the graph walks it from version to version, tells the group which edges it flipped
(`flip`) and at which versions it wants an answer (`take`), up to `LANES` of them. Then the program
runs once over the edges that any of these has.

An accumulator is off by no more than that of a plain run, n * 2^-53 of the sum of its n absolute
messages. Sums are made in the order of edge numbers: the answer of a version has the same bits
whatever it shares a group with.

Memory: 64 bytes a vertex for each state field, each accumulator and each of the two degrees that
the program looks at; 22 bytes a known edge for each direction that messages go, and the edge
properties that it reads once more. A program that would take more than `MOST_BYTES` of it
is run one version at a time.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine import code
from graphtide.engine.binding import edge_arrays
from graphtide.engine.lanes.graph import LaneGraph
from graphtide.engine.lanes.runs import lane_work, run_lanes
from graphtide.engine.synchronous.runs import SynchronousRuns
from graphtide.kernels.lanes.records import LaneContext, LaneWork
from graphtide.kernels.lanes.values import LANES

Int32 = NDArray[np.int32]

MOST_BYTES = 1 << 30
"""The most memory that a group may take."""


class LaneGroups:
    """The groups of a run, one after the other, all on one graph."""

    def __init__(self, runs: SynchronousRuns) -> None:
        self._runs = runs
        self._lanes = LaneGraph(runs.graph, runs.program)
        self._work: LaneWork | None = None

    @property
    def size(self) -> int:
        """How many versions the present group has."""
        return self._lanes.size

    @property
    def bytes(self) -> int:
        """What a group takes at most."""
        program, graph = self._runs.program, self._runs.graph
        rows = len(program.state) + len(program.accumulators)
        words = len(edge_arrays(graph, program)) * graph.edges
        return self._lanes.bytes() + 8 * LANES * graph.vertices * rows + 8 * words

    def begin(self) -> None:
        """A new group; the graph is where its walk begins."""
        self._lanes.begin()

    def flip(self, *edges: Int32) -> None:
        """The graph was flipped: these edges came or went."""
        for flipped in edges:
            self._lanes.flip(flipped)

    def take(self) -> int:
        """The version that the graph is at is part of the group; returns its number."""
        return self._lanes.take()

    def run(self) -> list[dict[str, NDArray[Any]]]:
        """The values of every version by state field. The arrays are the caller's."""
        runs, vertices = self._runs, self._runs.graph.vertices
        runs.parameters.resize(vertices)
        if self._work is None or len(self._work.changed) != vertices:
            self._work = lane_work(runs.program, vertices, LANES)
        run_lanes(runs, self.kernels, self._context(), self._work, self.size)
        return self._values(self._work, vertices)

    @cached_property
    def kernels(self) -> Any:
        """The compiled module that runs the program in lanes."""
        return self._runs.code.module(code.LANES)

    def _values(self, work: LaneWork, vertices: int) -> list[dict[str, NDArray[Any]]]:
        fields, columns = len(self._runs.program.state), self._runs.columns
        words = work.states.whole.reshape(vertices, fields, LANES)
        lanes = words[:, :, : self.size].transpose(2, 1, 0).copy()
        return [{name: columns.values(lane.T, name) for name in columns.names()} for lane in lanes]

    def _context(self) -> LaneContext:
        runs, lanes = self._runs, self._lanes
        into, out = lanes.rows(edge_arrays(runs.graph, runs.program))
        return LaneContext(
            graph=runs.graph.adjacency,
            into=into,
            out=out,
            in_degree=lanes.in_degree,
            out_degree=lanes.out_degree,
            read=runs.read,
            edges=len(into.lanes) + len(out.lanes),
        )


def lane_groups(runs: SynchronousRuns) -> LaneGroups | None:
    """Groups of a program that can be run in lanes; None where it cannot, or takes too much."""
    if runs.code.why_not_lanes is not None:
        return None
    groups = LaneGroups(runs)
    return groups if groups.bytes <= MOST_BYTES else None
