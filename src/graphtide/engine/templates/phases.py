"""Rounds of a vertex program, phase by phase over parts of the vertices: the only loops there are.

Behind a program's functions over rows of words (`synchronous`) or over lanes (`lanes`). A round has
phases, each over those who take part: everybody, or those that are listed. In a phase a vertex is
written by whoever has its part, and what is read of others was written in the phase before:

    parcels (where a vertex tells all neighbours the same)   states -> parcels
    gather  (where it does not)                              states -> sums
    update                              parcels or own sums -> own state

So the answer has the same bits whatever the parts are, and however many threads: a vertex adds up
its messages in the order of its row. Where one worker has all own vertices, `run_rounds` runs all
phases of many rounds in one call. Behind own vertices stand mirrors of those of other workers,
which have states and parcels, and gather nothing.

Kept true: none of the messages to an own vertex changed since it last gathered. So where few states
changed, only the targets of those gather again; where many did, everybody does.
"""

from __future__ import annotations

from typing import Any

from graphtide.engine.templates.synchronous import (
    backward,
    begin_vertex,
    forward,
    gather,
    hears,
    hoisted,
    make_parcel_of,
    reads_iteration,
    update_vertex,
)
from graphtide.kernels.jit import bare_kernel, inner_kernel, joined_kernel
from graphtide.kernels.synchronous.rounds import (
    CHANGED,
    EVERYBODY,
    GATHERED,
    GOING,
    HEARING,
    ITERATION,
    MOVES,
    PENDING,
    RESTLESS,
    Course,
    Round,
    RoundWork,
    VertexRange,
    list_targets,
)


@bare_kernel
def begin_range(context: Any, work: RoundWork, span: VertexRange) -> None:
    """Iteration 0 of the vertices of a part."""
    for vertex in range(span.first, span.stop):
        begin_vertex(context, work, vertex)
        work.mark[vertex] = 0


@inner_kernel
def parcel_part(context: Any, work: RoundWork, span: VertexRange) -> None:
    """What the vertices of a part, or those of a part of `changed`, tell all neighbours alike."""
    for number in range(span.first, span.stop):
        make_parcel_of(context, work, number if span.everybody else work.changed[number])


@inner_kernel
def gather_part(context: Any, work: RoundWork, span: VertexRange) -> int:
    """The accumulators of a part of the vertices, or of those listed; returns edges looked at."""
    looked = 0
    for number in range(span.first, span.stop):
        vertex = number if span.everybody else work.listed[number]
        looked += gather(context, work, vertex, span.place)
    return looked


@inner_kernel
def update_part(
    context: Any, work: RoundWork, span: VertexRange, setting: Round
) -> tuple[int, int, int, int]:
    """The next states of a part; lists who changed from `span.first` on in `changed`.

    Returns how many changed, how many of these moved, in which lanes, and edges looked at.
    """
    changed, moves, lanes, looked = span.first, 0, 0, 0
    for number in range(span.first, span.stop):
        vertex = number if span.everybody else work.listed[number]
        if hoisted():
            looked += gather(context, work, vertex, span.place)
        changes, moved_in = update_vertex(context, work, vertex, span.place, setting)
        if changes != 0:
            work.changed[changed] = vertex
            changed += 1
            lanes |= moved_in
            moves += 1 if moved_in != 0 else 0
    return changed - span.first, moves, lanes, looked


@bare_kernel
def parcel_range(context: Any, work: RoundWork, span: VertexRange) -> None:
    """`parcel_part` for Python: kernels cannot call what Python calls."""
    parcel_part(context, work, span)


@bare_kernel
def gather_range(context: Any, work: RoundWork, span: VertexRange) -> int:
    """`gather_part` for Python."""
    return gather_part(context, work, span)


@bare_kernel
def update_range(
    context: Any, work: RoundWork, span: VertexRange, setting: Round
) -> tuple[int, int, int, int]:
    """`update_part` for Python."""
    return update_part(context, work, span, setting)


@bare_kernel
def make_parcels(context: Any, work: RoundWork) -> None:
    """What everybody tells all neighbours alike, from states that no round has made."""
    if hoisted():
        parcel_part(context, work, VertexRange(0, len(work.changed), True, 0))


@inner_kernel
def list_hearing(context: Any, work: RoundWork, course: Course) -> None:
    """List the own vertices that an edge leads to, once."""
    size = 0
    for vertex in range(work.partition.own):
        work.hearing[size] = vertex
        size += 1 if hears(context, vertex) else 0
    course.progress[HEARING] = size


@joined_kernel
def choose_targets(context: Any, work: RoundWork, course: Course) -> int:
    """Who takes part in the next round: so many vertices of `listed`, or EVERYBODY.

    Who hears nothing depends on itself alone: once none of those changes, none ever will.
    """
    progress, changed = course.progress, course.progress[CHANGED]
    if reads_iteration() or changed == EVERYBODY:
        return EVERYBODY
    if 4 * changed <= len(work.changed):
        ways = forward(), backward()
        size = list_targets(work, changed, progress[ITERATION] + 1, ways, course.most)
        if size != EVERYBODY:
            return int(size)
    if progress[RESTLESS] > 0:
        return EVERYBODY
    if progress[HEARING] < 0:
        list_hearing(context, work, course)
    for number in range(progress[HEARING]):
        work.listed[number] = work.hearing[number]
    return int(progress[HEARING])


@inner_kernel
def run_round(context: Any, work: RoundWork, course: Course) -> None:
    """Run the round after the last on the own vertices; `course.progress` tells of it."""
    progress, changed = course.progress, course.progress[CHANGED]
    size = choose_targets(context, work, course)
    everybody = size == EVERYBODY
    part = VertexRange(0, work.partition.own if everybody else size, everybody, course.room)
    if hoisted():
        all_changed = changed == EVERYBODY
        telling = len(work.changed) if all_changed else changed
        parcel_part(context, work, VertexRange(0, telling, all_changed, 0))
    else:
        progress[GATHERED] += gather_part(context, work, part)
    setting = Round(progress[ITERATION] + 1, progress[GOING], course.tolerance)
    changed, moves, lanes, looked = update_part(context, work, part, setting)
    progress[ITERATION] += 1
    progress[CHANGED], progress[MOVES], progress[PENDING] = changed, moves, size
    progress[GATHERED] += looked
    if not course.patient:
        progress[GOING] &= lanes
    if everybody:
        progress[RESTLESS] = 0
        for number in range(changed):
            progress[RESTLESS] += 0 if hears(context, work.changed[number]) else 1


@bare_kernel
def run_superstep(context: Any, work: RoundWork, course: Course) -> None:
    """`run_round` for Python."""
    run_round(context, work, course)


@bare_kernel
def run_rounds(context: Any, work: RoundWork, course: Course) -> None:
    """Run on from where `course.progress` is, until every lane is done or the last iteration."""
    progress = course.progress
    while progress[ITERATION] < course.last and progress[GOING] != 0:
        run_round(context, work, course)
        course.counts[progress[ITERATION]] = progress[MOVES]
        if context.fault[0] != 0:
            break
