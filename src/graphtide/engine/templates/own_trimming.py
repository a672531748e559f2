"""What deleted edges take away from the own vertices of a task, on a part of a graph.

A vertex that lost an edge, or whose neighbour fell, is asked: it keeps its value if that is its
start, or if some live edge still brings it from a support. A support has a better value, or the
same one and a lower level. Who has none falls back to its start, and own vertices that may have had
their value from it are asked in turn. Those of other tasks are told by mirrors, one round later.

Kept true: whoever has been asked since a neighbour last fell has its start or a support. No chain
of supports comes back to where it began, because values along it get better or levels lower: when
nobody is left to be asked, every value has come along live edges from a start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphtide.engine.templates.selecting import backward, better, forward, initial, message
from graphtide.kernels.fixpoint.records import Context, Held
from graphtide.kernels.graph.adjacency import Partition, Rows, Slabs
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel

Int32 = NDArray[np.int32]


@inner_kernel
def has_support(context: Context, held: Held, slabs: Slabs, vertex: int) -> bool:
    """True if a live edge of one direction brings the value of a vertex from a support."""
    value, level = held.value[vertex], held.level[vertex]
    start = slabs.start[vertex]
    for at in range(start, start + slabs.live[vertex]):
        other = slabs.neighbour[at]
        offered = held.value[other]
        if better(value, offered) or (offered == value and held.level[other] >= level):
            continue
        if message(offered, other, slabs.edge[at], context.read) == value:
            return True
    return False


@joined_kernel
def keeps_value(context: Context, held: Held, vertex: int) -> bool:
    """True if a vertex has its start, or a support."""
    if initial(vertex, context.read) == held.value[vertex]:
        return True
    if forward() and has_support(context, held, context.graph.into, vertex):
        return True
    return backward() and has_support(context, held, context.graph.out, vertex)


@inner_kernel
def line_up_along(held: Held, rows: Rows, vertex: int, behind: int) -> int:
    """Line up those that an edge leads to from a vertex; returns who stands behind the last."""
    for at in range(rows.start[vertex], rows.stop[vertex]):
        other = rows.neighbour[at]
        if not held.waiting[other]:
            held.waiting[other] = True
            held.line[behind % len(held.line)] = other
            behind += 1
    return behind


@joined_kernel
def line_up_told(reach: Partition, held: Held, vertex: int, behind: int) -> int:
    """Line up the own vertices that gather from a vertex."""
    if forward():
        behind = line_up_along(held, reach.out, vertex, behind)
    if backward():
        behind = line_up_along(held, reach.into, vertex, behind)
    return behind


@bare_kernel
def trim_own(
    context: Context, reach: Partition, held: Held, asked: Int32, told: Int32
) -> tuple[int, int]:
    """Ask some own vertices, and those that gather from some who fell elsewhere; and so on.

    `reach` leads from every vertex to the own ones that gather from it. Returns how many of
    `held.fallen` fell, each once, and how many were asked.
    """
    behind, first, fallen = 0, 0, 0
    for vertex in asked:
        held.waiting[vertex] = True
        held.line[behind] = vertex
        behind += 1
    for vertex in told:
        behind = line_up_told(reach, held, vertex, behind)
    while first < behind:
        vertex = held.line[first % len(held.line)]
        held.waiting[vertex] = False
        first += 1
        if not keeps_value(context, held, vertex):
            held.value[vertex] = initial(vertex, context.read)
            held.level[vertex] = 0
            held.fallen[fallen] = vertex
            fallen += 1
            behind = line_up_told(reach, held, vertex, behind)
    return fallen, first
