"""A program that is run on a group of versions at once.

The owner of the graph walks it from version to version, tells the group which edges it flipped
(`flip`) and at which versions it wants an answer (`take`), up to `LANES` of them. Then the program
runs once over the edges that any of these has.

An accumulator is off by no more than that of a plain run, n * 2^-53 of the sum of its n absolute
messages. Sums are made in the order of edge numbers: the answer of a version has the same bits
whatever it shares a group with.

Memory: 64 bytes a vertex for each state field, each accumulator and each of the two degrees that
the program looks at; 22 bytes an edge, known or not held by any version, for each direction that
messages go, and edge properties once more. A program that would take more than `MOST_BYTES` of it
is run one version at a time.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import edge_arrays
from graphtide.engine.generate import generated_module, generated_source
from graphtide.engine.lane_graph import LaneGraph, aligned_words
from graphtide.engine.sections_lanes import lanes_section
from graphtide.engine.synchronous_runs import SynchronousRuns
from graphtide.engine.write_lanes import why_not_lanes
from graphtide.kernels.lane_records import (
    ACTIVE,
    CHANGED,
    ITERATION,
    PLACES,
    LaneContext,
    LaneCourse,
    LaneWork,
)
from graphtide.kernels.lane_values import LANES
from graphtide.kernels.synchronous_records import EVERYBODY, Rows

Int32 = NDArray[np.int32]

MOST_BYTES = 1 << 30
"""The most memory that a group may take."""

_BLOCK = 1 << 21


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
        work, context = self._room(vertices), self._context()
        progress = np.zeros(PLACES, np.int64)
        progress[ACTIVE], progress[CHANGED] = (1 << self.size) - 1, EVERYBODY
        ending, rounds = runs.ending, max(1, _BLOCK // max(1, vertices))
        course = LaneCourse(0, ending.settle, ending.patient, progress)
        self.kernels.begin_lanes(context, work, course)
        while progress[ACTIVE] and progress[ITERATION] < ending.last:
            last = min(ending.last, int(progress[ITERATION]) + rounds)
            self.kernels.run_lanes(context, work, course._replace(last=last))
        runs.check_limit(int(progress[ITERATION]), resting=not progress[ACTIVE])
        return self._values(work, vertices)

    @cached_property
    def kernels(self) -> Any:
        """The compiled module that runs the program in lanes."""
        source = generated_source(lanes_section(self._runs.program), "lanes")
        return generated_module(source, f"{self._runs.program.name}_lanes")

    def _values(self, work: LaneWork, vertices: int) -> list[dict[str, NDArray[Any]]]:
        fields, columns = len(self._runs.program.state), self._runs.columns
        words = work.states.whole.reshape(vertices, fields, LANES)
        lanes = words[:, :, : self.size].transpose(2, 1, 0).copy()
        return [{name: columns.values(lane.T, name) for name in columns.names()} for lane in lanes]

    def _context(self) -> LaneContext:
        runs, lanes = self._runs, self._lanes
        into, out = lanes.rows(edge_arrays(runs.graph, runs.program))
        degrees = lanes.in_degree, lanes.out_degree
        return LaneContext(runs.graph.adjacency, into, out, *degrees, runs.parameters.view)

    def _room(self, vertices: int) -> LaneWork:
        """Rows for so many vertices; those of the group before, if there are as many."""
        work = self._work
        if work is None or len(work.changed) != vertices:
            program, hoisted = self._runs.program, self.kernels.HOISTED
            sums = len(program.accumulators)
            work = LaneWork(
                states=_rows(vertices * len(program.state)),
                sums=_rows(sums if hoisted else vertices * sums),
                parcels=_rows(vertices * sums if hoisted else 0),
                listed=np.empty(vertices, np.int32),
                changed=np.empty(vertices, np.int32),
                mark=np.empty(vertices, np.int32),
                hearing=np.empty(vertices + 1, np.int32),
            )
            self._work = work
        return work


def lane_groups(runs: SynchronousRuns) -> LaneGroups | None:
    """Groups of a program that can be run in lanes; None where it cannot, or takes too much."""
    if why_not_lanes(runs.program) is not None:
        return None
    groups = LaneGroups(runs)
    return groups if groups.bytes <= MOST_BYTES else None


def _rows(count: int) -> Rows:
    words = aligned_words(count)
    return Rows(words, words.view(np.int64))
