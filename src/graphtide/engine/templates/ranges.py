"""Rounds of a program over a lean graph, by ranges of vertices: what each of several threads does.

The functions of the program are those of a run of one version (`lanes`). A round has phases, each
over parts of the vertices that take part: everybody, or those that are listed. In a phase a vertex
is written by whoever has its part, and what is read of others was written in the phase before:

    parcels (where a vertex tells all neighbours the same)   states -> parcels
    gather  (where it does not)                              states -> sums
    update                              parcels or own sums -> own state

So the answer has the same bits whatever the parts are, and however many threads: a vertex adds up
its messages in the order of its row.
"""

from __future__ import annotations

import numpy as np

from graphtide.engine.templates.lanes import (
    backward,
    begin_state,
    forward,
    gather,
    hoisted,
    make_parcel,
    sums_count,
    update_state,
)
from graphtide.kernels.jit import bare_kernel, inner_kernel
from graphtide.kernels.lanes.rows import LaneContext, LaneRows, LaneWork
from graphtide.kernels.lanes.values import LANES
from graphtide.kernels.lean.threads import Span, Told
from graphtide.kernels.synchronous.histories import EVERYBODY


@bare_kernel
def begin_range(context: LaneContext, work: LaneWork, span: Span) -> None:
    """Iteration 0 of the vertices of a part."""
    for vertex in range(span.first, span.stop):
        begin_state(context, vertex, work)
        work.mark[vertex] = 0


@bare_kernel
def parcel_range(context: LaneContext, work: LaneWork, span: Span) -> None:
    """What the vertices of a part, or those of a part of `changed`, tell all neighbours alike."""
    for number in range(span.first, span.stop):
        make_parcel(context, number if span.everybody else work.changed[number], work)


@bare_kernel
def gather_range(context: LaneContext, work: LaneWork, span: Span) -> None:
    """The accumulators of a part of the vertices, or of those listed."""
    for number in range(span.first, span.stop):
        vertex = number if span.everybody else work.listed[number]
        gather(context, work, vertex, vertex * sums_count() * LANES)


@bare_kernel
def update_range(context: LaneContext, work: LaneWork, span: Span, told: Told) -> tuple[int, int]:
    """The next states of a part; lists who changed from `span.first` on in `changed`.

    Returns how many changed, and how many of these moved. `span.place` is a row of sums that no
    other part uses.
    """
    changed, moved = span.first, 0
    for number in range(span.first, span.stop):
        vertex = number if span.everybody else work.listed[number]
        at = span.place
        if hoisted():
            gather(context, work, vertex, at)
        else:
            at = vertex * sums_count() * LANES
        course = (told.iteration, 1, told.tolerance)
        changes, moves = update_state(context, vertex, work, at, course)
        if changes != 0:
            work.changed[changed] = vertex
            changed += 1
            moved += 1 if moves != 0 else 0
    return changed - span.first, moved


@inner_kernel
def list_row(rows: LaneRows, work: LaneWork, vertex: int, size: int, iteration: int) -> int:
    """List the neighbours of a vertex that are not listed yet."""
    for position in range(rows.start[vertex], rows.stop[vertex]):
        target = rows.neighbour[position]
        if work.mark[target] != iteration:
            work.mark[target] = iteration
            work.listed[size] = target
            size += 1
    return size


@bare_kernel
def list_changed(
    context: LaneContext, work: LaneWork, changed: int, iteration: int, most: int
) -> int:
    """List the changed and those they tell; EVERYBODY beyond a quarter of the vertices, or if
    more than `most` edges would be looked at. By one thread.
    """
    size, looked = 0, np.int64(0)
    for number in range(changed):
        vertex = work.changed[number]
        if work.mark[vertex] != iteration:
            work.mark[vertex] = iteration
            work.listed[size] = vertex
            size += 1
        if forward():
            size = list_row(context.out, work, vertex, size, iteration)
            looked += np.int64(context.out.stop[vertex] - context.out.start[vertex])
        if backward():
            size = list_row(context.into, work, vertex, size, iteration)
            looked += np.int64(context.into.stop[vertex] - context.into.start[vertex])
        if 4 * size > len(work.changed) or looked > most:
            return EVERYBODY
    return size
