"""The loops that a careful engineer would write by hand for one static graph, compiled.

Compressed sparse rows, one algorithm a function, nothing kept for later: what a run of ours from
scratch is measured against, and what its answers are checked with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import kernel

Int32 = NDArray[np.int32]
Float64 = NDArray[np.float64]


class Rows(NamedTuple):
    """The neighbours of vertex v are neighbour[start[v] : start[v + 1]], with the arcs' weights."""

    start: NDArray[np.int64]
    neighbour: Int32
    weight: Float64


class PlainGraph(NamedTuple):
    """Arcs by source and by destination."""

    out: Rows
    into: Rows


def plain_graph(vertices: int, src: Int32, dst: Int32, weight: NDArray[np.int32]) -> PlainGraph:
    """Sort arcs into rows, each row by neighbour."""
    return PlainGraph(_rows(vertices, src, dst, weight), _rows(vertices, dst, src, weight))


def _rows(vertices: int, src: Int32, dst: Int32, weight: NDArray[np.int32]) -> Rows:
    order = np.lexsort((dst, src))
    start = np.zeros(vertices + 1, np.int64)
    np.cumsum(np.bincount(src, minlength=vertices), out=start[1:])
    return Rows(start, dst[order], weight[order].astype(np.float64))


@kernel
def breadth_first(out: Rows, source: int) -> Int32:
    """Hops from the source, -1 where there is no way: a queue."""
    vertices = len(out.start) - 1
    hops = np.full(vertices, -1, np.int32)
    queue = np.empty(vertices, np.int32)
    hops[source], queue[0] = 0, source
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for at in range(out.start[u], out.start[u + 1]):
            v = out.neighbour[at]
            if hops[v] < 0:
                hops[v] = hops[u] + 1
                queue[tail] = v
                tail += 1
    return hops


@kernel
def push(keys: Float64, items: Int32, size: int, key: float, item: int) -> None:
    """Put an item into a binary heap of that size."""
    at = size
    while at > 0 and keys[(at - 1) >> 1] > key:
        keys[at], items[at] = keys[(at - 1) >> 1], items[(at - 1) >> 1]
        at = (at - 1) >> 1
    keys[at], items[at] = key, item


@kernel
def drop_first(keys: Float64, items: Int32, size: int) -> None:
    """Take the first item out of a binary heap of that size."""
    key, item = keys[size - 1], items[size - 1]
    at, child = 0, 1
    while child < size - 1:
        if child + 1 < size - 1 and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[at], items[at] = keys[child], items[child]
        at, child = child, 2 * child + 1
    keys[at], items[at] = key, item


@kernel
def dijkstra(out: Rows, source: int) -> Float64:
    """Least sums of weights from the source: a binary heap, outdated items left in it."""
    distance = np.full(len(out.start) - 1, np.inf)
    keys, items = np.empty(len(out.neighbour) + 1), np.empty(len(out.neighbour) + 1, np.int32)
    distance[source] = 0.0
    push(keys, items, 0, 0.0, source)
    size = 1
    while size > 0:
        key, u = keys[0], items[0]
        drop_first(keys, items, size)
        size -= 1
        if key > distance[u]:
            continue
        for at in range(out.start[u], out.start[u + 1]):
            v, found = out.neighbour[at], key + out.weight[at]
            if found < distance[v]:
                distance[v] = found
                push(keys, items, size, found, v)
                size += 1
    return distance


@kernel
def flood(graph: PlainGraph) -> Int32:
    """The least vertex of each vertex's component: a search from every vertex not yet seen."""
    vertices = len(graph.out.start) - 1
    label = np.full(vertices, -1, np.int32)
    queue = np.empty(vertices, np.int32)
    for root in range(vertices):
        if label[root] >= 0:
            continue
        label[root], queue[0] = root, root
        head, tail = 0, 1
        while head < tail:
            u = queue[head]
            head += 1
            for rows in (graph.out, graph.into):
                for at in range(rows.start[u], rows.start[u + 1]):
                    v = rows.neighbour[at]
                    if label[v] < 0:
                        label[v] = root
                        queue[tail] = v
                        tail += 1
    return label


@kernel
def union_find(out: Rows) -> Int32:
    """The same by joining the two trees of every arc under the lesser root, halving paths."""
    vertices = len(out.start) - 1
    parent = np.arange(vertices).astype(np.int32)
    for u in range(vertices):
        for at in range(out.start[u], out.start[u + 1]):
            one, other = u, out.neighbour[at]
            while parent[one] != one:
                parent[one] = parent[parent[one]]
                one = parent[one]
            while parent[other] != other:
                parent[other] = parent[parent[other]]
                other = parent[other]
            if one < other:
                parent[other] = one
            elif other < one:
                parent[one] = other
    for v in range(vertices):
        parent[v] = parent[parent[v]]
    return parent


@kernel
def page_rank(graph: PlainGraph, damping: float, iterations: int) -> Float64:
    """Ranks that start at 1, pulled along in-arcs; sinks keep what they hold to themselves."""
    out, into = graph
    vertices = len(out.start) - 1
    rank, share = np.ones(vertices), np.zeros(vertices)
    for _ in range(iterations):
        for v in range(vertices):
            degree = out.start[v + 1] - out.start[v]
            share[v] = rank[v] / degree if degree > 0 else 0.0
        for v in range(vertices):
            total = 0.0
            for at in range(into.start[v], into.start[v + 1]):
                total += share[into.neighbour[at]]
            rank[v] = (1.0 - damping) + damping * total
    return rank
