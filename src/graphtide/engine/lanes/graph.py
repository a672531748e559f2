"""Several versions of a graph in memory as one: what a group of lanes runs on.

The owner of the graph walks it from version to version and tells which edges it flipped. A version
costs its flips and a column of degrees, the whole group one pass over all edges that are known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.lanes.runs import aligned_words
from graphtide.engine.resident import ResidentGraph
from graphtide.kernels.blocks import Block
from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.lanes.records import KnownRows, LaneRows
from graphtide.kernels.lanes.rows import compress_rows, fill_known_rows, flip_lanes, mark_live
from graphtide.kernels.lanes.values import LANES
from graphtide.plan.program_reads import reads
from graphtide.plan.programs import Direction, VertexProgram

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
