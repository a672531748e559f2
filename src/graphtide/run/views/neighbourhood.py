"""Which part of a graph is looked at: what lies around some vertices, or a sample from all over it.

Edges are found by their ends, so that a part costs what is near it and not the whole graph. A part
grows hop by hop until it has as many edges or vertices as there is room for; of the last hop it
takes the vertices that rank highest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int64]
Int32 = NDArray[np.int32]
Truth = NDArray[np.bool_]

_UNLIMITED = 1 << 62
_SEEDS = 12
_GROWN = 0.8
"""The share of a sample that grows from its seeds; the rest are edges between what they reach."""


class EdgeIndex(NamedTuple):
    """The edges at each vertex: `edges[offsets[v] : offsets[v + 1]]`, with their other ends.

    A loop is there once.
    """

    offsets: Int
    edges: Int32
    others: Int32

    @property
    def vertices(self) -> int:
        """How many vertices there are."""
        return len(self.offsets) - 1

    def at(self, vertices: Int) -> tuple[Int32, Int32]:
        """The edges at some vertices, one vertex after the other, and their other ends."""
        starts = self.offsets[vertices]
        counts = self.offsets[vertices + 1] - starts
        places = np.repeat(starts - (np.cumsum(counts) - counts), counts)
        places += np.arange(len(places))
        return self.edges[places], self.others[places]


def edge_index(vertices: int, src: Int32, dst: Int32) -> EdgeIndex:
    """The index of some edges by their ends. O(edges): a radix sort of 16 bits at a time."""
    proper = np.flatnonzero(src != dst).astype(np.int32)
    ends = np.concatenate([src, dst[proper]])
    order = np.argsort((ends & 0xFFFF).astype(np.uint16), kind="stable")
    if vertices > 0x10000:
        high = (ends[order] >> 16).astype(np.uint16)
        order = order[np.argsort(high, kind="stable")]
    edges = np.concatenate([np.arange(len(src), dtype=np.int32), proper])[order]
    others = np.concatenate([dst, src[proper]])[order]
    counts = np.bincount(ends, minlength=vertices)
    return EdgeIndex(np.concatenate([[0], np.cumsum(counts)]), edges, others)


class Part:
    """A part of a graph that grows: which vertices are found, and which edges are taken.

    `alive` says which edges there are, `rank` which vertices come first where room is short.
    """

    def __init__(
        self,
        index: EdgeIndex,
        alive: Truth,
        rank: Int,
        *,
        most_edges: int = _UNLIMITED,
        most_vertices: int = _UNLIMITED,
    ) -> None:
        self.found = np.zeros(index.vertices, np.bool_)
        self.cut = False
        """Whether there was no room for something that belongs to it."""
        self._index, self._rank = index, rank
        self._left = alive.copy()
        self._room, self._vertex_room = most_edges, most_vertices
        self._taken: list[Int32] = []

    @property
    def edges(self) -> Int:
        """The edges that are taken, in the order in which they were."""
        return np.concatenate([np.empty(0, np.int64), *self._taken])

    @property
    def full(self) -> bool:
        """Whether there is no room any more."""
        return self._room <= 0 or self._vertex_room <= 0

    def grow(self, starts: Int, hops: int | None = None, most: int = _UNLIMITED) -> None:
        """Take what lies within so many hops, or all that is connected: at most so many edges.

        Edges between vertices of the last hop belong to it as well, and come last.
        """
        behind, self._room = max(0, self._room - most), min(self._room, most)
        front, passed = self._find(starts), 0
        while len(front) and passed != hops and not self.full:
            front = self._hop(front)
            passed += 1
        if len(front) and passed == hops:
            self._take(*self._between(front))
        elif len(front) and not self.cut:
            self.cut = bool(self._left[self._index.at(front)[0]].any())
        self._room += behind

    def fill(self) -> None:
        """Take edges between vertices that are found, as far as there is room."""
        self._take(*self._between(np.flatnonzero(self.found)))

    def _hop(self, front: Int) -> Int:
        """Take the edges at some vertices; the vertices that they lead to, best first."""
        edges, others = self._edges_at(front)
        known = self.found[others]
        order = np.lexsort((edges, others, -self._rank[others], ~known))
        edges, others = edges[order], others[order].astype(np.int64)
        new, first = np.unique(others[~known[order]], return_index=True)
        new = new[np.argsort(first)]
        if len(new) > self._vertex_room:
            self.cut = True
            new = new[: self._vertex_room]
            keep = self.found.copy()
            keep[new] = True
            edges, others = edges[keep[others]], others[keep[others]]
        taken = self._take(edges, others)
        reached = np.zeros_like(self.found)
        reached[others[:taken]] = True
        return self._find(new[reached[new]])

    def _edges_at(self, front: Int) -> tuple[Int32, Int32]:
        """The edges at some vertices that are not taken, each once, with an end beyond if any."""
        edges, others = self._index.at(front)
        left = self._left[edges]
        edges, first = np.unique(edges[left], return_index=True)
        return edges, others[left][first]

    def _between(self, front: Int) -> tuple[Int32, Int32]:
        """The edges at some vertices whose other end is found, too."""
        edges, others = self._edges_at(front)
        inner = self.found[others]
        return edges[inner], others[inner]

    def _take(self, edges: Int32, others: NDArray[np.integer]) -> int:
        """Take edges as far as there is room; how many."""
        if len(edges) > self._room:
            self.cut = True
            edges = edges[: self._room]
        self._left[edges] = False
        self._taken.append(edges)
        self._room -= len(edges)
        return len(edges)

    def _find(self, vertices: NDArray[np.integer]) -> Int:
        new: Int = vertices[~self.found[vertices]][: self._vertex_room].astype(np.int64)
        self.found[new] = True
        self._vertex_room -= len(new)
        return new


def sample(index: EdgeIndex, alive: Truth, ends: Int32, most: int) -> Part:
    """Some regions from all over a graph, and what joins them: the same for the same edges.

    Where a region begins hangs on the numbers of edges alone, so that versions that share edges
    share most of their samples. `ends` has one end of each edge.
    """
    part = Part(index, alive, scattered(index.vertices), most_edges=most)
    living = np.flatnonzero(alive)
    seeds = min(_SEEDS, max(1, most // 20), len(living))
    first = living[np.argsort(-scattered(len(alive))[living], kind="stable")[:seeds]]
    each = max(1, int(_GROWN * most) // max(1, seeds))
    for start in ends[first].tolist():
        part.grow(np.array([start]), most=each)
    part.fill()
    part.cut = len(part.edges) < len(living)
    return part


def scattered(count: int) -> Int:
    """A number for each of `count`, in no order but always the same: Fibonacci hashing."""
    mixed = np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    ranks: Int = (mixed >> np.uint64(2)).astype(np.int64)
    return ranks
