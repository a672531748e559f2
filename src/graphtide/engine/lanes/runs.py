"""Runs from scratch of a program in lanes: several versions in one pass, or one version alone.

The owner of a graph walks it from version to version, tells the group which edges it flipped
(`flip`) and at which versions it wants an answer (`take`), up to `LANES` of them. Then the program
runs once over the edges that any of these has. A version costs its flips and a column of degrees,
the whole group one pass over all edges that are known.

An accumulator is off by no more than that of a plain run, n * 2^-53 of the sum of its n absolute
messages. Sums are made in the order of edge numbers: the answer of a version has the same bits
whatever it shares a group with.

Memory: 64 bytes a vertex for each state field, each accumulator and each of the two degrees that
the program looks at; 22 bytes a known edge for each direction that messages go, and the edge
properties that it reads once more. A program that would take more than `MOST_BYTES` of it is run
one version at a time.

One version alone has the same template, with numbers in place of lanes, along the slabs and in
their order. What a program adds up or keeps between is in registers: a round of PageRank takes no
longer than a loop over compressed rows.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine import code
from graphtide.engine.inputs import edge_arrays
from graphtide.engine.rounds import RoundForm, aligned_words, lane_work, new_progress, single_form
from graphtide.engine.synchronous.runs import SynchronousRuns
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.adjacency import Rows, Slabs, no_rows, slab_rows, told_by_slabs
from graphtide.kernels.lanes.rows import (
    KnownRows,
    LaneContext,
    compress_rows,
    fill_known_rows,
    flip_lanes,
    mark_live,
)
from graphtide.kernels.lanes.values import LANES
from graphtide.kernels.synchronous.rounds import RoundWork
from graphtide.plan.program_reads import reads
from graphtide.plan.programs import Direction, VertexProgram

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

MOST_BYTES = 1 << 30
"""The most memory that a group may take."""

MOST_LOOKED = 4
"""A list of those who take part in a round is given up after one edge in so many."""

_KNOWN_BYTES, _HELD_BYTES = 13, 9
"""What an edge takes in one direction: where it is known, and where a group has it."""


class LaneDirection:
    """The edges of a graph by one of their ends, with the lanes that have each."""

    def __init__(self, slabs: Slabs, neighbours: Int32, ends: Int32) -> None:
        vertices, edges = len(slabs.live), len(ends)
        self._known = KnownRows(
            start=np.empty(vertices + 1, np.int64),
            neighbour=np.empty(edges, np.int32),
            edge=np.empty(edges, np.int32),
            place=np.empty(edges, np.int32),
            lanes=np.empty(edges, np.uint8),
        )
        fill_known_rows(slabs, neighbours, ends, self._known)
        self._start = np.empty(vertices + 1, np.uint64)
        self._neighbour = np.empty(edges + 1, np.int32)
        self._lanes = np.empty(edges + 1, np.uint8)
        self._edge = np.empty(edges + 1, np.int32)

    def begin(self, slabs: Slabs) -> None:
        mark_live(slabs, self._known)

    def flip(self, edges: Int32, lane: int) -> None:
        """Edges that came or went before a lane."""
        flip_lanes(self._known, edges, lane)

    def rows(self, properties: tuple[NDArray[Any], ...]) -> Rows:
        """The edges that any lane has; overwritten by the next call."""
        wanted = self._edge if properties else self._edge[:0]
        compress_rows(self._known, self._start, self._neighbour, self._lanes, wanted)
        count = int(self._start[-1])
        held = tuple(column[wanted[:count]] for column in properties)
        return Rows(
            start=self._start[:-1],
            stop=self._start[1:],
            neighbour=self._neighbour[:count],
            edge=wanted[:0],
            lanes=self._lanes[:count],
            properties=Block(held).words,
        )


class LaneGroups:
    """The groups of a run, one after the other, all on one graph."""

    def __init__(self, runs: SynchronousRuns) -> None:
        self._runs, self._graph = runs, runs.graph
        self._forward = runs.program.direction is not Direction.IN
        self._backward = runs.program.direction is not Direction.OUT
        self._reads_out, self._reads_in = degrees_read(runs.program)
        self._directions: list[LaneDirection] = []
        self._built = -1
        self._work: RoundWork | None = None
        self.size = 0
        """How many versions the present group has."""

    @property
    def bytes(self) -> int:
        program, graph = self._runs.program, self._graph
        edges = (_KNOWN_BYTES + _HELD_BYTES) * graph.edges * (self._forward + self._backward)
        rows = len(program.state) + len(program.accumulators) + self._reads_out + self._reads_in
        words = len(edge_arrays(graph, program)) * graph.edges
        return edges + 8 * LANES * graph.vertices * rows + 8 * words

    def begin(self) -> None:
        """A new group. The graph is where its walk begins; every lane is there still."""
        self.size = 0
        out, into = self._graph.adjacency
        if self._built != self._graph.generation:
            self._build()
        slabs = [into] * self._forward + [out] * self._backward
        for direction, entries in zip(self._directions, slabs, strict=True):
            direction.begin(entries)

    def flip(self, *edges: Int32) -> None:
        """The graph was flipped: these edges came or went."""
        for flipped in edges:
            for direction in self._directions:
                direction.flip(flipped, self.size)

    def take(self) -> int:
        """The version that the graph is at becomes a lane; returns its number."""
        lane, (out, into) = self.size, self._graph.adjacency
        if self._reads_out:
            self._out_degree.reshape(-1, LANES)[:, lane] = out.live
        if self._reads_in:
            self._in_degree.reshape(-1, LANES)[:, lane] = into.live
        self.size += 1
        return lane

    def run(self) -> list[dict[str, NDArray[Any]]]:
        """The values of every version by state field. The arrays are the caller's."""
        runs, vertices = self._runs, self._graph.vertices
        runs.parameters.resize(vertices)
        context = self._context()
        partition = told_by_slabs(self._graph.adjacency, known=True)
        if self._work is None or len(self._work.changed) != vertices:
            self._work, _ = lane_work(runs.code, partition, LANES)
        work = self._work._replace(partition=partition)
        form = RoundForm(self.kernels, context, work, 0, 0)
        form.begin()
        edges = len(context.into.lanes) + len(context.out.lanes)
        course = form.course(runs.ending, edges // MOST_LOOKED)
        course = course._replace(progress=new_progress(lanes=self.size))
        form.run(runs.program.name, runs.ending, course)
        fields, columns = len(runs.program.state), runs.columns
        words = work.states.whole.reshape(vertices, fields, LANES)
        lanes = words[:, :, : self.size].transpose(2, 1, 0).copy()
        return [{name: columns.values(lane.T, name) for name in columns.names()} for lane in lanes]

    @cached_property
    def kernels(self) -> Any:
        return self._runs.code.module(code.LANES)

    def _build(self) -> None:
        graph, (out, into) = self._graph, self._graph.adjacency
        sources, destinations = graph.ends(np.arange(graph.edges, dtype=np.int32))
        self._directions = []
        if self._forward:
            self._directions.append(LaneDirection(into, sources, destinations))
        if self._backward:
            self._directions.append(LaneDirection(out, destinations, sources))
        self._out_degree = _no_degrees(graph.vertices if self._reads_out else 0)
        self._in_degree = _no_degrees(graph.vertices if self._reads_in else 0)
        self._built = graph.generation

    def _context(self) -> LaneContext:
        """The edges that any version has, by destination and by source."""
        runs, none = self._runs, no_rows()
        properties = edge_arrays(runs.graph, runs.program)
        directed = [direction.rows(properties) for direction in self._directions]
        return LaneContext(
            into=directed[0] if self._forward else none,
            out=directed[-1] if self._backward else none,
            in_degree=self._in_degree,
            out_degree=self._out_degree,
            read=runs.read,
            fault=np.zeros(3, np.int64),
        )


def lane_groups(runs: SynchronousRuns) -> LaneGroups | None:
    """Groups of a program that can be run in lanes; None where it cannot, or takes too much."""
    if runs.code.why_not_lanes is not None:
        return None
    groups = LaneGroups(runs)
    return groups if groups.bytes <= MOST_BYTES else None


def scratch_states(runs: SynchronousRuns) -> Int64:
    """A row a vertex: the states that a program ends with, in lanes of one where it has that form.

    The array is the caller's.
    """
    if runs.code.why_not_lanes is not None:
        return runs.states(plain=True)
    graph, adjacency = runs.graph, runs.graph.adjacency
    runs.parameters.resize(graph.vertices)
    properties = Block(edge_arrays(graph, runs.program)).words
    context = LaneContext(
        into=slab_rows(adjacency.into, properties),
        out=slab_rows(adjacency.out, properties),
        in_degree=adjacency.into.live.astype(np.int64),
        out_degree=adjacency.out.live.astype(np.int64),
        read=runs.read,
        fault=np.zeros(3, np.int64),
    )
    form = single_form(runs.code, context, told_by_slabs(adjacency))
    ways = 2 if runs.program.direction is Direction.BOTH else 1
    form.begin()
    course = form.course(runs.ending, ways * graph.live // MOST_LOOKED)
    form.run(runs.program.name, runs.ending, course)
    return form.states(len(runs.program.state))


def degrees_read(program: VertexProgram) -> tuple[bool, bool]:
    """Whether any function looks at how many edges leave a vertex, and at how many enter it."""
    bodies = program.initialize, program.traverse, program.update
    facts = {
        fact for body in bodies for fact in reads(body).source_facts | reads(body).target_facts
    }
    return bool(facts & {"out_degree", "degree"}), bool(facts & {"in_degree", "degree"})


def _no_degrees(vertices: int) -> Int64:
    degrees = aligned_words(vertices * LANES).view(np.int64)
    degrees[:] = 0
    return degrees
