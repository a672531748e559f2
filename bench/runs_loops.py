"""The loops over views that a careful engineer would write by hand, compiled, each from scratch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.jit import kernel

Int32 = NDArray[np.int32]
DAMPING = 0.85


def loop_components(windows: Any) -> NDArray[np.float64]:
    """The number of components of every view; every vertex gets its label."""
    graph, label = windows.graph, np.empty(windows.graph.vertices, np.int32)
    return np.array(
        [
            label_edges(graph.src[start:stop], graph.dst[start:stop], label)
            for start, stop in zip(windows.starts, windows.stops, strict=True)
        ],
        np.float64,
    )


def loop_ranks(windows: Any, rounds: int) -> NDArray[np.float64]:
    """The sum of squared ranks of every view."""
    graph, found = windows.graph, []
    for start, stop in zip(windows.starts, windows.stops, strict=True):
        ranks = rank_edges(graph.src[start:stop], graph.dst[start:stop], graph.vertices, rounds)
        found.append(float((ranks * ranks).sum()))
    return np.array(found)


@kernel
def label_edges(src: Int32, dst: Int32, parent: Int32) -> int:
    """Union-find over a list of edges, the lesser root on top; returns the number of components."""
    count = len(parent)
    for vertex in range(count):
        parent[vertex] = vertex
    for at in range(len(src)):
        one, other = src[at], dst[at]
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
    components = 0
    for vertex in range(count):
        components += parent[vertex] == vertex
        parent[vertex] = parent[parent[vertex]]
    return components


@kernel
def rank_edges(src: Int32, dst: Int32, vertices: int, rounds: int) -> NDArray[np.float64]:
    """PageRank over a list of edges; ranks start at 1, sinks keep what they hold."""
    degree = np.zeros(vertices, np.int32)
    rank, share, total = np.ones(vertices), np.empty(vertices), np.empty(vertices)
    for at in range(len(src)):
        degree[src[at]] += 1
    for _ in range(rounds):
        for vertex in range(vertices):
            share[vertex] = rank[vertex] / max(degree[vertex], 1)
            total[vertex] = 0.0
        for at in range(len(src)):
            total[dst[at]] += share[src[at]]
        for vertex in range(vertices):
            rank[vertex] = (1.0 - DAMPING) + DAMPING * total[vertex]
    return rank
