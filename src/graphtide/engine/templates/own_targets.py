"""Whose turn it is in a superstep: own vertices of a task that changed, or are told of a change.

For both forms of supersteps, which have their marks and lists in records of their own.
"""

from __future__ import annotations

from typing import Any

from graphtide.engine.templates.synchronous import backward, forward, list_along
from graphtide.kernels.graph.adjacency import Adjacency
from graphtide.kernels.jit import inner_kernel
from graphtide.kernels.synchronous.histories import EVERYBODY


@inner_kernel
def list_own_targets(reach: Adjacency, work: Any, active: int, owned: int, iteration: int) -> int:
    """List the own vertices that changed or are told of a change; nobody where all may gather."""
    size, looked = 0, 0
    for number in range(active):
        vertex = work.changed[number]
        if vertex < owned and work.mark[vertex] != iteration:
            work.mark[vertex] = iteration
            work.listed[size] = vertex
            size += 1
        if forward():
            size = list_along(reach.out, work, vertex, size, iteration)
            looked += reach.out.live[vertex]
        if backward():
            size = list_along(reach.into, work, vertex, size, iteration)
            looked += reach.into.live[vertex]
        if 4 * size > owned or looked > 4 * owned:
            return EVERYBODY
    return size
