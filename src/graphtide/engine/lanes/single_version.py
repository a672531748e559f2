"""A program from scratch on the version that its graph is at: one lane, along the slabs.

The template of lanes with numbers alone in place of lanes. Sums are plain, made in the order of the
slabs. What a program adds up or keeps between is in registers: a round of PageRank takes no longer
than a loop over compressed rows.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.binding import edge_arrays
from graphtide.engine.code import SINGLE
from graphtide.engine.lanes.graph import no_rows
from graphtide.engine.lanes.runs import lane_work, run_lanes
from graphtide.engine.synchronous.runs import SynchronousRuns
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.lanes.records import LaneContext, LaneRows
from graphtide.plan.programs import Direction

Int64 = NDArray[np.int64]


class SingleVersion:
    """Runs from scratch of a program that has a form in lanes."""

    def __init__(self, runs: SynchronousRuns) -> None:
        self._runs = runs

    @cached_property
    def kernels(self) -> Any:
        """The compiled module."""
        return self._runs.code.module(SINGLE)

    def states(self) -> Int64:
        """A row a vertex: the states that the program ends with. The array is the caller's."""
        runs, vertices = self._runs, self._runs.graph.vertices
        runs.parameters.resize(vertices)
        work = lane_work(runs.program, vertices, 1)
        run_lanes(runs, self.kernels, self._context(), work, 1)
        states: Int64 = work.states.whole.reshape(vertices, len(runs.program.state))
        return states

    def _context(self) -> LaneContext:
        runs = self._runs
        graph, program = runs.graph.adjacency, runs.program
        properties = Block(edge_arrays(runs.graph, program)).words
        none = no_rows()
        forward, backward = program.direction != Direction.IN, program.direction != Direction.OUT
        return LaneContext(
            graph=graph,
            into=_rows(graph.into, properties) if forward else none,
            out=_rows(graph.out, properties) if backward else none,
            in_degree=graph.into.live.astype(np.int64),
            out_degree=graph.out.live.astype(np.int64),
            read=runs.read,
            edges=runs.graph.live * (forward + backward),
        )


def single_version(runs: SynchronousRuns) -> SingleVersion | None:
    """None where the program has no form in lanes."""
    return None if runs.code.why_not_lanes is not None else SingleVersion(runs)


def _rows(slabs: Slabs, properties: Int64) -> LaneRows:
    start = slabs.start.view(np.uint64)
    stop = (slabs.start + slabs.live).view(np.uint64)
    lanes = np.empty(0, np.uint8)
    return LaneRows(start, stop, slabs.neighbour, slabs.edge, lanes, properties)
