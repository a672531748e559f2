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
from graphtide.engine.code import SINGLE
from graphtide.engine.inputs import edge_arrays
from graphtide.engine.resident import ResidentGraph
from graphtide.engine.synchronous.facts import synchronous_facts
from graphtide.engine.synchronous.runs import SynchronousRuns
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.lanes.rows import (
    ACTIVE,
    CHANGED,
    ITERATION,
    PLACES,
    KnownRows,
    LaneContext,
    LaneCourse,
    LaneRows,
    LaneWork,
    compress_rows,
    fill_known_rows,
    flip_lanes,
    mark_live,
)
from graphtide.kernels.lanes.values import LANES
from graphtide.kernels.synchronous.histories import EVERYBODY, Rows
from graphtide.plan.program_reads import reads
from graphtide.plan.programs import Direction, VertexProgram

_BLOCK = 1 << 24
_LINE = 8


def run_lanes(
    runs: SynchronousRuns, kernels: Any, context: LaneContext, work: LaneWork, lanes: int
) -> None:
    """Run a program to its end in so many lanes; the states are then in `work`.

    Kernels run so many iterations at once that a run can be interrupted.
    """
    ending, rounds = runs.ending, max(1, _BLOCK // max(1, len(work.states.real)))
    progress = np.zeros(PLACES, np.int64)
    progress[ACTIVE], progress[CHANGED] = (1 << lanes) - 1, EVERYBODY
    course = LaneCourse(0, ending.settle, ending.patient, progress)
    kernels.begin_lanes(context, work, course)
    while progress[ACTIVE] and progress[ITERATION] < ending.last:
        last = min(ending.last, int(progress[ITERATION]) + rounds)
        kernels.run_lanes(context, work, course._replace(last=last))
    runs.check_limit(int(progress[ITERATION]), resting=not progress[ACTIVE])


def lane_work(program: VertexProgram, vertices: int, lanes: int) -> LaneWork:
    """What a run in so many lanes works with."""
    sums, hoisted = len(program.accumulators), synchronous_facts(program).hoisted
    return LaneWork(
        states=_words(vertices * len(program.state) * lanes),
        sums=_words((1 if hoisted else vertices) * sums * lanes),
        parcels=_words(vertices * sums * lanes if hoisted else 0),
        listed=np.empty(vertices, np.int32),
        changed=np.empty(vertices, np.int32),
        mark=np.empty(vertices, np.int32),
        hearing=np.empty(vertices + 1, np.int32),
    )


def aligned_words(count: int) -> NDArray[np.float64]:
    """So many words, the first at the beginning of a line of the cache. Not to be read yet."""
    room = np.empty(count + _LINE)
    first = -room.ctypes.data // 8 % _LINE
    return room[first : first + count]


def _words(count: int) -> Rows:
    words = aligned_words(count)
    return Rows(words, words.view(np.int64))


Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

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
        """Every lane has the edges that are live now."""
        mark_live(slabs, self._known)

    def flip(self, edges: Int32, lane: int) -> None:
        """Edges that came or went before a lane."""
        flip_lanes(self._known, edges, lane)

    def rows(self, properties: tuple[NDArray[Any], ...]) -> LaneRows:
        """The edges that any lane has; overwritten by the next call."""
        wanted = self._edge if properties else self._edge[:0]
        compress_rows(self._known, self._start, self._neighbour, self._lanes, wanted)
        count = int(self._start[-1])
        held = tuple(column[wanted[:count]] for column in properties)
        return LaneRows(
            start=self._start[:-1],
            stop=self._start[1:],
            neighbour=self._neighbour[:count],
            edge=wanted[:0],
            lanes=self._lanes[:count],
            properties=Block(held).words,
        )


class LaneGraph:
    """The versions of one group after the other; `size` counts those of the present one."""

    def __init__(self, graph: ResidentGraph, program: VertexProgram) -> None:
        self._graph = graph
        self._forward = program.direction is not Direction.IN
        self._backward = program.direction is not Direction.OUT
        self._reads_out, self._reads_in = _degrees_read(program)
        self._built = -1
        self.size = 0

    def bytes(self) -> int:
        """What a group takes at most, edge properties left out."""
        edges = (_KNOWN_BYTES + _HELD_BYTES) * self._graph.edges * (self._forward + self._backward)
        return edges + 8 * LANES * self._graph.vertices * (self._reads_out + self._reads_in)

    def begin(self) -> None:
        """A new group. The graph is where its walk begins; every lane is there still."""
        self.size = 0
        if self._built != self._graph.generation:
            self._build()
        for direction, slabs in zip(self._directions, self._slabs(), strict=True):
            direction.begin(slabs)

    def flip(self, edges: Int32) -> None:
        """The graph was flipped: these edges came or went."""
        for direction in self._directions:
            direction.flip(edges, self.size)

    def take(self) -> int:
        """The version that the graph is at becomes a lane; returns its number."""
        lane, (out, into) = self.size, self._graph.adjacency
        if self._reads_out:
            self.out_degree.reshape(-1, LANES)[:, lane] = out.live
        if self._reads_in:
            self.in_degree.reshape(-1, LANES)[:, lane] = into.live
        self.size += 1
        return lane

    def rows(self, properties: tuple[NDArray[Any], ...]) -> tuple[LaneRows, LaneRows]:
        """The edges that any version has, by destination and by source."""
        directed = [direction.rows(properties) for direction in self._directions]
        none = no_rows()
        return directed[0] if self._forward else none, directed[-1] if self._backward else none

    def _build(self) -> None:
        graph, (out, into) = self._graph, self._graph.adjacency
        sources, destinations = graph.ends(np.arange(graph.edges, dtype=np.int32))
        self._directions: list[LaneDirection] = []
        if self._forward:
            self._directions.append(LaneDirection(into, sources, destinations))
        if self._backward:
            self._directions.append(LaneDirection(out, destinations, sources))
        self.out_degree = _no_degrees(graph.vertices if self._reads_out else 0)
        self.in_degree = _no_degrees(graph.vertices if self._reads_in else 0)
        self._built = graph.generation

    def _slabs(self) -> list[Slabs]:
        out, into = self._graph.adjacency
        return [into] * self._forward + [out] * self._backward


def no_rows() -> LaneRows:
    """Rows for a direction that no message goes."""
    places, edges = np.empty(0, np.uint64), np.empty(0, np.int32)
    return LaneRows(places, places, edges, edges, np.empty(0, np.uint8), Block().words)


def _no_degrees(vertices: int) -> Int64:
    degrees = aligned_words(vertices * LANES).view(np.int64)
    degrees[:] = 0
    return degrees


def _degrees_read(program: VertexProgram) -> tuple[bool, bool]:
    """Whether any function looks at how many edges leave a vertex, and at how many enter it."""
    bodies = program.initialize, program.traverse, program.update
    facts = {
        fact for body in bodies for fact in reads(body).source_facts | reads(body).target_facts
    }
    return bool(facts & {"out_degree", "degree"}), bool(facts & {"in_degree", "degree"})


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
            into=_slab_rows(graph.into, properties) if forward else none,
            out=_slab_rows(graph.out, properties) if backward else none,
            in_degree=graph.into.live.astype(np.int64),
            out_degree=graph.out.live.astype(np.int64),
            read=runs.read,
            edges=runs.graph.live * (forward + backward),
        )


def single_version(runs: SynchronousRuns) -> SingleVersion | None:
    """None where the program has no form in lanes."""
    return None if runs.code.why_not_lanes is not None else SingleVersion(runs)


def _slab_rows(slabs: Slabs, properties: Int64) -> LaneRows:
    start = slabs.start.view(np.uint64)
    stop = (slabs.start + slabs.live).view(np.uint64)
    lanes = np.empty(0, np.uint8)
    return LaneRows(start, stop, slabs.neighbour, slabs.edge, lanes, properties)
