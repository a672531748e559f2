"""The edges of shards as the slabs of one task, in numbers of its own.

A shard names the other ends of its edges by their places in a table of its own, so that bringing
them into the numbers of a task is one look-up an edge. Edges that are not in a view are left out
here, once a view, and no superstep asks for them again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.kernels.graph.adjacency import Slabs
from graphtide.kernels.jit import kernel

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


@kernel
def take_live(
    shard: tuple[Int64, Int32, Int32],
    numbers: Int32,
    live: NDArray[np.bool_],
    slabs: Slabs,
    places: Int64,
    first: int,
    at: int,
) -> int:
    """Append the live edges of a shard to the slabs of its vertices, which begin with `first`.

    `shard` is where the edges of each vertex begin, the other ends, and the classes; `numbers` are
    those of the other ends in the task. `places` gets where in the shard each edge stands. `at` is
    the first free entry; returns the one behind the last.
    """
    start, ends, classes = shard
    for row in range(len(start) - 1):
        slabs.start[first + row] = at
        for place in range(start[row], start[row + 1]):
            if live[classes[place]]:
                slabs.neighbour[at] = numbers[ends[place]]
                places[at] = place
                at += 1
        slabs.live[first + row] = at - slabs.start[first + row]
    return at


@kernel
def turn_round(slabs: Slabs, turned: Slabs) -> None:
    """Fill `turned` with the vertices that have each vertex in their slab. Its `live` is all 0.

    A vertex stands there once for each edge, in the order of the slabs.
    """
    for vertex in range(len(slabs.start)):
        for place in range(slabs.start[vertex], slabs.start[vertex] + slabs.live[vertex]):
            turned.live[slabs.neighbour[place]] += 1
    at = 0
    for vertex in range(len(turned.start)):
        turned.start[vertex] = at
        at += turned.live[vertex]
        turned.live[vertex] = 0
    for vertex in range(len(slabs.start)):
        for place in range(slabs.start[vertex], slabs.start[vertex] + slabs.live[vertex]):
            end = slabs.neighbour[place]
            turned.neighbour[turned.start[end] + turned.live[end]] = vertex
            turned.live[end] += 1
