"""The phases of `ranges` for programs without a form in lanes: arrays, loops, products and others.

Slabs stand for compressed rows here (`engine.lean.plain`). What is kept true is what `ranges` says.
"""

from __future__ import annotations

from graphtide.engine.templates.synchronous import (
    gather,
    hoisted,
    initial_state,
    list_targets,
    make_parcel,
    moved,
    state_width,
    sums_width,
    update_state,
)
from graphtide.kernels.jit import bare_kernel
from graphtide.kernels.lean.threads import Span, Told
from graphtide.kernels.synchronous.histories import Context, Work, same_words


@bare_kernel
def begin_range(context: Context, work: Work, span: Span) -> None:
    """Iteration 0 of the vertices of a part."""
    for vertex in range(span.first, span.stop):
        initial_state(context, vertex, work.states, vertex * state_width(context.read))


@bare_kernel
def parcel_range(context: Context, work: Work, span: Span) -> None:
    """What the vertices of a part, or those of a part of `changed`, tell all neighbours alike."""
    for number in range(span.first, span.stop):
        vertex = number if span.everybody else work.changed[number]
        make_parcel(context, vertex, work.states, work.parcels)


@bare_kernel
def gather_range(context: Context, work: Work, span: Span) -> None:
    """The accumulators of a part of the vertices, or of those listed."""
    for number in range(span.first, span.stop):
        gather(context, work, number if span.everybody else work.listed[number])


@bare_kernel
def update_range(context: Context, work: Work, span: Span, told: Told) -> tuple[int, int]:
    """The next states of a part; lists who changed from `span.first` on in `changed`.

    Returns how many changed, and how many of these moved. `span.place` is a row of states that
    belongs to no vertex, nor to another part.
    """
    changed, moving, width = span.first, 0, state_width(context.read)
    spare = span.place
    for number in range(span.first, span.stop):
        vertex = number if span.everybody else work.listed[number]
        if hoisted():
            gather(context, work, vertex)
        at = vertex * width
        for step in range(width):
            work.states.whole[spare + step] = work.states.whole[at + step]
        place = (at, vertex * sums_width(context.read))
        update_state(context, vertex, told.iteration, work.states, work.sums, place)
        if not same_words(work.states.whole, spare, at, width):
            work.changed[changed] = vertex
            changed += 1
            moving += 1 if moved(context, work.states, spare, at, told.tolerance) else 0
    return changed - span.first, moving


@bare_kernel
def list_changed(context: Context, work: Work, changed: int, iteration: int, most: int) -> int:
    """List the changed and those they tell, or EVERYBODY, as `list_targets` does. By one thread."""
    return list_targets(context, work, changed, iteration, most)
